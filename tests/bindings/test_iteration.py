# SPDX-License-Identifier: LGPL-2.1-or-later
"""A consumer as an iterable: test_iteration.py WORKER"""
import gc
import os
import signal
import subprocess
import sys
import threading
import time
import unittest

import gi
gi.require_version('Arena', '1.0')
from gi.repository import Arena

import tap

WORKER = sys.argv[1]
N_UNITS, N_BYTES = 2000, 4 << 20


def start(*arguments, count=4, segment_size=1 << 20):
    pool = Arena.Pool(segment_size=segment_size, count=count)
    return Arena.Worker(backend=pool, argv=[sys.executable, WORKER, *map(str, arguments)], buffer_size=2)


def resident():
    """Private and shared pages, in bytes."""
    with open('/proc/self/statm') as statm:
        return int(statm.read().split()[1]) * os.sysconf('SC_PAGE_SIZE')


class Cycle:
    """What only a collector frees."""

    def __init__(self, kept):
        self.cycle, self.kept = self, kept


class TestIteration(unittest.TestCase):
    def test_twice(self):
        with start('count', 5, 8192) as worker:
            for _ in range(2):
                self.assertEqual([unit.array('x')[0] for unit in worker], [0, 1, 2, 3, 4])
            self.assertEqual(worker.dup_stats().get_units(), 10)

    def test_break_and_again(self):
        with start('count', 50, 8192) as worker:
            for unit in worker:
                if unit.array('x')[0] == 2:
                    break
            del unit
            self.assertEqual([unit.array('x')[0] for unit in worker], list(range(50)))

    def test_end_is_sticky(self):
        with start('count', 2, 8192) as worker:
            units = iter(worker)
            self.assertEqual(len(list(units)), 2)
            self.assertEqual(list(units), [])
            self.assertIsNone(worker.next())

    def test_dropping_all_ends_the_worker(self):
        gc.disable()
        worker = start('count', 50, 8192)
        pid = worker.get_pid()
        for _ in range(2):
            units = iter(worker)
            next(units)
        del worker
        os.kill(pid, 0)
        del units
        with self.assertRaises(ProcessLookupError):
            os.kill(pid, 0)
        gc.enable()

    def test_empty(self):
        with start('count', 0, 8192) as worker:
            self.assertEqual(list(worker), [])

    def test_timeouts(self):
        with start('hang', 0) as worker:
            with self.assertRaises(Arena.WouldBlockError):
                worker.next(0)
            for timeout in (50_000, 250_000):
                began = time.monotonic()
                with self.assertRaises(Arena.TimedOutError):
                    worker.next(timeout)
                self.assertLess(timeout / 1e6 - 0.01, time.monotonic() - began)
            os.kill(worker.get_pid(), signal.SIGKILL)

    def test_closed_by_another_thread(self):
        worker = start('hang', 0)
        units = iter(worker)
        threading.Timer(0.3, lambda: (os.kill(worker.get_pid(), signal.SIGKILL), worker.close())).start()
        with self.assertRaises((Arena.ClosedError, Arena.PeerGoneError)):
            next(units)


class TestStarvation(unittest.TestCase):
    def test_busy_names_the_units(self):
        with start('count', 50, 1 << 20) as worker:
            kept = []
            began = time.monotonic()
            with self.assertRaisesRegex(Arena.BusyError, 'Units 0, 1, 2, 3 are held here.*segment of unit 0'):
                for unit in worker:
                    kept.append(unit)
            self.assertLess(time.monotonic() - began, 5)
            self.assertEqual((len(kept), worker.get_starve_timeout()), (4, -1))
            # Nothing was lost: what is released now lets the same iteration go on.
            del unit
            kept.clear()
            self.assertEqual(sum(1 for _ in iter(worker.next, None)), 46)

    def test_views_are_held_too(self):
        with start('count', 50, 1 << 20) as worker:
            kept = []
            with self.assertRaises(Arena.BusyError):
                for unit in worker:
                    kept.append(unit.array('x')[5:6])
                    unit.release()

    def test_packed_units_are_held_too(self):
        with start('count', 50, 1 << 20) as worker:
            kept = []
            with self.assertRaises(Arena.BusyError):
                while len(kept) < 50:
                    kept.append(worker.next_packed(20_000_000)[1])
            self.assertEqual((len(kept), worker.get_starve_timeout()), (4, -1))

    def test_next_is_busy_too(self):
        with start('count', 50, 1 << 20) as worker:
            kept = [worker.next() for _ in range(4)]
            for timeout in (-1, 60_000_000):
                began = time.monotonic()
                with self.assertRaisesRegex(Arena.BusyError, 'Units 0, 1, 2, 3 are held here'):
                    worker.next(timeout)
                self.assertLess(time.monotonic() - began, 5)
                self.assertEqual(worker.get_starve_timeout(), -1)
            with self.assertRaises(Arena.WouldBlockError):
                worker.next(0)
            kept.clear()
            self.assertEqual(sum(1 for _ in iter(worker.next, None)), 46)

    def test_one_collection_in_a_wait(self):
        """Which is several of C: of a large heap each would take as long as the wait."""
        with start('count', 50, 1 << 20) as worker:
            kept = [worker.next() for _ in range(4)]
            n_collections = 0

            def count(phase, info):
                nonlocal n_collections
                n_collections += phase == 'stop' and info['generation'] == 2
            timer = threading.Timer(1, kept.clear)
            gc.callbacks.append(count)
            try:
                timer.start()
                worker.next()
            finally:
                gc.callbacks.remove(count)
                timer.join()
            self.assertIn(n_collections, (1, 2))

    def test_an_excepthook_that_is_set_meanwhile(self):
        def hook(*error):
            pass
        before = sys.excepthook
        self.addCleanup(setattr, sys, 'excepthook', before)
        with start('count', 50, 1 << 20) as worker:
            kept = [worker.next() for _ in range(4)]
            timers = [threading.Timer(0.3, setattr, (sys, 'excepthook', hook)), threading.Timer(0.6, kept.clear)]
            for timer in timers:
                timer.start()
            worker.next()
            self.assertIs(sys.excepthook, hook)

    def test_handlers_are_called_too(self):
        """Whenever they were connected."""
        with start('count', 12, 1 << 20) as worker:
            kept, calls = [], []
            worker.connect('starved', lambda worker, n_held: calls.append('before'))
            kept.append(worker.next())
            worker.connect('starved', lambda worker, n_held: calls.append('after') or kept.clear())
            kept += iter(worker.next, None)
            self.assertEqual(calls, ['before', 'after'] * 2)

    def test_a_collection_may_help(self):
        with start('count', 50, 1 << 20) as worker:
            n = 0
            for unit in worker:
                Cycle(unit.array('x'))
                n += 1
            self.assertEqual(n, 50)

    def test_another_thread_may_help(self):
        with start('count', 8, 1 << 20) as worker:
            kept, n = [], 0
            for unit in worker:
                kept.append(unit.array('x'))
                del unit
                n += 1
                if len(kept) == 4:
                    threading.Timer(0.3, kept.clear).start()
            self.assertEqual(n, 8)

    def test_own_timeout_is_kept(self):
        with start('count', 50, 1 << 20) as worker:
            worker.set_starve_timeout(300_000)
            kept = []
            began = time.monotonic()
            with self.assertRaises(Arena.BusyError):
                for unit in worker:
                    kept.append(unit)
            self.assertGreater(time.monotonic() - began, 0.29)
            self.assertEqual(worker.get_starve_timeout(), 300_000)


