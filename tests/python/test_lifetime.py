# SPDX-License-Identifier: LGPL-2.1-or-later
"""C35 C36: storage goes with its last alias: not before, and without a collector. Every kind of alias, in any order."""
import gc
import pathlib
import random
import unittest

import numpy

from aliases import array_of, make_alias
from ends import Arena, Ends, field
from arena._codec import Encoder, decode
from arena._fast import receive, send

import tap

SEED = 7251
N_ORDERS = 1000
SIZE = 8192


def content(number):
    return bytes([number % 251]) * SIZE


# What there is of a unit at first.

def as_owner(ends, number, read_only):
    send(ends.producer, b'', [field(content(number))], 0)
    _, ((offset, *_),), owner = receive(ends.consumer, 0, read_only)
    return [numpy.ndarray(SIZE, 'u1', owner, offset), owner, memoryview(owner).cast('B')]


def as_value(ends, number, read_only):
    """Half of the segment each."""
    value = numpy.frombuffer(content(number), 'f4')[:SIZE // 8].copy(), memoryview(bytearray(content(number)))[SIZE // 2:]
    send(ends.producer, *Encoder(SIZE // 2).encode(value), 0)
    return list(decode(*receive(ends.consumer, 0, read_only), True, read_only))


def as_unit(ends, number, read_only):
    send(ends.producer, b'', [field(content(number))], 0)
    unit = ends.consumer.next(0)
    return [unit.array(0), unit, unit.memoryview(0)]


def as_bytes(ends, number, read_only):
    send(ends.producer, b'', [field(content(number))], 0)
    unit = ends.consumer.next(0)
    data = unit.dup_bytes(0)
    return [unit.array(0), data, data.new_from_bytes(5, 90), unit.dup_storage()]


class TestLifetime(unittest.TestCase):
    def setUp(self):
        self.random = random.Random(SEED)
        gc.collect()
        gc.disable()

    def tearDown(self):
        gc.enable()

    def aliases(self, ends, number, read_only=False):
        """A unit's aliases, made from each other, in the order in which they'll go."""
        sources = [as_owner, as_value] + ([] if read_only else [as_unit, as_bytes])
        kept = self.random.choice(sources)(ends, number, read_only)
        for _ in range(self.random.randrange(1, 8)):
            array = array_of(self.random.choice(kept))
            if array is not None:
                kept.append(make_alias(array, self.random))
        self.random.shuffle(kept)
        return kept

    def check_content(self, alias, number):
        array = array_of(alias)
        if array is not None:
            self.assertTrue((array.reshape(-1).view('u1') == number % 251).all())

    def drop(self, ends, kept, number):
        """One after the other; the storage goes with the last."""
        stop = self.random.randrange(len(kept))
        while kept:
            self.assertEqual(ends.held, 1, kept)
            if len(kept) == stop:
                with self.assertRaises(Arena.WouldBlockError):
                    send(ends.producer, b'', [field(content(number + 1))], 0)
            self.check_content(kept[-1], number)
            names = [type(alias).__name__ for alias in kept]
            kept.pop()
        self.assertEqual(ends.held, 0, names)

    def test_any_order(self):
        with Ends(count=1, segment_size=SIZE) as ends:
            for number in range(N_ORDERS):
                self.drop(ends, self.aliases(ends, number), number)

    def test_read_only(self):
        pool = Arena.Pool(segment_size=SIZE, count=1, read_only=True)
        with Ends(arena=pool) as ends:
            for number in range(N_ORDERS // 5):
                self.drop(ends, self.aliases(ends, number, read_only=True), number)

    def test_many_units(self):
        """What is kept of one unit keeps no other."""
        with Ends(arena=Arena.Pool(segment_size=SIZE, count=8, reuse=Arena.Reuse.ANY)) as ends:
            units = []
            for number in range(N_ORDERS // 2):
                while len(units) == 8 or (units and self.random.random() < 0.3):
                    number_of_it, kept = units.pop(self.random.randrange(len(units)))
                    for alias in kept:
                        self.check_content(alias, number_of_it)
                    del alias, kept
                    self.assertEqual(ends.held, len(units))
                units.append((number, self.aliases(ends, number)))

    def test_after_close(self):
        """The mapping of an arena that is gone goes with the last alias too."""
        for number in range(N_ORDERS // 10):
            label = f'lifetime-{number}'
            ends = Ends(arena=Arena.Pool(segment_size=SIZE, count=1, label=label))
            kept = self.aliases(ends, number)
            ends.consumer.close()
            del ends
            while kept:
                self.check_content(kept[-1], number)
                self.assertIn(label, pathlib.Path('/proc/self/maps').read_text())
                kept.pop()
            self.assertNotIn(label, pathlib.Path('/proc/self/maps').read_text())

    def test_of_a_ring(self):
        """Copies last as long, though what follows goes through the same memory."""
        with Ends(arena=Arena.Ring(capacity=4 * SIZE)) as ends:
            units = []
            for number in range(N_ORDERS // 5):
                units.append((number, self.aliases(ends, number)))
                while len(units) > 20:
                    number_of_it, kept = units.pop(self.random.randrange(len(units)))
                    while kept:
                        self.check_content(kept.pop(), number_of_it)
            most = ends.consumer.dup_stats().get_output_bytes()
            self.assertLess(most, 60 * SIZE)


if __name__ == '__main__':
    tap.main()
