# SPDX-License-Identifier: LGPL-2.1-or-later
"""The consumer of language.c: language.py field|portable BENCH CPU N-UNITS N-RUNS prints microseconds per unit, each run."""
import sys
import time

KIND, BENCH, CPU, *NUMBERS = sys.argv[1:]
N_UNITS, N_RUNS = map(int, NUMBERS)
N_ITEMS = 1024
FIRST_SUM = N_ITEMS * (N_ITEMS - 1) // 2

try:
    import numpy
    import gi
    gi.require_version('Arena', '1.0')
    from gi.repository import Arena
except (ImportError, ValueError) as error:
    print(f'needs numpy and gi: {error}')
    sys.exit(77)


def check_sum(x, i):
    if x.sum(dtype=numpy.uint64) != FIRST_SUM + N_ITEMS * i:
        sys.exit(f'unit {i} has other bytes')


def check_field(unit, i):
    check_sum(unit.array('x'), i)


def check_portable(unit, i):
    value = unit.value
    if (value['id'], value['name'], value['labels']) != (i, 'batch', [i, 2, 3, 4]):
        sys.exit(f'unit {i} has another value')
    check_sum(value['x'], i)


def read(worker, check):
    """The microseconds of a unit in one iteration."""
    warm_up = N_UNITS // 10
    for i, unit in enumerate(worker):
        if i == warm_up:
            began = time.monotonic()
        check(unit, i)
    elapsed = time.monotonic() - began
    if i != N_UNITS - 1:
        sys.exit(f'{i + 1} units')
    return 1e6 * elapsed / (N_UNITS - warm_up)


pool = Arena.Pool(segment_size=4 * N_ITEMS, count=256)
argv = [BENCH, '--work', KIND, CPU, str(N_UNITS)]
with Arena.Worker(backend=pool, argv=argv, buffer_size=64) as worker:
    check = {'field': check_field, 'portable': check_portable}[KIND]
    read(worker, check)
    for _ in range(N_RUNS):
        print(read(worker, check))
