#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""What the library exports and a binding can see is called by the programs, as they are and not as every-call.py means
them to be: covers.py EVERY-CALL.PY ARENA.MAP GIR PROGRAM.JS PROGRAM.PY VALA-PROGRAM"""
import re
import subprocess
import sys
import xml.etree.ElementTree as ElementTree

C = '{http://www.gtk.org/introspection/c/1.0}'

script, version_script, gir, js, py, vala = sys.argv[1:]


def read(path):
    with open(path) as file:
        return file.read()


def skipped():
    """The table of every-call.py: one entry a line."""
    table = re.search(r'^SKIPPED = \{(.*?)\}', read(script), re.DOTALL | re.MULTILINE)[1]
    return set(re.findall(r"'(\w+)':", table))


def called_by(program):
    """Of a script: the names of its entries. What finishes stands in that of what begins."""
    names = set(re.findall(r"^ +'(arena_\w+)': (?:lambda )?world", read(program), re.MULTILINE))
    return names | {name.removesuffix('_async') + '_finish' for name in names if name.endswith('_async')}


exported = set(re.findall(r'^ +(arena_\w+);$', read(version_script), re.MULTILINE))
hidden = {element.get(C + 'identifier') for element in ElementTree.parse(gir).iter()
          if element.get('introspectable') == '0'}
wanted = {symbol for symbol in exported - hidden if not symbol.endswith('_get_type')} - skipped()
undefined = subprocess.run(['nm', '-D', '--undefined-only', vala], check=True, capture_output=True, text=True).stdout
called = {
    'JavaScript': called_by(js),
    'Python': called_by(py),
    'Vala': set(re.findall(r'\barena_\w+', undefined)),
}
problems = [f'{symbol}: not called in {language}' for language, symbols in called.items()
            for symbol in sorted(wanted - symbols)]
problems += [f'{symbol}: can be called, and is said to be skipped' for symbol in skipped() & called['Vala']]
checked = subprocess.run([sys.executable, script, gir, 'check'], capture_output=True, text=True)
problems += checked.stderr.splitlines()
sys.exit('\n'.join(problems) if problems else 0)
