#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""What the library exports and a binding can see is called by both programs, as they are and not as every-call.py means
them to be: every-call-covers.py EVERY-CALL.PY ARENA.MAP GIR PROGRAM.JS VALA-PROGRAM"""
import re
import subprocess
import sys
import xml.etree.ElementTree as ElementTree

C = '{http://www.gtk.org/introspection/c/1.0}'

script, version_script, gir, js, vala = sys.argv[1:]


def read(path):
    with open(path) as file:
        return file.read()


def skipped():
    """The table of every-call.py: one entry a line."""
    table = re.search(r'^SKIPPED = \{(.*?)\}', read(script), re.DOTALL | re.MULTILINE)[1]
    return set(re.findall(r"'(\w+)':", table))


exported = set(re.findall(r'^ +(arena_\w+);$', read(version_script), re.MULTILINE))
hidden = {element.get(C + 'identifier') for element in ElementTree.parse(gir).iter()
          if element.get('introspectable') == '0'}
wanted = {symbol for symbol in exported - hidden if not symbol.endswith('_get_type')} - skipped()
undefined = subprocess.run(['nm', '-D', '--undefined-only', vala], check=True, capture_output=True, text=True).stdout
called = {
    'Vala': set(re.findall(r'\barena_\w+', undefined)),
    'JavaScript': {symbol for symbol in wanted if re.search(rf"'{symbol}': world =>", read(js))
                   or symbol.endswith('_finish') and symbol.replace('_finish', '_async') in read(js)},
}
problems = [f'{symbol}: not called in {language}' for language, symbols in called.items()
            for symbol in sorted(wanted - symbols)]
problems += [f'{symbol}: can be called, and is said to be skipped' for symbol in skipped() & called['Vala']]
checked = subprocess.run([sys.executable, script, gir, 'check'], capture_output=True, text=True)
problems += checked.stderr.splitlines()
sys.exit('\n'.join(problems) if problems else 0)
