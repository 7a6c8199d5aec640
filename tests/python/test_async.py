# SPDX-License-Identifier: LGPL-2.1-or-later
"""async for: other tasks go on meanwhile, and may release what the worker waits for."""
import asyncio
import functools
import time
import unittest

import arena
import sources
import tap


def start(factory, *arguments, count=4, **options):
    pool = arena.SharedMemorySegmentPool(sources.BIG, count)
    return arena.iterate_in_subprocess(functools.partial(factory, *arguments), arena=pool, **options)


class TestAsync(unittest.TestCase):
    def test_every_item(self):
        async def main():
            with start(sources.blobs, 50) as batches:
                for _ in range(2):
                    self.assertEqual([batch[0] async for batch in batches], list(range(50)))
        asyncio.run(main())

    def test_other_tasks_go_on(self):
        async def main():
            async def tick():
                nonlocal n_ticks
                while True:
                    await asyncio.sleep(0.01)
                    n_ticks += 1

            n_ticks = 0
            with start(sources.slow, 0.1, 5) as batches:
                ticking = asyncio.create_task(tick())
                self.assertEqual([i async for i in batches], list(range(5)))
                ticking.cancel()
            self.assertGreater(n_ticks, 10)
        asyncio.run(main())

    def test_another_task_releases(self):
        async def main():
            kept = []
            with start(sources.blobs, 12, buffer_size=1) as batches:
                async for batch in batches:
                    kept.append(batch)
                    del batch
                    if len(kept) == 4:
                        asyncio.get_running_loop().call_later(0.1, kept.clear)
        asyncio.run(main())

    def test_errors_and_timeouts(self):
        async def main():
            with start(sources.slow, 60, 3, 1, timeout=0.8, mp_context='fork') as batches:
                iteration = aiter(batches)
                self.assertEqual(await anext(iteration), 0)
                began = time.monotonic()
                with self.assertRaisesRegex(TimeoutError, 'it is alive'):
                    await anext(iteration)
                self.assertLess(time.monotonic() - began, 5)
                batches._process.kill()
                with self.assertRaisesRegex(arena.WorkerError, 'signal 9'):
                    await anext(iteration)
        asyncio.run(main())

    def test_two_tasks(self):
        """Neither of a loop nor of two loops does a task wait for ever."""
        async def main():
            with start(sources.slow, 0.3, 5, mp_context='fork') as batches:
                iteration = aiter(batches)
                await anext(iteration)
                waiting = asyncio.create_task(anext(iteration))
                await asyncio.sleep(0.05)
                with self.assertRaisesRegex(RuntimeError, 'another task is waiting'):
                    await anext(iteration)
                self.assertEqual(await waiting, 1)
                waiting = asyncio.create_task(anext(iteration))
                await asyncio.sleep(0.05)
                self.assertEqual(await anext(aiter(batches)), 0)
                with self.assertRaisesRegex(RuntimeError, 'another iteration'):
                    await asyncio.wait_for(waiting, 5)
        asyncio.run(main())


if __name__ == '__main__':
    tap.main()
