# SPDX-License-Identifier: LGPL-2.1-or-later
"""One call a unit on either side, over PyGObject alone. arena._native may stand in for all of it: see _fast.

A record is what Arena.Producer.send_packed() documents. Fields here never travel in it: the codec sends nothing that is
smaller than the boundary's threshold as one.
"""
from __future__ import annotations

import ctypes
import functools
import struct
from ctypes import byref
from typing import Any, Sequence

CONTENT_TYPE = 'application/x-python-pickle'

_HEAD_SIZE, _FIELD_SIZE, _HAS_STRIDES = 64, 48, 1
_type_size = len(CONTENT_TYPE) + 1
_type = CONTENT_TYPE.encode() + bytes(1 + -_type_size % 8)
_head = struct.Struct('<8Q')
_field = struct.Struct('<6Q')


class _Buffer(ctypes.Structure):
    """Py_buffer."""
    _fields_ = [
        ('buf', ctypes.c_void_p), ('obj', ctypes.c_void_p), ('len', ctypes.c_ssize_t), ('itemsize', ctypes.c_ssize_t),
        ('readonly', ctypes.c_int), ('ndim', ctypes.c_int), ('format', ctypes.c_void_p), ('shape', ctypes.c_void_p),
        ('strides', ctypes.c_void_p), ('suboffsets', ctypes.c_void_p), ('internal', ctypes.c_void_p),
    ]


_ANY_CONTIGUOUS = 0x98
_get_buffer = ctypes.pythonapi.PyObject_GetBuffer
_get_buffer.argtypes = [ctypes.py_object, ctypes.c_void_p, ctypes.c_int]
_release_buffer = ctypes.pythonapi.PyBuffer_Release
_release_buffer.argtypes, _release_buffer.restype = [ctypes.c_void_p], None
_from_buffer = ctypes.c_char.from_buffer


def address_of(data: Any) -> int:
    """Where the bytes of a buffer without gaps are, in C's or Fortran's order; valid while nothing moves them."""
    try:
        return ctypes.addressof(_from_buffer(data))
    except (TypeError, ValueError):  # read-only, in Fortran's order, or empty
        view = _Buffer()
        at = byref(view)
        _get_buffer(data, at, _ANY_CONTIGUOUS)
        address = view.buf
        _release_buffer(at)
        return address or 0


def send(producer: Any, payload: bytes, fields: Sequence[tuple[Any, ...]], timeout: int) -> None:
    """Sends a unit. A field is (buffer or address, bytes, Arena.DType, shape, byte strides or None)."""
    words = [len(fields), 0, 0, 0, _type_size, len(payload), 0, 0]
    for data, size, dtype, shape, strides in fields:
        address = data if type(data) is int else address_of(data)
        words += (address, size, dtype, 0 if strides is None else _HAS_STRIDES, len(shape), 0, *shape)
        if strides is not None:
            words += [stride & 0xffff_ffff_ffff_ffff for stride in strides]
    producer.send_packed(timeout, None, _words(len(words)).pack(*words) + _type + payload)


def receive(consumer: Any, timeout: int, read_only: bool = False) -> tuple[bytes, list[tuple[Any, ...]], Any] | None:
    """The next unit as (payload, fields, owner), or None at the end of the iteration. A field is (offset, bytes,
    Arena.DType, shape, byte strides or None); the owner is a buffer over the storage of all, None where there is none,
    and what keeps it: whoever looks into it owns the unit's place in the arena."""
    record, storage = consumer.next_packed(timeout)
    if not record:
        return None

    n_fields, address, _, _, type_size, payload_size, value_type_size, value_size = _head.unpack_from(record)
    fields: list[tuple[Any, ...]] = []
    at, names_size, end = _HEAD_SIZE, 0, 0
    for _ in range(n_fields):
        offset, size, dtype, flags, n_dims, name_size = _field.unpack_from(record, at)
        at += _FIELD_SIZE
        shape = struct.unpack_from(f'<{n_dims}Q', record, at)
        at += 8 * n_dims
        strides: tuple[Any, ...] | None = None
        if flags & _HAS_STRIDES:
            strides = struct.unpack_from(f'<{n_dims}q', record, at)
            at += 8 * n_dims
        names_size += name_size
        end = max(end, offset + size)
        fields.append((offset, size, dtype, shape, strides))
    start = (at + type_size + value_type_size + names_size + 7 & ~7) + value_size
    owner = None if storage is None else own(storage, address, end, read_only)
    return record[start:start + payload_size], fields, owner


@functools.lru_cache(maxsize=256)
def _words(n: int) -> struct.Struct:
    return struct.Struct(f'<{n}Q')


@functools.lru_cache(maxsize=256)
def _memory_type(size: int) -> Any:
    """Kept, for each one is two types that only a collector frees. Units are mostly of one size."""
    return ctypes.c_ubyte * size


def own(storage: Any, address: int, size: int, read_only: bool) -> Any:
    if address == 0:  # numpy would take it for fresh memory
        raise BufferError('a unit without an address')
    memory = _memory_type(size).from_address(address)
    memory.storage = storage
    return memoryview(memory).cast('B').toreadonly() if read_only else memory
