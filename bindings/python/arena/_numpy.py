# SPDX-License-Identifier: LGPL-2.1-or-later
"""Arrays of numpy. Only the exact class: what derives from it is pickled its own way."""
from __future__ import annotations

from typing import Any, Callable

import numpy
from gi.repository import Arena

from . import _codec

_NAMES = {
    'i1': 'INT8', 'i2': 'INT16', 'i4': 'INT32', 'i8': 'INT64', 'u1': 'UINT8', 'u2': 'UINT16', 'u4': 'UINT32',
    'u8': 'UINT64', 'f2': 'FLOAT16', 'f4': 'FLOAT32', 'f8': 'FLOAT64', 'c8': 'COMPLEX64', 'c16': 'COMPLEX128',
    'b1': 'BOOL',
}
_CODES = {numpy.dtype(name): int(getattr(Arena.DType, code)) for name, code in _NAMES.items()}
_DTYPES = {code: dtype for dtype, code in _CODES.items()}


def find_code(dtype: Any) -> int:
    """The library's data type."""
    if dtype not in _CODES:
        raise TypeError(f'arrays of {dtype} have no data type that other languages know')
    return _CODES[dtype]


def _is_dense(array: Any) -> bool:
    """Whether the items are one stretch of memory in some order of the dimensions, and each is there once."""
    expected = array.itemsize
    for stride, n in sorted(zip(array.strides, array.shape)):
        if stride < 0 or n > 1 and stride != expected:
            return False
        expected *= n
    return True


def make_reducer(encoder: _codec.Encoder) -> Callable[[Any], Any]:
    def reduce(array: Any) -> Any:
        size = array.nbytes
        if size < encoder.threshold:
            return reduce_small(array)
        flags, dtype = array.flags, array.dtype
        code = _CODES.get(dtype)
        if code is None:
            return reduce_other(array)
        if encoder.loans is not None and encoder.loans.fields:
            lent = reduce_lent(array, code)
            if lent is not None:
                return lent
        base = array.base
        if base is None:
            encoder.owners.add(id(array))
            if id(array) in encoder.whole:
                return reduce_part(array, array, code)
        elif type(base) is numpy.ndarray and share(array, base):
            return reduce_part(array, base, code)
        if flags.c_contiguous and flags.writeable:
            return restore, (encoder.add((array, size, code, array.shape, None)),)
        return reduce_layout(array, code)

    def reduce_lent(array: Any, code: int) -> Any:
        start = root = array.__array_interface__['data'][0]
        if type(array.base) is numpy.ndarray:
            root = array.base.__array_interface__['data'][0]
        index = encoder.loans.find(root)
        return None if index is None else (restore_part, (index, start - root, code, array.shape, array.strides, True))

    def share(array: Any, base: Any) -> bool:
        return (base.flags.forc and not base.dtype.hasobject
                and encoder.share(id(base), base.nbytes, array.nbytes))

    def reduce_part(array: Any, base: Any, code: int) -> Any:
        index = encoder.add_whole(id(base), base.ravel('K'), base.nbytes, base)
        start = array.__array_interface__['data'][0] - base.__array_interface__['data'][0]
        return restore_part, (index, start, code, array.shape, array.strides, array.flags.writeable)

    def reduce_small(array: Any) -> Any:
        flags = array.flags
        if array.dtype in _CODES and flags.c_contiguous and flags.writeable:
            return restore_small, (bytearray(array.tobytes()), array.dtype.str, array.shape)
        return array.__reduce_ex__(5)

    def reduce_layout(array: Any, code: int) -> Any:
        writeable = array.flags.writeable
        core = _codec.find_repeats(array.shape, array.strides)
        if core is not None:
            return restore_broadcast, (numpy.ascontiguousarray(array[core]), array.shape)
        if not _is_dense(array):
            array = array.copy('K')
        strides = None if array.flags.c_contiguous else array.strides
        index = encoder.add((array.ravel('K'), array.nbytes, code, array.shape, strides))
        return (restore, (index,)) if writeable else (restore_frozen, (index,))

    def reduce_other(array: Any) -> Any:
        """Items that only numpy knows travel as bytes, and their dtype in the pickle."""
        if array.dtype.hasobject:
            return array.__reduce_ex__(5)
        flags = array.flags
        order: Any = 'F' if flags.f_contiguous and not flags.c_contiguous else 'C'
        flat = numpy.ravel(array, order)
        data = flat.view('u1')
        index = encoder.add_bytes(data, data.nbytes)
        return restore_other, (index, array.dtype, array.shape, order, flags.writeable)

    encoder.know(restore)
    return reduce


def _memory(unit: _codec.Unit, index: int) -> tuple[Any, int]:
    """As of Unit.memory(), such that numpy finds out whether it may be written to: it looks through a memoryview."""
    owner, offset = unit.memory(index)
    return (numpy.frombuffer(owner, 'u1') if type(owner) is memoryview else owner), offset


def restore(index: int) -> Any:
    unit = _codec.current()
    _, _, code, shape, strides = unit.fields[index]
    return numpy.ndarray(shape, _DTYPES[code], *_memory(unit, index), strides)


def restore_frozen(index: int) -> Any:
    array = restore(index)
    array.flags.writeable = False
    return array


def restore_part(index: int, start: int, code: int, shape: Any, strides: Any, writeable: bool) -> Any:
    owner, offset = _memory(_codec.current(), index)
    array: Any = numpy.ndarray(shape, _DTYPES[code], owner, offset + start, strides)
    if not writeable:
        array.flags.writeable = False
    return array


def restore_small(data: bytearray, dtype: str, shape: tuple[int, ...]) -> Any:
    return numpy.ndarray(shape, dtype, data)


def restore_broadcast(core: Any, shape: tuple[int, ...]) -> Any:
    return numpy.broadcast_to(core, shape)


def restore_other(index: int, dtype: Any, shape: tuple[int, ...], order: Any, writeable: bool) -> Any:
    array: Any = numpy.ndarray(shape, dtype, *_memory(_codec.current(), index), order=order)
    if not writeable:
        array.flags.writeable = False
    return array
