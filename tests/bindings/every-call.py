#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Writes a program that calls each public function once, in JavaScript also with each argument wrong:
every-call.py GIR vala|js > PROGRAM

What a function needs is made by its type or by its parameter's name; objects come from the World in every-call-world.vala
and every-call-world.js. every-call.py GIR check says which entries of the tables below nothing uses.
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
    'arena_error_quark': 'Arena.ArenaError.quark',
    'arena_worker_new_async': 'Arena.Worker.create',
}
# Arguments: by name where the type alone would not do, else by type. Vala, JavaScript.
BY_NAME = {
    'alignment': ('64', '64'),
    'argv': ('{ "true" }', "['true']"),
    'buffer_size': ('2', '2'),
    'capacity': ('4096', '4096'),
    'count': ('2', '2'),
    'epoch': ('1', '1'),
    'fd': ('world.fd ()', 'world.fd'),
    'pidfd': ('world.fd ()', 'world.fd'),
    'record': ('world.record ()', 'world.record'),
    'segment_size': ('4096', '4096'),
    'span': ('world.span ()', 'world.span'),
    'state': ('world.state ()', 'world.state'),
}
BY_TYPE = {
    'Backend': ('world.backend ()', 'world.backend'),
    'DType': ('Arena.DType.UINT8', 'Arena.DType.UINT8'),
    'GLib.Bytes': ('new Bytes ({ 1, 2, 3 })', 'new GLib.Bytes(new Uint8Array(3))'),
    'GLib.Error': ('new IOError.FAILED ("text")', "new GLib.Error(Gio.IOErrorEnum, Gio.IOErrorEnum.FAILED, 'text')"),
    'GLib.Variant': ('new Variant.string ("text")', "new GLib.Variant('s', 'text')"),
    'Gio.Cancellable': ('new Cancellable ()', 'new Gio.Cancellable()'),
    'Gio.UnixFDList': ('world.fds', 'world.fds'),
    'array of gint64': ('{ 1 }', '[1]'),
    'array of guint8': ('{ 1, 2, 3 }', 'new Uint8Array(3)'),
    'array of guint64': ('{ 3 }', '[3]'),
    'gint': ('0', '0'),
    'gint64': ('0', '0'),
    'gsize': ('0', '0'),
    'guint': ('0', '0'),
    'guint64': ('0', '0'),
    'utf8': ('"text"', "'text'"),
}
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

    def arguments(self, vala):
        """Without a callback, and in JavaScript without what comes out."""
        return [text for one in self.parameters for text in self.argument(one, vala)]

    def argument(self, parameter, vala):
        name, kind = parameter.get('name'), type_of(parameter)
        if parameter.get('direction') == 'out':
            return ['null'] if vala else []
        if kind == 'Gio.AsyncReadyCallback':
            return []
        if kind == 'Gio.AsyncResult':
            return ['result']
        pair = look_up(BY_NAME, name) if name in BY_NAME else look_up(BY_TYPE, kind)
        return [pair[0 if vala else 1]]

    def wrong_calls(self):
        """In JavaScript: the name of each parameter and calls with something else in its place. A number is made of
        nearly anything."""
        arguments = self.arguments(False)
        given = (one for one in self.parameters if self.argument(one, False))
        for i, one in enumerate(given):
            wrong = ['Symbol()']
            if not re.match(r'g?u?int|gsize|DType', type_of(one)):
                wrong += ['{}', '7'] + ([] if one.get('nullable') == '1' else ['null'])
            callback = ['() => {}'] if self.finish else []
            yield one.get('name'), [
                f'{self.place(False)}({", ".join([*arguments[:i], text, *arguments[i + 1:], *callback])})' for text in wrong
            ]

    def place(self, vala):
        """What stands before the parenthesis."""
        if vala and self.symbol in VALA_NAMES:
            return look_up(VALA_NAMES, self.symbol)
        if self.kind == 'method':
            made = INSTANCES.get(self.symbol) or re.sub(r'(?<!^)([A-Z])', r'_\1', self.owner).lower()
            used.add(self.symbol)
            return f'world.{made} ().{self.name}' if vala else f'world.{camel(made)}.{self.name}'
        if self.kind == 'constructor' and vala:
            return f'new Arena.{self.owner}' + self.name.removeprefix('new').replace('_', '.', 1)
        return '.'.join(filter(None, ['Arena', self.owner, self.name]))

    def call(self, vala):
        return f'{self.place(vala)}{" " if vala else ""}({", ".join(self.arguments(vala))})'


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
            yield f'  add ("{function.symbol}", world => {{ {function.call(True)}; }});'
            continue
        begin, end = (f'{function.place(True)}.{part}' for part in ('begin', 'end'))
        results = ', '.join(function.finish.arguments(True))
        yield f'  add ("{function.symbol}", world => {{'
        yield f'    {begin} ({", ".join([*function.arguments(True), "(source, result) => {"])}'
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
            yield f"  '{function.symbol}': world => {function.call(False)},"
            continue
        arguments = ', '.join([*function.arguments(False), '(source, result) => {'])
        yield f"  '{function.symbol}': world => new Promise((resolve, reject) => {{"
        yield f'    {function.place(False)}({arguments}'
        yield f'      world.settle(() => {function.finish.call(False)}, resolve, reject);'
        yield '    });'
        yield '  }),'
    yield '}, {'
    for function in functions:
        for name, calls in function.wrong_calls():
            yield f"  '{function.symbol}: {name}': ["
            yield from (f'    world => {call},' for call in calls)
            yield '  ],'
    yield '});'


def stale(functions):
    """Entries that no function has asked for in either language."""
    for language in (vala, javascript):
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
    print('\n'.join({'vala': vala, 'js': javascript}[sys.argv[2]](functions)))


if __name__ == '__main__':
    main()
