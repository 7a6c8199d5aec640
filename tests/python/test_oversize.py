# SPDX-License-Identifier: LGPL-2.1-or-later
"""F157: an item that doesn't fit fails, or with oversize='spill' travels in memory of its own."""
import functools
import unittest

import arena
import sources
import tap

MAKERS = (functools.partial(arena.SharedMemorySegmentPool, sources.BIG, 4),
          functools.partial(arena.SharedMemoryRingBuffer, 2 * sources.BIG))
LARGE = functools.partial(sources.blobs, 4, 3 * sources.BIG)


class TestOversize(unittest.TestCase):
    def test_spill(self):
        for make in MAKERS:
            with self.subTest(make=make):
                made = make(oversize='spill')
                self.assertEqual(made.oversize, 'spill')
                with arena.iterate_in_subprocess(LARGE, arena=made) as batches:
                    kept = list(batches)  # they hold nothing of the arena
                    self.assertEqual(batches.stats.held_units, 0)
                    self.assertGreaterEqual(batches.stats.spilled_bytes, 12 * sources.BIG)
                for i, batch in enumerate(kept):
                    self.assertEqual(bytes(batch), bytes([i]) * (3 * sources.BIG))

    def test_error(self):
        for make in MAKERS:
            with self.subTest(make=make), arena.iterate_in_subprocess(LARGE, arena=make()) as batches:
                self.assertEqual(batches._arena.oversize, 'error')
                with self.assertRaisesRegex(arena.WorkerError, str(3 * sources.BIG)):
                    list(batches)

    def test_other_words(self):
        for make in MAKERS:
            with self.assertRaisesRegex(ValueError, "'error' or 'spill'"):
                make(oversize='drop')


if __name__ == '__main__':
    tap.main()
