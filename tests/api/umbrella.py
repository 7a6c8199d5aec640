#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""arena.h includes every public header; public headers are guarded and include no private one."""
import pathlib
import re
import sys

GUARD = """\
#pragma once

#if !defined(ARENA_INSIDE) && !defined(ARENA_COMPILATION)
#error "Only <arena.h> can be included directly."
#endif
"""
INCLUDE = re.compile(r'^\s*#\s*include\s*["<]([^">]+)[">]', re.MULTILINE)


def problems(arena):
    umbrella = INCLUDE.findall((arena / 'arena.h').read_text())
    public = {
        str(path.relative_to(arena)).removesuffix('.in'): path
        for pattern in ('*/**/*.h', '*/**/*.h.in')
        for path in arena.glob(pattern)
        if not path.name.endswith('-private.h')
    }
    yield from (f'arena.h: does not include "{name}"' for name in sorted(public.keys() - umbrella))
    yield from (f'arena.h: includes "{name}", not a public header' for name in umbrella if name not in public)
    yield from (f'arena.h: includes "{name}" twice' for name in sorted(public) if umbrella.count(name) > 1)
    for path in public.values():
        text = path.read_text()
        if GUARD not in text:
            yield f'{path}: no "#pragma once" and guard against direct inclusion'
        for included in INCLUDE.findall(text):
            if included.endswith('-private.h'):
                yield f'{path}: public, but includes "{included}"'


found = list(problems(pathlib.Path(sys.argv[1], 'arena')))
print('\n'.join(found))
sys.exit(1 if found else 0)
