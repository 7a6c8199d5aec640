// SPDX-License-Identifier: LGPL-2.1-or-later
// A consumer as an iterable: test-iteration.js WORKER.js
import Arena from 'gi://Arena?version=1.0';
import GLib from 'gi://GLib';
import System from 'system';

import {assert, assertEqual, assertThrows, run, Skip} from '../lib/tap.js';

const [N_UNITS, N_BYTES] = [2000, 4 << 20];

function start(args, {count = 4, segmentSize = 1 << 20} = {}) {
  const argv = ['gjs', '-m', ARGV[0], ...args.map(String)];
  return new Arena.Worker({backend: new Arena.Pool({segmentSize, count}), argv, bufferSize: 2});
}

// Private and shared pages, in bytes
function resident() {
  const [, statm] = GLib.file_get_contents('/proc/self/statm');
  return Number(new TextDecoder().decode(statm).split(' ')[1]) * 4096;
}

// 2000 units of 4 MiB through two segments
function runThrough(nextUnit) {
  const worker = start(['count', N_UNITS, N_BYTES], {count: 2, segmentSize: N_BYTES});
  let [n, base, peak] = [0, 0, 0];
  for (const unit of nextUnit(worker)) {
    const x = unit.array('x');
    if (x[0] !== n || x[x.length - 1] !== n)
      throw new Error(`unit ${n} has ${x[0]}, ${x[x.length - 1]}`);
    n++;
    if (n === 10)
      base = resident();
    if (n % 100 === 0)
      peak = Math.max(peak, resident());
  }
  assertEqual(n, N_UNITS);
  assert(peak - base < 32 << 20, `${peak - base} bytes more`);
  worker.close();
}

await run({
  'twice': () => {
    const worker = start(['count', 5, 8192]);
    for (let pass = 0; pass < 2; pass++)
      assertEqual([...worker].length, 5);
    assertEqual(worker.dup_stats().get_units(), 10);
    worker.close();
  },

  'units are released when the loop goes on, or ends': () => {
    const worker = start(['count', 5, 8192]);
    const units = [];
    for (const unit of worker) {
      assert(!unit.released, 'released too early');
      assert(units.every(earlier => earlier.released), 'released too late');
      units.push(unit);
      if (units.length === 3)
        break;
    }
    assert(units[2].released, 'not released by the break');
    try {
      for (const unit of worker) {
        units.push(unit);
        throw new Error('in the loop');
      }
    } catch (error) {
      assertEqual(error.message, 'in the loop');
    }
    assert(units[3].released, 'not released by the error');
    assertEqual([...worker].length, 5);
    worker.close();
  },

  'views survive': () => {
    const worker = start(['count', 8, 1 << 20], {count: 8});
    const kept = [];
    for (const unit of worker)
      kept.push(unit.array('x'));
    worker.close();
    for (const [i, x] of kept.entries())
      assert(x.every(item => item === i), `view ${i} changed`);
  },

  'starvation is an error after a collection in vain': () => {
    const worker = start(['count', 50, 1 << 20]);
    const kept = [];
    const began = GLib.get_monotonic_time();
    const error = assertThrows(() => {
      for (const unit of worker)
        kept.push(unit.array('x'));
    }, Arena.Error, Arena.Error.BUSY);
    if (kept.length > 4)
      throw new Skip('GBytes.toArray() of this GJS copies');
    assert(GLib.get_monotonic_time() - began < 5e6, 'not at once');
    for (const words of ['Units', '0', '1', '2', '3', 'are held here', 'the segment of unit 0'])
      assert(error.message.includes(words), error.message);
    assertEqual(worker.starveTimeout, -1);
    kept.length = 0;
    assertEqual([...worker].length, 50);
    worker.close();
  },

  'packed units starve alike': () => {
    const worker = start(['count', 50, 1 << 20]);
    const kept = [];
    assertThrows(() => {
      for (;;)
        kept.push(worker.next_packed()[1].toArray());
    }, Arena.Error, Arena.Error.BUSY);
    for (const timeout of [2 ** 63, -(2 ** 64), Number.MAX_VALUE, Infinity, 0.5]) {
      let error = null;
      try {
        worker.next_packed(timeout);
      } catch (thrown) {
        error = thrown;
      }
      assert(error instanceof TypeError, `${timeout}: ${error}`);
    }
    kept.length = 0;
    worker.close();
  },

  'handlers of starvation are called, whenever they were connected': () => {
    const worker = start(['count', 12, 1 << 20]);
    const kept = [], calls = [];
    worker.connect('starved', () => {
      calls.push('before');
    });
    kept.push(worker.next());
    worker.connect('starved', () => {
      calls.push('after');
      kept.splice(0).forEach(unit => unit.release());
    });
    for (let unit; (unit = worker.next()) !== null;)
      kept.push(unit);
    assertEqual(calls.join(), 'before,after,before,after');
    worker.close();
  },

  'an own limit is kept': () => {
    const worker = start(['count', 50, 1 << 20]);
    worker.starveTimeout = 0;
    const kept = [];
    for (let unit; kept.length < 4 && (unit = worker.next()) !== null;)
      kept.push(unit);
    assertThrows(() => worker.next(), Arena.Error, Arena.Error.BUSY);
    assertEqual(worker.starveTimeout, 0);
    kept.forEach(unit => unit.release());
    worker.close();
  },

  'many units, released by the loop': () => runThrough(worker => worker),

  // C99: GJS frees late, so the library collects by itself.
  'many units, never released': () => runThrough(function* (worker) {
    // What the loop does, but for the release
    for (const unit of worker) {
      unit.release = () => {};
      yield unit;
    }
  }),

  // C106: a closure over what it is connected to keeps nothing once that is collected, closed before or not.
  'listeners end': () => {
    const use = close => {
      const worker = start(['count', 2, 8192]);
      const seen = [];
      worker.connect('notify::state', () => seen.push(worker.state));
      assertEqual([...worker].length, 2);
      assert(seen.length > 0, 'not notified');
      if (close)
        worker.close();
    };
    const count = () => {
      System.gc();
      System.gc();
      const [, maps] = GLib.file_get_contents('/proc/self/maps');
      return new TextDecoder().decode(maps).split('/memfd:arena').length;
    };
    use(true);
    const before = count();
    for (let i = 0; i < 10; i++)
      use(i % 2 === 0);
    assertEqual(count(), before);
  },

  'next() collects too': () => {
    const worker = start(['count', 50, 1 << 20]);
    for (let n = 0; n < 50; n++) {
      const unit = worker.next();
      assertEqual(unit.array('x')[0], n);
      unit.release();
    }
    worker.close();
  },
});
