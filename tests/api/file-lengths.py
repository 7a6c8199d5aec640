#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""No file is over 600 lines, and the median source of arena/ and of tests/ is at most 250."""
import pathlib
import statistics
import sys

LIMIT = 600
MEDIAN = 250
SUFFIXES = {'.c', '.cpp', '.h', '.js', '.pml', '.py', '.sh', '.vala'}


def problems(root):
    for name in ('arena', 'bindings', 'examples', 'tests'):
        lengths = {
            path: len(path.read_text().splitlines())
            for path in sorted((root / name).rglob('*'))
            if path.suffix in SUFFIXES and path.is_file()
        }
        yield from (f'{path}: {lines} lines, over {LIMIT}' for path, lines in lengths.items() if lines > LIMIT)
        sources = [lines for path, lines in lengths.items() if path.suffix == '.c']
        if name in ('arena', 'tests') and sources and statistics.median(sources) > MEDIAN:
            yield f'{name}: the median file has {statistics.median(sources):.0f} lines, over {MEDIAN}'


found = list(problems(pathlib.Path(sys.argv[1])))
print('\n'.join(found))
sys.exit(1 if found else 0)
