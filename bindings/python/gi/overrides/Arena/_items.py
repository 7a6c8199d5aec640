# SPDX-License-Identifier: LGPL-2.1-or-later
"""Data types: items as numpy names them ('f4') against DLPack's codes. numpy has no bfloat16, so that is seen as 'u2'."""
import functools
import sys

from gi.module import get_introspection_module

Arena = get_introspection_module('Arena')

_KINDS = {0: 'i', 1: 'u', 2: 'f', 4: 'u', 5: 'c', 6: 'b'}
FORMATS = {'i1': 'b', 'i2': 'h', 'i4': 'i', 'i8': 'q', 'u1': 'B', 'u2': 'H', 'u4': 'I', 'u8': 'Q',
            'f4': 'f', 'f8': 'd', 'b1': '?'}
FORMAT_KINDS = {**dict.fromkeys('bhilqn', 'i'), **dict.fromkeys('cBHILQN', 'u'), **dict.fromkeys('efd', 'f'), '?': 'b'}
ORDER = '<' if sys.byteorder == 'little' else '>'


def item_name(dtype):
    return f'{_KINDS[int(dtype) >> 16]}{(int(dtype) >> 8 & 255) // 8}'


_DTYPES = {item_name(dtype): dtype for dtype in Arena.DType.__enum_values__.values() if dtype != Arena.DType.BFLOAT16}


def find_dtype(name):
    if name not in _DTYPES:
        raise TypeError(f"items of type {name} can't be sent")
    return _DTYPES[name]


@functools.lru_cache(maxsize=None)
def find_numpy():
    try:
        import numpy
        return numpy
    except ImportError:
        return None
