# SPDX-License-Identifier: LGPL-2.1-or-later
"""Fields as arrays and views, and the portable value as Python's own types."""
import ctypes

from ._classes import Unconstructible, introspected, override
from ._items import FORMATS, ORDER, find_numpy, item_name


class _Memory:
    """What numpy asks for the memory of an array, and what that array keeps."""
    __slots__ = ('__array_interface__', 'owner')

    def __init__(self, interface, owner):
        self.__array_interface__ = interface
        self.owner = owner


@override
class Unit(Unconstructible, introspected('Unit')):
    """Fields are named by index or by name."""

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.release()

    def release(self, strict=False):
        """Gives up the unit. Views of it stay valid, and the last one gives the memory back; strict: only if there is none,
        else BufferError says how many."""
        if strict and not self.get_released() and self.get_n_exports() > 0:
            raise BufferError(f'unit {self.get_sequence()} has {self.get_n_exports()} views')
        super().release()

    @property
    def fields(self):
        """The Arena.Field of each field."""
        return [self.dup_field(i) for i in range(self.get_n_fields())]

    @property
    def value(self):
        """The portable value in Python's own types, with arrays where it has handles; None where there is none."""
        value = self.dup_value()
        return None if value is None else _unpack(value, self.array)

    def array(self, field=0):
        """A numpy array over the field's memory; without numpy a memoryview."""
        numpy = find_numpy()
        if numpy is None:
            return self.memoryview(field)

        index = self._find(field)
        layout = self.dup_field(index)
        shape = tuple(layout.get_shape())
        items = ORDER + item_name(layout.get_dtype())
        data = self.dup_bytes(index)
        size = data.get_size()
        if size == 0:
            return numpy.empty(shape, items)
        return numpy.asarray(_Memory({
            'version': 3, 'typestr': items, 'shape': shape, 'strides': tuple(layout.get_byte_strides() or ()) or None,
            'data': (data.get_region(1, 0, size), self.get_read_only()),
        }, data))

    def memoryview(self, field=0):
        """A memoryview of the field's items; of its bytes where Python has no format for them or they have strides."""
        index = self._find(field)
        layout = self.dup_field(index)
        format = FORMATS.get(item_name(layout.get_dtype()), 'B')
        data = self.dup_bytes(index)
        size = data.get_size()
        if size == 0:
            return memoryview(bytearray()).cast(format)
        memory = (ctypes.c_uint8 * size).from_address(data.get_region(1, 0, size))
        memory.owner = data
        view = memoryview(memory).cast('B')
        if self.get_read_only():
            view = view.toreadonly()
        return view if format == 'B' or layout.get_byte_strides() else view.cast(format, tuple(layout.get_shape()))

    def _find(self, field):
        if not isinstance(field, str):
            return field
        index = self.find_field(field)
        if index < 0:
            self.dup_value()  # says so where the unit has been released
            raise KeyError(field)
        return index


def _unpack(value, view):
    """GLib.Variant.unpack() with view(index) for each handle."""
    kind = value.get_type_string()
    if kind == 'h':
        return view(value.get_handle())
    if kind == 'v':
        return _unpack(value.get_variant(), view)
    if 'h' not in kind and 'v' not in kind:
        return value.unpack()
    children = [_unpack(value.get_child_value(i), view) for i in range(value.n_children())]
    if kind[0] == 'm':
        return children[0] if children else None
    if kind.startswith('a{'):
        return dict(children)
    return children if kind[0] == 'a' else tuple(children)
