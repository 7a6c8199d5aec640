# SPDX-License-Identifier: LGPL-2.1-or-later
"""Pinned pools from Python, with a CUDA runtime that has no device: test_cuda.py WORKER"""
import gc
import os
import sys
import unittest

import gi
gi.require_version('Arena', '1.0')
from gi.repository import Arena, GLib

import tap

ARGV = [sys.executable, sys.argv[1], 'count', '3', '8192']


def pool():
    return Arena.Pool(segment_size=8192, count=3, pin_memory=True)


class TestCuda(unittest.TestCase):
    def test_1_errors(self):
        runtime, rank = os.environ['ARENA_CUDART'], Arena.CudaError.BAD_RANK
        os.environ['ARENA_CUDART'] = '/nonexistent'
        for code in Arena.CudaError.UNAVAILABLE, rank:
            with self.assertRaises(GLib.Error) as caught:
                Arena.Consumer(backend=pool(), buffer_size=2)
            self.assertEqual((caught.exception.domain, caught.exception.code), ('arena-cuda-error-quark', int(code)))
            os.environ['LOCAL_RANK'] = 'x'
        del os.environ['LOCAL_RANK']
        os.environ['ARENA_CUDART'] = runtime

    def test_2_pinned(self):
        self.assertTrue(Arena.CudaContext.is_supported())
        made = pool()
        self.assertTrue(made.props.pin_memory)
        with Arena.Worker(backend=made, argv=ARGV, buffer_size=2) as worker:
            context = Arena.CudaContext.get_default()
            self.assertEqual(context.props.pinned_bytes, 3 * 8192)
            self.assertEqual(made.dup_stats().get_pinned_bytes(), 3 * 8192)
            for i, unit in enumerate(worker):
                self.assertTrue(unit.dup_field(0).get_is_pinned())
                self.assertEqual(unit.array()[0], i)
                unit.release()
            del unit
            gc.collect()
        self.assertEqual((context.props.pinned_bytes, context.props.n_registrations), (0, 0))
        self.assertTrue(context.retry_quarantine())

    def test_3_kept_array(self):
        with Arena.Worker(backend=pool(), argv=ARGV, buffer_size=2) as worker:
            array = next(iter(worker)).array()
        context = Arena.CudaContext.get_default()
        self.assertEqual(context.props.pinned_bytes, 3 * 8192)
        self.assertEqual(array[0], 0)
        del array, worker
        gc.collect()
        self.assertEqual(Arena.CudaContext.get_for_device(0).props.pinned_bytes, 0)


if __name__ == '__main__':
    tap.main()
