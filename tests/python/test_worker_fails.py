# SPDX-License-Identifier: LGPL-2.1-or-later
"""F84 F127 F144 F145 F169 C38 C73 C74: what goes wrong in the worker is raised here, with its type, its text and its traceback."""
import functools
import gc
import pickle
import threading
import traceback
import unittest
import weakref

import arena
import sources
import tap


class TwoArguments(Exception):
    def __init__(self, one, two):
        super().__init__(one, two)


class NoText(Exception):
    def __str__(self):
        raise RuntimeError('no text')


class NoPickle(Exception):
    def __init__(self):
        super().__init__('no pickle')
        self.lock = threading.Lock()


class NoLoad:
    def __reduce__(self):
        return pickle.loads, (b'not a pickle',)


def other_text():
    raise ValueError('name \udce9, end \0 and on')


def two_arguments():
    raise TwoArguments('first', 'second')


def no_text():
    raise NoText


def no_pickle():
    raise NoPickle


def long_text():
    raise ValueError('head' + 'x' * (10 << 20) + 'tail')


def chained():
    try:
        two_arguments()
    except TwoArguments as error:
        raise KeyError('outer') from error


def leave():
    raise SystemExit(5)


def failing(raiser, n=2):
    """n items, then an exception."""
    yield from (bytes([i]) * sources.BIG for i in range(n))
    raiser()


def unpicklable():
    yield from ([i, threading.Lock() if i == 1 else b'x' * sources.BIG] for i in range(3))


def unloadable():
    yield NoLoad()
    yield 'next'


def too_large():
    yield b'x' * sources.BIG
    yield b'x' * (sources.BIG + 1)


def not_iterable():
    return 5


class BadIter:
    def __iter__(self):
        raise LookupError('no iterator')


def raises(*_):
    raise LookupError('not now')


def start(function, *arguments, **options):
    options.setdefault('arena', arena.SharedMemorySegmentPool(sources.BIG, 5))
    return arena.iterate_in_subprocess(functools.partial(sources.call, function, *arguments), **options)


class TestWorkerFails(unittest.TestCase):
    def fail_at(self, n, batches):
        """The error of the n-th item; what came before arrives, and the worker goes on."""
        for _ in range(2):
            iteration = iter(batches)
            for _ in range(n):
                next(iteration)
            with self.assertRaises(arena.WorkerError) as raised:
                next(iteration)
        error = raised.exception
        self.assertEqual((error.item, error.worker_id, error.exitcode), (n, 0, None))
        return error

    def test_kinds(self):
        cases = [(two_arguments, 'TwoArguments', r"\('first', 'second'\)"), (no_pickle, 'NoPickle', 'no pickle'),
                 (other_text, 'ValueError', r'name \\udce9, end \\0 and on'),
                 (no_text, 'NoText', r'<its str\(\) raised RuntimeError>'), (chained, 'KeyError', "'outer'"),
                 (long_text, 'ValueError', r'headx*\n\[... \d+ characters ...\]\nx*tail')]
        for raiser, type_name, text in cases:
            with self.subTest(type_name), start(failing, raiser) as batches:
                error = self.fail_at(2, batches)
                self.assertEqual(error.type_name, type_name)
                self.assertRegex(error.text, f'^{text}$')
                self.assertTrue(str(error).startswith(f'Failed to fetch the next item (item 2): {type_name}: '))

    def test_which_worker(self):
        """Of several: by its number, whatever went wrong; and it is the same one that goes on."""
        with start(failing, two_arguments, worker_id=3, worker_count=4) as batches:
            for n_times in range(3):
                with self.assertRaises(arena.WorkerError) as raised:
                    list(batches)
                self.assertEqual((raised.exception.worker_id, raised.exception.item), (3, 2))
                self.assertIn('in two_arguments', raised.exception.traceback)
            batches._process.kill()
            with self.assertRaisesRegex(arena.WorkerError, f'process {batches.pid} was killed') as raised:
                list(batches)
            self.assertEqual((raised.exception.worker_id, raised.exception.item), (3, None))

    def test_nothing_keeps_the_worker(self):
        gc.collect()
        gc.disable()
        self.addCleanup(gc.enable)
        batches = start(failing, two_arguments)
        worker = weakref.ref(batches)
        try:
            list(batches)
        except arena.WorkerError:
            pass
        del batches
        self.assertIsNone(worker())

    def test_traceback_is_printed(self):
        with start(failing, chained) as batches:
            error = self.fail_at(2, batches)
        self.assertIn('in two_arguments', error.traceback)
        printed = ''.join(traceback.format_exception(error))
        self.assertLess(printed.index('in two_arguments'), printed.index('Failed to fetch'))

    def test_what_pickle_refuses(self):
        for options in ({}, {'arena': None}):
            with self.subTest(str(options)), start(unpicklable, **options) as batches:
                self.assertRegex(str(self.fail_at(1, batches)), r"Failed to send the item \(item 1\): TypeError: .*lock")
                self.assertLessEqual(batches.stats.occupancy, sources.BIG)

    def test_too_large(self):
        with start(too_large) as batches:
            self.assertRegex(str(self.fail_at(1, batches)), f'TooLargeError: .*{sources.BIG + 1}.*{sources.BIG}')

    def test_what_cannot_be_loaded_costs_one_item(self):
        with start(unloadable) as batches:
            iteration = iter(batches)
            with self.assertRaises(pickle.UnpicklingError):
                next(iteration)
            self.assertEqual(list(iteration), ['next'])

    def test_stages(self):
        with self.assertRaisesRegex(arena.WorkerError, '^Initializer failed: LookupError: not now$'):
            arena.iterate_in_subprocess(sources.call, initializer=[raises])
        with self.assertRaisesRegex(arena.WorkerError, '^Failed to create the iterable: LookupError: not now$') as raised:
            arena.iterate_in_subprocess(raises)
        self.assertIsNone(raised.exception.item)
        for factory, text in ((not_iterable, 'TypeError'), (BadIter, 'LookupError: no iterator')):
            with arena.iterate_in_subprocess(factory) as batches:
                with self.assertRaisesRegex(arena.WorkerError, f'^Failed to create the iterator: {text}'):
                    next(iter(batches))

    def test_the_first_error_is_seen(self):
        """Closing while views are held adds nothing to it."""
        with self.assertRaises(arena.WorkerError) as raised:
            with start(failing, raises) as batches:
                kept = []
                for batch in batches:
                    kept.append(batch)
        self.assertEqual(raised.exception.type_name, 'LookupError')
        self.assertNotIn('GLib', ''.join(traceback.format_exception(raised.exception)))

    def test_system_exit(self):
        with start(failing, leave) as batches:
            iteration = iter(batches)
            next(iteration), next(iteration)
            with self.assertRaisesRegex(arena.WorkerError, 'SystemExit: 5'):
                next(iteration)
            with self.assertRaisesRegex(arena.WorkerError, 'exited with status 5') as raised:
                next(iter(batches))
            self.assertEqual(raised.exception.exitcode, 5)


if __name__ == '__main__':
    tap.main()
