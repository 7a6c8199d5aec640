# SPDX-License-Identifier: LGPL-2.1-or-later
"""Ways to see the memory of a numpy array without a copy: a function of the array for each, that keeps what it must."""
import ctypes
import functools
import pickle

import numpy

try:
    import torch
    torch.from_numpy(numpy.zeros(1))
except (ImportError, RuntimeError):  # or one that was built for another numpy
    torch = None


def out_of_band(array):
    buffers = []
    data = pickle.dumps(array, 5, buffer_callback=buffers.append)
    return pickle.loads(data, buffers=buffers)


def flat(array):
    return array.reshape(-1)


VIEWS = {
    'array': lambda a: a[:],
    'every second': lambda a: a[::2],
    'reversed': lambda a: a[::-1],
    'reshaped': lambda a: a.reshape(2, -1),
    'transposed': lambda a: a.reshape(2, -1).T,
    'of bytes': lambda a: flat(a).view('u1'),
    'broadcast': lambda a: numpy.broadcast_to(a, (3, *a.shape)),
    'one item': lambda a: a.reshape(-1)[:1],
    'matrix': lambda a: numpy.matrix(a.reshape(2, -1), copy=False),
    'masked': lambda a: numpy.ma.masked_array(a, copy=False),
    'strided': lambda a: numpy.lib.stride_tricks.as_strided(a, a.shape, a.strides),
    'frombuffer': lambda a: numpy.frombuffer(a, 'u1'),
    'asarray': lambda a: numpy.asarray(memoryview(a)),
    'out of band': out_of_band,
    'memoryview': memoryview,
    'sliced': lambda a: memoryview(flat(a))[3:90],
    'cast': lambda a: memoryview(a).cast('B'),
    'toreadonly': lambda a: memoryview(a).toreadonly(),
    'PickleBuffer': pickle.PickleBuffer,
    'raw': lambda a: pickle.PickleBuffer(a).raw(),
    'iterator': lambda a: iter(memoryview(flat(a))),
    'flat': lambda a: a.flat,
    'bound method': lambda a: a.sum,
    'partial': lambda a: functools.partial(numpy.add, a),
    'ctypes of numpy': lambda a: a.ctypes,
}
# Where the memory can be written.
WRITERS = {
    'ctypes': lambda a: (ctypes.c_char * a.nbytes).from_buffer(a),
    'char': lambda a: ctypes.c_char.from_buffer(a),
    'capsule': lambda a: a.__dlpack__(),
    'from_dlpack': numpy.from_dlpack,
}
if torch is not None:
    WRITERS |= {
        'tensor': torch.from_numpy,
        'tensor slice': lambda a: torch.from_numpy(a)[2:],
        'tensor view': lambda a: torch.from_numpy(a).view(2, -1).t(),
        'detached': lambda a: torch.from_numpy(a).detach(),
        'array of tensor': lambda a: torch.from_numpy(a).numpy(),
        'bfloat16': lambda a: torch.frombuffer(a, dtype=torch.bfloat16),
        'tensor of capsule': torch.from_dlpack,
        'capsule of tensor': lambda a: torch.utils.dlpack.to_dlpack(torch.from_numpy(a)),
        'array of capsule of tensor': lambda a: numpy.from_dlpack(torch.from_numpy(a)),
    }


def array_of(alias):
    """A dense array of an alias, from which others can be made; None where there is none."""
    if torch is not None and isinstance(alias, torch.Tensor):
        if alias.dtype == torch.bfloat16:
            return None
        array = alias.numpy()
    elif isinstance(alias, numpy.ndarray):
        array = alias.view(numpy.ndarray)
    elif isinstance(alias, memoryview):
        array = numpy.asarray(alias)
    else:
        return None
    return array if array.flags.c_contiguous and array.size % 8 == 0 else None


def make_alias(array, random):
    makers = {**VIEWS, **WRITERS} if array.flags.writeable else VIEWS
    return makers[random.choice(list(makers))](array)
