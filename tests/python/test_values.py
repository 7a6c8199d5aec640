# SPDX-License-Identifier: LGPL-2.1-or-later
"""F73 F74 F111 F112 F115 F121 F152 F153 C62 C65 C66 C68 C69: test_values.py VALUES.md, whose table it reads."""
import array
import functools
import pathlib
import pickle
import re
import sys
import threading
import unittest

import numpy

import arena
from arena import _codec
import tap

try:
    import torch
except ImportError:
    torch = None

ROW = re.compile(r'\| `(?P<value>.*)` \| (?P<travels>\w+) \| (?:`(?P<pool>\w+)`)? ?\| (?:`(?P<ring>\w+)`)? ?\|')


class Holder:
    def __init__(self, value):
        self.value = value


class Exporter:
    """As third-party arrays do it."""

    def __init__(self, data):
        self.data = data

    def __reduce_ex__(self, protocol):
        return Exporter, (pickle.PickleBuffer(self.data),)


def frozen(value):
    value.flags.writeable = False
    return value


def make(expressions):
    return [eval(expression) for expression in expressions]


class TestValues(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.rows = [match.groupdict() for match in map(ROW.match, pathlib.Path(sys.argv[1]).read_text().splitlines()) if match]
        if torch is None:
            cls.rows = [row for row in cls.rows if 'torch' not in row['value']]
        cls.sent = [row for row in cls.rows if row['travels'] != 'refused']

    def same(self, one, other):
        if isinstance(one, (bytes, bytearray, memoryview)):
            self.assertEqual(memoryview(one).tobytes(), memoryview(other).tobytes())
            if isinstance(one, memoryview):
                self.assertEqual((one.format, one.shape), (other.format, other.shape))
        elif isinstance(one, numpy.ma.MaskedArray):
            self.assertEqual((one.dtype, one.tolist()), (other.dtype, other.tolist()))
        elif isinstance(one, numpy.ndarray):
            self.assertEqual((one.dtype, one.shape), (other.dtype, other.shape))
            if one.dtype.kind in 'VO':
                self.assertEqual(repr(one.tolist()), repr(other.tolist()))
            else:
                self.assertTrue(numpy.array_equal(one, other))
            self.assertEqual(one.flags.writeable, other.flags.writeable)
            if min(one.strides, default=0) > 0:
                self.assertEqual(one.copy('K').strides, other.strides)
        elif torch is not None and isinstance(one, torch.Tensor):
            self.assertEqual((one.dtype, one.shape, one.requires_grad, one.layout),
                             (other.dtype, other.shape, other.requires_grad, other.layout))
            self.assertTrue(torch.equal(one.to_dense(), other.to_dense()))
            if not one.is_sparse:
                self.assertEqual(one.stride(), other.stride())
        elif isinstance(one, list):
            self.assertEqual(len(one), len(other))
            for pair in zip(one, other):
                self.same(*pair)
        elif isinstance(one, (Holder, Exporter)):
            self.same(*(value for part in (one, other) for value in vars(part).values()))
        else:
            self.assertEqual(one, other)

    def test_there_are_rows(self):
        self.assertGreater(len(self.rows), 25)

    def test_what_becomes_a_field(self):
        for row in self.rows:
            with self.subTest(row['value']):
                encoder = _codec.Encoder(4096)
                value = eval(row['value'])
                if row['travels'] == 'refused':
                    with self.assertRaises((TypeError, pickle.PicklingError, AttributeError)):
                        encoder.encode(value)
                    continue
                payload, fields = encoder.encode(value)
                n_fields = len(fields) - (not payload)
                self.assertEqual(n_fields, row['travels'] == 'field', 'fields')
                if n_fields:
                    self.assertLess(len(payload), 8192)

    def send_all(self, storage, column):
        values = make(row['value'] for row in self.sent)
        factory = functools.partial(make, [row['value'] for row in self.sent])
        with arena.iterate_in_subprocess(factory, arena=storage) as batches:
            for row, value, other in zip(self.sent, values, batches):
                with self.subTest(row['value']):
                    self.assertEqual(type(other).__name__, row[column])
                    self.same(value, other)
                del other

    def test_pool(self):
        self.send_all(arena.SharedMemorySegmentPool(1 << 20, 5), 'pool')

    def test_ring(self):
        self.send_all(arena.SharedMemoryRingBuffer(4 << 20), 'ring')

    def test_bytes(self):
        """A ring rebuilds what was sent. A pool's bytes are where the worker wrote them, so all are a memoryview that can be
        written to."""
        expressions = ["b'x' * 10000", 'bytearray(10000)', 'memoryview(bytes(10000))']
        factory = functools.partial(make, expressions)
        with arena.iterate_in_subprocess(factory, arena=arena.SharedMemoryRingBuffer(1 << 20)) as batches:
            self.assertEqual(list(batches), make(expressions))
        with arena.iterate_in_subprocess(factory, arena=arena.SharedMemorySegmentPool(1 << 20, 5)) as batches:
            for value, other in zip(make(expressions), batches):
                self.assertEqual((type(other), other), (memoryview, value))
                other[9999] = 7
                self.assertEqual((other[-1], other.readonly, batches.stats.held_units), (7, False, 1))
                del other

    def test_another_class_of_the_same_name(self):
        """F122: none of its methods is called, it is only pickled."""
        class ndarray:  # noqa: N801
            def __getattr__(self, name):
                raise AssertionError(name)
            __reduce__ = None
        ndarray.__module__ = 'numpy'
        with self.assertRaises((TypeError, pickle.PicklingError)):
            _codec.Encoder(4096).encode(ndarray())

    def test_refused_by_name_before_a_byte_is_written(self):
        encoder = _codec.Encoder(4096)
        with self.assertRaisesRegex(TypeError, 'lock'):
            encoder.encode([numpy.zeros(10000), threading.Lock()])
        payload, fields = encoder.encode([numpy.zeros(10000)])  # and nothing is left of it
        self.assertEqual(len(fields), 1)

    @unittest.skipIf(torch is None, 'no torch')
    def test_refused_tensors(self):
        encoder = _codec.Encoder(4096)
        for tensor, text in ((torch.zeros(9, requires_grad=True) * 2, r'shape \(9,\).*detach\(\)'),
                             (torch.zeros(9, device='meta'), r'on meta.*cpu\(\)')):
            with self.assertRaisesRegex(TypeError, text):
                encoder.encode([tensor])


if __name__ == '__main__':
    tap.main()
