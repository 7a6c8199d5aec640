# SPDX-License-Identifier: LGPL-2.1-or-later
"""One unit through arena._fast, which is either of two modules: ARENA_NATIVE says which is tested."""
import os
import signal
import threading
import time
import unittest

import numpy

from ends import Arena, Ends, UINT8, field
from arena import _fast
from arena._fast import address_of, receive, send

import tap

BIG = bytes(range(256)) * 32


def roundtrip(ends, payload, fields):
    send(ends.producer, payload, fields, 0)
    return receive(ends.consumer, 0)


class TestUnits(unittest.TestCase):
    def test_module(self):
        native = os.environ['ARENA_NATIVE'] == '1'
        self.assertEqual(_fast.NATIVE, native)
        self.assertEqual({function.__module__ for function in (send, receive, address_of)},
                         {'arena._native' if native else 'arena._plain'})

    def test_payload_alone(self):
        with Ends() as ends:
            for payload in (b'', b'p', b'\0' * 7, BIG, bytes(16000)):
                self.assertEqual(roundtrip(ends, payload, []), (payload, [], None))
            ends.producer.finish_iteration()
            self.assertIsNone(receive(ends.consumer, 0))
            self.assertIsNone(receive(ends.consumer, -1))
            ends.begin()
            self.assertEqual(roundtrip(ends, b'next', ())[0], b'next')

    def test_the_envelope_is_of_no_language(self):
        """F75 F146: what fields are can be read without the pickle, which is marked as one; and a unit without any takes no
        room in the arena."""
        with Ends(count=2) as ends:
            f4 = numpy.arange(2400, dtype='f4').reshape(2, 30, 40)
            send(ends.producer, b'no pickle at all', [(f4, f4.nbytes, Arena.DType.FLOAT32, f4.shape, None)], 0)
            unit = ends.consumer.next(0)
            layout = unit.dup_field(0)
            self.assertEqual((layout.get_dtype(), tuple(layout.get_shape())), (Arena.DType.FLOAT32, f4.shape))
            numpy.testing.assert_array_equal(unit.array(), f4)
            payload, content_type = unit.copy_payload()
            self.assertEqual((bytes(payload), content_type), (b'no pickle at all', 'application/x-python-pickle'))
            del unit, layout

            inline = [roundtrip(ends, b'x' * 4000, []) for _ in range(8)]
            self.assertEqual((len(inline), ends.held), (8, 0))
            self.assertEqual(ends.arena.dup_stats().get_occupancy(), 0)

    def test_fields(self):
        f4 = numpy.arange(2400, dtype='f4').reshape(2, 30, 40)
        arrays = [f4, numpy.asfortranarray(f4), f4.transpose(1, 2, 0), f4.view('i2'), numpy.frombuffer(BIG, 'u1')]
        types = [Arena.DType.FLOAT32] * 3 + [Arena.DType.INT16, UINT8]
        fields = [(array, array.nbytes, dtype, array.shape, array.strides) for array, dtype in zip(arrays, types)]
        # Nothing looks at an address before C does.
        fields[2] = (arrays[2].__array_interface__['data'][0], *fields[2][1:])
        fields += [(data, 6000, UINT8, [60, 100], None) for data in (BIG, bytearray(BIG), memoryview(BIG))]
        arrays += [numpy.frombuffer(BIG, 'u1', 6000).reshape(60, 100)] * 3
        with Ends(segment_size=1 << 17) as ends:
            payload, received, owner = roundtrip(ends, b'eight', fields)
            self.assertEqual((payload, len(received)), (b'eight', 8))
            for array, (_, size, dtype, shape, strides), (offset, *got) in zip(arrays, fields, received):
                self.assertEqual(got, [size, dtype, tuple(shape), None if array.flags.c_contiguous else strides])
                self.assertEqual(offset % 64, 0)
                view = numpy.ndarray(shape, array.dtype, owner, offset, strides)
                self.assertTrue((view == array).all())

    def test_many_fields(self):
        """More of them, of more dimensions, than a record has room for without an allocation."""
        shapes = [(4096,) + (1,) * (i % 8) for i in range(100)]
        with Ends(segment_size=1 << 19) as ends:
            fields = [(bytes([i % 251]) * 4096, 4096, UINT8, shape, None) for i, shape in enumerate(shapes)]
            payload, received, owner = roundtrip(ends, b'many', fields)
            self.assertEqual((payload, [shape for _, _, _, shape, _ in received]), (b'many', shapes))
            view = memoryview(owner).cast('B')
            for i, (offset, size, *_) in enumerate(received):
                self.assertEqual((size, view[offset], view[offset + 4095]), (4096, i % 251, i % 251))

    def test_read_only(self):
        with Ends() as ends:
            for read_only in (False, True):
                send(ends.producer, b'', [field(BIG)], 0)
                owner = receive(ends.consumer, 0, read_only)[2]
                self.assertEqual(memoryview(owner).readonly, read_only)
                array = numpy.ndarray(len(BIG), 'u1', owner)
                self.assertEqual(array.flags.writeable, not read_only)
                if not read_only:
                    array[3] = 7
                    self.assertEqual(memoryview(owner).cast('B')[3], 7)

    def test_ring(self):
        with Ends(arena=Arena.Ring(capacity=1 << 16)) as ends:
            for i in range(50):
                data = bytes([i]) * 20000
                (_, (received,), owner) = roundtrip(ends, b'', [field(data)])
                self.assertEqual(memoryview(owner).cast('B')[received[0]:].tobytes(), data)

    def test_addresses(self):
        array = numpy.arange(24.).reshape(4, 6)
        for data in (array, array.T, memoryview(array), array.view('u1')):
            self.assertEqual(address_of(data), array.__array_interface__['data'][0])
        array.flags.writeable = False
        self.assertEqual(address_of(array), array.__array_interface__['data'][0])
        data = b'abcd'
        self.assertEqual(address_of(memoryview(data)[1:3]), address_of(data) + 1)
        self.assertIsInstance(address_of(b''), int)
        for wrong in (array[:, ::2], memoryview(b'abcd')[::2]):
            with self.assertRaises((BufferError, ValueError)):
                address_of(wrong)
        with self.assertRaises(TypeError):
            address_of('text')


