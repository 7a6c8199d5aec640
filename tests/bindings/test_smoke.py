# SPDX-License-Identifier: LGPL-2.1-or-later
"""Units of a C worker seen from Python, with nothing but the typelib: test_smoke.py BATCHES-WORKER"""
import ctypes
import gc
import os
import signal
import struct
import sys
import time
import unittest

import gi
gi.require_version('Arena', '1.0')
from gi.repository import Arena, GLib

import tap

WORKER = sys.argv[1]
N_ELEMENTS = 1024 * 1024
PATIENCE = 10_000_000


def view(data):
    """A ctypes array over the memory of a GBytes; it owns the GBytes, never the unit."""
    array = (ctypes.c_float * (data.get_size() // 4)).from_address(data.get_region(1, 0, data.get_size()))
    array.owner = data
    return array


def next_view(consumer):
    return view(consumer.next(PATIENCE).dup_bytes(0))


def mappings():
    """(start, end) of each mapping of an arena's memory."""
    with open('/proc/self/maps') as maps:
        return [tuple(int(end, 16) for end in line.split()[0].split('-')) for line in maps if '/memfd:arena' in line]


def is_shared(array):
    first = ctypes.addressof(array)
    return any(start <= first and first + ctypes.sizeof(array) <= end for start, end in mappings())


def is_all(array, value):
    return bytes(array) == struct.pack('f', value) * len(array)


class TestUnits(unittest.TestCase):
    def read_epoch(self, arena, shared):
        worker = Arena.Worker.new(arena, [WORKER], 2)
        for i in range(8):
            unit = worker.next(PATIENCE)
            field = unit.dup_field(0)
            self.assertEqual((field.get_name(), field.get_dtype()), ('x', Arena.DType.FLOAT32))
            self.assertEqual(list(field.get_shape()), [N_ELEMENTS])
            x = view(unit.dup_bytes(unit.find_field('x')))
            self.assertEqual((len(x), x[0], x[-1]), (N_ELEMENTS, i, i))
            self.assertEqual(is_shared(x), shared)
            unit.release()
        self.assertIsNone(worker.next(PATIENCE))
        worker.close(PATIENCE)

    def test_pool_lends_the_shared_memory(self):
        self.read_epoch(Arena.Pool.new(4 << 20, 4), True)

    def test_ring_gives_copies(self):
        self.read_epoch(Arena.Ring.new(16 << 20), False)

    def test_a_field_is_one_memory(self):
        worker = Arena.Worker.new(Arena.Pool.new(4 << 20, 4), [WORKER], 2)
        unit = worker.next(PATIENCE)
        one, other = view(unit.dup_bytes(0)), view(unit.dup_bytes(0))
        self.assertEqual(ctypes.addressof(one), ctypes.addressof(other))
        worker.close(PATIENCE)

    def test_two_epochs_have_one_worker(self):
        worker = Arena.Worker.new(Arena.Pool.new(4 << 20, 4), [WORKER], 2)
        pids = set()
        for _ in range(2):
            self.assertEqual(sum(1 for unit in iter(lambda: worker.next(PATIENCE), None)), 8)
            pids.add(worker.get_pid())
            worker.start()
        self.assertEqual(len(pids), 1)
        worker.close(PATIENCE)


class TestViewsOutlive(unittest.TestCase):
    """C36: whatever ends or is forgotten, the bytes of a view stay where they are."""

    def setUp(self):
        self.pool = Arena.Pool.new(4 << 20, 8)
        self.worker = Arena.Worker.new(self.pool, [WORKER], 2)
        self.assertEqual(next_view(self.worker)[0], 0)
        self.kept = next_view(self.worker)

    def tearDown(self):
        self.assertTrue(is_shared(self.kept))
        self.assertTrue(is_all(self.kept, 1))
        del self.kept

    def test_unit(self):
        unit = self.worker.next(PATIENCE)
        x = view(unit.dup_bytes(0))
        unit.release()
        del unit
        self.assertTrue(is_all(x, 2))

    def test_close(self):
        self.worker.close(PATIENCE)

    def test_shutdown(self):
        self.pool.shutdown()

    def test_unlink(self):
        self.pool.unlink()

    def test_new_epoch(self):
        self.worker.start()
        for i in range(3):
            self.assertTrue(is_all(next_view(self.worker), i))

    def test_death_of_the_worker(self):
        os.kill(self.worker.get_pid(), signal.SIGKILL)
        with self.assertRaises(GLib.Error) as raised:
            while self.worker.next(PATIENCE) is not None:
                pass
        self.assertTrue(raised.exception.matches(Arena.error_quark(), Arena.Error.PEER_GONE), raised.exception)

    def test_death_of_the_consumer(self):
        self.worker = None
        self.pool = None


class TestErrors(unittest.TestCase):
    def assert_error(self, code, function, *arguments):
        with self.assertRaises(GLib.Error) as raised:
            function(*arguments)
        self.assertTrue(raised.exception.matches(Arena.error_quark(), code), raised.exception)

    def test_wrong_sizes(self):
        self.assert_error(Arena.Error.INVALID_ARGUMENT, Arena.Pool.new, 0, 1)
        self.assert_error(Arena.Error.INVALID_ARGUMENT, Arena.Pool.new, 4096, 0)
        self.assert_error(Arena.Error.INVALID_ARGUMENT, Arena.Ring.new, 0)

    def test_no_such_program(self):
        with self.assertRaises(GLib.Error):
            Arena.Worker.new(Arena.Pool.new(4096, 2), ['/nonexistent/worker'], 2)

    def test_no_such_field(self):
        worker = Arena.Worker.new(Arena.Pool.new(4 << 20, 4), [WORKER], 2)
        unit = worker.next(PATIENCE)
        self.assertEqual(unit.find_field('y'), -1)
        self.assert_error(Arena.Error.INVALID_ARGUMENT, unit.dup_bytes, 1)


class TestNothingStays(unittest.TestCase):
    """Without a collector: descriptors and mappings go with the last reference."""

    def setUp(self):
        # GSubprocess leaves one thread and its descriptors for ever.
        Arena.Worker.new(Arena.Pool.new(4 << 20, 4), [WORKER], 2).close(PATIENCE)
        gc.collect()
        gc.disable()
        self.before = self.count()

    def tearDown(self):
        gc.enable()

    @staticmethod
    def count():
        return len(os.listdir('/proc/self/fd')), len(mappings())

    def assert_nothing_stays(self):
        deadline = time.monotonic() + 2
        while self.count() != self.before and time.monotonic() < deadline:
            time.sleep(0.01)
        self.assertEqual(self.count(), self.before)

    def test_unused_arenas(self):
        Arena.Pool.new(4096, 2)
        Arena.Ring.new(4096)
        self.assert_nothing_stays()

    def test_worker_dropped_amid_an_epoch(self):
        worker = Arena.Worker.new(Arena.Pool.new(4 << 20, 4), [WORKER], 2)
        kept = next_view(worker)
        del worker
        self.assertTrue(is_all(kept, 0))
        self.assertTrue(is_shared(kept))
        del kept
        self.assert_nothing_stays()

    def test_worker_killed(self):
        worker = Arena.Worker.new(Arena.Pool.new(4 << 20, 4), [WORKER], 2)
        self.assertIsNotNone(worker.next(PATIENCE))
        os.kill(worker.get_pid(), signal.SIGKILL)
        del worker
        self.assert_nothing_stays()

    def test_failed_construction(self):
        try:
            Arena.Worker.new(Arena.Pool.new(4096, 2), ['/nonexistent/worker'], 2)
        except GLib.Error:
            pass
        self.assert_nothing_stays()


if __name__ == '__main__':
    tap.main()
