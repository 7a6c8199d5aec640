#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The Vala of the guides compiles: guides-vala.py SOURCE VAPI-FOLDER VALAC..."""
import pathlib
import subprocess
import sys
import tempfile

import documents

source, vapi_folder, *valac = sys.argv[1:]
blocks = [block for path in documents.guides(pathlib.Path(source)) for block in documents.code(path, 'vala')]
assert blocks, 'no Vala in the guides'

with tempfile.TemporaryDirectory() as folder:
    names = []
    for i, block in enumerate(blocks):
        names.append(f'{folder}/guide-{i}.vala')
        pathlib.Path(names[-1]).write_text(block)
    compiled = subprocess.run([*valac, '--ccode', f'--directory={folder}', f'--vapidir={vapi_folder}', '--pkg=gio-2.0',
                               '--pkg=arena-1.0', *names])
sys.exit(compiled.returncode)
