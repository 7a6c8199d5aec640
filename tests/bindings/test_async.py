# SPDX-License-Identifier: LGPL-2.1-or-later
"""The asynchronous calls seen from Python, with nothing but the typelib: test_async.py BATCHES-WORKER"""
import asyncio
import os
import signal
import struct
import sys
import unittest

import gi
gi.require_version('Arena', '1.0')
from gi.repository import Arena, Gio, GLib

import tap

WORKER = sys.argv[1]
PATIENCE = 10_000_000


def start_worker():
    return Arena.Worker.new(Arena.Pool.new(4 << 20, 4), [WORKER], 2)


def first_of(unit):
    """The first element; element i of batch i is i."""
    return struct.unpack('f', unit.dup_bytes(0).get_data()[:4])[0]


class AsyncTest(unittest.TestCase):
    def setUp(self):
        self.loop = GLib.MainLoop()
        self.timer = GLib.timeout_add_seconds(10, self.give_up)
        self.gave_up = False

    def tearDown(self):
        if not self.gave_up:
            GLib.source_remove(self.timer)

    def give_up(self):
        self.gave_up = True
        self.loop.quit()

    def run_loop(self):
        self.loop.run()
        self.assertFalse(self.gave_up)

    def call(self, method, finish, *arguments):
        """What a call gives, or its error."""
        got = []

        def done(source, result):
            try:
                got.append(finish(result))
            except GLib.Error as error:
                got.append(error)
            self.loop.quit()

        method(*arguments, done)
        self.run_loop()
        return got[0]

    def next(self, worker, timeout=PATIENCE, cancellable=None):
        return self.call(worker.next_async, worker.next_finish, timeout, cancellable)

    def close(self, worker):
        self.assertTrue(self.call(worker.close_async, worker.close_finish, PATIENCE, None))

    def assert_error(self, error, domain, code):
        self.assertIsInstance(error, GLib.Error)
        self.assertTrue(error.matches(domain, code), error)


class TestCallbacks(AsyncTest):
    def test_an_epoch(self):
        worker = self.call(Arena.Worker.new_async, Arena.Worker.new_finish, Arena.Pool.new(4 << 20, 4), [WORKER], 2,
                           GLib.PRIORITY_DEFAULT, None)
        for i in range(8):
            self.assertEqual(first_of(self.next(worker)), i)
        self.assertIsNone(self.next(worker))
        self.close(worker)
        self.assertEqual(worker.props.state, Arena.ConsumerState.CLOSED)

    def test_stop(self):
        worker = start_worker()
        self.assertEqual(first_of(self.next(worker)), 0)
        self.assertTrue(self.call(worker.stop_async, worker.stop_finish, PATIENCE, None))
        self.assertIsNone(self.next(worker))
        self.close(worker)

    def test_errors(self):
        error = self.call(Arena.Worker.new_async, Arena.Worker.new_finish, Arena.Pool.new(4096, 2),
                          ['/nonexistent/worker'], 2, GLib.PRIORITY_DEFAULT, None)
        self.assert_error(error, Arena.error_quark(), Arena.Error.INVALID_ARGUMENT)

        worker = Arena.Worker.new(Arena.Pool.new(4096, 2), ['sleep', '60'], 2)
        self.assert_error(self.next(worker, 0), Arena.error_quark(), Arena.Error.WOULD_BLOCK)
        self.assert_error(self.next(worker, 10000), Arena.error_quark(), Arena.Error.TIMED_OUT)
        cancellable = Gio.Cancellable()
        GLib.timeout_add(10, cancellable.cancel)
        self.assert_error(self.next(worker, -1, cancellable), Gio.io_error_quark(), Gio.IOErrorEnum.CANCELLED)

    def test_killed(self):
        worker = start_worker()
        seen = []
        worker.connect('closed', lambda worker, error: seen.append(error))
        self.assertEqual(first_of(self.next(worker)), 0)
        os.kill(worker.get_pid(), signal.SIGKILL)
        while isinstance(got := self.next(worker), Arena.Unit):
            pass
        self.assert_error(got, Arena.error_quark(), Arena.Error.PEER_GONE)
        self.assertEqual(len(seen), 1)
        self.assert_error(seen[0], Arena.error_quark(), Arena.Error.PEER_GONE)

    def test_source(self):
        worker = start_worker()
        worker.start()
        seen = []

        def ready(*_):
            unit = worker.next(0)
            if unit is None:
                self.loop.quit()
                return GLib.SOURCE_REMOVE
            seen.append(first_of(unit))
            return GLib.SOURCE_CONTINUE

        source = worker.create_source(None)
        source.set_callback(ready)
        source.attach(None)
        self.run_loop()
        self.assertEqual(seen, list(range(8)))
        self.close(worker)


class TestAsyncio(unittest.TestCase):
    """A main loop of another make, through the descriptor."""

    @staticmethod
    async def next(worker):
        loop = asyncio.get_running_loop()
        while True:
            try:
                return worker.next(0)
            except GLib.Error as error:
                if not error.matches(Arena.error_quark(), Arena.Error.WOULD_BLOCK):
                    raise
            ready = loop.create_future()
            loop.add_reader(worker.get_fd(), ready.set_result, None)
            try:
                await ready
            finally:
                loop.remove_reader(worker.get_fd())

    async def read(self, worker):
        seen = []
        while (unit := await self.next(worker)) is not None:
            seen.append(first_of(unit))
        return seen

    def test_two_workers(self):
        async def main():
            return await asyncio.wait_for(asyncio.gather(self.read(start_worker()), self.read(start_worker())), 10)

        self.assertEqual(asyncio.run(main()), [list(range(8))] * 2)

    def test_killed(self):
        async def main():
            worker = start_worker()
            self.assertEqual(first_of(await asyncio.wait_for(self.next(worker), 10)), 0)
            os.kill(worker.get_pid(), signal.SIGKILL)
            await asyncio.wait_for(self.read(worker), 10)

        with self.assertRaises(GLib.Error) as raised:
            asyncio.run(main())
        self.assertTrue(raised.exception.matches(Arena.error_quark(), Arena.Error.PEER_GONE), raised.exception)


if __name__ == '__main__':
    tap.main()
