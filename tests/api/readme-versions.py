#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The README asks for the same Meson and GLib versions as the root meson.build."""
import pathlib
import re
import sys

root = pathlib.Path(sys.argv[1])
build = (root / 'meson.build').read_text()
readme = (root / 'README.md').read_text()
required = {
    'Meson': re.search(r"meson_version: '>= ([\d.]+)'", build).group(1),
    'GLib': re.search(r"glib_req = '>= ([\d.]+)'", build).group(1),
}


def trimmed(version):
    """1.0 and 1.0.0 are the same requirement."""
    parts = [int(part) for part in version.split('.')]
    while parts and parts[-1] == 0:
        parts.pop()
    return parts


found = []
for name, version in required.items():
    stated = re.findall(rf'\b{name}\s*(?:>=|≥)?\s*(\d[\d.]*\d)', readme)
    if not stated:
        found.append(f'README.md: names no {name} version, meson.build asks for {version}')
    found += [f'README.md: {name} {other}, meson.build asks for {version}'
              for other in stated if trimmed(other) != trimmed(version)]
print('\n'.join(found))
sys.exit(1 if found else 0)
