# SPDX-License-Identifier: LGPL-2.1-or-later
"""Arrays and buffers into fields."""
import ctypes
import functools

from ._classes import Unconstructible, introspected, override
from ._items import FORMAT_KINDS, ORDER, find_dtype, find_numpy


@override
class UnitBuilder(Unconstructible, introspected('UnitBuilder')):
    def append(self, data, name=None):
        """Copies an array (any object with numpy's array interface) or a buffer into a field; returns its index."""
        interface = getattr(data, '__array_interface__', None)
        if interface is None:
            view = memoryview(data)
            address, kept = _find_memory(view)
            dtype = find_dtype(f'{FORMAT_KINDS.get(view.format, view.format)}{view.itemsize}')
            return self.append_address(name, dtype, view.shape, address, view.nbytes, None)

        order, items = interface['typestr'][0], interface['typestr'][1:]
        dtype = find_dtype(items)
        if order not in ('|', ORDER):
            raise TypeError("items in the other byte order can't be sent")
        size, shape, strides = int(items[1:]), interface['shape'], interface.get('strides')
        n_bytes = functools.reduce(int.__mul__, shape, size)
        if strides is not None and (n_bytes == 0 or not _is_dense(shape, strides, n_bytes, size)):
            return self.append(find_numpy().ascontiguousarray(data), name)
        return self.append_address(name, dtype, shape, interface['data'][0], n_bytes, strides)


def _is_dense(shape, strides, n_bytes, size):
    """Whether the items are one stretch of memory in some order of the dimensions."""
    return min(strides) >= 0 and sum((n - 1) * stride for n, stride in zip(shape, strides)) + size == n_bytes


def _find_memory(view):
    """The address of a buffer, and what keeps it there."""
    if not view.c_contiguous:
        view = memoryview(view.tobytes())
    if view.nbytes == 0:
        return 0, None
    if find_numpy() is not None:
        array = find_numpy().frombuffer(view, 'u1')
        return array.__array_interface__['data'][0], array
    if not view.readonly:
        memory = ctypes.c_char.from_buffer(view)
        return ctypes.addressof(memory), memory
    data = view.obj if isinstance(view.obj, bytes) and len(view.obj) == view.nbytes else view.tobytes()
    return ctypes.cast(ctypes.c_char_p(data), ctypes.c_void_p).value, data
