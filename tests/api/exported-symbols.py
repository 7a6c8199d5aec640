#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The built library exports exactly the symbols of arena.map: exported-symbols.py NM LIBRARY MAP"""
import pathlib
import re
import subprocess
import sys

nm, library, version_script = sys.argv[1:]
text = pathlib.Path(version_script).read_text()
nodes = set(re.findall(r'^(ARENA_[\d.]+) {', text, re.MULTILINE))
listed = set(re.findall(r'^\s+(\w+);', text, re.MULTILINE))
output = subprocess.run([nm, '-D', '--defined-only', library], stdout=subprocess.PIPE, text=True, check=True).stdout
# A line is "address type name@@node"; the nodes stand there as absolute symbols of their own.
exported = {line.split()[-1].split('@')[0] for line in output.splitlines()} - nodes

found = [f'{name}: exported, but not in arena.map' for name in sorted(exported - listed)]
found += [f'{name}: in arena.map, but not exported' for name in sorted(listed - exported)]
print('\n'.join(found))
sys.exit(1 if found or not exported else 0)
