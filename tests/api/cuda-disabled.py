#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""What -Dcuda=disabled has instead of the runtime defines the same functions, so the library exports the same symbols."""
import pathlib
import re
import sys

FUNCTION = re.compile(r'^(arena_\w+) \(', re.MULTILINE)


def functions(name):
    return set(FUNCTION.findall(pathlib.Path(sys.argv[1], 'arena', 'cuda', name).read_text()))


real, disabled = functions('arena-cuda-runtime.c'), functions('arena-cuda-runtime-disabled.c')
found = [f'{name}: only in one of the two' for name in sorted(real ^ disabled)]
print('\n'.join(found))
sys.exit(1 if found or not real else 0)
