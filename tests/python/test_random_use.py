# SPDX-License-Identifier: LGPL-2.1-or-later
"""F86 F87 F141: boundaries of every kind, left, restarted, closed, dropped and killed at random; nothing is left of any."""
import functools
import os
import random
import signal
import unittest

import numpy

import arena
import tap

N_BOUNDARIES, N_ITEMS = 40, 120


class Items:
    """(i, a value full of i); others in each iteration, but the same i."""

    def __init__(self, seed):
        self.rng = random.Random(seed)

    def __iter__(self):
        for i in range(N_ITEMS):
            yield i, self.rng.choice([self.lent, self.bytes, self.list, self.turned, self.text, self.dict])(i)

    def lent(self, i):
        value = arena.empty(self.rng.randrange(10, 20000), 'f4')
        value[:] = i
        return value

    def bytes(self, i):
        return bytes([i]) * self.rng.randrange(1, 60000)

    def list(self, i):
        return [numpy.full(self.rng.randrange(1, 9000), i, 'f4') for _ in range(3)]

    def turned(self, i):
        return numpy.full((self.rng.randrange(1, 100), 50), i).T

    def text(self, i):
        return chr(i) * self.rng.randrange(1, 9000)

    def dict(self, i):
        return {'sparse': numpy.full(5000, i, 'i4')[::2], 'bytes': [bytearray([i]) * 5000]}


class TestRandomUse(unittest.TestCase):
    def check(self, i, value):
        if isinstance(value, str):
            self.assertEqual(set(value), {chr(i)})
        elif isinstance(value, (list, dict)):
            for part in value.values() if isinstance(value, dict) else value:
                self.check(i, part)
        else:
            array = value if isinstance(value, numpy.ndarray) else numpy.frombuffer(value, 'u1')
            self.assertEqual((array.min(), array.max()), (i, i))

    def make_arena(self, rng):
        return rng.choice([
            lambda: arena.SharedMemorySegmentPool(1 << 18, rng.randrange(3, 8), reuse=rng.choice(['any', 'in-order']),
                                                  read_only=rng.random() < 0.3),
            lambda: arena.SharedMemoryRingBuffer(1 << 20),
        ])()

    def iterate(self, batches, stop):
        n = 0
        for i, value in batches:
            self.assertEqual(i, n)
            self.check(i, value)
            del value
            n += 1
            if n == stop:
                return
        self.assertEqual(n, N_ITEMS)

    def use(self, rng):
        batches = arena.iterate_in_subprocess(functools.partial(Items, rng.random()), arena=self.make_arena(rng),
                                              buffer_size=rng.randrange(1, 5), mp_context='fork', timeout=30)
        killed = False
        try:
            for _ in range(rng.randrange(1, 5)):
                self.iterate(batches, rng.choice([1, 3, 50, 1000]))
                if rng.random() < 0.1:
                    killed = True
                    os.kill(batches.pid, signal.SIGKILL)
        except arena.WorkerError as error:
            self.assertTrue(killed)
            self.assertEqual(error.exitcode, -signal.SIGKILL)
        if rng.random() < 0.5:
            batches.close()
        pid = batches.pid
        del batches
        with self.assertRaises(ProcessLookupError):
            os.kill(pid, 0)

    def test_nothing_is_left(self):
        def count():
            with open('/proc/self/maps') as maps:
                return len(os.listdir('/proc/self/fd')), maps.read().count('/memfd:')

        rng = random.Random(7)
        self.use(rng)
        before = count()
        for _ in range(N_BOUNDARIES):
            self.use(rng)
            self.assertEqual(count(), before)


if __name__ == '__main__':
    tap.main()
