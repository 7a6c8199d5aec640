# SPDX-License-Identifier: LGPL-2.1-or-later
"""F31: an arena of one's own in Python, called as the library calls it: test_backend.py"""
import unittest

import gi
gi.require_version('Arena', '1.0')
from gi.repository import Arena, Gio, GLib, GObject

import tap


class Heap(GObject.Object, Arena.Backend, Arena.Writer, Arena.Reader):
    """Bytes of this process: one object is all three. Nothing is a subclass, and nothing is registered."""
    zero_copy = GObject.Property(type=bool, default=False)

    def __init__(self):
        super().__init__()
        self.memory, self.unit, self.ended = bytearray(), 0, []

    def do_open_writer(self):
        return self

    def do_open_reader(self):
        return self

    def do_shutdown(self):
        return True

    def do_close(self):
        raise GLib.Error.new_literal(Arena.error_quark(), 'held', Arena.Error.BUSY)

    def do_unlink(self):
        raise LookupError('no name')

    def do_start_epoch(self, epoch):
        return True

    def do_begin_unit(self, expected_size, timeout, cancellable):
        self.unit = len(self.memory)
        return True

    def do_write(self, data):
        self.memory += data.get_data()
        return True, len(self.memory) - data.get_size()

    def do_commit_unit(self):
        return True, len(self.memory)

    def do_abort_unit(self):
        del self.memory[self.unit:]
        return True

    def do_enter_epoch(self, epoch):
        return True

    def do_read(self, span, offset, size):
        return GLib.Bytes.new(bytes(self.memory[offset:offset + size]))

    def do_end_unit(self, span):
        self.ended.append(span)
        return True


class TestBackend(unittest.TestCase):
    def test_round_trip(self):
        heap = Heap()
        writer, reader = Arena.Backend.open_writer(heap), Arena.Backend.open_reader(heap)
        Arena.Writer.start_epoch(writer, 1)
        Arena.Reader.enter_epoch(reader, 1)
        for text in (b'one', b'another'):
            Arena.Writer.begin_unit(writer, 8, -1, None)
            offset = Arena.Writer.write(writer, GLib.Bytes.new(text))[1]
            span = Arena.Writer.commit_unit(writer)[1]
            self.assertEqual(Arena.Reader.read(reader, span, offset, len(text)).get_data(), text)
            Arena.Reader.end_unit(reader, span)
        self.assertEqual(heap.ended, [3, 10])
        Arena.Writer.begin_unit(writer, 8, -1, None)
        Arena.Writer.write(writer, GLib.Bytes.new(b'gone'))
        Arena.Writer.abort_unit(writer)
        self.assertEqual(len(heap.memory), 10)

    def test_errors(self):
        """An error of the library's is passed on; Python's own becomes one, for C sees neither it nor a success."""
        heap = Heap()
        self.assertTrue(Arena.Backend.shutdown(heap))
        for call, code in ((Arena.Backend.close, Arena.Error.BUSY), (Arena.Backend.unlink, Arena.Error.BACKEND),
                           (lambda heap: Arena.Backend.save(heap, Gio.UnixFDList()), Arena.Error.NOT_SUPPORTED)):
            with self.assertRaises(GLib.Error) as raised:
                call(heap)
            self.assertTrue(raised.exception.matches(Arena.error_quark(), code), raised.exception)


if __name__ == '__main__':
    tap.main()
