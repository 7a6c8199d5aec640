# SPDX-License-Identifier: LGPL-2.1-or-later
"""What the workers of the Python package's tests iterate over. Nothing here imports numpy or torch on its own."""
import os
import time

import arena

BIG = 64 << 10


class Again:
    """Iterates over function(*arguments) anew each time."""

    def __init__(self, function, *arguments):
        self.function, self.arguments = function, arguments

    def __iter__(self):
        return iter(self.function(*self.arguments))


def blobs(n, size=BIG):
    """n bytes objects, each of its own number."""
    return Again(_blobs, n, size)


def _blobs(n, size):
    for i in range(n):
        yield bytes([i % 256]) * size


def arrays(n, size=BIG, dtype='f4'):
    """n arrays of this many bytes, each of its own number."""
    return Again(_arrays, n, size, dtype)


def _arrays(n, size, dtype):
    import numpy
    for i in range(n):
        yield numpy.full(size // numpy.dtype(dtype).itemsize, i, dtype)


def pids(n):
    return [os.getpid()] * n


def infos(n):
    return Again(_infos, n)


def _infos(n):
    return [arena.get_worker_info()] * n


def generator(n):
    return iter(_blobs(n, BIG))


def slow(seconds, n=1000, after=0):
    return Again(_slow, seconds, n, after)


def _slow(seconds, n, after):
    for i in range(n):
        if i >= after:
            time.sleep(seconds)
        yield i


def call(function, *arguments):
    """A factory that gives what function() makes anew for each iteration."""
    return Again(function, *arguments)
