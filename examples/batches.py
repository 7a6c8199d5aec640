# SPDX-License-Identifier: LGPL-2.1-or-later
"""batches.py [--ring]: eight batches of a million floats that another process makes. A pool lends them where that
process wrote them; a ring gives copies, which may be kept without holding anything up."""
import sys

import gi
import numpy

gi.require_version('Arena', '1.0')
from gi.repository import Arena, GLib


def create_arena():
    if '--ring' in sys.argv:
        return Arena.Ring(capacity=16 << 20)
    return Arena.Pool(segment_size=4 << 20, count=4)


def make_batches():
    for i in range(8):
        yield {'x': numpy.full(1024 * 1024, i, 'f4')}


def print_batches(arena):
    with Arena.Worker(backend=arena, argv=[sys.executable, __file__, '--worker'], buffer_size=2) as batches:
        for unit in batches:
            x = unit.array('x')
            print(f'({len(x)},) {x[0]:g}')


try:
    if '--worker' in sys.argv:
        Arena.produce(make_batches)
    else:
        print_batches(create_arena())
except GLib.Error as error:
    sys.exit(f'batches: {error.message}')
