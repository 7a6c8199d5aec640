// SPDX-License-Identifier: LGPL-2.1-or-later
// The asynchronous calls seen from JavaScript, with nothing but the typelib: test-async.js BATCHES-WORKER
import Arena from 'gi://Arena?version=1.0';
import Gio from 'gi://Gio';
import GLib from 'gi://GLib';
import System from 'system';

import {assert, assertEqual, run} from '../lib/tap.js';

const [WORKER] = ARGV;
const PATIENCE = 10_000_000;

Gio._promisify(Arena.Consumer.prototype, 'next_async', 'next_finish');
Gio._promisify(Arena.Consumer.prototype, 'stop_async', 'stop_finish');
Gio._promisify(Arena.Consumer.prototype, 'close_async', 'close_finish');

// What is no longer used keeps its segment until it is collected.
function collectOnStarvation(worker) {
  worker.connect('starved', () => {
    System.gc();
    return true;
  });
  return worker;
}

function startWorker() {
  return collectOnStarvation(Arena.Worker.new(Arena.Pool.new(4 << 20, 4), [WORKER], 2));
}

function newWorker(argv) {
  return new Promise((resolve, reject) => {
    Arena.Worker.new_async(Arena.Pool.new(4 << 20, 4), argv, 2, GLib.PRIORITY_DEFAULT, null, (_source, result) => {
      try {
        resolve(collectOnStarvation(Arena.Worker.new_finish(result)));
      } catch (error) {
        reject(error);
      }
    });
  });
}

// The first element; element i of batch i is i.
function firstOf(unit) {
  const array = unit.dup_bytes(0).toArray();
  return new Float32Array(array.buffer, array.byteOffset, 1)[0];
}

async function assertRejects(promise, domain, code) {
  try {
    await promise;
  } catch (error) {
    assert(error.matches?.(domain, code), `the wrong error: ${error}`);
    return;
  }
  throw new Error('no error');
}

async function readEpoch(worker) {
  let i = 0;
  for (let unit; (unit = await worker.next_async(PATIENCE, null)) !== null; i++) {
    assertEqual(firstOf(unit), i);
    unit.release();
  }
  assertEqual(i, 8);
}

await run({
  'await next_async': async () => {
    const worker = await newWorker([WORKER]);
    await readEpoch(worker);
    worker.start();
    await readEpoch(worker);
    await worker.close_async(PATIENCE, null);
    assertEqual(worker.state, Arena.ConsumerState.CLOSED);
  },

  'no such program': () =>
    assertRejects(newWorker(['/nonexistent/worker']), Arena.Error, Arena.Error.INVALID_ARGUMENT),

  'await stop_async': async () => {
    const worker = startWorker();
    assertEqual(firstOf(await worker.next_async(PATIENCE, null)), 0);
    await worker.stop_async(PATIENCE, null);
    assertEqual(await worker.next_async(PATIENCE, null), null);
    await worker.close_async(PATIENCE, null);
  },

  'cancelled': async () => {
    const worker = Arena.Worker.new(Arena.Pool.new(4096, 2), ['sleep', '60'], 2);
    const cancellable = new Gio.Cancellable();
    GLib.timeout_add(GLib.PRIORITY_DEFAULT, 10, () => {
      cancellable.cancel();
      return GLib.SOURCE_REMOVE;
    });
    const second = worker.next_async(-1, cancellable);
    await assertRejects(worker.next_async(-1, null), Arena.Error, Arena.Error.BUSY);
    await assertRejects(second, Gio.IOErrorEnum, Gio.IOErrorEnum.CANCELLED);
    await assertRejects(worker.next_async(10000, null), Arena.Error, Arena.Error.TIMED_OUT);
  },

  'killed': async () => {
    const worker = startWorker();
    const seen = [];
    worker.connect('closed', (_worker, error) => seen.push(error.matches(Arena.Error, Arena.Error.PEER_GONE)));
    assertEqual(firstOf(await worker.next_async(PATIENCE, null)), 0);
    GLib.spawn_command_line_sync(`kill -KILL ${worker.get_pid()}`);
    await assertRejects((async () => {
      while (await worker.next_async(PATIENCE, null) !== null)
        continue;
    })(), Arena.Error, Arena.Error.PEER_GONE);
    assertEqual(seen.join(), 'true');
    assertEqual(worker.state, Arena.ConsumerState.FAILED);
  },

  'a source': async () => {
    const worker = startWorker();
    const source = worker.create_source(null);
    let i = 0;

    worker.start();
    await new Promise((resolve, reject) => {
      source.set_callback(() => {
        try {
          const unit = worker.next(0, null);
          if (unit !== null) {
            assertEqual(firstOf(unit), i++);
            unit.release();
            return GLib.SOURCE_CONTINUE;
          }
          resolve();
        } catch (error) {
          reject(error);
        }
        return GLib.SOURCE_REMOVE;
      });
      source.attach(null);
    });
    assertEqual(i, 8);
    await worker.close_async(PATIENCE, null);
  },
});
