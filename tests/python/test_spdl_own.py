# SPDX-License-Identifier: LGPL-2.1-or-later
"""SPDL's own tests with this package's arenas in place of SPDL's: test_spdl_own.py SOURCE SPDL.md FUNCTION

SOURCE has SPDL's sources, unless ARENA_TEST_SPDL names another folder. FUNCTION is whose iterate_in_subprocess() the tests
call, and how that starts its workers; or "none", and then those tests are run that don't call it.

What isn't run is what a table of the guide lists. Each of its rows must be right about the test's text, and what it lists
must fail when it is run, unless it has nothing to do with arenas.
"""
import ast
import fnmatch
import functools
import importlib.util
import inspect
import os
import pathlib
import re
import shutil
import sys
import unittest

import arena
import tap

try:
    import spdl.pipeline
except ImportError:
    spdl = None

SOURCE = pathlib.Path(os.environ.get('ARENA_TEST_SPDL') or sys.argv[1])
PACKAGE = 'tests.pipeline'
WHOLE = ['iterate_in_subprocess_arena_test', 'subprocess_break_reiterate_test']
FILES = [*WHOLE, 'subprocess_test', 'arena_pool_test', 'arena_ring_test', 'arena_packets_test', 'arena_registry_test']
ROW = re.compile(r'\| `(?P<test>\w+\.[\w*]+)` \| `(?P<uses>[^`]+)` \|')
CLASSES = {name: getattr(arena, name) for name in ('SharedMemorySegmentPool', 'SharedMemoryRingBuffer')}


def theirs(fn, *, arena=None, **options):
    """SPDL's function, which gets an arena of ours where the test has none."""
    arena = arena or CLASSES['SharedMemoryRingBuffer'](1 << 20)
    assert type(arena) in CLASSES.values()
    return spdl.pipeline.iterate_in_subprocess(fn, arena=arena, **options)


FUNCTIONS = {f'{name}-{context}': functools.partial(function, mp_context=context)
             for name, function in (('spdl', theirs), ('arena', arena.iterate_in_subprocess)) for context in ('fork', 'spawn')}


def path_of(file):
    return SOURCE.joinpath(*PACKAGE.split('.'), f'{file}.py')


def find_tests(file):
    """FILE.TEST -> its text, without importing anything."""
    text = path_of(file).read_text()
    return {f'{file}.{node.name}': ast.get_source_segment(text, node) for node in ast.walk(ast.parse(text))
            if isinstance(node, ast.FunctionDef) and node.name.startswith('test_')}


def read_table():
    return [match.groupdict() for match in map(ROW.match, pathlib.Path(sys.argv[2]).read_text().splitlines()) if match]


def find_excluded(file):
    return {name for row in read_table() for name in fnmatch.filter(find_tests(file), row['test'])}


def what_is_missing(file):
    if spdl is None:
        return 'no spdl'
    if not path_of(file).exists():
        return 'no source of spdl'
    if 'spdl.io' in path_of(file).read_text() and not (importlib.util.find_spec('spdl.io') and shutil.which('ffmpeg')):
        return 'no spdl.io with ffmpeg'
    return None


def is_for(cls, function):
    """Whether the class's tests run with that function. A queue of their own goes to a forked worker only."""
    source = inspect.getsource(cls)
    if 'iterate_in_subprocess(' not in source:
        return function == 'none'
    return function in FUNCTIONS and ('mp.Queue()' not in source or function.endswith('-fork'))


def substitute(module, cls, ours):
    """A class whose tests find ours where their module has SPDL's, whatever it calls them."""
    places = [(name, value, ours[other]) for name, value in vars(module).items() for other in ours
              if value is getattr(spdl.pipeline, other)]

    def setUp(self):
        for name, original, value in places:
            self.addCleanup(setattr, module, name, original)
            setattr(module, name, value)
        cls.setUp(self)
    return {'setUp': setUp, '__module__': __name__}


def make_classes(file, function, choose):
    """The module's classes for that function, with the tests that are chosen."""
    module = importlib.import_module(f'{PACKAGE}.{file}')
    ours = CLASSES | ({'iterate_in_subprocess': FUNCTIONS[function]} if function in FUNCTIONS else {})
    for cls in list(vars(module).values()):
        if inspect.isclass(cls) and issubclass(cls, unittest.TestCase) and is_for(cls, function):
            others = {name: None for name in vars(cls) if name.startswith('test_') and not choose(f'{file}.{name}')}
            yield type(f'{file}.{cls.__name__}', (cls,), substitute(module, cls, ours) | others)


def run_one(file, name):
    result = unittest.TestResult()
    for function in 'none', 'arena-spawn':
        for cls in make_classes(file, function, lambda other: other == name):
            unittest.defaultTestLoader.loadTestsFromTestCase(cls).run(result)
    return result


class TestTable(unittest.TestCase):
    def setUp(self):
        if reason := what_is_missing(FILES[0]):
            self.skipTest(reason)

    def test_rows_are_right(self):
        tests = {name: text for file in FILES for name, text in find_tests(file).items()}
        for row in read_table():
            with self.subTest(row['test']):
                listed = fnmatch.filter(tests, row['test'])
                self.assertTrue(listed, 'there is no such test')
                self.assertEqual([name for name in listed if row['uses'] not in tests[name]], [])

    def test_these_run_whole(self):
        self.assertEqual([find_excluded(file) for file in WHOLE], [set(), set()])

    def test_what_is_listed_would_fail(self):
        for file in FILES:
            with_arenas = any(name in path_of(file).read_text() for name in (*CLASSES, 'iterate_in_subprocess'))
            for name in find_excluded(file) if with_arenas else ():
                with self.subTest(name):
                    result = run_one(file, name)
                    self.assertEqual((result.testsRun, result.wasSuccessful()), (1, False))


def add_tests(function):
    """To this module, as tap takes them from here."""
    for file in FILES[:1] if what_is_missing(FILES[0]) else FILES:
        if reason := what_is_missing(file):
            skipped = unittest.skip(reason)(lambda self: None)
            globals()[file] = type(file, (unittest.TestCase,), {'test': skipped})
        else:
            excluded = find_excluded(file)
            globals().update((cls.__name__, cls) for cls in make_classes(file, function, lambda name: name not in excluded))


if __name__ == '__main__':
    sys.path.insert(0, str(SOURCE))
    if sys.argv[3] != 'none':
        del TestTable
    add_tests(sys.argv[3])
    tap.main()
