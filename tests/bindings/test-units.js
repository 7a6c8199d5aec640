// SPDX-License-Identifier: LGPL-2.1-or-later
// What a unit of a worker in JavaScript is in JavaScript: test-units.js WORKER.js
import Arena from 'gi://Arena?version=1.0';
import GLib from 'gi://GLib';
import System from 'system';

import {assert, assertEqual, assertThrows, run, Skip} from '../lib/tap.js';

function start(...args) {
  const argv = ['gjs', '-m', ARGV[0], ...args.map(String)];
  return new Arena.Worker({backend: new Arena.Pool({segmentSize: 4 << 20, count: 4}), argv, bufferSize: 2});
}

function assertTypeError(call, words) {
  try {
    call();
  } catch (error) {
    assert(error instanceof TypeError && error.message.includes(words), `${error}`);
    return;
  }
  throw new Error('no error');
}

// A builder of this process: the worker's end is given to a producer in the same one.
function open() {
  const consumer = new Arena.Consumer({backend: new Arena.Pool({segmentSize: 65536, count: 4}), bufferSize: 2});
  consumer.start();
  const producer = Arena.Producer.new_from_fd(consumer.dup_worker_fd());
  producer.wait_iteration(-1, null);
  return [consumer, producer];
}

const types = start('types');
// Not by a loop, which would release them.
const [all, some, handles, alone] = [types.next(), types.next(), types.next(), types.next()];

