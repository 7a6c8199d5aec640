#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""A file's folder says what it may include; this checks every #include "..." below arena/."""
import pathlib
import re
import sys

MAY_INCLUDE = {
    'base': set(),
    'memory': {'base'},
    'sync': {'base', 'memory'},
    'backend': {'base', 'memory', 'sync'},
    'unit': {'base', 'memory', 'sync', 'backend'},
    'boundary': {'base', 'memory', 'sync', 'backend', 'unit'},
    'cuda': {'base', 'memory', 'unit'},
}
INCLUDE = re.compile(r'^\s*#\s*include\s*"([^"]+)"', re.MULTILINE)


def problems(arena):
    for path in sorted(arena.glob('*/**/*.[ch]*')):
        folder = path.relative_to(arena).parts[0]
        if folder not in MAY_INCLUDE:
            yield f'{path}: unknown folder {folder}'
            continue
        for included in INCLUDE.findall(path.read_text()):
            target = included.split('/')[0] if '/' in included else None
            if target is None:
                yield f'{path}: "{included}" has no folder'
            elif target != folder and target not in MAY_INCLUDE[folder]:
                yield f'{path}: {folder} must not include "{included}"'


found = list(problems(pathlib.Path(sys.argv[1], 'arena')))
print('\n'.join(found))
sys.exit(1 if found else 0)