class TestErrors(unittest.TestCase):
    """Each is of the override's class and has what a GLib.Error has."""

    def fails(self, error, call, *arguments):
        with self.assertRaises(error) as caught:
            call(*arguments)
        exception = caught.exception
        self.assertIs(type(exception), error)
        self.assertEqual(exception.domain, 'arena-error-quark')
        self.assertTrue(exception.matches(Arena.error_quark(), exception.code))
        self.assertTrue(exception.message)
        return exception

    def test_times(self):
        with Ends() as ends:
            self.fails(Arena.WouldBlockError, receive, ends.consumer, 0)
            self.fails(Arena.InvalidArgumentError, receive, ends.consumer, -2)
            self.fails(Arena.InvalidArgumentError, send, ends.producer, b'', [], -2)
            for timeout in (1, 30_000, 150_000):
                began = time.monotonic()
                self.fails(Arena.TimedOutError, receive, ends.consumer, timeout)
                self.assertGreaterEqual(time.monotonic() - began, timeout / 1e6)
            self.assertEqual(roundtrip(ends, b'after', [])[0], b'after')

    def test_storage_is_short(self):
        with Ends(count=1, buffer_size=3) as ends:
            kept = roundtrip(ends, b'first', [field(BIG)])
            self.fails(Arena.WouldBlockError, send, ends.producer, b'second', [field(BIG)], 0)
            self.fails(Arena.TimedOutError, send, ends.producer, b'second', [field(BIG)], 120_000)
            del kept
            self.assertEqual(roundtrip(ends, b'second', [field(BIG)])[0], b'second')
            self.fails(Arena.TooLargeError, send, ends.producer, b'', [field(bytes(1 << 17))], -1)

    def test_starved(self):
        """BUSY comes when starve-timeout says so, though a wait is made of slices that are shorter."""
        with Ends(count=1) as ends:
            ends.consumer.set_starve_timeout(250_000)
            kept = roundtrip(ends, b'', [field(BIG)])
            try:
                send(ends.producer, b'', [field(BIG)], 0)
            except Arena.WouldBlockError:
                pass
            began = time.monotonic()
            self.fails(Arena.BusyError, receive, ends.consumer, -1)
            self.assertGreaterEqual(time.monotonic() - began, 0.25)
            del kept

    def test_remote(self):
        with Ends() as ends:
            ends.producer.fail('LookupError', 'lost ☃', 'a traceback', 7)
            error = self.fails(Arena.WorkerError, receive, ends.consumer, -1)
            self.assertEqual((error.remote.get_type_name(), error.remote.get_item()), ('LookupError', 7))
            self.assertIn('lost ☃', error.message)

    def test_ends(self):
        with Ends() as ends:
            consumer, producer = ends.consumer, ends.producer
        self.fails(Arena.ClosedError, receive, consumer, -1)
        self.fails(Arena.ClosedError, send, producer, b'', [], -1)

    def test_bad_fields(self):
        unfit = [
            ((BIG, 100, 12345, (100,), None), Arena.InvalidArgumentError),
            ((BIG, 100, UINT8, (101,), None), Arena.InvalidArgumentError),
            ((0, 100, UINT8, (100,), None), Arena.InvalidArgumentError),
            (('text', 4, UINT8, (4,), None), TypeError),
        ]
        with Ends() as ends:
            for bad, error in unfit:
                with self.assertRaises(error, msg=bad):
                    send(ends.producer, b'', [field(BIG), bad], 0)
            self.assertEqual(roundtrip(ends, b'good', [field(BIG)])[0], b'good')


