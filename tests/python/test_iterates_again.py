# SPDX-License-Identifier: LGPL-2.1-or-later
"""F25 F86 F126 F129 C79: one worker for every iteration, and each is whole."""
import functools
import unittest

import arena
import sources
import tap


def start(factory, *arguments, **options):
    pool = arena.SharedMemorySegmentPool(segment_size=sources.BIG, count=6)
    return arena.iterate_in_subprocess(functools.partial(factory, *arguments), arena=pool, **options)


def numbers(batches):
    return [batch[0] for batch in batches]


class TestIteratesAgain(unittest.TestCase):
    def test_by_one_worker(self):
        with start(sources.pids, 3) as batches:
            self.assertEqual([list(batches) for _ in range(3)], [[batches.pid] * 3] * 3)

    def test_after_a_break(self):
        with start(sources.blobs, 10) as batches:
            for _ in range(3):
                for batch in batches:
                    if batch[0] == 2:
                        break
                del batch
                self.assertEqual(numbers(batches), list(range(10)))

    def test_after_zip(self):
        with start(sources.blobs, 100) as batches:
            for _, batch in zip(range(3), batches):
                del batch
            self.assertEqual(numbers(batches), list(range(100)))

    def test_the_end_is_sticky(self):
        with start(sources.blobs, 1) as batches:
            iteration = iter(batches)
            self.assertEqual(len(numbers(iteration)), 1)
            self.assertEqual(numbers(iteration), [])

    def test_an_older_loop_says_so(self):
        with start(sources.blobs, 10) as batches:
            older = iter(batches)
            next(older)
            self.assertEqual(len(numbers(batches)), 10)
            with self.assertRaisesRegex(RuntimeError, 'another iteration'):
                next(older)

    def test_a_generator_is_reported(self):
        with start(sources.generator, 5) as batches:
            self.assertEqual(numbers(batches), list(range(5)))
            with self.assertRaisesRegex(arena.WorkerError, 'can be iterated over only once'):
                next(iter(batches))

    def test_closed(self):
        with start(sources.blobs, 3) as batches:
            kept = next(iter(batches))
        with self.assertRaisesRegex(RuntimeError, 'Cannot iterate again'):
            iter(batches)
        self.assertEqual(bytes(kept), bytes(sources.BIG))


if __name__ == '__main__':
    tap.main()
