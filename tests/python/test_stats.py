# SPDX-License-Identifier: LGPL-2.1-or-later
"""F19 F117: what an arena and a boundary count."""
import functools
import unittest

import arena
import sources
import tap


class TestStats(unittest.TestCase):
    def test_pool(self):
        pool = arena.SharedMemorySegmentPool(sources.BIG, 5, label='counted')
        self.assertEqual((pool.stats.units, pool.stats.reserved_bytes, pool.label), (0, 5 * sources.BIG, 'counted'))
        with arena.iterate_in_subprocess(functools.partial(sources.blobs, 20), arena=pool) as batches:
            iteration = iter(batches)
            kept = [next(iteration) for _ in range(3)]
            self.assertEqual(batches.stats.held_units, 3)
            kept.clear()
            self.assertEqual(batches.stats.held_units, 0)
            for batch in iteration:
                del batch
            stats = batches.stats
            self.assertEqual((stats.units, stats.bytes, stats.occupancy), (20, 20 * sources.BIG, 0))
            self.assertLessEqual(stats.peak_occupancy, 5 * sources.BIG)
            self.assertGreaterEqual(stats.consumer_wait_time, 0)
        self.assertEqual(pool.stats.units, 20)
        self.assertRegex(repr(batches), f'process {batches.pid} through SharedMemorySegmentPool')

    def test_ring(self):
        ring = arena.SharedMemoryRingBuffer(4 * sources.BIG)
        with arena.iterate_in_subprocess(functools.partial(sources.blobs, 5), arena=ring) as batches:
            kept = [memoryview(batch) for batch in batches]
            self.assertEqual((ring.stats.units, ring.capacity, len(kept)), (5, 4 * sources.BIG, 5))

    def test_suggest_count(self):
        self.assertEqual([arena.suggest_count(3), arena.suggest_count(2, 4)], [5, 7])
        with self.assertRaises(ValueError):
            arena.suggest_count(0)


if __name__ == '__main__':
    tap.main()
