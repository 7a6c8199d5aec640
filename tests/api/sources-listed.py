#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Every source, public header, test, example and guide stands in a meson.build, so none is lost in silence."""
import pathlib
import re
import sys

STRING = re.compile(r"'([^'\n]*)'")


def listed(folder):
    """The strings of folder's meson.build, or of the nearest one above it."""
    while not (folder / 'meson.build').exists():
        folder = folder.parent
    return set(STRING.findall((folder / 'meson.build').read_text()))


def candidates(root):
    for pattern in ('*.c', '*.h', '*.h.in'):
        yield from (p for p in root.glob(f'arena/*/**/{pattern}') if not p.name.endswith('-private.h'))
    yield from root.glob('bindings/python/arena/*.py')
    yield from root.glob('bindings/python/native/*.c')
    for suffix in ('c', 'cpp', 'js', 'py', 'vala'):
        yield from root.glob(f'tests/**/*.{suffix}')
        yield from root.glob(f'examples/**/*.{suffix}')
    yield from root.glob('doc/*.md')


def problems(root):
    for path in sorted(candidates(root)):
        # Helpers of the tests, which the tests themselves call, and what a shell script runs.
        if path.parent.name in ('lib', 'model') and path.suffix in ('.js', '.py'):
            continue
        if path.parts[-3:-1] == ('bench', 'python'):
            continue
        if not {path.name, path.stem} & listed(path.parent):
            yield f'{path}: named in no meson.build'


found = list(problems(pathlib.Path(sys.argv[1])))
print('\n'.join(found))
sys.exit(1 if found else 0)
