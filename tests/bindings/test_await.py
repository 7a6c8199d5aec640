# SPDX-License-Identifier: LGPL-2.1-or-later
"""A consumer as an asynchronous iterable: test_await.py WORKER"""
import asyncio
import os
import signal
import sys
import unittest

import gi
gi.require_version('Arena', '1.0')
from gi.repository import Arena

import tap

WORKER = sys.argv[1]


def start(*arguments):
    pool = Arena.Pool(segment_size=1 << 20, count=4)
    return Arena.Worker(backend=pool, argv=[sys.executable, WORKER, *map(str, arguments)], buffer_size=2)


class TestAwait(unittest.IsolatedAsyncioTestCase):
    async def test_twice_while_the_loop_turns(self):
        turns = 0

        async def turn():
            nonlocal turns
            while True:
                await asyncio.sleep(0.001)
                turns += 1

        other = asyncio.create_task(turn())
        with start('count', 50, 1 << 20) as worker:
            for _ in range(2):
                self.assertEqual([unit.array('x')[0] async for unit in worker], list(range(50)))
        other.cancel()
        self.assertGreater(turns, 0)

    async def test_failure(self):
        with start('fail', 2) as worker:
            units = aiter(worker)
            self.assertEqual([(await anext(units)).array()[0] for _ in range(2)], [0, 1])
            with self.assertRaises(Arena.WorkerError):
                await anext(units)
            with self.assertRaises(StopAsyncIteration):
                await anext(units)

    async def test_cancelled(self):
        with start('count', 5, 64) as worker:
            self.assertIsNotNone(await anext(aiter(worker)))
            with start('hang', 0) as hanging:
                with self.assertRaises(asyncio.TimeoutError):
                    await asyncio.wait_for(anext(aiter(hanging)), 0.2)
                os.kill(hanging.get_pid(), signal.SIGKILL)
            self.assertEqual(len([unit async for unit in worker]), 5)

    async def test_another_task_releases(self):
        with start('count', 8, 1 << 20) as worker:
            kept, n = [], 0
            async for unit in worker:
                kept.append(unit)
                del unit
                n += 1
                if len(kept) == 4:
                    asyncio.get_running_loop().call_later(0.3, kept.clear)
            self.assertEqual(n, 8)


if __name__ == '__main__':
    tap.main()
