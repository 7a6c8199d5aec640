# SPDX-License-Identifier: LGPL-2.1-or-later
"""Nothing half-made comes out of Python's constructors: test_construction.py WORKER"""
import gc
import os
import sys
import unittest

import gi
gi.require_version('Arena', '1.0')
from gi.repository import Arena, GLib, GObject

import tap

ARGV = [sys.executable, sys.argv[1], 'count', '3', '64']


def pool():
    return Arena.Pool(segment_size=4096, count=2)


class TestConstruction(unittest.TestCase):
    def test_keywords(self):
        made = pool()
        self.assertEqual((made.props.segment_size, made.get_count()), (4096, 2))
        self.assertEqual(Arena.Ring(capacity=8192).get_capacity(), 8192)
        with Arena.Worker(backend=made, argv=ARGV, buffer_size=2, threshold=64) as worker:
            self.assertEqual((worker.get_buffer_size(), worker.get_threshold()), (2, 64))
            self.assertEqual([unit.array()[0] for unit in worker], [0, 1, 2])
        self.assertIsInstance(Arena.Consumer(backend=pool(), buffer_size=2), Arena.Consumer)

    def test_oversize(self):
        argv = [sys.executable, sys.argv[1], 'count', '3', '20000']
        for spilling in (
            Arena.Pool(segment_size=4096, count=2, oversize=Arena.Oversize.SPILL),
            Arena.Ring(capacity=4096, oversize=Arena.Oversize.SPILL),
        ):
            self.assertEqual(spilling.props.oversize, Arena.Oversize.SPILL)
            self.assertEqual(spilling.get_oversize(), Arena.Oversize.SPILL)
            with Arena.Worker(backend=spilling, argv=argv, buffer_size=2) as worker:
                arrays = [unit.array() for unit in worker]
                self.assertEqual(worker.dup_stats().get_spilled_bytes(), 3 * 20000)
            for i, array in enumerate(arrays):
                self.assertEqual((len(array), array[0], array[-1]), (5000, i, i))
                array += 1
                self.assertEqual(array[0], i + 1)
        self.assertEqual(pool().get_oversize(), Arena.Oversize.ERROR)
        with Arena.Worker(backend=pool(), argv=argv, buffer_size=2) as worker:
            with self.assertRaises(Arena.WorkerError):
                list(worker)

    def test_wrong_values(self):
        for call, error in (
            (lambda: Arena.Pool(), Arena.InvalidArgumentError),
            (lambda: Arena.Pool(segment_size=0, count=1), Arena.InvalidArgumentError),
            (lambda: Arena.Pool(segment_size=4096, count=0), Arena.InvalidArgumentError),
            (lambda: Arena.Pool(segment_size=1 << 62, count=1), Arena.InvalidArgumentError),
            (lambda: Arena.Ring(capacity=0), Arena.InvalidArgumentError),
            (lambda: Arena.Consumer(), Arena.InvalidArgumentError),
            (lambda: Arena.Consumer(backend=None, buffer_size=2), Arena.InvalidArgumentError),
            (lambda: Arena.Consumer(backend=pool(), buffer_size=0), Arena.InvalidArgumentError),
            (lambda: Arena.Worker(backend=pool(), buffer_size=2), Arena.InvalidArgumentError),
            (lambda: Arena.Worker(backend=pool(), argv=[], buffer_size=2), Arena.InvalidArgumentError),
            (lambda: Arena.Worker(argv=ARGV, buffer_size=2), Arena.InvalidArgumentError),
            (lambda: Arena.Worker(backend=pool(), argv=['/nonexistent'], buffer_size=2), Arena.InvalidArgumentError),
            (lambda: Arena.Pool.new(0, 1), Arena.InvalidArgumentError),
            (lambda: Arena.Producer.new_from_environment(), Arena.InvalidStateError),
            (lambda: Arena.Producer.new_from_fd(-1), Arena.InvalidArgumentError),
        ):
            with self.assertRaises(error):
                call()

    def test_wrong_types(self):
        for call in (
            lambda: Arena.Pool(segment_size='large', count=1),
            lambda: Arena.Pool(segment_size=None, count=1),
            lambda: Arena.Pool(4096, 2),
            lambda: Arena.Pool(size=4096),
            lambda: Arena.Worker(backend=GObject.Object(), argv=ARGV),
            lambda: Arena.Worker(backend=pool(), argv='program'),
            lambda: Arena.Worker.new(None, ARGV, 2),
            lambda: Arena.Consumer.new(pool(), 'two'),
        ):
            with self.assertRaises(TypeError):
                call()

    def test_only_made_by_the_library(self):
        for cls in (Arena.Unit, Arena.UnitBuilder, Arena.Producer, Arena.Field, Arena.Stats, Arena.RemoteError):
            with self.assertRaises(TypeError):
                cls()

    def test_taken_over_once(self):
        backend = pool()
        consumer = Arena.Consumer(backend=backend, buffer_size=2)
        with self.assertRaises(Arena.NotSupportedError):
            Arena.Consumer(backend=backend, buffer_size=2)
        consumer.close()

    def test_failure_leaves_the_arena(self):
        backend = pool()
        with self.assertRaises(Arena.InvalidArgumentError):
            Arena.Worker(backend=backend, argv=['/nonexistent'], buffer_size=2)
        with Arena.Worker(backend=backend, argv=ARGV, buffer_size=2) as worker:
            self.assertEqual(len(list(worker)), 3)

    def test_failure_leaves_nothing_open(self):
        gc.collect()
        gc.disable()
        before = len(os.listdir('/proc/self/fd'))
        for _ in range(20):
            with self.assertRaises(GLib.Error):
                Arena.Consumer(backend=pool(), buffer_size=0)
        self.assertEqual(len(os.listdir('/proc/self/fd')), before)
        gc.enable()

    def test_errors_have_classes(self):
        codes = [name for name in dir(Arena.Error) if name.isupper()]
        self.assertEqual(len(codes), 15)
        for code in codes:
            words = code.replace('REMOTE', 'WORKER').split('_')
            cls = getattr(Arena, ''.join(word.capitalize() for word in words) + 'Error')
            self.assertTrue(issubclass(cls, GLib.Error))
        with self.assertRaises(Arena.InvalidArgumentError) as raised:
            Arena.Pool(segment_size=0, count=1)
        self.assertTrue(raised.exception.matches(Arena.error_quark(), Arena.Error.INVALID_ARGUMENT))
        self.assertIn('segment_size', raised.exception.message)


class TestClosed(unittest.TestCase):
    def test_calls_after_close(self):
        worker = Arena.Worker(backend=pool(), argv=ARGV, buffer_size=2)
        worker.close()
        worker.close()
        for call in (worker.next, worker.start, worker.stop, worker.dup_worker_fd, lambda: iter(worker)):
            with self.assertRaises(Arena.ClosedError):
                call()
        self.assertEqual(worker.get_buffer_size(), 2)

    def test_wrong_arguments(self):
        with Arena.Worker(backend=pool(), argv=ARGV, buffer_size=2) as worker:
            for timeout in (-2, -(1 << 63)):
                with self.assertRaises(Arena.InvalidArgumentError):
                    worker.next(timeout)
            for timeout in ('1', None):
                with self.assertRaises(TypeError):
                    worker.next(timeout)
            with self.assertRaises(TypeError):
                worker.next(0, worker)


if __name__ == '__main__':
    tap.main()
