# SPDX-License-Identifier: LGPL-2.1-or-later
"""The worker of the tests, in Python: worker.py count N BYTES | types | fail N | hang N | torn N | bad |
other_order"""
import array
import sys
import time

import gi
gi.require_version('Arena', '1.0')
from gi.repository import Arena, GLib

MODE, *NUMBERS = sys.argv[1:]
N, N_BYTES = (*map(int, NUMBERS), 0, 0)[:2]


def count():
    for i in range(N):
        yield {'x': array.array('f', [i]) * (N_BYTES // 4)}


def types():
    import numpy
    names = ['i1', 'i2', 'i4', 'i8', 'u1', 'u2', 'u4', 'u8', 'f2', 'f4', 'f8', 'c8', 'c16']
    numbers = [numpy.arange(6000).astype(name).reshape(60, 100) for name in names]
    odd = [numpy.arange(6000) % 2 == 0, numpy.float32(7), numpy.zeros((0, 3), 'f4')]
    yield numbers + odd

    x = numpy.arange(6000, dtype='f4').reshape(60, 100)
    yield {
        'fortran': numpy.asfortranarray(x), 'transposed': x.T, 'reversed': x[::-1], 'sparse': x[::2, ::3],
        'bytes': b'abc', 'bytearray': bytearray(b'abcd'), 'memoryview': memoryview(b'abcdef')[1:5],
        'shaped': memoryview(bytearray(24)).cast('i', (2, 3)), 'every second': memoryview(b'abcdef')[::2], 'empty': b'',
    }

    handles = GLib.Variant('a{sv}', {
        'array': GLib.Variant('h', 0), 'list': GLib.Variant('ah', [0, 1]), 'name': GLib.Variant('s', 'n'),
        'tuple': GLib.Variant('(imhms)', (3, 1, None)), 'deep': GLib.Variant('v', GLib.Variant('a{sh}', {'one': 1})),
    })
    yield {'first': x, 'second': b'abc', 'value': handles}
    yield GLib.Variant('as', ['only', 'a', 'value'])


def fail():
    yield from count_small()
    raise LookupError('lost ☃')


def count_small():
    for i in range(N):
        yield bytes([i])


def hang():
    yield from count_small()
    time.sleep(1000)


class Torn:
    @property
    def __array_interface__(self):
        raise LookupError('lost ☃')


def torn():
    yield from count_small()
    yield [bytes(5000), Torn()]


def bad():
    yield [b'good', {'not': 'bytes'}]


def other_order():
    import numpy
    yield numpy.arange(3, dtype='>i4')


Arena.produce(globals()[MODE])
