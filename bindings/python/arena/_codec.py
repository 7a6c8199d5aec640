# SPDX-License-Identifier: LGPL-2.1-or-later
"""Values to fields and pickles, and back.

A leaf with much memory becomes a field, and the pickle has a call with the field's index in its place. So an array
costs no reduction of numpy's, and one that stands twice in a value is stored once: pickle remembers its objects.
What exports buffers by pickle's protocol 5 follows as fields too, behind those.
"""
from __future__ import annotations

import copyreg
import pickle
import threading
import types
from typing import Any

from gi.repository import Arena

from ._registry import Reducers, find_handler

_BYTE = int(Arena.DType.UINT8)
# A longer pickle is a field itself, the last one; and this byte is before one that has buffers of protocol 5.
LONGEST_PICKLE = 8192
_WITH_BUFFERS = b'\1'
_PICKLE_START = 0x80

# To name a function costs a search for it on either side, every time. So these have numbers, and pickles begin with the
# numbers of those that are wanted: there, pickle's memory of objects knows them.
_KNOWN = {('arena._numpy', 'restore'): 0x41724e01, ('arena._torch', 'restore'): 0x41724e02}
for _name, _number in _KNOWN.items():
    copyreg.add_extension(*_name, _number)
_PROTO, _EXT4, _MEMOIZE, _POP = b'\x80\5', b'\x84', b'\x94', b'0'

_local = threading.local()


def make_byte_field(data: Any, size: int) -> tuple[Any, ...]:
    return data, size, _BYTE, (size,), None


class _Leaf:
    """A bytes or bytearray in a plain container. Pickle never asks what to do with those."""
    __slots__ = ('data',)

    def __init__(self, data: Any) -> None:
        self.data = data


