#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The README's code stands in an example, and its C and that of the guides compiles:
documents-compile.py SOURCE PKG-CONFIG PC-FOLDER CC..."""
import os
import pathlib
import subprocess
import sys

import documents

source, pkg_config, pc_folder, *cc = sys.argv[1:]
root = pathlib.Path(source)
readme = root / 'README.md'
assert documents.code(readme, 'c'), 'README.md has no C'

for language, suffix in ('c', 'c'), ('js', 'js'), ('python', 'py'), ('vala', 'vala'):
    examples = [path.read_text() for path in root.glob(f'examples/*.{suffix}')]
    for block in documents.code(readme, language):
        assert any(block in example for example in examples), f'in no example:\n{block}'

flags = subprocess.run([pkg_config, '--cflags', 'arena-1.0'], env=dict(os.environ, PKG_CONFIG_PATH=pc_folder),
                       check=True, stdout=subprocess.PIPE, text=True).stdout.split()
warnings = ['-Wall', '-Wextra', '-Werror', '-Wno-unused-function', '-Wno-unused-parameter']
broken = []
for path in [readme, *documents.guides(root)]:
    for block in documents.code(path, 'c'):
        compiled = subprocess.run([*cc, *warnings, *flags, '-fsyntax-only', '-x', 'c', '-'],
                                  input='#include <arena.h>\n' + block, stderr=subprocess.PIPE, text=True)
        if compiled.returncode != 0:
            broken.append(f'{path}: does not compile:\n{block}{compiled.stderr}')
print('\n'.join(broken))
sys.exit(1 if broken else 0)