class TestManyUnits(unittest.TestCase):
    """2000 units of 4 MiB through two segments, without a collector."""

    def setUp(self):
        gc.collect()
        gc.disable()

    def tearDown(self):
        gc.enable()

    def run_through(self, release):
        with start('count', N_UNITS, N_BYTES, count=2, segment_size=N_BYTES) as worker:
            peak = 0
            for i, unit in enumerate(worker):
                x = unit.array('x')
                if x[0] != i or x[-1] != i:
                    self.fail(f'unit {i} has {x[0]}, {x[-1]}')
                del x
                if release:
                    unit.release()
                del unit
                if i == 10:
                    base = resident()
                peak = max(peak, resident()) if i % 100 == 0 else peak
            self.assertEqual(i, N_UNITS - 1)
            self.assertLess(peak - base, 16 << 20)

    def test_without_release(self):
        self.run_through(False)

    def test_with_release(self):
        self.run_through(True)


class Listener:
    def __init__(self, worker):
        self.worker, self.n_changes = worker, 0
        worker.connect('notify::state', self.on_state)

    def on_state(self, worker, pspec):
        self.n_changes += 1


class TestListeners(unittest.TestCase):
    def test_cycles_end(self):
        """C106: a bound method of what holds the worker keeps nothing once that is collected, closed before or not."""
        finalized = []

        def use(close):
            listener = Listener(start('count', 2, 8192))
            self.assertEqual(len(list(listener.worker)), 2)
            self.assertGreater(listener.n_changes, 0)
            listener.worker.weak_ref(finalized.append, True)
            if close:
                listener.worker.close()

        def count():
            gc.collect()
            with open('/proc/self/maps') as maps:
                return len(os.listdir('/proc/self/fd')), maps.read().count('/memfd:arena')

        use(True)
        before = count()
        for i in range(20):
            use(i % 2 == 0)
        self.assertEqual(count(), before)
        self.assertEqual(len(finalized), 21)


class TestInterrupt(unittest.TestCase):
    """Ctrl-C goes to the whole group; the worker ignores it and its consumer ends it."""

    def assert_interruptible(self, wait):
        script = f'''if True:
            import os, sys, gi
            gi.require_version('Arena', '1.0')
            from gi.repository import Arena
            pool = Arena.Pool(segment_size=4096, count=2)
            worker = Arena.Worker(backend=pool, argv=[sys.executable, *sys.argv[1:]], buffer_size=2)
            worker.next()
            print('waiting', flush=True)
            try:
                {wait}
            except KeyboardInterrupt:
                print('interrupted', flush=True)
                os._exit(0)
        '''
        child = subprocess.Popen([sys.executable, '-c', script, WORKER, 'hang', '1'], stdout=subprocess.PIPE, text=True,
                                 start_new_session=True)
        self.assertEqual(child.stdout.readline(), 'waiting\n')
        time.sleep(0.2)
        began = time.monotonic()
        os.killpg(child.pid, signal.SIGINT)
        self.assertEqual(child.stdout.readline(), 'interrupted\n')
        self.assertLess(time.monotonic() - began, 1)
        os.killpg(child.pid, signal.SIGKILL)
        child.wait()
        child.stdout.close()

    def test_next(self):
        self.assert_interruptible('worker.next()')

    def test_next_with_a_timeout(self):
        self.assert_interruptible('worker.next(100_000_000)')

    def test_iteration(self):
        self.assert_interruptible('next(iter(worker))')

    def test_stop(self):
        self.assert_interruptible('worker.stop()')


if __name__ == '__main__':
    tap.main()
