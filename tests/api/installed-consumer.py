#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""An outside program builds and runs against an installed copy: installed-consumer.py BUILD PREFIX CONSUMER CC...

BUILD is the build folder, already compiled; PREFIX its install prefix; CC... the compiler's command line.
"""
import os
import pathlib
import subprocess
import sys
import tempfile

build, prefix, consumer, *cc = sys.argv[1:]


def run(*command, **options):
    return subprocess.run(command, stdout=subprocess.PIPE, text=True, **options)


def relocate(pc, stage):
    """Points the file at the staged copy; a sysroot would move GLib's folders as well."""
    pc.write_text(pc.read_text().replace(f'prefix={prefix}\n', f'prefix={stage}{prefix}\n', 1))


with tempfile.TemporaryDirectory() as stage:
    run('meson', 'install', '-C', build, '--no-rebuild', '--destdir', stage, check=True)
    pc = next(pathlib.Path(stage).rglob('arena-1.0.pc'))
    relocate(pc, stage)
    env = dict(os.environ, PKG_CONFIG_PATH=str(pc.parent))
    flags = run('pkg-config', '--cflags', '--libs', 'arena-1.0', env=env, check=True).stdout.split()
    libdir = run('pkg-config', '--variable=libdir', 'arena-1.0', env=env, check=True).stdout.strip()
    program = os.path.join(stage, 'consumer')
    run(*cc, '-Wall', '-Wextra', '-Werror', '-Wno-unused-parameter', consumer, '-o', program, *flags, check=True)
    run(program, env=dict(os.environ, LD_LIBRARY_PATH=libdir), check=True)

    # No other installed header may be included without the umbrella.
    includedir = run('pkg-config', '--variable=includedir', 'arena-1.0', env=env, check=True).stdout.strip()
    root = pathlib.Path(includedir, 'arena-1.0', 'arena')
    headers = [header for header in root.rglob('*.h') if header != root / 'arena.h']
    assert headers, root
    for header in headers:
        refused = run(*cc, *flags, '-fsyntax-only', '-x', 'c', str(header), stderr=subprocess.PIPE)
        assert refused.returncode != 0 and 'Only <arena.h>' in refused.stderr, (header, refused.stderr)
