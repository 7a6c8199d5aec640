# SPDX-License-Identifier: LGPL-2.1-or-later
"""F65 F85 F131 F133 F134 C57: how long each side waits, and what it says then."""
import functools
import gc
import os
import threading
import time
import unittest

import arena
import sources
import tap

try:
    from tqdm import tqdm
except ImportError:
    tqdm = None


def count_ahead(n):
    """What the worker had yielded already when each item was made; slots are the queue's."""
    yield from (time.monotonic() for _ in range(n))


def slow_blobs(n, seconds):
    for i in range(n):
        time.sleep(seconds)
        yield str(i).encode() * sources.BIG


def start(factory, *arguments, count=4, **options):
    options.setdefault('arena', arena.SharedMemorySegmentPool(sources.BIG, count))
    return arena.iterate_in_subprocess(functools.partial(factory, *arguments), **options)


class TestTimeout(unittest.TestCase):
    def test_a_slow_worker_is_alive(self):
        with start(sources.slow, 1, 4, 1, timeout=0.6, mp_context='fork') as batches:
            iteration = iter(batches)
            self.assertEqual(next(iteration), 0)
            began = time.monotonic()
            with self.assertRaisesRegex(TimeoutError, rf'did not produce any data for 0.6 seconds; it is alive.*{batches.pid}'):
                next(iteration)
            self.assertLess(0.59, time.monotonic() - began)
            # It was not given up.
            deadline = time.monotonic() + 10
            got = []
            while len(got) < 3 and time.monotonic() < deadline:
                try:
                    got.append(next(iteration))
                except TimeoutError:
                    pass
            self.assertEqual(got, [1, 2, 3])

    def test_at_the_start(self):
        began = time.monotonic()
        with self.assertRaisesRegex(TimeoutError, 'did not initialize after 0.5 seconds'):
            start(sources.pids, 1, initializer=functools.partial(time.sleep, 60), timeout=0.5)
        self.assertLess(time.monotonic() - began, 5)

    def test_caught_as_what_else_ends_a_loop(self):
        with start(sources.slow, 1, 2, 1, timeout=0.1, mp_context='fork') as batches:
            iteration = iter(batches)
            next(iteration)
            with self.assertRaisesRegex(RuntimeError, 'did not produce any data') as caught:
                next(iteration)
            self.assertEqual((type(caught.exception), isinstance(caught.exception, TimeoutError)),
                             (arena.WorkerTimeoutError, True))

    def test_a_dead_worker_is_not_slow(self):
        with start(sources.slow, 60, 3, 1, timeout=30) as batches:
            iteration = iter(batches)
            next(iteration)
            threading.Timer(0.2, batches._process.kill).start()
            with self.assertRaisesRegex(arena.WorkerError, 'signal 9'):
                next(iteration)


class TestQueue(unittest.TestCase):
    def test_how_far_the_worker_is_ahead(self):
        for buffer_size in (1, 64):
            with start(count_ahead, 70, buffer_size=buffer_size) as batches:
                iteration = iter(batches)
                next(iteration)
                time.sleep(0.3)
                now = time.monotonic()
                self.assertEqual(sum(made < now for made in iteration), buffer_size + 1)


class TestStarvation(unittest.TestCase):
    def test_a_list_of_views(self):
        for buffer_size in (1, 3):
            with start(sources.blobs, 10, timeout=10, buffer_size=buffer_size) as batches:
                began = time.monotonic()
                with self.assertRaisesRegex(arena.BusyError, rf'Units 0, 1, 2, 3 are held.*larger count: {buffer_size + 5}'):
                    list(batches)
                self.assertLess(time.monotonic() - began, 5)

    @unittest.skipIf(tqdm is None, 'no tqdm')
    def test_a_list_of_views_behind_a_progress_bar(self):
        with start(sources.blobs, 10, timeout=10) as batches, open(os.devnull, 'w') as nowhere:
            with self.assertRaisesRegex(arena.BusyError, 'larger count'):
                list(tqdm(batches, file=nowhere))
            self.assertGreater(threading.active_count(), 1)
            tqdm.monitor.exit()

    def test_the_suggested_count_is_enough(self):
        for held in (1, 4):
            with start(sources.blobs, 20, count=arena.suggest_count(3, held)) as batches:
                kept = []
                for batch in batches:
                    kept = [*kept, batch][-held:]
                self.assertEqual([batch[0] for batch in kept], list(range(20 - held, 20)))
                del kept, batch

    def test_what_is_released_lets_it_go_on(self):
        with start(sources.blobs, 10, timeout=10) as batches:
            iteration, kept = iter(batches), []
            with self.assertRaises(arena.BusyError):
                for batch in iteration:
                    kept.append(batch)
            del batch
            kept.clear()
            self.assertEqual([batch[0] for batch in iteration], [4, 5, 6, 7, 8, 9])

    def test_a_collection_may_help(self):
        with start(sources.blobs, 20, timeout=10) as batches:
            gc.disable()
            for batch in batches:
                cycle = [batch]
                cycle.append(cycle)
                del batch, cycle
            gc.enable()

    def test_another_thread_may_help(self):
        with start(sources.blobs, 10, timeout=10) as batches:
            kept, n = [], 0
            for batch in batches:
                kept.append(batch)
                del batch
                n += 1
                if len(kept) == 4:
                    threading.Timer(0.3, kept.clear).start()
            self.assertEqual(n, 10)

    def test_another_thread_does_not_help(self):
        event = threading.Event()
        thread = threading.Thread(target=event.wait)
        thread.start()
        with start(sources.blobs, 10, timeout=2) as batches:
            with self.assertRaisesRegex(TimeoutError, 'all of the arena is held here'):
                list(batches)
        event.set()
        thread.join()


class TestAcquireTimeout(unittest.TestCase):
    def test_for_room(self):
        for timeout in (0, 0.2):
            pool = arena.SharedMemorySegmentPool(sources.BIG, 2, acquire_timeout=timeout)
            with start(sources.blobs, 10, arena=pool, buffer_size=1) as batches, self.subTest(timeout):
                iteration = iter(batches)
                kept = [next(iteration), next(iteration)]
                time.sleep(timeout + 0.5)
                with self.assertRaisesRegex(arena.WorkerError, f'BufferError: no room for {sources.BIG} bytes after '
                                            f'{timeout:g} s.*acquire_timeout.*count'):
                    next(iteration)
                self.assertEqual([batch[0] for batch in kept], [0, 1])

    def test_not_for_the_input(self):
        """Nor does it run while the worker waits for something to send."""
        pool = arena.SharedMemorySegmentPool(sources.BIG, 3, acquire_timeout=0.1)
        with start(slow_blobs, 3, 0.4, arena=pool) as batches:
            self.assertEqual([bytes(batch[:1]) for batch in batches], [b'0', b'1', b'2'])

    def test_not_for_the_queue(self):
        """A worker that is ahead waits for its consumer as long as it takes."""
        pool = arena.SharedMemorySegmentPool(sources.BIG, 5, acquire_timeout=0)
        with start(sources.blobs, 6, arena=pool, buffer_size=1) as batches:
            n = 0
            for batch in batches:
                time.sleep(0.05)
                del batch
                n += 1
            self.assertEqual(n, 6)


if __name__ == '__main__':
    tap.main()
