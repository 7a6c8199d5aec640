#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Prints the version script that the GIR stands for: map-from-gir.py Arena-1.0.gir > arena/arena.map

A symbol belongs to the node of the release named in its "Since:"; a type's get_type function to that of its type.
A new type has to be added to arena.map by hand first: the scanner links against the library to make the GIR.
"""
import sys
import xml.etree.ElementTree as ElementTree

CORE = '{http://www.gtk.org/introspection/core/1.0}'
C = '{http://www.gtk.org/introspection/c/1.0}'
GLIB = '{http://www.gtk.org/introspection/glib/1.0}'
FUNCTIONS = {CORE + name for name in ('function', 'method', 'constructor')}


def symbols(element, since=None):
    """Yields (symbol, release) for each exported function at or below element; the default is its type's release."""
    since = element.get('version', since)
    if element.tag in FUNCTIONS:
        yield element.get(C + 'identifier'), since
    if element.get(GLIB + 'get-type', 'intern') != 'intern':
        yield element.get(GLIB + 'get-type'), since
    for child in element:
        yield from symbols(child, since)


def version_script(gir):
    nodes = {}
    for symbol, since in symbols(ElementTree.parse(gir).getroot().find(CORE + 'namespace')):
        if since is None:
            sys.exit(f'{symbol}: no "Since:"')
        nodes.setdefault(tuple(map(int, since.split('.'))), set()).add(symbol)

    text, previous = '', ''
    for release in sorted(nodes):
        node = 'ARENA_' + '.'.join(map(str, release))
        names = ''.join(f'    {symbol};\n' for symbol in sorted(nodes[release]))
        local = '' if previous else '  local:\n    *;\n'
        text += f'{node} {{\n  global:\n{names}{local}}}{previous};\n'
        previous = ' ' + node
    return text


if __name__ == '__main__':
    sys.stdout.write(version_script(sys.argv[1]))
