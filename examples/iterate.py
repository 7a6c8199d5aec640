# SPDX-License-Identifier: LGPL-2.1-or-later
"""iterate.py: the batches of batches.py, from a function that runs in another process."""
import numpy

from arena import SharedMemorySegmentPool, iterate_in_subprocess


def make_batches():
    return [numpy.full(1024 * 1024, i, 'f4') for i in range(8)]


def print_batches():
    pool = SharedMemorySegmentPool(segment_size=4 << 20, count=4)
    for batch in iterate_in_subprocess(make_batches, arena=pool, buffer_size=2):
        print(batch.shape, int(batch[0]))
        del batch  # its segment can be used again


if __name__ == '__main__':
    print_batches()
