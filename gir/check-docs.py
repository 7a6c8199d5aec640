#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Fails when something public in the GIR has no doc comment or no "Since:", or doesn't say with which errors it fails
(gi-docgen notices the first only)."""
import sys
import xml.etree.ElementTree as ElementTree

CORE = '{http://www.gtk.org/introspection/core/1.0}'
C = '{http://www.gtk.org/introspection/c/1.0}'
GLIB = '{http://www.gtk.org/introspection/glib/1.0}'
PUBLIC = {CORE + name for name in (
    'bitfield', 'callback', 'class', 'constant', 'constructor', 'enumeration', 'function', 'function-macro',
    'interface', 'method', 'property', 'record', 'union', 'virtual-method',
)} | {GLIB + 'signal', GLIB + 'boxed'}
DOC_ONLY = {CORE + 'member'}


def problems(element, path):
    """Yields a line for every undocumented element below element."""
    for child in element:
        # A class struct belongs to its class, and a vfunc with an invoker is documented at the invoker.
        if child.get(GLIB + 'is-gtype-struct-for') or child.get('invoker') or child.get('moved-to'):
            continue
        name = f'{path}.{child.get("name")}'
        if child.tag in PUBLIC | DOC_ONLY and child.find(CORE + 'doc') is None:
            yield f'{name}: no doc comment'
        if child.tag in PUBLIC and child.get('version') is None:
            yield f'{name}: no "Since:"'
        if child.get('throws') == '1' and 'rrors' not in child.findtext(CORE + 'doc', ''):
            yield f'{name}: no "Errors:"'
        if child.tag in PUBLIC:
            yield from problems(child, name)


found = list(problems(ElementTree.parse(sys.argv[1]).getroot().find(CORE + 'namespace'), 'Arena'))
print('\n'.join(found))
sys.exit(1 if found else 0)
