# SPDX-License-Identifier: LGPL-2.1-or-later
"""What every-call.py calls functions with. C98: an error is an answer; a crash, a critical or a warning is none."""
import functools
import gc
import unittest

import gi
gi.require_version('Arena', '1.0')
from gi.repository import Arena, Gio, GLib, GObject


class World:
    """Each property makes what it gives, from a pair of a consumer and a producer in this process."""

    def __init__(self):
        self.fds = Gio.UnixFDList()
        self.backend = self.pool = Arena.Pool.new(8192, 4)
        self.consumer = Arena.Consumer.new(Arena.Pool.new(8192, 4), 2)
        self.consumer.start()
        self.producer = Arena.Producer.new_from_fd(self.consumer.dup_worker_fd())
        self.producer.wait_iteration(-1, None)
        builder = self.producer.begin_unit(0, -1, None)
        builder.append_bytes('text', Arena.DType.UINT8, [5000], GLib.Bytes.new(bytes(5000)))
        builder.set_value(GLib.Variant.new_handle(0))
        builder.set_payload('text/plain', b'1')
        builder.commit()
        self.results = []

    @property
    def idle_consumer(self):
        self.spare = Arena.Consumer.new(Arena.Pool.new(4096, 1), 1)
        return self.spare

    @property
    def fd(self):
        return self.idle_consumer.dup_worker_fd()

    @property
    def unit_builder(self):
        return self.producer.begin_unit(0, -1, None)

    @property
    def unit(self):
        return self.consumer.next(-1, None)

    @property
    def field(self):
        return self.unit.dup_field(0)

    @property
    def stats(self):
        return self.consumer.dup_stats()

    @property
    def remote_error(self):
        self.consumer.next(-1, None)
        self.producer.fail('Sad', 'over', None, -1)
        try:
            self.consumer.next(-1, None)
        except Arena.WorkerError:
            return self.consumer.dup_remote_error()

    @property
    def record(self):
        return self.consumer.next_packed(-1, None)[0]

    @property
    def worker(self):
        return Arena.Worker.new(self.backend, ['true'], 2)

    @property
    def ring(self):
        return Arena.Ring.new(4096)

    @property
    def empty_backend(self):
        """As a worker makes it before it loads what its consumer has saved: the override's would initialize it."""
        return GObject.new(Arena.Pool)

    @property
    def state(self):
        return self.backend.save(self.fds)

    @property
    def idle_writer(self):
        self.other = self.empty_backend
        self.other.load(self.state, self.fds)
        return self.other.open_writer()

    @property
    def started_writer(self):
        writer = self.idle_writer
        writer.start_epoch(1)
        return writer

    @property
    def writer(self):
        writer = self.started_writer
        writer.begin_unit(16, 0, None)
        return writer

    @property
    def idle_reader(self):
        return self.backend.open_reader()

    @property
    def reader(self):
        writer = self.writer
        writer.write(GLib.Bytes.new(b'123'))
        self.span = writer.commit_unit()[1]
        reader = self.idle_reader
        reader.enter_epoch(1)
        return reader

    @property
    def cuda_context(self):
        """Without a runtime one that was constructed by hand, as all that belongs to CUDA here."""
        return Arena.CudaContext.get_default() if Arena.CudaContext.is_supported() else Arena.CudaContext()

    @functools.cached_property
    def transfer(self):
        transfer = Arena.Transfer.new(self.cuda_context)
        transfer.add(GLib.Bytes.new(bytes(5000)))
        return transfer

    @property
    def device_buffer(self):
        if not Arena.CudaContext.is_supported():
            return GObject.new(Arena.DeviceBuffer)
        return self.transfer.run(None)[0]

    @property
    def pinned_allocator(self):
        if not Arena.CudaContext.is_supported():
            return GObject.new(Arena.PinnedAllocator)
        allocator = Arena.PinnedAllocator.new(self.cuda_context)
        self.pinned_bytes = allocator.alloc(5000)
        return allocator

    @property
    def pinned_stats(self):
        return self.pinned_allocator.dup_stats()

    @property
    def quarantine(self):
        self.cuda_context.hold(GLib.Bytes.new(b'1'), 12345)  # no stream of that number will ever be done
        return self.cuda_context.list_quarantine()[0]

    def done(self, source, result):
        self.results.append(result)

    def settle(self, _begun, finish):
        while not self.results:
            GLib.MainContext.default().iteration(True)
        finish(self.results[0])


class EveryCall(unittest.TestCase):
    def test_right(self):
        for name, call in self.calls.items():
            with self.subTest(name):
                try:
                    call(World())
                except GLib.Error as error:
                    print(f'# {name}: {error.message}')
                gc.collect()

    def test_wrong(self):
        for name, calls in self.wrong_calls.items():
            for i, call in enumerate(calls):
                world = World()
                with self.subTest(f'{name} {i}'), self.assertRaises((TypeError, ValueError, GLib.Error)):
                    call(world)
                gc.collect()