class Encoder:
    """Makes (payload, fields) of values; one thread."""

    def __init__(self, threshold: int, loans: Any = None) -> None:
        self.threshold = threshold
        self.loans = loans  #: _loans.Loans; arrays in it are fields already
        self.fields: list[Any] = []
        self.kept: list[Any] = []  # until the value is sent: what fields have addresses of
        self.owners: set[Any] = set()  # of the arrays that own their memory
        self._parts: dict[Any, list[int]] = {}
        self.whole: dict[Any, int] = {}
        self._buffers: list[Any] = []
        self._has_bytes = False
        self._busy = False
        self._chunks: list[bytes] = []
        chunks: Any = types.SimpleNamespace(write=self._chunks.append)
        self._pickler: Any = pickle.Pickler(chunks, 5, buffer_callback=self._take_buffer)
        self._start = _PROTO
        self._known: dict[int, Any] = {}
        self._started: Any = pickle.Pickler(chunks)  # its memory is that of a pickle after its start
        self._memo = self._started.memo
        reducers = Reducers(self)
        reducers[_Leaf] = self._reduce_leaf
        reducers[memoryview] = self._reduce_view
        self._pickler.dispatch_table = reducers

    def encode(self, value: Any) -> tuple[bytes, list[Any]]:
        if self._busy:
            raise RuntimeError('a value that is being sent sends another')
        self._busy = True
        try:
            return self._encode(value)
        finally:
            self._reset()
            self.whole = {}
            self._busy = False

    def _reset(self) -> None:
        """Forgets the last dump; pickle's memory would keep the value."""
        self.fields, self._buffers = [], []
        if self._parts:
            self._parts = {}
        self.owners.clear()
        self._chunks.clear()
        self._pickler.memo = self._memo

    def _encode(self, value: Any) -> tuple[bytes, list[Any]]:
        payload = self._dump(lift(value, self.threshold) if self._has_bytes else value)
        if len(payload) >= self.threshold and not self._has_bytes:
            # There may be large bytes in it. Values are mostly alike: the next one is looked through first.
            lifted = lift(value, self.threshold)
            if lifted is not value:
                self._has_bytes = True
                payload = self._dump_again(lifted)
        if self._parts and self._find_whole():
            payload = self._dump_again(lift(value, self.threshold) if self._has_bytes else value)
        fields = self.fields
        if self._buffers:
            payload = _WITH_BUFFERS + len(self._buffers).to_bytes(4, 'little') + payload
            fields += self._buffers
        if len(payload) > LONGEST_PICKLE:
            fields.append(make_byte_field(payload, len(payload)))
            payload = b''
        return payload, fields

    def _dump(self, value: Any) -> bytes:
        self.kept = []
        if self.loans is not None:
            self.fields += self.loans.fields
        start = self._start
        self._pickler.dump(value)
        return start + b''.join(self._chunks)

    def _dump_again(self, value: Any) -> bytes:
        self._reset()
        return self._dump(value)

    def know(self, function: Any) -> None:
        """Has later pickles begin with the function."""
        number = _KNOWN[function.__module__, function.__name__]
        self._start += _EXT4 + number.to_bytes(4, 'little') + _MEMOIZE + _POP
        self._known[id(function)] = len(self._known), function
        self._started.memo = self._known

    def add(self, field: tuple[Any, ...]) -> int:
        """Adds (buffer or address, bytes, dtype, shape, byte strides or None); returns its index."""
        self.fields.append(field)
        return len(self.fields) - 1

    def add_bytes(self, data: Any, size: int) -> int:
        return self.add(make_byte_field(data, size))

    def share(self, key: Any, whole_size: int, size: int) -> bool:
        """Notes a part of memory that others may have parts of; whether all of that is to be sent instead. Repeats may
        make a part larger than its memory, which is no field where it is small."""
        if whole_size < self.threshold:
            return False
        part = self._parts.setdefault(key, [whole_size, 0, 0])
        part[1] += size
        part[2] += 1
        return key in self.whole

    def add_whole(self, key: Any, data: Any, size: int, owner: Any) -> int:
        """The field of all of that memory."""
        if self.whole[key] < 0:
            self.whole[key] = self.add_bytes(data, size)
            self.kept.append(owner)
        return self.whole[key]

    def _find_whole(self) -> bool:
        """Memory that several parts have all of is sent once, and the parts as views of it: that takes no more room."""
        self.whole = {key: -1 for key, (whole_size, size, n) in self._parts.items()
                      if key in self.owners or n > 1 and size >= whole_size}
        return bool(self.whole)

    def _take_buffer(self, buffer: pickle.PickleBuffer) -> bool:
        data = buffer.raw()
        if data.nbytes < self.threshold:
            return True
        self._buffers.append(make_byte_field(data, data.nbytes))
        return False

    def _reduce_leaf(self, leaf: _Leaf) -> Any:
        data = leaf.data
        return restore_bytes, (self.add_bytes(data, len(data)), type(data))

    def _reduce_view(self, view: memoryview) -> Any:
        _check_view(view)
        flat = view if view.c_contiguous else memoryview(view.tobytes())
        layout = (view.format, view.shape)
        if view.nbytes < self.threshold:
            return restore_small_view, (flat.tobytes(), *layout)
        return restore_view, (self.add_bytes(flat, view.nbytes), *layout)

    def reduce_registered(self, kind: str, value: Any) -> Any:
        data, state = find_handler(kind).get_buffer(value)
        view = memoryview(data)
        if view.nbytes < self.threshold:
            return restore_small_registered, (kind, view.tobytes(), state)
        return restore_registered, (kind, self.add_bytes(data, view.nbytes), state)


def _check_view(view: memoryview) -> None:
    """What cast() can't make again."""
    try:
        memoryview(bytes(view.itemsize)).cast(view.format)  # type: ignore[call-overload]
    except ValueError as error:
        raise TypeError(f"a memoryview of format {view.format!r} can't be sent: {error}; send an array of numpy") from None
    if view.ndim > 1 and view.nbytes == 0:
        raise TypeError(f"an empty memoryview of shape {view.shape} can't be sent; send an array of numpy")


_LIFTED = {bytes, bytearray, list, tuple, dict}


_OPEN = object()


