# SPDX-License-Identifier: LGPL-2.1-or-later
"""F25 F86 F126 F129 F165 C79: one worker for every iteration, and each is whole."""
import asyncio
import functools
import os
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

    def test_an_ended_loop_stays_so(self):
        with start(sources.blobs, 2) as batches:
            ended = iter(batches)
            self.assertEqual(len(numbers(ended)), 2)
            next(iter(batches))
            self.assertEqual(numbers(ended), [])
        self.assertEqual(numbers(ended), [])

    def closed(self):
        """Whatever asks for an item then, nothing that could be taken for the end of the items."""
        return self.assertRaisesRegex(arena.ClosedError, 'The worker process is shutdown. Cannot iterate again')

    def test_closed(self):
        with start(sources.blobs, 3) as batches:
            for kept in batches:
                break
            older, iteration = iter(batches), iter(batches)
            next(iteration)
        for _ in range(2):
            for again in iter, aiter:
                with self.closed():
                    again(batches)
            for loop in older, iteration:
                with self.closed():
                    next(loop)
            batches.close()
        self.assertTrue(issubclass(arena.ClosedError, RuntimeError))  # as SPDL's
        self.assertEqual(bytes(kept), bytes(sources.BIG))

    def test_an_arena_serves_one_worker(self):
        pool = arena.SharedMemorySegmentPool(sources.BIG, 4)
        make = functools.partial(sources.blobs, 3)
        arena.iterate_in_subprocess(make, arena=pool).close()
        with self.assertRaisesRegex(arena.ClosedError, 'SharedMemorySegmentPool.* served another worker.*one for each'):
            arena.iterate_in_subprocess(make, arena=pool)

    def test_closed_without_waiting(self):
        """A worker that has to be killed leaves no zombie and no warning."""
        batches = start(sources.slow, 60, 3, 1)
        with self.assertNoLogs('arena'):
            batches.close(0)
        self.assertFalse(os.path.exists(f'/proc/{batches.pid}'))

    def test_closed_before_the_first_item(self):
        with start(sources.blobs, 3) as batches:
            iteration = iter(batches)
        with self.closed():
            next(iteration)

    def test_closed_beside_tasks(self):
        async def main():
            batches = start(sources.slow, 60, 3, 1)
            iteration = aiter(batches)
            self.assertEqual(await anext(iteration), 0)
            waiting = asyncio.create_task(anext(iteration))
            await asyncio.sleep(0.1)
            batches.close(0)
            with self.closed():
                await asyncio.wait_for(waiting, 5)
            with self.closed():
                await anext(iteration)
        asyncio.run(main())


if __name__ == '__main__':
    tap.main()
