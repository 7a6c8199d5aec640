# SPDX-License-Identifier: LGPL-2.1-or-later
"""A pool's or ring's two ends for a queue that isn't the library's, as the protocols of an arena want them.

Such a reader learns a unit's span at its end only, but the library's wants it for every read. So the writer notes the
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
_HEAD_SIZE, _N_UNITS, _LAST_SPAN = 16, 0, 8


class Table:
    """How many units with storage there were at the last reset, the last one's span, and the spans of units in turn."""

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


class Writer:
    def __init__(self, writer: Any, table: Table, acquire_timeout: float | None) -> None:
        self._writer, self._table, self._seconds = writer, table, acquire_timeout
        self._timeout = -1 if acquire_timeout is None else int(acquire_timeout * 1e6)
        self._n_units = self._last_span = 0

    def reset(self) -> None:
        self._table.put(_N_UNITS, self._n_units)
        self._table.put(_LAST_SPAN, self._last_span)

    def begin_unit(self) -> None:
        self._writer.begin_unit(0, self._timeout, None)

    def write_binary(self, data: Any) -> tuple[int, int]:
        view = memoryview(data).cast('B')
        size = view.nbytes
        if size == 0:
            return 0, 0
        try:
            room, offset = self._writer.reserve(size, 64)
        except GLib.Error as error:
            raise self._explain(error, size) from None
        memoryview((ctypes.c_ubyte * size).from_address(room.get_region(1, 0, size))).cast('B')[:] = view
        return offset, size

    def _explain(self, error: Any, size: int) -> Exception:
        """What has to do with room is a BufferError, as elsewhere in Python."""
        if error.matches(_quark, Arena.Error.TIMED_OUT) or error.matches(_quark, Arena.Error.WOULD_BLOCK):
            return BufferError(f'no room for {size} bytes after {self._seconds:g} s: the consumer holds its units for '
                               'too long or has stalled; raise acquire_timeout or the size of the arena')
        if error.matches(_quark, Arena.Error.CLOSED):
            return BufferError('the arena was shut down while a unit waited for room')
        return BufferError(error.message) if error.matches(_quark, Arena.Error.TOO_LARGE) else error

    def commit_unit(self) -> int:
        _, span = self._writer.commit_unit()
        if span:
            self._table.put(self._table.place(self._n_units), span)
            self._n_units, self._last_span = self._n_units + 1, span
        return span  # type: ignore[no-any-return]

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

    def read_binary(self, offset: int, nbytes: int) -> memoryview:
        if nbytes == 0:
            return memoryview(b'')
        span = self._table.get(self._table.place(self._n_units))
        storage = self._reader.read(span, offset, nbytes)
        memory = _plain.own(storage, storage.get_region(1, 0, nbytes), nbytes, self._read_only)
        return memoryview(memory).cast('B')

    def end_unit(self, span: int, pinned: list[Any]) -> None:
        """The views own their storage: what is pinned is kept by them anyway."""
        if span:
            self._n_units += 1
            self._end(span)

    def _end(self, span: int) -> None:
        self._ended = span
        self._reader.end_unit(span)
