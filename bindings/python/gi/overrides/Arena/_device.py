# SPDX-License-Identifier: LGPL-2.1-or-later
"""Device buffers for tensor libraries. A capsule that nobody has taken gives its structure up itself: the deleter stands
at that offset. DLPack and __cuda_array_interface__ number streams alike."""
import ctypes

from ._classes import Unconstructible, introspected, override
from ._items import ORDER, find_dtype

_CAPSULES = {b'dltensor': 56, b'dltensor_versioned': 16}
_DL_CUDA = 2
_LEGACY_STREAM = 1
_python = ctypes.pythonapi
_new_capsule = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)(
    ('PyCapsule_New', _python))
_is_capsule = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_char_p)(('PyCapsule_IsValid', _python))
_open_capsule = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p, ctypes.c_char_p)(('PyCapsule_GetPointer', _python))


@ctypes.PYFUNCTYPE(None, ctypes.c_void_p)
def _drop_capsule(capsule):
    for name, offset in _CAPSULES.items():
        if _is_capsule(capsule, name):
            address = _open_capsule(capsule, name)
            deleter = ctypes.c_void_p.from_address(address + offset).value
            ctypes.CFUNCTYPE(None, ctypes.c_void_p)(deleter)(address)


class Tensor:
    """A device buffer as items of a type, in C order."""

    def __init__(self, buffer, items, shape):
        self.buffer, self.items, self.shape = buffer, items, tuple(shape)

    @property
    def device(self):
        """As torch writes it."""
        return f'cuda:{self.buffer.get_device()}'

    @property
    def dtype(self):
        """As numpy names it."""
        return self.items

    def _use_on(self, stream):
        """The array API's rule: -1 is not to wait."""
        if stream == 0 or stream is not None and stream < -1:
            raise ValueError(f'{stream} is no stream: 1 is the legacy default stream, 2 that of each thread')
        if stream != -1:
            self.buffer.wait_on_stream(stream or _LEGACY_STREAM)
        self.buffer.record_stream(_LEGACY_STREAM if stream in (None, -1) else stream)

    def __dlpack_device__(self):
        return _DL_CUDA, self.buffer.get_device()

    def __dlpack__(self, *, stream=None, max_version=None, dl_device=None, copy=None):
        if copy or dl_device not in (None, self.__dlpack_device__()):
            raise BufferError('a device buffer is exported where it is, without a copy')
        self._use_on(stream)
        name = b'dltensor_versioned' if max_version is not None and max_version[0] >= 1 else b'dltensor'
        address = self.buffer.export_dlpack(find_dtype(self.items), self.shape, name == b'dltensor_versioned')
        return _new_capsule(address, name, ctypes.cast(_drop_capsule, ctypes.c_void_p))

    @property
    def __cuda_array_interface__(self):
        self._use_on(None)
        return {'version': 3, 'typestr': ORDER + self.items, 'shape': self.shape, 'strides': None,
                'data': (self.buffer.get_pointer(), False), 'stream': _LEGACY_STREAM}


@override
class DeviceBuffer(Unconstructible, introspected('DeviceBuffer')):
    """torch.from_dlpack() and the like take it, or what tensor() returns."""

    def tensor(self, items='u1', shape=None):
        """The buffer as items named as numpy names them ('f4'); in one dimension unless told."""
        return Tensor(self, items, (self.get_size() // int(items[1:]),) if shape is None else shape)

    def __dlpack_device__(self):
        return self.tensor().__dlpack_device__()

    def __dlpack__(self, **keywords):
        return self.tensor().__dlpack__(**keywords)

    @property
    def __cuda_array_interface__(self):
        return self.tensor().__cuda_array_interface__
