// SPDX-License-Identifier: LGPL-2.1-or-later
// Units of a C worker seen from JavaScript, with nothing but the typelib: test-smoke.js BATCHES-WORKER
import Arena from 'gi://Arena?version=1.0';
import GLib from 'gi://GLib';
import System from 'system';

import {assert, assertEqual, assertThrows, run, Skip} from '../lib/tap.js';

const [WORKER] = ARGV;
const N_ELEMENTS = 1024 * 1024;
const PATIENCE = 10_000_000;

function startWorker(arena = Arena.Pool.new(4 << 20, 8)) {
  return Arena.Worker.new(arena, [WORKER], 2);
}

// The Uint8Array owns the GBytes, never the unit.
function view(bytes) {
  const array = bytes.toArray();
  return new Float32Array(array.buffer, array.byteOffset, array.byteLength / 4);
}

function nextView(worker) {
  return view(worker.next(PATIENCE, null).dup_bytes(0));
}

function assertAll(array, value) {
  assertEqual(array.length, N_ELEMENTS);
  assert(array.every(x => x === value), `not all ${value}`);
}

function kill(worker) {
  GLib.spawn_command_line_sync(`kill -KILL ${worker.get_pid()}`);
}

// C36: calls change(worker, pool), then looks at a view from before.
function outlives(change) {
  return () => {
    const pool = Arena.Pool.new(4 << 20, 8);
    let worker = startWorker(pool);
    assertEqual(nextView(worker)[0], 0);
    const kept = nextView(worker);

    change(worker, pool);
    worker = null;
    System.gc();
    assertAll(kept, 1);
  };
}

function readEpoch(arena) {
  const worker = startWorker(arena);
  for (let i = 0; i < 8; i++) {
    const unit = worker.next(PATIENCE, null);
    const field = unit.dup_field(0);
    assertEqual(field.get_name(), 'x');
    assertEqual(field.get_dtype(), Arena.DType.FLOAT32);
    assertEqual(field.get_shape().join(), `${N_ELEMENTS}`);
    assertAll(view(unit.dup_bytes(unit.find_field('x'))), i);
    unit.release();
    System.gc();
  }
  assertEqual(worker.next(PATIENCE, null), null);
  worker.close(PATIENCE, null);
}

await run({
  'a pool': () => readEpoch(Arena.Pool.new(4 << 20, 4)),
  'a ring': () => readEpoch(Arena.Ring.new(16 << 20)),

  'toArray() shares': () => {
    const worker = startWorker();
    const unit = worker.next(PATIENCE, null);
    const [one, other] = [view(unit.dup_bytes(0)), view(unit.dup_bytes(0))];
    one[5] = 7;
    if (other[5] !== 7)
      throw new Skip('GBytes.toArray() of this GJS copies');
  },

  'two epochs have one worker': () => {
    const worker = startWorker();
    const pids = new Set();
    for (let epoch = 0; epoch < 2; epoch++) {
      let units = 0;
      for (let unit; (unit = worker.next(PATIENCE, null)) !== null; units++)
        unit.release();
      assertEqual(units, 8);
      pids.add(worker.get_pid());
      worker.start();
    }
    assertEqual(pids.size, 1);
    worker.close(PATIENCE, null);
  },

  'a view outlives close': outlives(worker => worker.close(PATIENCE, null)),
  'a view outlives shutdown': outlives((worker, pool) => pool.shutdown()),
  'a view outlives unlink': outlives((worker, pool) => pool.unlink()),
  'a view outlives its epoch': outlives(worker => {
    worker.start();
    for (let i = 0; i < 3; i++)
      assertAll(nextView(worker), i);
  }),
  'a view outlives the worker': outlives(worker => {
    kill(worker);
    assertThrows(() => {
      while (worker.next(PATIENCE, null) !== null)
        continue;
    }, Arena.Error, Arena.Error.PEER_GONE);
  }),
  'a view outlives the consumer': outlives(worker => worker.run_dispose()),

  'wrong sizes': () => {
    assertThrows(() => Arena.Pool.new(0, 1), Arena.Error, Arena.Error.INVALID_ARGUMENT);
    assertThrows(() => Arena.Pool.new(4096, 0), Arena.Error, Arena.Error.INVALID_ARGUMENT);
    assertThrows(() => Arena.Ring.new(0), Arena.Error, Arena.Error.INVALID_ARGUMENT);
  },

  'a collection leaves nothing': () => {
    const isOpen = fd => GLib.file_test(`/proc/self/fd/${fd}`, GLib.FileTest.IS_SYMLINK);
    const count = () => [...Array(1024).keys()].filter(isOpen).length;
    const use = () => assertEqual(nextView(startWorker())[0], 0);
    use();
    System.gc();
    const before = count();
    use();
    System.gc();
    assertEqual(count(), before);
  },
});
