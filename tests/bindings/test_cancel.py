# SPDX-License-Identifier: LGPL-2.1-or-later
"""Asynchronous calls that are cancelled before, during and after, or whose main loop leaves amid them: test_cancel.py"""
import os
import signal
import unittest

import gi
gi.require_version('Arena', '1.0')
from gi.repository import Arena, Gio, GLib

import tap

SHORT, LONG = 20, 10_000  # milliseconds


def pair():
    consumer = Arena.Consumer(backend=Arena.Pool(segment_size=4096, count=4), buffer_size=1)
    return consumer, Arena.Producer.new_from_fd(consumer.dup_worker_fd())


class CancelTest(unittest.TestCase):
    def turn(self, milliseconds, until=lambda: False):
        """A main loop of its own, for so long or until something is done."""
        loop, done = GLib.MainLoop(), []
        GLib.timeout_add(1, lambda: not until() or loop.quit())
        timer = GLib.timeout_add(milliseconds, lambda: done.append(loop.quit()))
        loop.run()
        if not done:
            GLib.source_remove(timer)

    def begin(self, call, finish, cancellable):
        """Where the result, or the error, will be."""
        results = []

        def done(source, result):
            try:
                results.append(finish(result))
            except GLib.Error as error:
                results.append(error)

        call(cancellable, done)
        return results

    def settle(self, results):
        self.turn(LONG, lambda: results)
        self.assertEqual(len(results), 1)
        return results[0]

    def assert_cancelled(self, result):
        self.assertIsInstance(result, GLib.Error)
        self.assertTrue(result.matches(Gio.io_error_quark(), Gio.IOErrorEnum.CANCELLED), result)

    def check(self, call, finish, complete):
        """What complete() makes end; returns its result."""
        cancelled = Gio.Cancellable()
        cancelled.cancel()
        self.assert_cancelled(self.settle(self.begin(call, finish, cancelled)))

        during = Gio.Cancellable()
        results = self.begin(call, finish, during)
        self.turn(SHORT)
        self.assertEqual(results, [])
        during.cancel()
        self.assert_cancelled(self.settle(results))

        after = Gio.Cancellable()
        results = self.begin(call, finish, after)
        self.turn(SHORT)  # this loop quits in the middle
        self.assertEqual(results, [])
        complete()
        result = self.settle(results)
        after.cancel()
        self.turn(SHORT)
        self.assertEqual(results, [result])
        self.assertNotIsInstance(result, GLib.Error)
        return result


class TestCancel(CancelTest):
    def test_next(self):
        consumer, producer = pair()
        consumer.start()
        producer.wait_iteration(-1, None)
        unit = self.check(lambda *rest: consumer.next_async(-1, *rest), consumer.next_finish,
                          lambda: producer.send(b'one'))
        self.assertEqual(bytes(unit.array()), b'one')
        producer.send(b'two')
        self.assertEqual(bytes(consumer.next().array()), b'two')

    def test_stop(self):
        consumer, producer = pair()
        consumer.start()
        producer.wait_iteration(-1, None)
        self.assertTrue(self.check(lambda *rest: consumer.stop_async(-1, *rest), consumer.stop_finish,
                                   producer.finish_iteration))
        self.assertIsNone(consumer.next())

    def test_wait_iteration(self):
        consumer, producer = pair()
        self.assertEqual(self.check(lambda *rest: producer.wait_iteration_async(-1, *rest),
                                    producer.wait_iteration_finish, consumer.start), (True, 1))

    def test_begin_unit(self):
        consumer, producer = pair()
        consumer.start()
        producer.wait_iteration(-1, None)
        producer.send(b'one')
        builder = self.check(lambda *rest: producer.begin_unit_async(0, -1, *rest), producer.begin_unit_finish,
                             consumer.next)
        builder.append(b'two')
        builder.commit()
        self.assertEqual(bytes(consumer.next().array()), b'two')

    def test_close(self):
        backend = Arena.Pool(segment_size=4096, count=2)
        worker = Arena.Worker(backend=backend, argv=['sleep', '60'], buffer_size=1)
        self.assertTrue(self.check(lambda *rest: worker.close_async(-1, *rest), worker.close_finish,
                                   lambda: os.kill(worker.get_pid(), signal.SIGKILL)))
        self.assertEqual(worker.props.state, Arena.ConsumerState.CLOSED)

    def test_new_worker(self):
        """It waits for nobody: what was cancelled too late is handed over, and what was cancelled leaves the arena."""
        backend = Arena.Pool(segment_size=4096, count=2)
        cancellable = Gio.Cancellable()
        cancellable.cancel()
        arguments = (backend, ['sleep', '60'], 1, GLib.PRIORITY_DEFAULT)
        self.assert_cancelled(self.settle(self.begin(lambda *rest: Arena.Worker.new_async(*arguments, *rest),
                                                     Arena.Worker.new_finish, cancellable)))
        cancellable = Gio.Cancellable()
        results = self.begin(lambda *rest: Arena.Worker.new_async(*arguments, *rest), Arena.Worker.new_finish, cancellable)
        self.assertEqual(results, [])
        cancellable.cancel()
        worker = self.settle(results)
        os.kill(worker.get_pid(), signal.SIGKILL)
        worker.close()


if __name__ == '__main__':
    tap.main()
