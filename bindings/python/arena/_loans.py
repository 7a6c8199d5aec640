# SPDX-License-Identifier: LGPL-2.1-or-later
"""Arrays that a worker fills where its consumer will read them."""
from __future__ import annotations

import ctypes
import weakref
from typing import Any

from gi.repository import Arena

from . import _fast, _plain


def empty(shape: Any, dtype: Any = 'f8') -> Any:
    """In a worker, an array in the arena's memory, with whatever is in there. To yield it, alone or as a part of a
    value, copies nothing.

    Arrays that are there when an item is yielded belong to that item, whether they are in it or not: from then on they
    are read-only here (views made of them before are not, so don't write to those), and are to be dropped before the
    pool needs their segment again. One thread."""
    if _current is None:
        raise RuntimeError('arena.empty() is for the function that a worker iterates over, while it does')
    import numpy
    shape = (shape,) if hasattr(shape, '__index__') else shape
    try:
        return _current.empty(tuple(map(int, shape)), numpy.dtype(dtype))
    except (Arena.ClosedError, Arena.PeerGoneError):
        raise Stopped from None


class Stopped(BaseException):
    """The consumer reads no more of this iteration, which ends where it is. Only what this worker itself sends raises it:
    other boundaries of the same process end for reasons of their own."""


class Loans:
    """The open unit's arrays; one thread."""

    def __init__(self, producer: Any, threshold: int, timeout: int) -> None:
        self._producer, self._threshold, self._timeout = producer, threshold, timeout
        self._builder: Any = None
        self._arrays: list[Any] = []
        self._memory: list[Any] = []
        self._indices: dict[int, int] = {}
        self.fields: list[Any] = []

    def empty(self, shape: tuple[int, ...], dtype: Any) -> Any:
        import numpy
        from . import _numpy
        size = dtype.itemsize
        for n in shape:
            size *= n
        if size < self._threshold:
            return numpy.empty(shape, dtype)
        code = _numpy.find_code(dtype)
        if self.are_dropped():
            self.abort()
        if self._builder is None:
            self._builder = self._producer.begin_unit(size, self._timeout, None)
        data, index = self._builder.reserve(None, code, shape)
        address = data.get_region(1, 0, size)
        memory = (ctypes.c_ubyte * size).from_address(address)
        memory.storage = data
        array: Any = numpy.ndarray(shape, dtype, memory)
        self._arrays.append(weakref.ref(array))
        self._memory.append(weakref.ref(memory))
        self._indices[address] = index
        self.fields.append((address, size, code, shape, None))
        return array

    def are_dropped(self) -> bool:
        """Whether there are some of which nothing is left, not even a view."""
        return bool(self._memory) and all(ref() is None for ref in self._memory)

    def find(self, address: int) -> int | None:
        """The index of the field that begins there."""
        index = self._indices.get(address)
        return index

    def send(self, payload: bytes, fields: list[Any]) -> None:
        """Publishes the unit; what isn't in the arena yet is copied there."""
        self._builder.set_payload(_plain.CONTENT_TYPE, payload)
        for data, size, code, shape, strides in fields[len(self.fields):]:
            address = data if isinstance(data, int) else _fast.address_of(data)
            self._builder.append_address(None, code, shape, address, size, strides)
        self._builder.commit()
        for ref in self._arrays:
            array = ref()
            if array is not None:
                array.flags.writeable = False
        self._forget()

    def abort(self) -> None:
        if self._builder is not None:
            self._builder.abort()
            self._forget()

    def _forget(self) -> None:
        self._builder, self._arrays, self._memory, self._indices, self.fields = None, [], [], {}, []


_current: Loans | None = None


def set_current(loans: Loans | None) -> None:
    global _current
    _current = loans
