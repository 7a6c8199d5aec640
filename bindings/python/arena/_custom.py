# SPDX-License-Identifier: LGPL-2.1-or-later
"""Arenas of others. Their units' bytes go through them; the queue, the commands and the deaths are the boundary's,
which has a small ring of its own for long pickles."""
from __future__ import annotations

import ctypes
import os
import pickle
from typing import Any

from gi.repository import Arena

from . import _fast, _plain
from ._codec import LONGEST_PICKLE, Unit, decode_unit, make_byte_field
from ._descriptor import Descriptor
from ._protocols import ArenaProtocol, ArenaReaderProtocol, ArenaWriterProtocol

RING_CAPACITY = 4 << 20


class Custom:
    """Such an arena, and what tells its worker to stop: the boundary's own stop would discard what is in the queue."""

    def __init__(self, arena: ArenaProtocol) -> None:
        self.arena = arena
        self.stop = Descriptor(os.eventfd(0, os.EFD_CLOEXEC | os.EFD_NONBLOCK))  # type: ignore[attr-defined]

    def shutdown(self) -> None:
        getattr(self.arena, 'shutdown_arena', lambda: None)()

    def end(self) -> None:
        """When the worker has gone."""
        try:
            os.close(self.stop.fd)
            self.arena.close()
        finally:
            self.arena.unlink()


def _flatten(data: Any, size: int) -> Any:
    if isinstance(data, int):
        data = (ctypes.c_ubyte * size).from_address(data)
    return memoryview(data).cast('B')


class CustomSender:
    def __init__(self, producer: Any, custom: Custom) -> None:
        self._producer = producer
        self._stop_fd = custom.stop.detach()
        self._writer: ArenaWriterProtocol = custom.arena.open_writer()

    def start(self) -> None:
        self.is_stopped()
        self._writer.reset()

    def is_stopped(self) -> bool:
        try:
            return bool(os.eventfd_read(self._stop_fd))  # type: ignore[attr-defined]
        except BlockingIOError:
            return False

    def send(self, payload: bytes, fields: list[Any]) -> None:
        span, places = self._write(fields) if fields else (0, [])
        payload = pickle.dumps((span, places, payload), 5)
        if len(payload) > LONGEST_PICKLE:
            _fast.send(self._producer, b'', [make_byte_field(payload, len(payload))], -1)
        else:
            _fast.send(self._producer, payload, [], -1)

    def _write(self, fields: list[Any]) -> tuple[int, list[Any]]:
        writer = self._writer
        writer.begin_unit()
        try:
            places = []
            for data, size, code, shape, strides in fields:
                offset, size = writer.write_binary(_flatten(data, size))
                places.append((offset, size, code, shape, strides))
            return writer.commit_unit(), places
        except BaseException:
            writer.abort_unit()
            raise


class _CustomUnit(Unit):
    """Each field has memory of its own."""
    __slots__ = ('owners',)
    owners: list[Any]

    def memory(self, index: int) -> tuple[Any, int]:
        return self.owners[index], 0


def _open(payload: bytes, fields: list[Any], owner: Any) -> Any:
    return pickle.loads(payload or Unit(fields, owner, False, False).view(0))


class CustomReceiver:
    def __init__(self, custom: Custom, consumer: Any) -> None:
        self._consumer, self._stop_fd = consumer, custom.stop.fd
        self._reader: ArenaReaderProtocol = custom.arena.open_reader()

    def start(self) -> None:
        """Stops the last iteration, in which every unit has to be ended: the worker may wait for room."""
        os.eventfd_write(self._stop_fd, 1)  # type: ignore[attr-defined]
        try:
            while unit := _fast.receive(self._consumer, -1):
                span, places, _ = _open(*unit)
                if places:
                    self._reader.end_unit(span, [])
        except Arena.WorkerError:
            pass
        self._reader.reset()

    def decode(self, payload: bytes, fields: list[Any], owner: Any) -> Any:
        span, places, payload = _open(payload, fields, owner)
        if not places:
            return decode_unit(payload, Unit([], None, False, False))
        reader, anchors = self._reader, []
        try:
            custom = _CustomUnit(places, None, reader.zero_copy, False)
            custom.owners = []
            for offset, size, *_ in places:
                view = memoryview(reader.read_binary(offset, size))
                custom.read_only = custom.read_only or view.readonly
                memory = _plain.own(view, _fast.address_of(view), size, False)
                anchors.append(memory)
                custom.owners.append(memoryview(memory).cast('B').toreadonly() if view.readonly else memory)
                del memory
            return decode_unit(payload, custom)
        finally:
            reader.end_unit(span, anchors if reader.zero_copy else [])


