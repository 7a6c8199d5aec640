#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The README's code stands in an example, and its C compiles: readme-compiles.py SOURCE PKG-CONFIG PC-FOLDER CC..."""
import os
import pathlib
import re
import subprocess
import sys

source, pkg_config, pc_folder, *cc = sys.argv[1:]
root = pathlib.Path(source)

blocks = re.findall(r'^```c\n(.*?)^```$', (root / 'README.md').read_text(), re.MULTILINE | re.DOTALL)
examples = [path.read_text() for path in root.glob('examples/*.c')]
assert blocks, 'README.md has no C'

for language, suffix in ('js', 'js'), ('python', 'py'), ('vala', 'vala'):
    for block in re.findall(rf'^```{language}\n(.*?)^```$', (root / 'README.md').read_text(), re.MULTILINE | re.DOTALL):
        examples_of_it = [path.read_text() for path in root.glob(f'examples/*.{suffix}')]
        assert any(block in example for example in examples_of_it), f'in no example:\n{block}'

flags = subprocess.run([pkg_config, '--cflags', 'arena-1.0'], env=dict(os.environ, PKG_CONFIG_PATH=pc_folder),
                       check=True, stdout=subprocess.PIPE, text=True).stdout.split()
for block in blocks:
    if examples:
        assert any(block in example for example in examples), f'in no example:\n{block}'
    warnings = ['-Wall', '-Wextra', '-Werror', '-Wno-unused-function']
    subprocess.run([*cc, *warnings, *flags, '-fsyntax-only', '-x', 'c', '-'],
                   input='#include <arena.h>\n' + block, check=True, text=True)
