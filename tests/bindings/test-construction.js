// SPDX-License-Identifier: LGPL-2.1-or-later
// Nothing half-made comes out of JavaScript's constructors: test-construction.js WORKER.js
import Arena from 'gi://Arena?version=1.0';
import Gio from 'gi://Gio';
import GLib from 'gi://GLib';
import GObject from 'gi://GObject';

import {assert, assertEqual, assertThrows, run} from '../lib/tap.js';

const argv = ['gjs', '-m', ARGV[0], 'count', '3', '64'];
const newPool = () => new Arena.Pool({segmentSize: 4096, count: 2});

function assertFails(code, ...calls) {
  for (const call of calls)
    assertThrows(call, Arena.Error, code);
}

// GJS makes a number of anything, so some are errors of the library.
function assertRefused(...calls) {
  for (const call of calls) {
    let error = null;
    try {
      call();
    } catch (thrown) {
      error = thrown;
    }
    assert(error !== null, `${call}`);
  }
}

await run({
  'keywords': () => {
    const pool = newPool();
    assertEqual(pool.segmentSize, 4096);
    assertEqual(pool.get_count(), 2);
    assertEqual(new Arena.Ring({capacity: 8192}).capacity, 8192);
    const worker = new Arena.Worker({backend: pool, argv, bufferSize: 2, threshold: 64});
    assertEqual(worker.bufferSize, 2);
    assertEqual([...worker].length, 3);
    worker.close();
    assert(new Arena.Consumer({backend: newPool(), bufferSize: 2}) instanceof Arena.Consumer);
  },

  'oversize': () => {
    const oversizeArgv = ['gjs', '-m', ARGV[0], 'count', '3', '20000'];
    const oversize = Arena.Oversize.SPILL;
    for (const spilling of [new Arena.Pool({segmentSize: 4096, count: 2, oversize}), new Arena.Ring({capacity: 4096, oversize})]) {
      assertEqual(spilling.oversize, Arena.Oversize.SPILL);
      const worker = new Arena.Worker({backend: spilling, argv: oversizeArgv, bufferSize: 2});
      const arrays = [];
      for (const unit of worker)
        arrays.push(unit.array(0));
      assertEqual(worker.dup_stats().get_spilled_bytes(), 3 * 20000);
      worker.close();
      arrays.forEach((array, i) => assertEqual([array.length, array[0], array[4999]].join(), [5000, i, i].join()));
    }
    assertEqual(newPool().get_oversize(), Arena.Oversize.ERROR);
  },

  'wrong values': () => assertFails(Arena.Error.INVALID_ARGUMENT,
    () => new Arena.Pool(),
    () => new Arena.Pool({segmentSize: 0, count: 1}),
    () => new Arena.Pool({segmentSize: 4096, count: 0}),
    () => new Arena.Pool({segmentSize: 2 ** 52, count: 1}),
    () => new Arena.Ring({capacity: 0}),
    () => new Arena.Consumer(),
    () => new Arena.Consumer({backend: null, bufferSize: 2}),
    () => new Arena.Consumer({backend: newPool(), bufferSize: 0}),
    () => new Arena.Worker({backend: newPool(), bufferSize: 2}),
    () => new Arena.Worker({backend: newPool(), argv: [], bufferSize: 2}),
    () => new Arena.Worker({argv, bufferSize: 2}),
    () => new Arena.Worker({backend: newPool(), argv: ['/nonexistent'], bufferSize: 2}),
    () => Arena.Pool.new(0, 1),
    () => Arena.Producer.new_from_fd(-1)),

  'wrong types': () => assertRefused(
    () => new Arena.Pool({segmentSize: 'large', count: 1}),
    () => new Arena.Pool({size: 4096}),
    () => new Arena.Pool(4096, 2),
    () => new Arena.Worker({backend: new GObject.Object(), argv}),
    () => new Arena.Worker({backend: newPool(), argv: 7}),
    () => Arena.Worker.new(null, argv, 2),
    () => Arena.Consumer.new(newPool(), {})),

  'only made by the library': () => assertRefused(
    () => new Arena.Unit(),
    () => new Arena.UnitBuilder(),
    () => new Arena.Producer(),
    () => new Arena.Field(),
    () => new Arena.Stats(),
    () => new Arena.RemoteError()),

  'no worker without a consumer': () => {
    assertFails(Arena.Error.INVALID_STATE, () => Arena.Producer.new_from_environment(), () => Arena.produce(() => []));
  },

  'a failure leaves the arena': () => {
    const backend = newPool();
    assertFails(Arena.Error.INVALID_ARGUMENT, () => new Arena.Worker({backend, argv: ['/nonexistent'], bufferSize: 2}));
    const worker = new Arena.Worker({backend, argv, bufferSize: 2});
    assertEqual([...worker].length, 3);
    assertFails(Arena.Error.NOT_SUPPORTED, () => new Arena.Consumer({backend, bufferSize: 2}));
    worker.close();
  },

  'fresh objects are loaded': () => {
    for (const home of [newPool(), new Arena.Ring({capacity: 8192})]) {
      const fds = new Gio.UnixFDList();
      const away = home.constructor.fresh();
      assertFails(Arena.Error.INVALID_STATE, () => away.open_writer());
      away.load(home.save(fds), fds);

      const writer = away.open_writer();
      writer.start_epoch(1);
      writer.begin_unit(8, 0, null);
      const [, offset] = writer.write(new GLib.Bytes(new Uint8Array([7, 8, 9])));
      const [, span] = writer.commit_unit();
      const reader = home.open_reader();
      reader.enter_epoch(1);
      assertEqual(reader.read(span, offset, 3).toArray().join(), '7,8,9');
      reader.end_unit(span);
      assertFails(Arena.Error.INVALID_STATE, () => newPool().load(new GLib.Variant('a{sv}', {}), fds));
    }
  },

  'nothing else is made fresh': () => {
    for (const other of [Arena.Worker, Arena.Consumer, Arena.PinnedAllocator, Object, undefined])
      assert(Arena.Pool.fresh.call(other) instanceof Arena.Pool);
    assert(Arena.Ring.fresh.call(Arena.Pool) instanceof Arena.Ring);
  },

  'after close': () => {
    const worker = new Arena.Worker({backend: newPool(), argv, bufferSize: 2});
    worker.close();
    worker.close();
    assertFails(Arena.Error.CLOSED, () => worker.next(), () => worker.start(), () => worker.stop(), () => [...worker],
      () => worker.dup_worker_fd());
  },

  'wrong arguments': () => {
    const worker = new Arena.Worker({backend: newPool(), argv, bufferSize: 2});
    assertFails(Arena.Error.INVALID_ARGUMENT, () => worker.next(-2), () => worker.stop(-2), () => worker.close(-2));
    assertRefused(() => worker.next(0, worker));
    worker.close();
  },
});
