// SPDX-License-Identifier: LGPL-2.1-or-later
// Copies to a device from JavaScript, with a CUDA runtime that has no device.
import Arena from 'gi://Arena?version=1.0';
import GLib from 'gi://GLib';

import {assert, assertEqual, assertThrows, run} from '../lib/tap.js';

const bytes = new GLib.Bytes(Uint8Array.from({length: 96}, (_, i) => i));

function newTransfer() {
  const transfer = Arena.Transfer.new(Arena.CudaContext.get_default());
  transfer.add(bytes);
  transfer.add(bytes);
  return transfer;
}

function check(buffers) {
  assertEqual(buffers.length, 2);
  for (const buffer of buffers) {
    assertEqual(buffer.size, 96);
    assert(buffer.download().equal(bytes));
  }
}

await run({
  'scenario-71-round-trip': () => check(newTransfer().run(null)),

  'asynchronous': async () => check(await newTransfer().run_async(null)),

  'enqueued': () => {
    const [buffer] = newTransfer().enqueue();
    assert(buffer.synchronize());
    assert(buffer.is_ready());
  },

  'allocator': () => {
    const allocator = new Arena.PinnedAllocator({context: Arena.CudaContext.get_default(), limitBytes: 8192});
    const buffer = allocator.alloc(5000);
    assertEqual(allocator.dup_stats().get_used_bytes(), 8192);
    assertThrows(() => allocator.alloc(1), Arena.CudaError, Arena.CudaError.NO_MEMORY);
    assert(allocator.record_stream(buffer, 1));
  },

  'errors': () => {
    const transfer = newTransfer();
    transfer.run(null);
    assertThrows(() => transfer.run(null), Arena.Error, Arena.Error.INVALID_STATE);
    assertThrows(() => new Arena.PinnedAllocator({}), Arena.Error, Arena.Error.INVALID_ARGUMENT);
  },
});
