# SPDX-License-Identifier: LGPL-2.1-or-later
"""One run: transport.py SYSTEM KIND SIZE N_UNITS [in-place | computed], which prints its figures as JSON.

The consumer has one core, its worker another. One iteration is checked; then N_UNITS are timed, after some that aren't,
and the consumer drops each at once.
"""
import functools
import json
import os
import pathlib
import sys
import time

import payloads
import table
from systems import SYSTEMS

N_WARM = 50


def cpu_time(pid):
    """Of all of a process's threads, in seconds: the clock that clock_getcpuclockid() gives for a pid."""
    return time.clock_gettime(~pid << 3 | 2)


def busy_time(cpus):
    """For how long those cores worked, for whomever, in seconds."""
    lines = dict(line.split(' ', 1) for line in pathlib.Path('/proc/stat').read_text().splitlines())
    rows = [list(map(int, lines[f'cpu{cpu}'].split())) for cpu in cpus]
    return sum(sum(row[:3] + row[5:8]) for row in rows) / os.sysconf('SC_CLK_TCK')


def peak(pid):
    """Resident bytes."""
    status = pathlib.Path('/proc', str(pid), 'status').read_text()
    return int(status.partition('VmHWM:')[2].split()[0]) << 10


def check(units):
    n = 0
    for unit in units:
        if unit['i'] != n or payloads.checksum(unit['x']) != unit['crc']:
            sys.exit(f'unit {n} did not arrive as it was sent')
        n += 1
        del unit
    if n != payloads.N_CHECKED:
        sys.exit(f'{n} units of {payloads.N_CHECKED} arrived')


def measure(units, pid, ends, cpus):
    """(wall, the consumer's, the worker's, all programs' CPU time), and when each part ended."""
    def now():
        return time.monotonic(), time.process_time(), cpu_time(pid), busy_time(cpus)
    n, times, mark = 0, [], ends[0]
    for unit in units:
        if unit['i'] != n:
            sys.exit(f'unit {unit["i"]} came in place of {n}')
        n += 1
        del unit
        if n == mark:
            if not times:
                began = now()
            times.append(time.monotonic())
            mark = ends[len(times)] if len(times) < len(ends) else -1
    ended = now()
    return [end - start for start, end in zip(began, ended)], times


def main():
    system, kind, size, n_units, *computed = sys.argv[1:]
    size, n_units = int(size), int(n_units)
    n_warm = min(N_WARM, max(n_units // 8, 2))
    consumer_cpu, worker_cpu = sorted(os.sched_getaffinity(0))[:2]
    os.sched_setaffinity(0, {consumer_cpu})
    in_place = computed[0] == 'in-place' if computed else None
    factory = functools.partial(payloads.make_units, worker_cpu, kind, size, n_warm + n_units, in_place)
    with SYSTEMS[system](factory, size) as (iterate, pid):
        check(iterate())
        ends = table.ends_of_parts(n_warm, n_units)
        (wall, consumer, worker, busy), times = measure(iterate(), pid, ends, (consumer_cpu, worker_cpu))
        print(json.dumps({
            'units_per_s': n_units / wall, 'units_per_s_margin': table.margin(ends, times), 'wall_s': wall, 'consumer_cpu_s': consumer, 'worker_cpu_s': worker,
            'others_cpu_s': max(busy - consumer - worker, 0),
            'consumer_cpu_s_per_gb': consumer / (n_units * size) * 1e9,
            'worker_cpu_s_per_gb': worker / (n_units * size) * 1e9,
            'consumer_peak_bytes': peak(os.getpid()), 'worker_peak_bytes': peak(pid),
        }), flush=True)


if __name__ == '__main__':
    main()
