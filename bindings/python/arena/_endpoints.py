# SPDX-License-Identifier: LGPL-2.1-or-later
"""A pool's or ring's two ends for a queue that isn't the library's, as the protocols of an arena want them.

Such a reader learns a unit's size at its end, but the library's wants its span for every read. So the writer notes the
spans of units in turn, in a small table that both processes have mapped.
"""
from __future__ import annotations

import ctypes
import mmap
import struct
from typing import Any

from gi.repository import Arena, GLib

from . import _plain

_quark = Arena.error_quark()
_word = struct.Struct('<Q')
_N_UNITS, _LAST_SPAN, _N_BYTES, _HEAD, _TAIL, _HEAD_SIZE = range(0, 48, 8)


class Table:
    """How many units with storage there were at the last reset, the last one's span, and their bytes; the bytes of all
    units, and of those that were given back; and the spans of units in turn."""

    def __init__(self, n_units: int, fd: int = -1) -> None:
        self.n_units = n_units
        self._memory = mmap.mmap(fd, self.size)

    @property
    def size(self) -> int:
        return _HEAD_SIZE + self.n_units * _word.size

    def get(self, offset: int) -> int:
        return _word.unpack_from(self._memory, offset)[0]  # type: ignore

    def put(self, offset: int, value: int) -> None:
        _word.pack_into(self._memory, offset, value)

    def place(self, unit: int) -> int:
        return _HEAD_SIZE + unit % self.n_units * _word.size

    @property
    def head(self) -> int:
        return self.get(_HEAD)

    @property
    def tail(self) -> int:
        return self.get(_TAIL)


class Writer:
    def __init__(self, writer: Any, table: Table, zero_copy: bool, acquire_timeout: float | None) -> None:
        self._writer, self._table, self._seconds = writer, table, acquire_timeout
        self._timeout = -1 if acquire_timeout is None else int(acquire_timeout * 1e6)
        self._least = 1 if zero_copy else 0  # a unit of a pool has its segment from the start
        self._n_units = self._last_span = self._size = 0

    def reset(self) -> None:
        self._table.put(_N_UNITS, self._n_units)
        self._table.put(_LAST_SPAN, self._last_span)
        self._table.put(_N_BYTES, self._table.head)

    def begin_unit(self) -> None:
        self._size = 0
        try:
            self._writer.begin_unit(self._least, self._timeout, None)
        except GLib.Error as error:
            raise self._explain(error, 'a unit') from None

    def write_binary(self, data: Any) -> tuple[int, int]:
        view = memoryview(data).cast('B')
        size = view.nbytes
        if size == 0:
            return 0, 0
        try:
            room, offset = self._writer.reserve(size, 64)
        except GLib.Error as error:
            raise self._explain(error, f'{size} bytes') from None
        memoryview((ctypes.c_ubyte * size).from_address(room.get_region(1, 0, size))).cast('B')[:] = view
        self._size += size
        return offset, size

    def _explain(self, error: Any, what: str) -> Exception:
        """What has to do with room is a BufferError, as elsewhere in Python."""
        if error.matches(_quark, Arena.Error.TIMED_OUT) or error.matches(_quark, Arena.Error.WOULD_BLOCK):
            return BufferError(f'no room for {what} after {self._seconds:g} s: the consumer holds its units for '
                               'too long or has stalled; raise acquire_timeout or the size of the arena')
        if error.matches(_quark, Arena.Error.CLOSED):
            return BufferError('the arena was shut down while a unit waited for room')
        return BufferError(error.message) if error.matches(_quark, Arena.Error.TOO_LARGE) else error

    def commit_unit(self) -> int:
        """Returns how many bytes were written; the library's span is the table's to tell."""
        _, span = self._writer.commit_unit()
        if span:
            self._table.put(self._table.place(self._n_units), span)
            self._n_units, self._last_span = self._n_units + 1, span
            self._table.put(_HEAD, self._table.head + self._size)
        return self._size

    def abort_unit(self) -> None:
        self._writer.abort_unit()


class Reader:
    def __init__(self, reader: Any, table: Table, zero_copy: bool, read_only: bool) -> None:
        self._reader, self._table, self._read_only = reader, table, read_only
        self.zero_copy = zero_copy
        self._n_units = self._ended = 0

    def reset(self) -> None:
        """What was left unread goes back; views of what was read keep theirs."""
        last = self._table.get(_LAST_SPAN)
        if last > self._ended:
            self._end(last)
        self._n_units = self._table.get(_N_UNITS)
        self._table.put(_TAIL, self._table.get(_N_BYTES))

    def read_binary(self, offset: int, nbytes: int) -> memoryview:
        if nbytes == 0:
            return memoryview(b'')
        storage = self._reader.read(self._get_span(), offset, nbytes)
        memory = _plain.own(storage, storage.get_region(1, 0, nbytes), nbytes, self._read_only)
        return memoryview(memory).cast('B')

    def end_unit(self, span: int, pinned: list[Any]) -> None:
        """The views own their storage: what is pinned is kept by them anyway."""
        if span:
            self._end(self._get_span())
            self._n_units += 1
            self._table.put(_TAIL, self._table.tail + span)

    def _get_span(self) -> int:
        return self._table.get(self._table.place(self._n_units))

    def _end(self, span: int) -> None:
        self._ended = span
        self._reader.end_unit(span)
