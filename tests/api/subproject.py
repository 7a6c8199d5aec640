#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Another project that has this one as its fallback finds it, and compiles against it and none of its tests:
subproject.py SOURCE CONSUMER"""
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile

CLIENT = """
project('client', 'c')
arena = dependency('arena-1.0', fallback: 'arena', default_options: [
  'docs=disabled', 'introspection=disabled',
])
assert(arena.type_name() == 'internal')
executable('client', 'consumer.c', dependencies: arena)
"""

source, consumer = map(pathlib.Path, sys.argv[1:])
with tempfile.TemporaryDirectory() as folder:
    client = pathlib.Path(folder)
    (client / 'subprojects').mkdir()
    (client / 'subprojects' / 'arena').symlink_to(source)
    (client / 'meson.build').write_text(CLIENT)
    shutil.copy(consumer, client)
    subprocess.run(['meson', 'setup', '--force-fallback-for=arena-1.0', client / 'build', client], check=True)
    # Compiled only: linking would build the whole library once more.
    subprocess.run(['ninja', '-C', client / 'build', 'client.p/consumer.c.o'], check=True)
    targets = subprocess.run(['meson', 'introspect', '--targets', client / 'build'], check=True, stdout=subprocess.PIPE).stdout
    assert sorted(target['name'] for target in json.loads(targets)) == ['arena-1.0', 'client'], targets
