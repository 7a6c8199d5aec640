# SPDX-License-Identifier: LGPL-2.1-or-later
"""F163 F164: an iterable among threads, in a worker, and in a child that it wasn't made for."""
import functools
import multiprocessing
import os
import queue
import threading
import time
import unittest

import arena
import sources
import tap


def nest(n):
    return sources.Again(_nest, n)


def _nest(n):
    with arena.iterate_in_subprocess(functools.partial(sources.blobs, n)) as batches:
        for batch in batches:
            yield len(batch), os.getpid(), batches.pid


def start(factory, *arguments, count=5, **options):
    pool = arena.SharedMemorySegmentPool(sources.BIG, count)
    return arena.iterate_in_subprocess(functools.partial(factory, *arguments), arena=pool, **options)


def is_alive(pid):
    try:
        os.kill(pid, 0)
        return True
    except ProcessLookupError:
        return False


def nest_closed():
    """A boundary in the worker that ends by itself, not because somebody has stopped the worker's."""
    inner = arena.iterate_in_subprocess(functools.partial(sources.blobs, 3), mp_context='fork')
    iteration = iter(inner)
    yield len(next(iteration))
    inner._consumer.close(0)
    next(iteration)


class TestThreads(unittest.TestCase):
    def in_thread(self, function):
        result = queue.SimpleQueue()

        def run():
            try:
                result.put(function())
            except Exception as error:
                result.put(error)

        thread = threading.Thread(target=run)
        thread.start()
        self.addCleanup(thread.join)
        return result

    def test_one_thread_waits(self):
        with start(sources.slow, 0.5, 3) as batches:
            iteration = iter(batches)
            result = self.in_thread(lambda: next(iteration))
            time.sleep(0.1)
            with self.assertRaises(arena.BusyError) as raised:
                next(iteration)
            self.assertNotIn('larger count', str(raised.exception))
            self.assertEqual([result.get(), *iteration], [0, 1, 2])

    def test_views_die_in_other_threads(self):
        with start(sources.blobs, 200) as batches:
            batches_to_drop = queue.Queue(2)

            def drop():
                while (batch := batches_to_drop.get()) is not None:
                    del batch

            result = self.in_thread(drop)
            for batch in batches:
                batches_to_drop.put(batch)
                del batch
            batches_to_drop.put(None)
            self.assertIsNone(result.get())
            self.assertEqual(batches.stats.held_units, 0)

    def test_closed_by_another_thread(self):
        batches = start(sources.slow, 60, 3)
        iteration = iter(batches)
        result = self.in_thread(lambda: next(iteration))
        time.sleep(0.1)
        batches.close(0.1)
        self.assertIsInstance(result.get(), (arena.ClosedError, arena.WorkerError))
        self.assertFalse(is_alive(batches.pid))

    def test_made_in_a_thread(self):
        result = self.in_thread(lambda: [batch[0] for batch in start(sources.blobs, 5)])
        self.assertEqual(result.get(), [0, 1, 2, 3, 4])

    def test_a_worker_may_have_a_worker(self):
        with start(nest, 5) as batches:
            items = list(batches)
            self.assertEqual([size for size, *_ in items], [sources.BIG] * 5)
            size, outer, inner = next(iter(batches))
            self.assertEqual(outer, batches.pid)
        deadline = time.monotonic() + 5
        while is_alive(inner) and time.monotonic() < deadline:
            time.sleep(0.01)
        self.assertFalse(is_alive(inner))

    def test_the_end_of_another_boundary_is_an_error(self):
        with start(sources.call, nest_closed) as batches:
            iteration = iter(batches)
            self.assertEqual(next(iteration), sources.BIG)
            with self.assertRaisesRegex(arena.WorkerError, 'ClosedError'):
                next(iteration)

    def test_a_forked_child_ends_nothing(self):
        with start(sources.blobs, 5) as batches:
            iteration = iter(batches)
            next(iteration)
            child = os.fork()
            if child == 0:
                try:
                    next(iteration)
                except Exception:
                    os._exit(3)
                os._exit(4)
            self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), 3)
            self.assertEqual([batch[0] for batch in iteration], [1, 2, 3, 4])

    def test_an_unopened_arena_serves_either(self):
        """And one that is closed is no worry at a fork."""
        pool, closed = arena.SharedMemorySegmentPool(sources.BIG, 4), arena.SharedMemorySegmentPool(sources.BIG, 4)
        closed.unlink()
        child = os.fork()
        if child == 0:
            try:
                with arena.iterate_in_subprocess(functools.partial(sources.blobs, 3), arena=pool) as batches:
                    os._exit(sum(batch[0] for batch in batches))
            finally:
                os._exit(100)
        self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), 3)
        with arena.iterate_in_subprocess(functools.partial(sources.blobs, 3), arena=pool) as batches:
            self.assertEqual([batch[0] for batch in batches], [0, 1, 2])

    def test_a_child_of_multiprocessing_is_told(self):
        """It was the parent that forked, not that anybody closed something."""
        with start(sources.blobs, 5) as batches:
            receiver, sender = multiprocessing.Pipe(False)

            def child():
                try:
                    next(iter(batches))
                except Exception as error:
                    sender.send(type(error).__name__)
            process = multiprocessing.get_context('fork').Process(target=child)
            process.start()
            process.join()
            self.assertTrue(receiver.poll(0))
            self.assertEqual(receiver.recv(), 'ForkedError')
            self.assertEqual([batch[0] for batch in batches], list(range(5)))


if __name__ == '__main__':
    tap.main()
