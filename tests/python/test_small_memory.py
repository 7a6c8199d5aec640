# SPDX-License-Identifier: LGPL-2.1-or-later
"""Parts can be larger than the memory that they share, and contain themselves."""
import unittest

import numpy

import arena
import tap

COUNT = 342  # 2736 bytes


def repeats():
    for i in range(5):
        own = numpy.arange(float(COUNT)) + 1000 * i
        windows = numpy.lib.stride_tricks.as_strided(own, (40, 300), (8, 8))
        yield [numpy.broadcast_to(own, (3, COUNT)), numpy.broadcast_to(own, (2, COUNT)), windows, windows[1:]]


def cycles():
    cycle = [bytes(10000)]
    cycle.append(cycle)
    yield [cycle, {'cycle': cycle, 'bytes': b'x' * 10000}]


class TestSmallMemory(unittest.TestCase):
    def arenas(self):
        yield arena.SharedMemorySegmentPool(1 << 20, 4)
        yield arena.SharedMemorySegmentPool(1 << 20, 4, read_only=True)
        yield arena.SharedMemoryRingBuffer(1 << 21)

    def test_repeats(self):
        for made in self.arenas():
            with self.subTest(arena=made), arena.iterate_in_subprocess(repeats, arena=made) as batches:
                for got, sent in zip(batches, repeats(), strict=True):
                    for one, other in zip(got, sent, strict=True):
                        numpy.testing.assert_array_equal(one, other)
                    del got, one

    def test_cycles(self):
        for made in self.arenas():
            with self.subTest(arena=made), arena.iterate_in_subprocess(cycles, arena=made) as batches:
                cycle, values = next(iter(batches))
                self.assertIs(cycle[1], cycle)
                self.assertIs(values['cycle'], cycle)
                self.assertEqual((bytes(cycle[0]), bytes(values['bytes'])), (bytes(10000), b'x' * 10000))


if __name__ == '__main__':
    tap.main()
