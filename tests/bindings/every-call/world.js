// SPDX-License-Identifier: LGPL-2.1-or-later
// What every-call.py calls functions with. C98: an error is an answer; a crash, a critical or a warning is none.
import Arena from 'gi://Arena?version=1.0';
import Gio from 'gi://Gio';
import GLib from 'gi://GLib';
import GObject from 'gi://GObject';
import System from 'system';

import {assert, run} from '../../lib/tap.js';

// Where there is no CUDA: an object that the override's constructor would refuse to make.
function newEmpty(Class) {
  const {_init} = Class.prototype;
  Class.prototype._init = GObject.Object.prototype._init;
  try {
    return new Class();
  } finally {
    Class.prototype._init = _init;
  }
}

// Each property makes what it gives, from a pair of a consumer and a producer in this process.
class World {
  constructor() {
    this.fds = new Gio.UnixFDList();
    this.backend = Arena.Pool.new(8192, 4);
    this.consumer = Arena.Consumer.new(Arena.Pool.new(8192, 4), 2);
    this.consumer.start();
    this.producer = Arena.Producer.new_from_fd(this.consumer.dup_worker_fd());
    this.producer.wait_iteration(-1, null);
    const builder = this.producer.begin_unit(0, -1, null);
    builder.append_bytes('text', Arena.DType.UINT8, [5000], new GLib.Bytes(new Uint8Array(5000)));
    builder.set_value(new GLib.Variant('h', 0));
    builder.set_payload('text/plain', new Uint8Array(1));
    builder.commit();
  }

  get idleConsumer() {
    this.spare = Arena.Consumer.new(Arena.Pool.new(4096, 1), 1);
    return this.spare;
  }

  get fd() {
    return this.idleConsumer.dup_worker_fd();
  }

  get unitBuilder() {
    return this.producer.begin_unit(0, -1, null);
  }

  get unit() {
    return this.consumer.next(-1, null);
  }

  get field() {
    return this.unit.dup_field(0);
  }

  get stats() {
    return this.consumer.dup_stats();
  }

  get remoteError() {
    this.consumer.next(-1, null);
    this.producer.fail('Sad', 'over', null, -1);
    try {
      this.consumer.next(-1, null);
    } catch (error) {
      return this.consumer.dup_remote_error();
    }
    throw new Error('no failure');
  }

  get record() {
    return this.consumer.next_packed(-1, null)[0];
  }

  get worker() {
    return Arena.Worker.new(this.backend, ['true'], 2);
  }

  get pool() {
    return this.backend;
  }

  get ring() {
    return Arena.Ring.new(4096);
  }

  get emptyBackend() {
    return Arena.Pool.fresh();
  }

  get state() {
    return this.backend.save(this.fds);
  }

  get idleWriter() {
    this.other = Arena.Pool.fresh();
    this.other.load(this.state, this.fds);
    return this.other.open_writer();
  }

  get startedWriter() {
    const writer = this.idleWriter;
    writer.start_epoch(1);
    return writer;
  }

  get writer() {
    const writer = this.startedWriter;
    writer.begin_unit(16, 0, null);
    return writer;
  }

  get idleReader() {
    return this.backend.open_reader();
  }

  get reader() {
    const {writer} = this;
    writer.write(new GLib.Bytes(new Uint8Array(3)));
    [, this.span] = writer.commit_unit();
    const reader = this.idleReader;
    reader.enter_epoch(1);
    return reader;
  }

  // Without a runtime one that was constructed by hand, as all that belongs to CUDA here.
  get cudaContext() {
    return Arena.CudaContext.is_supported() ? Arena.CudaContext.get_default() : new Arena.CudaContext();
  }

  get transfer() {
    if (!this.madeTransfer) {
      this.madeTransfer = Arena.Transfer.new(this.cudaContext);
      this.madeTransfer.add(new GLib.Bytes(new Uint8Array(5000)));
    }
    return this.madeTransfer;
  }

  get deviceBuffer() {
    return Arena.CudaContext.is_supported() ? this.transfer.run(null)[0] : newEmpty(Arena.DeviceBuffer);
  }

  get pinnedAllocator() {
    if (!Arena.CudaContext.is_supported())
      return newEmpty(Arena.PinnedAllocator);
    const allocator = Arena.PinnedAllocator.new(this.cudaContext);
    this.pinnedBytes = allocator.alloc(5000);
    return allocator;
  }

  get pinnedStats() {
    return this.pinnedAllocator.dup_stats();
  }

  get quarantine() {
    this.cudaContext.hold(new GLib.Bytes(new Uint8Array(1)), 12345); // no stream of that number will ever be done
    return this.cudaContext.list_quarantine()[0];
  }

  settle(finish, resolve, reject) {
    try {
      resolve(finish());
    } catch (error) {
      reject(error);
    }
  }
}

async function tryCall(name, call) {
  try {
    await call(new World());
  } catch (error) {
    if (!(error instanceof GLib.Error))
      throw error;
    print(`# ${name}: ${error.message}`);
  }
  System.gc(); // what was freed twice shows here
}

function assertRefused(call) {
  const world = new World();
  let refused = false;
  try {
    call(world);
  } catch (error) {
    refused = true;
  }
  assert(refused, `${call} is accepted`);
  System.gc();
}

export async function callAll(calls, wrongCalls) {
  const tests = Object.entries(calls).map(([name, call]) => [name, () => tryCall(name, call)]);
  for (const [name, wrong] of Object.entries(wrongCalls))
    tests.push([`${name} is wrong`, () => wrong.forEach(assertRefused)]);
  await run(Object.fromEntries(tests));
}
