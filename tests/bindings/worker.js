// SPDX-License-Identifier: LGPL-2.1-or-later
// The worker of the tests, in JavaScript: worker.js count N BYTES | types | fail N | hang N | torn N | bad
import Arena from 'gi://Arena?version=1.0';
import GLib from 'gi://GLib';

const [MODE, ...NUMBERS] = ARGV;
const [N = 0, N_BYTES = 0] = NUMBERS.map(Number);

function* countSmall() {
  for (let i = 0; i < N; i++)
    yield new Uint8Array([i]);
}

Arena.produce({
  * count() {
    const x = new Float32Array(N_BYTES / 4);
    for (let i = 0; i < N; i++)
      yield {x: x.fill(i)};
  },

  * types() {
    const numbers = Array.from({length: 3000}, (_, i) => i);
    const integers = [Int8Array, Int16Array, Int32Array, Uint8Array, Uint8ClampedArray, Uint16Array, Uint32Array];
    const big = numbers.map(BigInt);
    yield [
      ...integers.map(Type => Type.from(numbers)), Float32Array.from(numbers), Float64Array.from(numbers),
      BigInt64Array.from(big), BigUint64Array.from(big),
    ];

    const bytes = new TextEncoder().encode('abcd');
    yield {
      part: Float32Array.from(numbers).subarray(10, 20), buffer: bytes.slice().buffer, bytes: new GLib.Bytes(bytes),
      empty: new Float64Array(0),
    };

    const handles = new GLib.Variant('a{sv}', {
      array: new GLib.Variant('h', 0), list: new GLib.Variant('ah', [0, 1]), name: new GLib.Variant('s', 'n'),
      tuple: new GLib.Variant('(imhms)', [3, 1, null]),
      deep: new GLib.Variant('v', new GLib.Variant('a{sh}', {one: 1})),
    });
    yield {first: Float32Array.from(numbers), second: bytes, value: handles};
    yield new GLib.Variant('as', ['only', 'a', 'value']);
  },

  * fail() {
    yield* countSmall();
    throw new RangeError('lost ☃');
  },

  * torn() {
    yield* countSmall();
    yield [new Uint8Array(5000), {
      get constructor() {
        throw new RangeError('lost ☃');
      },
    }];
  },

  * hang() {
    yield* countSmall();
    GLib.usleep(1000 * 1000 * 1000);
  },

  * bad() {
    yield [new Uint8Array(1), 'not bytes'];
  },
}[MODE]);