class TestWaits(unittest.TestCase):
    class Interrupt(Exception):
        pass

    def interrupted(self, call, *arguments):
        def handler(*_):
            raise self.Interrupt
        old = signal.signal(signal.SIGALRM, handler)
        signal.setitimer(signal.ITIMER_REAL, 0.15)
        began = time.monotonic()
        try:
            with self.assertRaises(self.Interrupt):
                call(*arguments)
        finally:
            signal.signal(signal.SIGALRM, old)
        self.assertGreaterEqual(time.monotonic() - began, 0.1)

    def test_signals(self):
        with Ends(count=1) as ends:
            self.interrupted(receive, ends.consumer, -1)
            kept = roundtrip(ends, b'first', [field(BIG)])
            self.interrupted(send, ends.producer, b'second', [field(BIG)], -1)
            del kept
            self.assertEqual(roundtrip(ends, b'third', [field(BIG)])[0], b'third')

    def test_handler_that_returns(self):
        """It runs meanwhile, and the wait goes on."""
        ran = []
        old = signal.signal(signal.SIGALRM, lambda *_: ran.append(True))
        try:
            with Ends() as ends:
                signal.setitimer(signal.ITIMER_REAL, 0.02)
                with self.assertRaises(Arena.TimedOutError):
                    receive(ends.consumer, 300_000)
                self.assertEqual(ran, [True])
        finally:
            signal.signal(signal.SIGALRM, old)

    def test_another_thread_receives(self):
        came = []
        with Ends() as ends:
            thread = threading.Thread(target=lambda: came.append(receive(ends.consumer, -1)))
            thread.start()
            time.sleep(0.03)
            send(ends.producer, b'here', [], 0)
            thread.join()
        self.assertEqual(came, [(b'here', [], None)])

    def test_another_thread_releases(self):
        with Ends(count=1) as ends:
            kept = [roundtrip(ends, b'', [field(BIG)])]
            timer = threading.Timer(0.03, kept.clear)
            timer.start()
            send(ends.producer, b'', [field(BIG)], -1)
            timer.join()
            self.assertEqual(ends.held, 0)


if __name__ == '__main__':
    tap.main()
