# SPDX-License-Identifier: LGPL-2.1-or-later
"""What a worker yields: {'x': bytes, an array or a tensor of a size, 'i': number}.

Iterations alternate in their kind: in the first and every other one, 'crc' comes along and each unit has contents of
its own; in the timed ones the same object is sent again and again, so that only the transport is timed.
"""
import os
import zlib

N_CHECKED = 6


def make_bytes(contents):
    return contents


def make_numpy(contents):
    import numpy
    return numpy.frombuffer(contents, 'f4').copy()


def make_torch(contents):
    import torch
    return torch.from_numpy(make_numpy(contents))


MAKERS = {'bytes': make_bytes, 'numpy': make_numpy, 'torch': make_torch}


def checksum(x):
    """Of what arrived, whatever it is."""
    return zlib.crc32(memoryview(x if not hasattr(x, 'numpy') else x.numpy()).cast('B'))


class Units:
    """An iterable of the worker's process. in_place: numbers are computed, into the arena's memory or one's own."""

    def __init__(self, kind, size, n_units, in_place=None):
        self.kind, self.size, self.n_units, self.in_place = kind, size, n_units, in_place
        self.n_iterations = 0

    def __iter__(self):
        self.n_iterations += 1
        if self.n_iterations % 2 == 1:
            return self.checked()
        return self.same() if self.in_place is None else self.computed()

    def checked(self):
        for i in range(N_CHECKED):
            contents = os.urandom(self.size)
            yield {'x': MAKERS[self.kind](contents), 'i': i, 'crc': zlib.crc32(contents)}

    def same(self):
        x = MAKERS[self.kind](bytes(self.size))
        for i in range(self.n_units):
            yield {'x': x, 'i': i}

    def computed(self):
        import arena
        import numpy
        source = numpy.ones(self.size // 4, 'f4')
        own = numpy.empty_like(source)
        for i in range(self.n_units):
            x = arena.empty(source.shape, 'f4') if self.in_place else own
            numpy.add(source, i, out=x)
            yield {'x': x, 'i': i}
            del x


def make_units(cpu, *arguments):
    """The factory that a worker calls; it has a core to itself."""
    os.sched_setaffinity(0, {cpu})
    return Units(*arguments)
