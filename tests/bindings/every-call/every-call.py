#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Writes a program that calls each public function once, and in scripts also with each argument wrong:
every-call.py GIR vala|js|py > PROGRAM

What a function needs is made by its type or by its parameter's name; objects come from the World in world.vala, world.js
and every_call_world.py. every-call.py GIR check says which entries of the tables below nothing uses.
"""
import re
import sys
import xml.etree.ElementTree as ElementTree

CORE = '{http://www.gtk.org/introspection/core/1.0}'
C = '{http://www.gtk.org/introspection/c/1.0}'

# Functions that can't be called, and why.
SKIPPED = {}

# Where the World has another object for the function than that of its class.
INSTANCES = {
    'arena_backend_load': 'empty_backend',
    'arena_consumer_dup_worker_fd': 'idle_consumer',
    'arena_reader_enter_epoch': 'idle_reader',
    'arena_writer_begin_unit': 'started_writer',
    'arena_writer_start_epoch': 'idle_writer',
}
# Functions that have another name in Vala.
VALA_NAMES = {
    'arena_cuda_error_quark': 'Arena.CudaError.quark',
    'arena_error_quark': 'Arena.ArenaError.quark',
    'arena_worker_new_async': 'Arena.Worker.create',
}
# Arguments: by name where the type alone would not do, else by type. Vala, JavaScript, Python; one text is all three.
BY_NAME = {
    'alignment': '64',
    'argv': ('{ "true" }', "['true']", "['true']"),
    'buffer_size': '2',
    'capacity': '4096',
    'count': '2',
    'epoch': '1',
    'fd': ('world.fd ()', 'world.fd', 'world.fd'),
    'pidfd': ('world.fd ()', 'world.fd', 'world.fd'),
    'record': ('world.record ()', 'world.record', 'world.record'),
    'segment_size': '4096',
    'span': ('world.span ()', 'world.span', 'world.span'),
    'state': ('world.state ()', 'world.state', 'world.state'),
    'stream': '1',
}
BY_TYPE = {
    'Backend': ('world.backend ()', 'world.backend', 'world.backend'),
    'CudaContext': ('world.cuda_context ()', 'world.cudaContext', 'world.cuda_context'),
    'DType': 'Arena.DType.UINT8',
    'GLib.Bytes': ('new Bytes ({ 1, 2, 3 })', 'new GLib.Bytes(new Uint8Array(3))', 'GLib.Bytes.new(bytes(3))'),
    'GLib.Error': ('new IOError.FAILED ("text")', "new GLib.Error(Gio.IOErrorEnum, Gio.IOErrorEnum.FAILED, 'text')",
                   "GLib.Error.new_literal(Gio.io_error_quark(), 'text', 0)"),
    'GLib.Variant': ('new Variant.string ("text")', "new GLib.Variant('s', 'text')", "GLib.Variant('s', 'text')"),
    'Gio.Cancellable': ('new Cancellable ()', 'new Gio.Cancellable()', 'Gio.Cancellable()'),
    'Gio.UnixFDList': 'world.fds',
    'array of gint64': ('{ 1 }', '[1]', '[1]'),
    'array of guint8': ('{ 1, 2, 3 }', 'new Uint8Array(3)', 'bytes(3)'),
    'array of guint64': ('{ 3 }', '[3]', '[3]'),
    'gboolean': ('true', 'true', 'True'),
    'gint': '0',
    'gint64': '0',
    'gsize': '0',
    'guint': '0',
    'guint64': '0',
    'utf8': '"text"',
}
VALA, JS, PY = range(3)
used = set()


def type_of(parameter):
    array = parameter.find(CORE + 'array')
    if array is not None:
        return 'array of ' + array.find(CORE + 'type').get('name')
    return parameter.find(CORE + 'type').get('name')


def camel(name):
    return re.sub(r'_(.)', lambda match: match[1].upper(), name)


def look_up(table, key):
    used.add(key)
    return table[key]


def argument(key, language):
    texts = look_up(BY_NAME if key in BY_NAME else BY_TYPE, key)
    return texts if isinstance(texts, str) else texts[language]


class Function:
    """What the GIR says of a function; owner is None for one of the namespace."""

    def __init__(self, element, owner):
        self.symbol, self.name = element.get(C + 'identifier'), element.get('name')
        self.owner, self.kind = owner, element.tag.removeprefix(CORE)
        parameters = element.findall(f'{CORE}parameters/{CORE}parameter')
        sized = [element.find(CORE + 'return-value'), *parameters]
        hidden = {int(array.get('length')) for array in (one.find(CORE + 'array') for one in sized)
                  if array is not None and array.get('length')}
        hidden |= {int(one.get('closure')) for one in parameters if one.get('closure')}
        self.parameters = [one for i, one in enumerate(parameters) if i not in hidden]
        self.finish = None

    def is_async(self):
        return any(type_of(one) == 'Gio.AsyncReadyCallback' for one in self.parameters)

    def given(self):
        """The parameters that a caller gives, but for a callback."""
        return [one for one in self.parameters if one.get('direction') != 'out' and
                type_of(one) not in ('Gio.AsyncReadyCallback', 'Gio.AsyncResult')]

    def arguments(self, language):
        """As they are written, with what comes out in Vala."""
        texts = []
        for one in self.parameters:
            if one in self.given():
                texts.append(argument(one.get('name') if one.get('name') in BY_NAME else type_of(one), language))
            elif type_of(one) == 'Gio.AsyncResult':
                texts.append('result')
            elif one.get('direction') == 'out' and language == VALA:
                texts.append('null')
        return texts

    def wrong_calls(self, language, numbers, others, null):
        """The name of each parameter, and calls with something else in its place."""
        arguments = self.arguments(language)
        for i, one in enumerate(self.given()):
            if type_of(one) == 'gboolean':  # scripts take anything for one
                continue
            wrong = numbers if re.match(r'g?u?int|gsize|DType', type_of(one)) else others
            if one.get('nullable') != '1' and wrong is others:
                wrong = [*wrong, null]
            callback = {JS: ['() => {}'], PY: ['print']}[language] if self.finish else []
            yield one.get('name'), [
                f'{self.place(language)}({", ".join([*arguments[:i], text, *arguments[i + 1:], *callback])})'
                for text in wrong
            ]

    def place(self, language):
        """What stands before the parenthesis."""
        if language == VALA and self.symbol in VALA_NAMES:
            return look_up(VALA_NAMES, self.symbol)
        if self.kind == 'method':
            made = INSTANCES.get(self.symbol) or re.sub(r'(?<!^)([A-Z])', r'_\1', self.owner).lower()
            used.add(self.symbol)
            return f'world.{[made + " ()", camel(made), made][language]}.{self.name}'
        if self.kind == 'constructor' and language == VALA:
            return f'new Arena.{self.owner}' + self.name.removeprefix('new').replace('_', '.', 1)
        return '.'.join(filter(None, ['Arena', self.owner, self.name]))

    def call(self, language):
        return f'{self.place(language)}{" " if language == VALA else ""}({", ".join(self.arguments(language))})'


def read(gir):
    """The functions a binding sees, each once, and each with the one that finishes it."""
    namespace = ElementTree.parse(gir).getroot().find(CORE + 'namespace')
    functions = {}
    for owner in [namespace, *namespace]:
        for element in owner:
            kind = element.tag.removeprefix(CORE)
            symbol = element.get(C + 'identifier')
            if kind not in ('function', 'constructor', 'method') or element.get('introspectable') == '0':
                continue
            if symbol not in functions and symbol not in SKIPPED:
                functions[symbol] = Function(element, None if owner is namespace else owner.get('name'))
    for symbol, function in list(functions.items()):
        if function.is_async():
            function.finish = functions.pop(symbol.removesuffix('_async') + '_finish')
    return functions.values()


def vala(functions):
    yield '// Written by every-call.py.'
    yield 'int main (string[] args) {'
    yield '  Test.init (ref args);'
    for function in functions:
        if not function.finish:
            yield f'  add ("{function.symbol}", world => {{ {function.call(VALA)}; }});'
            continue
        begin, end = (f'{function.place(VALA)}.{part}' for part in ('begin', 'end'))
        results = ', '.join(function.finish.arguments(VALA))
        yield f'  add ("{function.symbol}", world => {{'
        yield f'    {begin} ({", ".join([*function.arguments(VALA), "(source, result) => {"])}'
        yield f'      world.finish (() => {{ {end} ({results}); }});'
        yield '    });'
        yield '    world.wait ();'
        yield '  });'
    yield '  return Test.run ();'
    yield '}'


def javascript(functions):
    yield '// Written by every-call.py.'
    yield "import Arena from 'gi://Arena?version=1.0';"
    yield "import Gio from 'gi://Gio';"
    yield "import GLib from 'gi://GLib';"
    yield ''
    yield "const {callAll} = await import(`file://${ARGV[0]}`);"
    yield ''
    yield 'await callAll({'
    for function in functions:
        if not function.finish:
            yield f"  '{function.symbol}': world => {function.call(JS)},"
            continue
        arguments = ', '.join([*function.arguments(JS), '(source, result) => {'])
        yield f"  '{function.symbol}': world => new Promise((resolve, reject) => {{"
        yield f'    {function.place(JS)}({arguments}'
        yield f'      world.settle(() => {function.finish.call(JS)}, resolve, reject);'
        yield '    });'
        yield '  }),'
    yield '}, {'
    for function in functions:
        for name, calls in function.wrong_calls(JS, ['Symbol()'], ['Symbol()', '{}', '7'], 'null'):
            yield f"  '{function.symbol}: {name}': ["
            yield from (f'    world => {call},' for call in calls)
            yield '  ],'
    yield '});'


def python(functions):
    yield '# Written by every-call.py.'
    yield 'import os'
    yield 'import sys'
    yield ''
    yield 'import tap'
    yield ''
    yield 'sys.path.append(os.path.dirname(sys.argv[1]))'
    yield 'import every_call_world'
    yield 'from gi.repository import Arena, Gio, GLib'
    yield ''
    yield 'CALLS = {'
    for function in functions:
        if not function.finish:
            yield f"    '{function.symbol}': lambda world: {function.call(PY)},"
            continue
        arguments = ', '.join([*function.arguments(PY), 'world.done'])
        yield f"    '{function.symbol}': lambda world: world.settle("
        yield f'        {function.place(PY)}({arguments}), lambda result: {function.finish.call(PY)}),'
    yield '}'
    yield 'WRONG_CALLS = {'
    for function in functions:
        for name, calls in function.wrong_calls(PY, ['"7"', 'None'], ['object()', '7'], 'None'):
            yield f"    '{function.symbol}: {name}': ["
            yield from (f'        lambda world: {call},' for call in calls)
            yield '    ],'
    yield '}'
    yield ''
    yield ''
    yield 'class TestEveryCall(every_call_world.EveryCall):'
    yield '    calls, wrong_calls = CALLS, WRONG_CALLS'
    yield ''
    yield ''
    yield 'tap.main()'


LANGUAGES = {'js': javascript, 'py': python, 'vala': vala}


def stale(functions):
    """Entries that no function has asked for in any language."""
    for language in LANGUAGES.values():
        list(language(functions))
    for table in (INSTANCES, VALA_NAMES, BY_NAME, BY_TYPE):
        yield from (key for key in table if key not in used)
    symbols = {element.get(C + 'identifier') for element in ElementTree.parse(sys.argv[1]).iter()}
    yield from (symbol for symbol in SKIPPED if symbol not in symbols)


def main():
    functions = read(sys.argv[1])
    if sys.argv[2] == 'check':
        unused = sorted(stale(functions))
        sys.exit(f'nothing uses {", ".join(unused)}' if unused else 0)
    print('\n'.join(LANGUAGES[sys.argv[2]](functions)))


if __name__ == '__main__':
    main()