await run({
  'every type': () => {
    const expected = [Int8Array, Int16Array, Int32Array, Uint8Array, Uint8Array, Uint16Array, Uint32Array, Float32Array,
      Float64Array, BigInt64Array, BigUint64Array];
    for (const [i, Type] of expected.entries()) {
      const array = all.array(i);
      assertEqual(array.constructor.name, Type.name);
      assertEqual(array.length, 3000);
      const last = i === 4 ? 255 : i >= 9 ? 2999n : Type.of(2999)[0];
      assertEqual(array[2999], last);
    }
  },

  'parts and bytes': () => {
    assertEqual(some.array('part').join(), '10,11,12,13,14,15,16,17,18,19');
    for (const name of ['buffer', 'bytes'])
      assertEqual(new TextDecoder().decode(some.array(name)), 'abcd');
    assertEqual(some.array('empty').length, 0);
    assertEqual(some.array('empty').constructor.name, 'Float64Array');
  },

  'fields': () => {
    assertEqual(handles.fields.map(field => field.get_name()).join(), 'first,second');
    for (const missing of ['third', '']) {
      try {
        handles.array(missing);
        throw new Error('found');
      } catch (error) {
        assert(error instanceof RangeError, `${error}`);
      }
    }
    assertThrows(() => handles.array(2), Arena.Error, Arena.Error.INVALID_ARGUMENT);
  },

  'a value has arrays for handles': () => {
    const {array, list, name, tuple, deep} = handles.value;
    assertEqual(array.constructor.name, 'Float32Array');
    assertEqual(array[2999], 2999);
    assertEqual(list.map(item => item.byteLength).join(), '12000,4');
    assertEqual(name, 'n');
    assertEqual(tuple[0], 3);
    assertEqual(tuple[1].length, 4);
    assertEqual(tuple[2], null);
    assertEqual(deep.one.length, 4);
    assertEqual(alone.value.join(), 'only,a,value');
    assertEqual(all.value, null);
  },

  'after release': () => {
    const worker = start('count', 3, 1 << 20);
    const unit = worker.next();
    const x = unit.array('x');
    unit.release();
    unit.release();
    for (const call of [() => unit.array(), () => unit.array('x'), () => unit.value, () => unit.fields[0]])
      assertThrows(call, Arena.Error, Arena.Error.INVALID_STATE);
    worker.close();
    System.gc();
    assert(x.every(item => item === 0), 'the view changed');
  },

  'arrays share, where GJS can': () => {
    const worker = start('count', 1, 1 << 20);
    const unit = worker.next();
    unit.array()[3] = 5;
    assertEqual(unit.array()[3] === 5, unit.zeroCopy);
    worker.close();
  },

  'bytes are never items': () => {
    const [consumer, producer] = open();
    const builder = producer.begin_unit();
    const floats = new Float32Array([1, 2.7, 300]);
    assertTypeError(() => builder.append_bytes('x', Arena.DType.UINT8, [3], floats), 'no items of type uint8');
    assertTypeError(() => builder.append_bytes('x', Arena.DType.INT32, [3], floats), 'no items of type int32');
    assertTypeError(() => builder.append_bytes('x', Arena.DType.UINT8, [12], floats.buffer), '');
    for (const wrong of ['text', 5, null, undefined, [1, 2], {}])
      assertTypeError(() => builder.append(wrong), 'neither a typed array nor bytes');
    for (const wrong of [floats, 'text', [1, 2]])
      assertTypeError(() => builder.set_payload('text/plain', wrong), 'Uint8Array');
    assertThrows(() => builder.append_bytes('x', Arena.DType.FLOAT32, [4], floats), Arena.Error,
      Arena.Error.INVALID_ARGUMENT);

    assertEqual(builder.append_bytes('x', Arena.DType.FLOAT32, [3], floats), 0);
    assertEqual(builder.append_bytes('y', Arena.DType.FLOAT32, [3], new Uint8Array(floats.buffer)), 1);
    assertEqual(builder.append(floats, 'z', [1, 3]), 2);
    builder.set_payload('text/plain', new Uint8Array([65]));
    builder.commit();
    const unit = consumer.next();
    for (const name of ['x', 'y', 'z'])
      assertEqual(unit.array(name).join(), floats.join());
    assertEqual(unit.fields[2].get_shape().join(), '1,3');
    consumer.close();
  },

  // C94: without a copy, and never an array of numbers.
  'large fields are bytes': () => {
    const backend = new Arena.Pool({segmentSize: 16 << 20, count: 2});
    const argv = ['gjs', '-m', ARGV[0], 'count', '1', `${16 << 20}`];
    const worker = new Arena.Worker({backend, argv, bufferSize: 1});
    const unit = worker.next();
    let fastest = Infinity;
    for (let i = 0; i < 5; i++) {
      const began = GLib.get_monotonic_time();
      const bytes = unit.dup_bytes(0);
      fastest = Math.min(fastest, GLib.get_monotonic_time() - began);
      assert(bytes instanceof GLib.Bytes, 'no GBytes');
      assertEqual(bytes.get_size(), 16 << 20);
    }
    assert(fastest < 10_000, `${fastest} µs`);
    assert(ArrayBuffer.isView(unit.array(0)), 'no typed array');
    worker.close();
  },

  // C105: it is writable until the commit, however often it is referred to.
  'what is reserved': () => {
    const [consumer, producer] = open();
    const builder = producer.begin_unit();
    const [bytes, index] = builder.reserve('x', Arena.DType.UINT8, [5000]);
    const kept = [bytes.toArray(), bytes.toArray(), bytes];
    kept[0][0] = 7;
    kept[1][1] = 8;
    builder.commit();
    const unit = consumer.next();
    assertEqual(index, 0);
    if (!unit.zeroCopy)
      throw new Skip('GBytes.toArray() of this GJS copies');
    assertEqual(unit.array('x').subarray(0, 3).join(), '7,8,0');
    consumer.close();
  },

  // C42: 10000 of one unit.
  'views do not leak': () => {
    const worker = start('count', 1, 1 << 20);
    const unit = worker.next();
    for (let i = 0; i < 10000; i++)
      unit.array('x');
    unit.release();
    System.gc();
    assertEqual(worker.dup_stats().get_held_units(), 0);
    worker.close();
  },

  'a unit that fails is none': () => {
    const [consumer, producer] = open();
    assertTypeError(() => producer.send([new Uint8Array(1), 'text']), 'neither');
    const value = new GLib.Variant('s', 'one');
    assertThrows(() => producer.send([value, value]), Arena.Error, Arena.Error.INVALID_STATE);
    producer.send(new Uint8Array([7]));
    producer.finish_iteration();
    assertEqual(consumer.next().array()[0], 7);
    assertEqual(consumer.next(), null);
    consumer.close();
  },
});
