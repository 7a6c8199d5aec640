#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""arena-1.0.pc says what clients rely on: pkg-config.py PKG_CONFIG FOLDER VERSION INTROSPECTION"""
import os
import subprocess
import sys

pkg_config, folder, version, introspection = sys.argv[1:]
env = dict(os.environ, PKG_CONFIG_PATH=folder)


def ask(*arguments):
    command = [pkg_config, *arguments, 'arena-1.0']
    return subprocess.run(command, stdout=subprocess.PIPE, text=True, env=env, check=True).stdout.strip()


ask('--validate')
assert ask('--modversion') == version, ask('--modversion')
assert ask('--cflags').split()[0].endswith('/arena-1.0/arena'), ask('--cflags')
assert '-larena-1.0' in ask('--libs').split(), ask('--libs')
required = [line.split()[0] for line in ask('--print-requires').splitlines()]
assert {'gio-2.0', 'gio-unix-2.0', 'glib-2.0', 'gobject-2.0'} == set(required), required
for variable, end in (('girdir', '/gir-1.0'), ('typelibdir', '/girepository-1.0'), ('vapidir', '/vala/vapi')):
    value = ask(f'--variable={variable}')
    assert value.endswith(end) if introspection == 'true' else value == '', (variable, value)
