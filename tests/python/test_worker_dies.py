# SPDX-License-Identifier: LGPL-2.1-or-later
"""F127 F138 C26: a worker that goes without a word is noticed at once, and its consumer says how it went."""
import ctypes
import functools
import os
import random
import signal
import threading
import time
import unittest

import arena
import sources
import tap

N_KILLS = 200


def die(how, n):
    yield from (bytes([i]) * sources.BIG for i in range(n))
    how()


def leave():
    os._exit(7)


def kill():
    os.kill(os.getpid(), signal.SIGKILL)


def crash():
    signal.signal(signal.SIGSEGV, signal.SIG_DFL)
    ctypes.string_at(0)


def start(factory, *arguments, **options):
    pool = arena.SharedMemorySegmentPool(sources.BIG, 5)
    return arena.iterate_in_subprocess(functools.partial(factory, *arguments), arena=pool, **options)


class TestWorkerDies(unittest.TestCase):
    def test_says_how(self):
        for how, exitcode, text in ((leave, 7, 'exited with status 7'),
                                    (kill, -9, r'was killed by signal 9 \(SIGKILL\)'),
                                    (crash, -11, r'was killed by signal 11 \(SIGSEGV\)')):
            with self.subTest(text), start(sources.call, die, how, 2) as batches:
                iteration = iter(batches)
                self.assertEqual([next(iteration)[0] for _ in range(2)], [0, 1])
                with self.assertRaisesRegex(arena.WorkerError, f'The worker subprocess quit: process .* {text}') as raised:
                    next(iteration)
                self.assertEqual((raised.exception.exitcode, raised.exception.type_name), (exitcode, None))
                with self.assertRaisesRegex(arena.WorkerError, text):
                    iter(batches)

    def test_at_the_start(self):
        for context in ('spawn', 'forkserver'):
            with self.subTest(context), self.assertRaises(arena.WorkerError):
                start(leave, mp_context=context)

    def test_in_stand_by(self):
        with start(sources.pids, 2) as batches:
            self.assertEqual(len(list(batches)), 2)
            os.kill(batches.pid, signal.SIGKILL)
            with self.assertRaisesRegex(arena.WorkerError, 'signal 9'):
                while True:
                    list(batches)

    def test_at_any_moment(self):
        """Nothing hangs and nothing is left: no descriptor, no mapping, no process."""
        def count():
            with open('/proc/self/maps') as maps:
                return len(os.listdir('/proc/self/fd')), maps.read().count('/memfd:arena')

        rng, before, n_errors = random.Random(1), None, 0
        for i in range(N_KILLS):
            batches = start(sources.blobs, 20, mp_context='fork')
            killer = threading.Timer(rng.uniform(0, 0.004), os.kill, (batches.pid, signal.SIGKILL))
            killer.start()
            began = time.monotonic()
            try:
                for batch in batches:
                    if bytes(batch) != bytes([batch[0]]) * sources.BIG:
                        self.fail('bytes of another unit')
                    del batch
            except arena.WorkerError:
                n_errors += 1
            self.assertLess(time.monotonic() - began, 5)
            killer.join()
            batches.close()
            with self.assertRaises(ProcessLookupError):
                os.kill(batches.pid, 0)
            before = before or (count() if i == 3 else None)
        self.assertEqual(count(), before)
        self.assertGreater(n_errors, 0)


if __name__ == '__main__':
    tap.main()
