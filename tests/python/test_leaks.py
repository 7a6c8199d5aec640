# SPDX-License-Identifier: LGPL-2.1-or-later
"""Nothing grows with the number of units, nor with the number of failures, and no collector is needed for that."""
import gc
import os
import pathlib
import sys
import tracemalloc
import unittest

import numpy

from ends import Arena, Ends, UINT8, field
from arena._fast import address_of, receive, send

import tap

N_UNITS = 20_000
BIG = bytes(range(256)) * 32
SELF = pathlib.Path('/proc/self')


def resident():
    return int((SELF / 'statm').read_text().split()[1]) * os.sysconf('SC_PAGESIZE')


def counts():
    """Of what a process can run out of."""
    return len(os.listdir(SELF / 'fd')), len((SELF / 'maps').read_text().splitlines())


class Growth(unittest.TestCase):
    def setUp(self):
        gc.collect()
        gc.disable()

    def tearDown(self):
        gc.enable()

    def check(self, call, n):
        """call() leaves nothing: no memory of the process's, no object, no cycle."""
        for _ in range(n // 10):
            call()
        gc.collect()
        before, opened = resident(), counts()
        for _ in range(n):
            call()
        self.assertLess(resident() - before, 1 << 20)
        self.assertEqual(counts(), opened)
        self.assertEqual(gc.collect(), 0)

        # Now and then something else keeps a little; what leaks does so every time.
        growths = []
        tracemalloc.start()
        try:
            for _ in range(4):
                before = tracemalloc.get_traced_memory()[0]
                for _ in range(100):
                    call()
                growths.append(tracemalloc.get_traced_memory()[0] - before)
        finally:
            tracemalloc.stop()
        self.assertLess(min(growths), 1000, growths)

    def test_units(self):
        array = numpy.arange(2048, dtype='f4').reshape(32, 64)
        fields = [(array, array.nbytes, Arena.DType.FLOAT32, (64, 32), (4, 256)), field(BIG)]
        with Ends() as ends:
            def one():
                send(ends.producer, b'payload', fields, -1)
                payload, received, owner = receive(ends.consumer, -1)
                views = numpy.ndarray((64, 32), 'f4', owner, 0, (4, 256)), memoryview(owner)
                self.assertEqual((payload, views[0][3, 1]), (b'payload', 67))
            self.check(one, N_UNITS)
            self.assertEqual(ends.held, 0)

    def test_ring(self):
        with Ends(arena=Arena.Ring(capacity=1 << 16)) as ends:
            def one():
                send(ends.producer, b'payload', [field(BIG)], -1)
                self.assertEqual(memoryview(receive(ends.consumer, -1)[2]).nbytes, len(BIG))
            self.check(one, 5000)

    def test_iterations(self):
        with Ends() as ends:
            def one():
                send(ends.producer, b'', [field(BIG)], -1)
                ends.producer.finish_iteration()
                while receive(ends.consumer, -1) is not None:
                    pass
                ends.begin()
            self.check(one, 1000)

    def test_failures(self):
        with Ends() as ends:
            failures = [
                (receive, ends.consumer, 0),
                (receive, ends.consumer, -2),
                (receive, ends.producer, 0),
                (send, ends.producer, b'', [field(BIG)], -2),
                (send, ends.producer, b'', [field(bytes(1 << 17))], -1),
                (send, ends.producer, b'', [field(BIG)] * 20 + [(BIG, 100, UINT8, (101,), None)], -1),
                (send, ends.producer, b'', [(BIG, 100, 3, (100,), (1,))], -1),
                (send, ends.producer, b'', [(None, 100, UINT8, (100,), None)], -1),
                (address_of, memoryview(BIG)[::2]),
            ]

            def one():
                for function, *arguments in failures:
                    try:
                        function(*arguments)
                    except Exception:
                        continue
                    self.fail(f'{function} {arguments}')
            self.check(one, 1000)

    def test_references(self):
        data = bytearray(BIG)
        shape, strides, payload = (64, 32), (1, 64), b'a payload of its own'
        one = data, 2048, UINT8, shape, strides
        fields = [one, (memoryview(data), 1 << 14, UINT8, (1 << 14,), None)]
        with Ends() as ends:
            watched = [data, shape, strides, payload, one, fields, ends.producer, ends.consumer]
            before = [sys.getrefcount(thing) for thing in watched]
            for _ in range(20):
                send(ends.producer, payload, fields[:1], -1)
                receive(ends.consumer, -1)
                with self.assertRaises((ValueError, Arena.TooLargeError)):
                    send(ends.producer, payload, [*fields, (data, 1 << 17, UINT8, (1 << 17,), None)], -1)
            self.assertEqual([sys.getrefcount(thing) for thing in watched], before)
            fields.clear()
            data.append(1)  # nobody holds a buffer of it


if __name__ == '__main__':
    tap.main()
