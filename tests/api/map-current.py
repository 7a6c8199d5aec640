#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""arena.map is what the GIR stands for: map-current.py GENERATOR GIR MAP"""
import difflib
import pathlib
import subprocess
import sys

generator, gir, version_script = sys.argv[1:]
wanted = subprocess.run([sys.executable, generator, gir], stdout=subprocess.PIPE, text=True, check=True).stdout
actual = pathlib.Path(version_script).read_text()
diff = list(difflib.unified_diff(actual.splitlines(), wanted.splitlines(), 'arena.map', 'from the GIR', lineterm=''))
print('\n'.join(diff))
sys.exit(1 if diff else 0)
