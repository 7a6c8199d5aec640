# SPDX-License-Identifier: LGPL-2.1-or-later
"""Starts single runs, each in a new process, and says why one can't be."""
import functools
import json
import os
import pathlib
import subprocess
import sys
import time
from typing import NamedTuple

HERE = pathlib.Path(__file__).parent
SIZES = {'4k': 4 << 10, '64k': 64 << 10, '1m': 1 << 20, '4m': 4 << 20, '32m': 32 << 20}
# About a second each.
COUNTS = {
    'arena': {'4k': 100_000, '64k': 60_000, '1m': 8000, '4m': 1600, '32m': 120},
    'others': {'4k': 12_000, '64k': 8000, '1m': 2000, '4m': 800, '32m': 80},
}


# Seconds that all runs together may wait for until no other program has the cores, and one of them.
PATIENCE, SHARE = 60, 3


class Missing(Exception):
    """What a run would need is not there."""


class Spec(NamedTuple):
    system: str
    kind: str = 'numpy'
    size: str = '4k'
    native: bool = True
    mode: tuple[str, ...] = ()


@functools.lru_cache(maxsize=None)
def has_module(name):
    return subprocess.run([sys.executable, '-c', f'import {name}'], stderr=subprocess.DEVNULL).returncode == 0


def idle_time():
    """Of all cores since the machine started."""
    total = pathlib.Path('/proc/stat').read_text().splitlines()[0].split()
    return (int(total[4]) + int(total[5])) / os.sysconf('SC_CLK_TCK')


class Runner:
    def __init__(self, quick):
        self.quick = quick
        self.n_pairs = 3 if quick else 7
        self.patience = PATIENCE / 4 if quick else PATIENCE

    def versions(self):
        """Of what is compared."""
        found = {}
        for name in ('numpy', 'spdl_core', 'torch'):
            code = f'import importlib.metadata as m; print(m.version("{name}"))'
            process = subprocess.run([sys.executable, '-c', code], capture_output=True, text=True)
            found[name] = process.stdout.strip() or None
        return found

    def check(self, spec):
        if len(os.sched_getaffinity(0)) < 2:
            raise Missing('two cores are needed')
        if spec.system.startswith('spdl') and not has_module('spdl.pipeline'):
            raise Missing('SPDL is not installed: PyPI could not be reached')
        if 'torch' in (spec.kind, spec.system.partition('-')[0]) and not has_module('torch'):
            raise Missing('torch is not installed')
        if spec.system.startswith('arena') and spec.native and not has_module('arena._native'):
            raise Missing('the native module is not built')

    def wait_for_quiet(self):
        began = time.monotonic()
        end = began + min(self.patience, SHARE)
        while time.monotonic() < end:
            before = idle_time()
            time.sleep(0.2)
            if idle_time() - before > 0.9 * 0.2 * os.cpu_count():
                break
        self.patience -= time.monotonic() - began

    def run(self, spec):
        """A run's figures."""
        self.check(spec)
        count = COUNTS['arena' if spec.system.startswith('arena') else 'others'][spec.size]
        if self.quick:
            count = max(count // 4, 30)
        self.wait_for_quiet()
        command = [sys.executable, HERE / 'transport.py', spec.system, spec.kind, SIZES[spec.size], count, *spec.mode]
        process = subprocess.run(map(str, command), env={**os.environ, 'ARENA_NATIVE': '1' if spec.native else '0'},
                                 capture_output=True, text=True, timeout=120)
        if process.returncode != 0:
            raise Missing(f'it failed: {(process.stderr.strip().splitlines() or [process.returncode])[-1]}')
        return json.loads(process.stdout)
