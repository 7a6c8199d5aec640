#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Runs each function in the Python of the guides once, with a worker of its own if it takes one, and all that stands outside
of functions: guides-run.py SOURCE WORKER"""
import asyncio
import inspect
import pathlib
import sys
import unittest

import gi
gi.require_version('Arena', '1.0')
from gi.repository import Arena, GLib

import arena
import documents
import numpy
import tap

ROOT, WORKER = pathlib.Path(sys.argv[1]), sys.argv[2]


class TestGuides(unittest.TestCase):
    pass


def add_test(name, function):
    def test(self):
        pool = Arena.Pool(segment_size=1 << 16, count=4)
        argv = [sys.executable, WORKER, 'count', '8', str(1 << 16)]
        with Arena.Worker(backend=pool, argv=argv, buffer_size=2) as worker:
            result = function(*[worker][:len(inspect.signature(function).parameters)])
            if inspect.iscoroutine(result):
                asyncio.run(result)
            self.assertEqual(worker.get_state() == Arena.ConsumerState.FAILED, False)
    setattr(TestGuides, f'test_{name}', test)


for path in documents.guides(ROOT):
    for block in documents.code(path, 'python'):
        names = {'Arena': Arena, 'GLib': GLib, '__name__': path.stem, 'arena': arena, 'numpy': numpy}
        exec(compile(block, path, 'exec'), names)
        functions = {name: item for name, item in names.items()
                     if inspect.isfunction(item) and item.__module__ == path.stem}
        assert functions or any(map(inspect.isclass, names.values())), f'nothing to run in {path}:\n{block}'
        for name, function in functions.items():
            add_test(f'{path.stem}_{name}', function)

if __name__ == '__main__':
    tap.main()
