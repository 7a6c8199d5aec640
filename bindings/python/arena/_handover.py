# SPDX-License-Identifier: LGPL-2.1-or-later
"""Pools and rings on their way to a worker that somebody else starts: by pickle, or by a fork.

The library wants to be told before: who loads the saved arena there is its producer. A fork can't be foreseen, so each
saves what is unopened then; a boundary that takes such an arena over makes its storage anew.
"""
from __future__ import annotations

import contextlib
import os
import weakref
from multiprocessing import context, reduction
from typing import Any

from gi.repository import Gio, GLib, GObject

from ._endpoints import Reader, Table, Writer

_unopened: weakref.WeakSet[Handover] = weakref.WeakSet()
_watching = False


class Handover:
    """One arena's way there; cls(**properties) makes its storage."""

    def __init__(self, cls: Any, properties: dict[str, Any], n_units: int) -> None:
        global _watching
        self._cls, self._properties, self._n_units = cls, properties, n_units
        self.backend = cls(**properties)
        self.table: Table | None = None  #: where there are endpoints, not a boundary
        self._saved: tuple[Any, Any] | None = None
        self._table_fd = -1
        self._opened = False
        self._pid = os.getpid()
        _unopened.add(self)
        if not _watching:
            _watching = True
            os.register_at_fork(before=_save_all)

    def take(self) -> Any:
        """The storage for a boundary."""
        _unopened.discard(self)
        if self._saved is not None and not self._opened:
            self._saved = self.table = None
            self._pid = os.getpid()
            self.backend = None  # first, for both might not fit
            self.backend = self._cls(**self._properties)
        return self.backend

    def save(self) -> tuple[Any, Any]:
        if self._saved is None:
            fds = Gio.UnixFDList.new()
            self._saved = self.backend.save(fds), fds
            self.table = Table(self._n_units)
        return self._saved

    def open_writer(self, zero_copy: bool, acquire_timeout: float | None) -> Writer:
        """In the other process; in this one where the reader is here too."""
        if self._saved is not None and self._pid != os.getpid():
            self.backend = GObject.new(self._cls)
            self.backend.load(*self._saved)
            self._saved = None
        self._opened = True
        _unopened.discard(self)
        return Writer(self.backend.open_writer(), self._get_table(), zero_copy, acquire_timeout)

    def open_reader(self, zero_copy: bool, read_only: bool) -> Reader:
        self._opened = True
        _unopened.discard(self)
        reader = self.backend.open_reader()
        self._saved = None  # drops the worker's end of the socket
        if self._table_fd >= 0:
            os.close(self._table_fd)
            self._table_fd = -1
        return Reader(reader, self._get_table(), zero_copy, read_only)

    def _get_table(self) -> Table:
        if self.table is None:
            self.table = Table(self._n_units)
        return self.table

    def reduce(self) -> Any:
        """For a process that is being started."""
        context.assert_spawning(self)
        state, fds = self.save()
        self._table_fd = os.memfd_create('arena-spans', os.MFD_CLOEXEC)  # open until it has been passed on
        os.ftruncate(self._table_fd, self._get_table().size)
        self.table = Table(self._n_units, self._table_fd)
        duplicates = [reduction.DupFd(fd) for fd in (*fds.peek_fds(), self._table_fd)]
        data = state.get_data_as_bytes().get_data()
        return load, (self._cls.__name__, self._properties, self._n_units, data, duplicates)


def load(name: str, properties: dict[str, Any], n_units: int, state: bytes, duplicates: list[Any]) -> Handover:
    from gi.repository import Arena
    *fds, table = [duplicate.detach() for duplicate in duplicates]
    self = Handover.__new__(Handover)
    self._cls, self._properties, self._n_units = getattr(Arena, name), properties, n_units
    self.backend = GObject.new(self._cls)
    variant = GLib.Variant.new_from_bytes(GLib.VariantType('a{sv}'), GLib.Bytes.new(state), False)
    self.backend.load(variant, Gio.UnixFDList.new_from_array(fds))
    self.table = Table(n_units, table)
    os.close(table)
    self._saved, self._table_fd, self._opened, self._pid = None, -1, False, os.getpid()
    return self


def _save_all() -> None:
    for handover in list(_unopened):
        with contextlib.suppress(GLib.Error):  # of one that is closed, which nobody opens
            handover.save()