class _Cycle(Exception):
    pass


def lift(value: Any, threshold: int) -> Any:
    """The value with large bytes as leaves, if it has any in plain containers; in an object's state they stay, and in
    what contains itself."""
    try:
        return _lift(value, threshold, {})
    except _Cycle:
        return value


def _lift(value: Any, threshold: int, seen: dict[int, Any]) -> Any:
    cls = type(value)
    if cls not in _LIFTED:
        return value
    if id(value) in seen:
        if seen[id(value)] is _OPEN:
            raise _Cycle
        return seen[id(value)]
    if cls in (bytes, bytearray):
        if len(value) < threshold:
            return value
        seen[id(value)] = leaf = _Leaf(value)
        return leaf
    children = value.values() if cls is dict else value
    if _LIFTED.isdisjoint(map(type, children)):  # may be long
        return value
    seen[id(value)] = _OPEN
    lifted = [_lift(child, threshold, seen) for child in children]
    seen[id(value)] = value
    if any(new is not old for new, old in zip(lifted, children)):
        seen[id(value)] = dict(zip(value, lifted)) if cls is dict else cls(lifted)
    return seen[id(value)]


def find_repeats(shape: Any, strides: Any) -> tuple[slice, ...] | None:
    """What leaves one item of each dimension that a broadcast repeats, if any does."""
    repeated = [n > 1 and stride == 0 for n, stride in zip(shape, strides)]
    return tuple(slice(0, 1) if repeat else slice(None) for repeat in repeated) if any(repeated) else None


class Unit:
    """What the functions in a pickle find of the unit that they are a part of."""
    __slots__ = ('fields', 'owner', 'zero_copy', 'read_only')

    def __init__(self, fields: list[Any], owner: Any, zero_copy: bool, read_only: bool) -> None:
        self.fields, self.owner, self.zero_copy, self.read_only = fields, owner, zero_copy, read_only

    def memory(self, index: int) -> tuple[Any, int]:
        """What has the field's bytes, and where in it they begin."""
        return self.owner, self.fields[index][0]

    def view(self, index: int) -> memoryview:
        owner, offset = self.memory(index)
        return memoryview(owner).cast('B')[offset:offset + self.fields[index][1]]


def current() -> Unit:
    return _local.unit


def decode(payload: Any, fields: list[Any], owner: Any, zero_copy: bool, read_only: bool) -> Any:
    """The value of a unit; may be called from within itself, by a class that receives while it is rebuilt."""
    return decode_unit(payload, Unit(fields, owner, zero_copy, read_only))


def decode_unit(payload: Any, unit: Unit) -> Any:
    fields = unit.fields
    outer = getattr(_local, 'unit', None)
    _local.unit = unit
    try:
        if not payload:
            payload = unit.view(len(fields) - 1)
            del fields[-1]
        if payload[0] == _PICKLE_START:
            return pickle.loads(payload)
        first = len(fields) - int.from_bytes(payload[1:5], 'little')
        return pickle.loads(payload[5:], buffers=map(unit.view, range(first, len(fields))))
    finally:
        _local.unit = outer


# What pickles call. Where bytes are shared, all three kinds of them are views.

def restore_bytes(index: int, cls: type) -> Any:
    unit = current()
    view = unit.view(index)
    return view if unit.zero_copy else cls(view)


def restore_view(index: int, format: str, shape: tuple[int, ...]) -> memoryview:
    view = current().view(index)
    return view if (format, len(shape)) == ('B', 1) else view.cast(format, shape)  # type: ignore[call-overload]


def restore_small_view(data: bytes, format: str, shape: tuple[int, ...]) -> memoryview:
    return memoryview(data).cast(format, shape)  # type: ignore[call-overload]


def restore_registered(kind: str, index: int, state: Any) -> Any:
    return find_handler(kind).from_buffer(current().view(index), state)


def restore_small_registered(kind: str, data: bytes, state: Any) -> Any:
    return find_handler(kind).from_buffer(memoryview(bytearray(data)), state)
