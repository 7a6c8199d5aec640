# SPDX-License-Identifier: LGPL-2.1-or-later
"""F29 F70 F116 F118 F119 F154 F177 C35 C43 C46 C47 C70: what views share, what they may do, and that they outlive everything."""
import functools
import gc
import importlib.util
import mmap
import os
import unittest

import numpy

import arena
import sources
import tap

HAS_TORCH = importlib.util.find_spec('torch') is not None


def shared():
    base = numpy.arange(8192.)
    return [[base, base, base[:4096], base[4096:].reshape(64, 64), base[::2]]]


def shared_tensors():
    import torch
    base = torch.arange(8192.)
    return [[base, base, base[:4096], base[4096:].reshape(64, 64), *base.split(1024)]]


def start(factory, *arguments, storage=None, **options):
    storage = storage or arena.SharedMemorySegmentPool(sources.BIG, 4)
    return arena.iterate_in_subprocess(functools.partial(factory, *arguments), arena=storage, **options)


class TestViews(unittest.TestCase):
    def setUp(self):
        gc.collect()
        gc.disable()
        self.addCleanup(gc.enable)

    def test_one_array_is_stored_once(self):
        """In a segment that has room for only one."""
        for storage in (arena.SharedMemorySegmentPool(sources.BIG, 4), arena.SharedMemoryRingBuffer(4 * sources.BIG)):
            with start(shared, storage=storage) as batches:
                base, same, half, square, sparse = next(iter(batches))
                self.assertIs(base, same)
                self.assertEqual((base.shape, half.shape, square.shape, sparse.shape), ((8192,), (4096,), (64, 64), (4096,)))
                base[:] = numpy.arange(8192.)[::-1]
                self.assertEqual((half[0], square[0, 0], sparse[1]), (8191, 4095, 8189))

    @unittest.skipUnless(HAS_TORCH, 'no torch')
    def test_one_storage_is_stored_once(self):
        with start(shared_tensors) as batches:
            base, same, half, square, *split = next(iter(batches))
            self.assertIs(base, same)
            base += 1
            self.assertEqual((half[0], square[0, 0], split[7][1023]), (1, 4097, 8192))

    def test_every_view_keeps_the_segment(self):
        def read(view):
            return numpy.asarray(view).reshape(-1)[0]
        makers = {
            'slice': lambda x: x[10:20], 'turned': lambda x: x.reshape(128, 128).T, 'memoryview': memoryview,
            'bytes': lambda x: x.view('u1')[4:8].view('f4'), 'dlpack': lambda x: numpy.from_dlpack(x),
        }
        if HAS_TORCH:
            import torch
            makers['tensor'] = torch.from_numpy
            makers['tensor slice'] = lambda x: torch.from_numpy(x)[5:].detach().numpy()
            makers['tensor by dlpack'] = torch.from_dlpack
        for name, make in makers.items():
            with self.subTest(name), start(sources.arrays, 8) as batches:
                iteration = iter(batches)
                next(iteration)
                view = make(next(iteration))
                self.assertEqual(batches.stats.held_units, 1)
                self.assertEqual(read(view), 1)
                del view
                self.assertEqual(batches.stats.held_units, 0)

    def test_an_unused_capsule_keeps_nothing(self):
        with start(sources.arrays, 200) as batches:
            for batch in batches:
                batch.__dlpack__()
                del batch

    def test_they_outlive_everything(self):
        def get(how):
            batches = start(sources.arrays, 3)
            kept = [batch[:] for batch in batches]
            how(batches)
            return kept

        def kill(batches):
            batches._process.kill()
            batches._process.join()

        for how in (lambda batches: batches.close(), kill, lambda batches: batches._arena.unlink(), lambda batches: None):
            kept = get(how)
            self.assertEqual([float(view.sum()) for view in kept], [0, 16384, 2 * 16384])
            kept[0][:] = 5
        del kept
        with open('/proc/self/maps') as maps:
            self.assertNotIn('memfd:arena', maps.read())

    def test_ring_outputs_are_ones_own(self):
        with start(sources.arrays, 100, storage=arena.SharedMemoryRingBuffer(2 * sources.BIG)) as batches:
            kept = list(batches)
            self.assertEqual([int(batch[-1]) for batch in kept], list(range(100)))
            kept[0][:] = 7
            self.assertEqual(batches.stats.occupancy, 0)

    def test_read_only(self):
        storage = arena.SharedMemorySegmentPool(sources.BIG, 4, read_only=True)
        with start(sources.arrays, 3, storage=storage) as batches:
            batch = next(iter(batches))
            for write in (lambda: batch.fill(1), lambda: batch[:10].fill(1), lambda: memoryview(batch).__setitem__(0, 1)):
                with self.assertRaises((ValueError, TypeError)):
                    write()
            with self.assertRaises(ValueError):
                batch.flags.writeable = True
            with open('/proc/self/maps') as maps:
                mapped = [line.split()[1] for line in maps if f'{batch.__array_interface__["data"][0]:x}' in line]
            self.assertEqual([access[1] for access in mapped], ['-'])
        with start(sources.blobs, 3, storage=arena.SharedMemorySegmentPool(sources.BIG, 4, read_only=True)) as batches:
            self.assertTrue(next(iter(batches)).readonly)
        if HAS_TORCH:
            storage = arena.SharedMemorySegmentPool(sources.BIG, 4, read_only=True)
            with start(shared_tensors, storage=storage) as batches:
                batch = next(iter(batches))
                batch[0][0] = 9  # a copy: there are no tensors that can't be written to

    def test_writing_shows_in_the_segment(self):
        with start(sources.arrays, 1) as batches:
            batch = next(iter(batches))
            other = batch[3:4]
            batch[3] = 77
            self.assertEqual(other[0], 77)


if __name__ == '__main__':
    tap.main()
