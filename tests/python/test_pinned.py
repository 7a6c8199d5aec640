# SPDX-License-Identifier: LGPL-2.1-or-later
"""F38: pin_memory of the two arenas, against a runtime without a device; where there is none it says so."""
import functools
import os
import unittest

import arena
import sources
import tap
from gi.repository import GLib

MAKERS = (functools.partial(arena.SharedMemorySegmentPool, sources.BIG, 4),
          functools.partial(arena.SharedMemoryRingBuffer, 4 * sources.BIG))


class TestPinned(unittest.TestCase):
    def test_values_and_statistics(self):
        for make in MAKERS:
            with self.subTest(make=make):
                made = make(pin_memory=True)
                self.assertTrue(made.pin_memory)
                with arena.iterate_in_subprocess(functools.partial(sources.blobs, 6), arena=made) as batches:
                    for i, batch in enumerate(batches):
                        self.assertEqual(bytes(batch), bytes([i]) * sources.BIG)
                        self.assertGreaterEqual(batches.stats.pinned_bytes, sources.BIG)
                        del batch

    def test_left_early_three_times(self):
        """C84: no thread is there to die between two iterations."""
        for make in MAKERS:
            with self.subTest(make=make), \
                    arena.iterate_in_subprocess(functools.partial(sources.blobs, 20), arena=make(pin_memory=True)) as batches:
                for _ in range(3):
                    for i, batch in enumerate(batches):
                        self.assertEqual(bytes(batch), bytes([i]) * sources.BIG)
                        if i == 5:
                            break
                    del batch
                self.assertEqual(len(list(map(len, batches))), 20)

    def test_nothing_is_pinned_unasked(self):
        for make in MAKERS:
            made = make()
            self.assertFalse(made.pin_memory)
            with arena.iterate_in_subprocess(functools.partial(sources.blobs, 2), arena=made) as batches:
                self.assertEqual(len(list(map(len, batches))), 2)
                self.assertEqual(batches.stats.pinned_bytes, 0)

    def test_without_a_runtime(self):
        child = os.fork()
        if child == 0:
            os.environ['ARENA_CUDART'] = '/nonexistent'
            try:
                arena.iterate_in_subprocess(functools.partial(sources.blobs, 2), arena=MAKERS[0](pin_memory=True))
            except GLib.Error as error:
                os._exit(0 if error.domain == 'arena-cuda-error-quark' else 2)
            os._exit(3)
        self.assertEqual(os.waitpid(child, 0)[1], 0)


if __name__ == '__main__':
    tap.main()
