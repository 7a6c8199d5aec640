# SPDX-License-Identifier: LGPL-2.1-or-later
"""What only the native module promises."""
import ctypes
import unittest

import numpy

from ends import Arena, Ends, UINT8, field
from gi.repository import Gio, GLib
from arena import _native
from arena._native import address_of, receive, send

import tap

BIG = bytes(range(256)) * 32


def storage_of(ends, read_only=False):
    send(ends.producer, b'', [field(BIG)], 0)
    return receive(ends.consumer, 0, read_only)[2]


class TestStorage(unittest.TestCase):
    def test_exports(self):
        with Ends() as ends:
            storage = storage_of(ends)
            self.assertEqual(storage.n_exports, 0)
            views = [memoryview(storage), numpy.frombuffer(storage, 'f4'), memoryview(storage)]
            self.assertEqual(storage.n_exports, 3)
            more = [views[0][5:], views[1][::2], views[2].cast('i')]  # of those views, not of the storage
            self.assertEqual(storage.n_exports, 3)
            views[0].release()
            del views[1:], more
            self.assertEqual(storage.n_exports, 0)
            del storage
            self.assertEqual(ends.held, 0)

    def test_parts_outside_are_refused(self):
        transfer = Arena.Transfer()
        with Ends() as ends:
            storage = storage_of(ends)
            start = address_of(storage)
            for address, size in ((start, len(BIG) + 1), (start - 1, 1), (start + len(BIG), 1), (start + 1, 2 ** 64 - 1)):
                with self.assertRaisesRegex(ValueError, f'{size} bytes at {address} '):
                    storage.add_to(transfer, address, size)
            self.assertEqual([storage.add_to(transfer, start + i, len(BIG) - i) for i in (0, len(BIG))], [0, 1])
            for transfer in (None, ends.consumer):
                with self.assertRaises(TypeError):
                    storage.add_to(transfer, start, 1)

    def test_views(self):
        with Ends() as ends:
            storage = storage_of(ends)
            view = memoryview(storage)
            self.assertEqual((view.format, view.itemsize, view.shape, view.c_contiguous, view.readonly),
                             ('B', 1, (len(BIG),), True, False))
            self.assertEqual(view, BIG)
            self.assertEqual(address_of(storage), numpy.frombuffer(storage, 'u1').ctypes.data)

    def test_read_only(self):
        with Ends() as ends:
            storage = storage_of(ends, read_only=True)
            array = numpy.ndarray(len(BIG), 'u1', storage)
            self.assertTrue(memoryview(storage).readonly)
            with self.assertRaises(ValueError):
                array.flags.writeable = True
            with self.assertRaises((TypeError, BufferError)):
                ctypes.c_char.from_buffer(storage)
            self.assertEqual(storage.n_exports, 0)

    def test_only_units_have_one(self):
        with self.assertRaises(TypeError):
            _native.Storage()
        with self.assertRaises(TypeError):
            type('Mine', (_native.Storage,), {})
        with self.assertRaises(TypeError):
            _native.Storage.n_exports = 3


class TestRefusals(unittest.TestCase):
    """Wrong arguments are exceptions, and no unit is lost to one."""

    def test_objects(self):
        fake = type('Fake', (), {'__gpointer__': 5})()
        with Ends() as ends:
            for wrong in (None, 3, fake, Gio.Cancellable(), ends.consumer, GLib.Bytes.new(b'abc')):
                with self.assertRaisesRegex(TypeError, 'ArenaProducer'):
                    send(wrong, b'', [], 0)
            for wrong in (None, ends.arena, ends.producer):
                with self.assertRaisesRegex(TypeError, 'ArenaConsumer'):
                    receive(wrong, 0)

    def test_counts(self):
        with Ends() as ends:
            for call, arguments in ((send, (ends.producer, b'', [])), (send, (ends.producer, b'', [], 0, 0)),
                                    (receive, (ends.consumer,)), (receive, (ends.consumer, 0, False, 0))):
                with self.assertRaises(TypeError):
                    call(*arguments)

    def test_fields(self):
        unfit = [
            (3, TypeError),
            ((BIG, 100, UINT8, (100,)), TypeError),
            ([BIG, 100, UINT8, (100,), None], TypeError),
            ((BIG, 8193, UINT8, (8193,), None), ValueError),
            ((BIG, -1, UINT8, (1,), None), OverflowError),
            ((BIG, 1 << 64, UINT8, (1,), None), OverflowError),
            ((BIG, '8', UINT8, (8,), None), TypeError),
            ((BIG, 8, 'f4', (8,), None), TypeError),
            ((BIG, 8, UINT8, 8, None), TypeError),
            ((BIG, 8, UINT8, ('8',), None), TypeError),
            ((BIG, 8, UINT8, (8,), (1, 1)), ValueError),
            ((BIG, 8, UINT8, (8,), ('1',)), TypeError),
            ((-5, 8, UINT8, (8,), None), OverflowError),
            ((None, 8, UINT8, (8,), None), TypeError),
        ]
        with Ends() as ends:
            resizable = bytearray(BIG)
            for bad, error in unfit:
                for good in ([], [field(resizable)] * 20):
                    with self.assertRaises(error, msg=bad):
                        send(ends.producer, b'p', [*good, bad], 0)
            resizable.append(1)  # no buffer of it was left behind
            for wrong in (3, None, 'text', memoryview(BIG)[::2]):
                with self.assertRaises((TypeError, BufferError)):
                    send(ends.producer, wrong, [field(BIG)], 0)
            for wrong in (3, None):
                with self.assertRaises(TypeError):
                    send(ends.producer, b'', wrong, 0)
            for timeout in (1 << 63, 'x', None):
                with self.assertRaises((TypeError, OverflowError)):
                    send(ends.producer, b'', [], timeout)
                with self.assertRaises((TypeError, OverflowError)):
                    receive(ends.consumer, timeout)
            send(ends.producer, memoryview(b'good'), [field(resizable)], 0)
            resizable.append(1)
            self.assertEqual(receive(ends.consumer, 0)[0], b'good')

    def test_shape_that_changes(self):
        """What a number's conversion does to the list it stands in changes nothing any more."""
        class Number:
            def __index__(self):
                strides.clear()
                return 8
        strides = [Number(), 1]
        shape = [100, 8]
        with Ends() as ends:
            send(ends.producer, b'', [(BIG, 800, UINT8, shape, strides), field(BIG)], 0)
            self.assertEqual(receive(ends.consumer, 0)[1][0][3], (100, 8))

    def test_error_of_errors(self):
        """Should the exception not be to be had, that is the exception."""
        with Ends() as ends:
            ends.producer.fail('LookupError', 'lost', None, 0)
            ends.consumer.dup_remote_error = lambda: 1 / 0
            with self.assertRaises(ZeroDivisionError):
                receive(ends.consumer, -1)


if __name__ == '__main__':
    tap.main()
