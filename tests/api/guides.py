#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The guides name every type, error and limit, and no error that isn't; their links lead somewhere: guides.py SOURCE GIR

Links to symbols are gi-docgen's to check.
"""
import pathlib
import re
import sys
import xml.etree.ElementTree as ElementTree

import documents

CORE = '{http://www.gtk.org/introspection/core/1.0}'
C = '{http://www.gtk.org/introspection/c/1.0}'
GLIB = '{http://www.gtk.org/introspection/glib/1.0}'
README_LIMIT = 155
GUIDE_LIMIT = 170

root = pathlib.Path(sys.argv[1])
namespace = ElementTree.parse(sys.argv[2]).getroot().find(CORE + 'namespace')
guides = {path: path.read_text() for path in documents.guides(root)}


def check_types():
    """Classes, interfaces, boxed types and enumerations are linked to in at least one guide."""
    linked = set(re.findall(r'\[\w+@Arena\.(\w+)\]', ''.join(guides.values())))
    for element in namespace:
        name = element.get('name')
        if element.get(GLIB + 'get-type') or element.get(GLIB + 'error-domain'):
            if name not in linked:
                yield f'Arena.{name} is in no guide'


def check_domain(name, prefix, path, entry):
    """The guide has an entry for each code."""
    domain = next(element for element in namespace if element.get('name') == name and element.get(GLIB + 'error-domain'))
    codes = {member.get(C + 'identifier').removeprefix(prefix) for member in domain.findall(CORE + 'member')}
    entries = re.findall(entry, guides[path], re.MULTILINE)
    yield from (f'{path}: nothing about {code}' for code in sorted(codes - set(entries)))
    yield from (f'{path}: {code} is no error' for code in entries if code not in codes)
    for guide, text in guides.items():
        for code in re.findall(rf'\b{prefix}(\w+)', text):
            if code not in codes:
                yield f'{guide}: {prefix}{code} is no error'


def check_errors():
    """errors.md has a section for each code, cuda.md a line of its table."""
    yield from check_domain('Error', 'ARENA_ERROR_', root / 'doc' / 'errors.md', r'^### `(\w+)`$')
    yield from check_domain('CudaError', 'ARENA_CUDA_ERROR_', root / 'doc' / 'cuda.md', r'^\| `(\w+)` \|')


def check_limits():
    """sizing.md has the number of each limit and default."""
    path = root / 'doc' / 'sizing.md'
    section = guides[path].partition('## Limits\n')[2].partition('\n## ')[0]
    sources = ''.join(path.read_text() for path in root.glob('arena/*/*.[ch]'))
    limits = re.findall(r'^#define ((?:ARENA_MAX|DEFAULT)_\w+) +(?:(\d+)|\(G_GUINT64_CONSTANT \(1\) << (\d+)\))',
                        sources, re.MULTILINE)
    assert limits, 'no limits in arena/'
    for name, number, power in limits:
        if not re.search(rf'(?<![\d^]){number}(?!\d)' if number else rf'2\^{power}\b', section):
            yield f'{path}: no {number or f"2^{power}"}, which {name} is'


def check_pinning():
    """F62: cuda.md has an item for each reason to leave pinning off."""
    path = root / 'doc' / 'cuda.md'
    section = guides[path].partition('## When to pin\n')[2].partition('\n## ')[0]
    items = re.findall(r'^- .*(?:\n  .*)*', section, re.MULTILINE)
    for reason in (r'\bCPU\b', r'\brepa(?:y|id)', r'\bpageable\b', r'\bscarce\b|\bshort of memory\b'):
        found = [item for item in items if re.search(reason, item)]
        items = [item for item in items if item not in found]
        if not found:
            yield f'{path}: no item of "When to pin" about {reason}'


def check_advice():
    """F20: sizing.md has how to choose, with both arenas and what each is for, and to measure first, with what measures."""
    path = root / 'doc' / 'sizing.md'
    choice = guides[path].partition('## The choice\n')[2].partition('\n## ')[0]
    for subject, words in (('pools', r'class@Arena\.Pool'), ('rings', r'class@Arena\.Ring'), ('dropping', r'\bdrop'),
                           ('keeping', r'\b(keep|kept)\b'), ('measuring', r'^### Measure')):
        if not re.search(words, choice, re.MULTILINE):
            yield f'{path}: the choice says nothing about {subject}'
    measure = choice.partition('### Measure')[2]
    for bench in root.glob('tests/bench/**/run.sh'):
        if str(bench.relative_to(root)) not in measure:
            yield f'{path}: does not name {bench.relative_to(root)} where it says to measure'


def check_files():
    """Links between the documents, and files of the tree that they name."""
    for path, text in {**guides, root / 'README.md': (root / 'README.md').read_text()}.items():
        for target in re.findall(r'\]\((?!https?:)([^)#]+)', text):
            # gi-docgen makes NAME.html of NAME.md.
            if not (path.parent / (target.removesuffix('.html') + '.md' if path in guides else target)).exists():
                yield f'{path}: a link to {target}, which is not there'
        for name in re.findall(r'(?:`| )((?:doc|examples|tests)/[\w./-]*\w)', text):
            if not any(root.glob(f'{name}*')):
                yield f'{path}: names {name}, which is not there'


def check_lengths():
    for path, limit in {**dict.fromkeys(guides, GUIDE_LIMIT), root / 'README.md': README_LIMIT}.items():
        n_lines = len(path.read_text().splitlines())
        if n_lines > limit:
            yield f'{path}: {n_lines} lines, over {limit}'


found = [*check_types(), *check_errors(), *check_limits(), *check_pinning(), *check_advice(), *check_files(),
         *check_lengths()]
print('\n'.join(found))
sys.exit(1 if found else 0)
