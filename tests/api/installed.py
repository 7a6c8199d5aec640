#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Outside programs run with nothing but an installed copy, in C and in the languages that were found:
installed.py [--gjs GJS] [--python PYTHON] [--valac VALAC] BUILD PREFIX SOURCE CC...

BUILD is the build folder, already compiled; PREFIX its install prefix; CC... the compiler's command line.
"""
import argparse
import os
import pathlib
import shutil
import subprocess
import tempfile

GOLDEN = ''.join(f'(1048576,) {i}\n' for i in range(8))

parser = argparse.ArgumentParser()
for language in 'gjs', 'python', 'valac':
    parser.add_argument(f'--{language}')
for name in 'build', 'prefix', 'source':
    parser.add_argument(name)
parser.add_argument('cc', nargs='+')
arguments = parser.parse_args()


def run(*command, **options):
    return subprocess.run(command, stdout=subprocess.PIPE, text=True, **options)


def install(stage):
    """Returns the environment of a user of this copy, who would set less for a prefix that is looked into anyway."""
    run('meson', 'install', '-C', arguments.build, '--no-rebuild', '--destdir', stage, check=True)
    pc = next(stage.rglob('arena-1.0.pc'))
    # Points at the staged copy; a sysroot would move GLib's folders as well.
    pc.write_text(pc.read_text().replace(f'prefix={arguments.prefix}\n', f'prefix={stage}{arguments.prefix}\n', 1))
    share = next(stage.rglob('gir-1.0')).parent
    found = {
        'GI_TYPELIB_PATH': next(stage.rglob('girepository-1.0')),
        'LD_LIBRARY_PATH': pc.parents[1],
        'PKG_CONFIG_PATH': pc.parent,
        'PYTHONPATH': ':'.join(str(path.parents[2]) for path in stage.rglob('gi/overrides/Arena')),
        'XDG_DATA_DIRS': f'{share}:/usr/local/share:/usr/share',
    }
    return dict(os.environ, PYTHONDONTWRITEBYTECODE='1', **{name: str(value) for name, value in found.items()})


def check_output(*command, **options):
    done = run(*command, check=True, **options)
    assert done.stdout == GOLDEN, (command, done.stdout)


def check_headers(flags, include):
    """Only the umbrella may be included."""
    headers = [header for header in (include / 'arena').rglob('*.h') if header != include / 'arena' / 'arena.h']
    assert headers, include
    for header in headers:
        refused = run(*arguments.cc, *flags, '-fsyntax-only', '-x', 'c', str(header), stderr=subprocess.PIPE)
        assert refused.returncode != 0 and 'Only <arena.h>' in refused.stderr, (header, refused.stderr)


def main(stage):
    env = install(stage)
    outside = stage / 'outside'
    outside.mkdir()
    for path in (*pathlib.Path(arguments.source, 'examples').glob('batches*'),
                 pathlib.Path(arguments.source, 'tests', 'api', 'consumer.c')):
        shutil.copy(path, outside)

    flags = run('pkg-config', '--cflags', '--libs', 'arena-1.0', env=env, check=True).stdout.split()
    for name in 'consumer', 'batches', 'batches-worker':
        run(*arguments.cc, '-Wall', '-Wextra', '-Werror', '-Wno-unused-parameter', f'{name}.c', '-o', name, *flags,
            cwd=outside, check=True)
    run('./consumer', cwd=outside, env=env, check=True)
    check_output('./batches', cwd=outside, env=env)
    check_headers(flags, next(stage.rglob('include')) / 'arena-1.0')

    if arguments.valac:
        run(arguments.valac, '--pkg=arena-1.0', '--Xcc=-w', '--output=batches-vala', 'batches.vala', cwd=outside, env=env,
            check=True)
        check_output('./batches-vala', cwd=outside, env=env)
    if arguments.gjs:
        check_output(arguments.gjs, '-m', 'batches.js', cwd=outside, env=env)
    if arguments.python:
        check_output(arguments.python, 'batches.py', cwd=outside, env=env)


with tempfile.TemporaryDirectory() as folder:
    main(pathlib.Path(folder))
