# SPDX-License-Identifier: LGPL-2.1-or-later
"""F173: arrays that are made in the arena are yielded without a copy."""
import functools
import importlib.util
import unittest

import numpy

import arena
import sources
import tap

SHAPE = 64, 256
SIZE = 4 * 64 * 256


def fill(n):
    for i in range(n):
        batch = arena.empty(SHAPE, 'f4')
        batch[:] = i
        yield {'x': batch, 'i': i}
        if batch.flags.writeable:
            raise AssertionError('writable after it was sent')
        del batch


def fill_two(n):
    x, y = arena.empty(SHAPE, 'f4'), arena.empty(SIZE, 'u1')
    x[:], y[:] = 1, 2
    yield [y[100:], x.T, x, numpy.full(SHAPE, 3, 'f4'), y]


def fill_tensor(n):
    import torch
    batch = torch.from_numpy(arena.empty(SHAPE, 'f4'))
    batch.fill_(7)
    yield batch[1:]


def discard(n):
    for i in range(n):
        arena.empty(SHAPE, 'f4')
        yield numpy.full(SHAPE, i, 'f4')


def scratch(n):
    for i in range(n):
        batch = arena.empty(SHAPE, 'f4')
        batch[:] = i
        yield batch.astype('f8')


def disguised(n):
    for i in range(n):
        batch = arena.empty(SHAPE, 'f4')
        batch[:] = i
        yield memoryview(batch).cast('B').cast('f')


def dropped(n):
    for i in range(n):
        arena.empty(SHAPE, 'f4')
        batch = arena.empty(SHAPE, 'f4')
        batch[:] = i
        yield batch
        del batch


def keep(n):
    kept = []
    for i in range(n):
        kept.append(arena.empty(SHAPE, 'f4'))
        yield kept[-1]


def small(n):
    yield arena.empty((2, 3), 'i2')


def start(function, n=1, count=3, segment_size=SIZE):
    pool = arena.SharedMemorySegmentPool(segment_size, count)
    return arena.iterate_in_subprocess(functools.partial(sources.call, function, n), arena=pool, buffer_size=1)


class TestEmpty(unittest.TestCase):
    def test_many(self):
        with start(fill, 50) as batches:
            n = 0
            for batch in batches:
                self.assertEqual((batch['i'], batch['x'].shape, batch['x'].min(), batch['x'].max()), (n, SHAPE, n, n))
                n += 1
                del batch
            self.assertEqual(n, 50)

    def test_stopped_while_it_waits(self):
        with start(fill, 50) as batches:
            for _ in range(5):
                for batch in batches:
                    break
                del batch
            n = 0
            for batch in batches:
                self.assertEqual(batch['x'].max(), n)
                del batch
                n += 1
            self.assertEqual(n, 50)

    def test_nothing_is_copied(self):
        """The copy would not fit."""
        with start(fill_two, segment_size=3 * SIZE) as batches:
            y_end, x_turned, x, other, y = next(iter(batches))
            self.assertEqual((y_end.shape, set(y_end)), ((SIZE - 100,), {2}))
            self.assertEqual((x_turned.shape, x_turned.strides), (SHAPE[::-1], (4, 1024)))
            y[100], x[3, 5] = 77, 78
            self.assertEqual((y_end[0], x_turned[5, 3], other[0, 0]), (77, 78, 3))

    @unittest.skipUnless(importlib.util.find_spec('torch'), 'no torch')
    def test_tensor(self):
        with start(fill_tensor) as batches:
            batch = next(iter(batches))
            self.assertEqual((tuple(batch.shape), batch.sum().item()), ((63, 256), 7 * 63 * 256))

    def test_what_is_not_yielded(self):
        with start(discard, 10) as batches:
            self.assertEqual([int(batch[0, 0]) for batch in batches], list(range(10)))

    def test_who_uses_them_otherwise(self):
        for function, dtype in (scratch, 'f8'), (disguised, 'f4'), (dropped, 'f4'):
            with self.subTest(function=function), start(function, 10, segment_size=4 * SIZE) as batches:
                self.assertEqual([numpy.asarray(batch).ravel()[0] for batch in batches], list(range(10)))

    def test_dropped_ones_take_no_room(self):
        with start(dropped, 10) as batches:
            self.assertEqual([int(batch[0, 0]) for batch in batches], list(range(10)))

    def test_who_keeps_them_all_is_told(self):
        with start(keep, 10) as batches:
            with self.assertRaisesRegex(arena.WorkerError, 'BusyError'):
                for batch in batches:
                    del batch

    def test_small(self):
        with start(small) as batches:
            self.assertEqual(next(iter(batches)).shape, (2, 3))

    def test_only_in_a_worker(self):
        with self.assertRaisesRegex(RuntimeError, 'that a worker iterates over'):
            arena.empty(3)


if __name__ == '__main__':
    tap.main()
