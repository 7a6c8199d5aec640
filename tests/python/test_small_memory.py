# SPDX-License-Identifier: LGPL-2.1-or-later
"""Parts can be larger than the memory that they share, or leave most of it out, and contain themselves."""
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


def overlaps():
    """As many bytes as their memory has, but some of them several times."""
    strided, windows = numpy.lib.stride_tricks.as_strided, numpy.lib.stride_tricks.sliding_window_view
    yield [strided(numpy.arange(65. * 65), (65, 65), (33 * 8, 33 * 8))]
    yield [windows(numpy.arange(48. * 32).reshape(48, 32), (16, 16))[::32, ::8]]


def parts():
    """Of more than a segment has; the second time what is bytes is known to be large."""
    own = numpy.arange(12500.)
    for _ in range(2):
        yield [own[:3750], bytes(5000)]
    yield [own[:3300], own[8000:11300]]


def cycles():
    cycle = [bytes(10000)]
    cycle.append(cycle)
    yield [cycle, {'cycle': cycle, 'bytes': b'x' * 10000}]


def as_array(value):
    return value if isinstance(value, numpy.ndarray) else numpy.frombuffer(value, 'u1')


class TestSmallMemory(unittest.TestCase):
    def arenas(self):
        yield arena.SharedMemorySegmentPool(1 << 20, 4)
        yield arena.SharedMemorySegmentPool(1 << 20, 4, read_only=True)
        yield arena.SharedMemoryRingBuffer(1 << 21)

    def check(self, make, made):
        with self.subTest(arena=made), arena.iterate_in_subprocess(make, arena=made) as batches:
            for got, sent in zip(batches, make(), strict=True):
                for one, other in zip(got, sent, strict=True):
                    numpy.testing.assert_array_equal(as_array(one), as_array(other))
                del got, one

    def test_repeats(self):
        for made in self.arenas():
            self.check(repeats, made)

    def test_overlaps(self):
        for made in self.arenas():
            self.check(overlaps, made)

    def test_parts(self):
        for made in (arena.SharedMemorySegmentPool(65536, 4), arena.SharedMemoryRingBuffer(65536)):
            self.check(parts, made)

    def test_cycles(self):
        for made in self.arenas():
            with self.subTest(arena=made), arena.iterate_in_subprocess(cycles, arena=made) as batches:
                cycle, values = next(iter(batches))
                self.assertIs(cycle[1], cycle)
                self.assertIs(values['cycle'], cycle)
                self.assertEqual((bytes(cycle[0]), bytes(values['bytes'])), (bytes(10000), b'x' * 10000))


if __name__ == '__main__':
    tap.main()
