// SPDX-License-Identifier: LGPL-2.1-or-later
// Pinned pools from JavaScript, with a CUDA runtime that has no device: test-cuda.js WORKER.js
import Arena from 'gi://Arena?version=1.0';
import GLib from 'gi://GLib';

import {assert, assertEqual, assertThrows, run} from '../lib/tap.js';

const argv = ['gjs', '-m', ARGV[0], 'count', '3', '8192'];
const newPool = () => new Arena.Pool({segmentSize: 8192, count: 3, pinMemory: true});

await run({
  'errors': () => {
    const runtime = GLib.getenv('ARENA_CUDART');
    GLib.setenv('ARENA_CUDART', '/nonexistent', true);
    assertThrows(() => new Arena.Consumer({backend: newPool(), bufferSize: 2}), Arena.CudaError,
      Arena.CudaError.UNAVAILABLE);
    GLib.setenv('LOCAL_RANK', '-1', true);
    assertThrows(() => new Arena.Consumer({backend: newPool(), bufferSize: 2}), Arena.CudaError,
      Arena.CudaError.BAD_RANK);
    GLib.unsetenv('LOCAL_RANK');
    GLib.setenv('ARENA_CUDART', runtime, true);
  },

  'pinned': () => {
    assert(Arena.CudaContext.is_supported());
    const pool = newPool();
    assert(pool.pinMemory);
    const worker = new Arena.Worker({backend: pool, argv, bufferSize: 2});
    const context = Arena.CudaContext.get_default();
    assertEqual(context.pinnedBytes, 3 * 8192);
    let n = 0;
    for (const unit of worker) {
      assert(unit.dup_field(0).get_is_pinned());
      assertEqual(unit.array('x')[0], n++);
      unit.release();
    }
    assertEqual(n, 3);
    assertEqual(context.nRegistrations, 3);
    worker.close();
    assert(context.retry_quarantine());
  },
});
