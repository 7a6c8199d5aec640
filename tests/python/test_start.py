# SPDX-License-Identifier: LGPL-2.1-or-later
"""What can't be started is refused before there is a process, and the error says what to do.

F26 F27 F82 F91 F92 F130 C32 C78
"""
import _thread
import functools
import multiprocessing
import os
import pathlib
import subprocess
import sys
import tempfile
import threading
import unittest

import arena
from arena import _start
import sources
import tap
from gi.repository import Arena


def add_up(n):
    return [n]


def note(path, text):
    with open(path, 'a') as file:
        file.write(text)


def read(path):
    return [pathlib.Path(path).read_text()]


def in_a_daemon(queue):
    try:
        arena.iterate_in_subprocess(sources.pids)
    except Exception as error:
        queue.put(f'{type(error).__name__}: {error}')


def run(*options, stdin=None):
    return subprocess.run([sys.executable, *options], input=stdin, text=True, capture_output=True, timeout=30)


class TestStart(unittest.TestCase):
    def setUp(self):
        self.pool = arena.SharedMemorySegmentPool(sources.BIG, 3)

    def refused(self, error, text, *arguments, **options):
        options.setdefault('arena', self.pool)
        before = os.listdir('/proc/self/fd'), multiprocessing.active_children()
        with self.assertRaisesRegex(error, text):
            arena.iterate_in_subprocess(*arguments, **options)
        self.assertEqual((os.listdir('/proc/self/fd'), multiprocessing.active_children()), before)

    def test_functions_without_a_name(self):
        for context in ('spawn', 'forkserver'):
            self.refused(TypeError, '<lambda> in __main__ is a lambda.*top of a module', lambda: [1], mp_context=context)
            self.refused(TypeError, '<lambda>', functools.partial(lambda n: [n], 1), mp_context=context)

            def inner():
                return [1]
            self.refused(TypeError, r'inner in __main__ is defined in a function', inner, mp_context=context)
            self.refused(TypeError, 'lambda', add_up, initializer=lambda: None, mp_context=context)
            self.refused(TypeError, "can't be sent to a new process.*lock", functools.partial(add_up, threading.Lock()),
                         mp_context=context)
        self.refused(TypeError, '5 is not a function', 5)
        # Nothing was taken over.
        self.assertEqual(list(arena.iterate_in_subprocess(lambda: [1], arena=self.pool, mp_context='fork')), [1])

    def test_what_no_process_can_import(self):
        script = 'import arena\ndef make(): return [1]\narena.iterate_in_subprocess(make)\n'
        for done in (run('-c', script), run('-', stdin=script)):
            self.assertRegex(done.stderr, 'TypeError: make is defined in a notebook, at a prompt or in python -c')
            self.assertEqual(done.stderr.count('Traceback'), 1)

    def test_unguarded_main_module(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, 'unguarded.py')
            path.write_text('import arena, sources\nfor x in arena.iterate_in_subprocess(sources.pids): pass\n')
            done = run(path)
        self.assertIn("if __name__ == '__main__'", done.stderr)
        self.assertRegex(done.stderr, 'WorkerError: The worker subprocess quit: process .* exited with status 1')

    def test_daemons_have_no_children(self):
        queue = multiprocessing.get_context('spawn').SimpleQueue()
        process = multiprocessing.get_context('spawn').Process(target=in_a_daemon, args=(queue,), daemon=True)
        process.start()
        self.assertRegex(queue.get(), 'RuntimeError: a daemonic process.*DataLoader.*batch_size=None and num_workers=0')
        process.join()

    def test_fork_with_threads(self):
        event = threading.Event()
        thread = threading.Thread(target=event.wait, name='a thread')
        thread.start()
        self.addCleanup(thread.join)
        self.addCleanup(event.set)
        self.refused(RuntimeError, r"fork.*other threads.*\(a thread\).*'spawn' or 'forkserver'", add_up, mp_context='fork')

    def test_fork_with_threads_of_glib(self):
        script = '''import gi, functools, sources
from gi.repository import Gio
Gio.bus_get_sync  # the name is enough to load it
Gio.Application()
import arena, threading, time
from gi.repository import GLib
cancellable, done = Gio.Cancellable(), []
Gio.File.new_for_path('/').query_info_async('*', 0, 0, cancellable, lambda *rest: done.append(1))
while not done:
    GLib.MainContext.default().iteration(True)
print(list(arena.iterate_in_subprocess(functools.partial(sources.pids, 1), mp_context='spawn')) != [])
arena.iterate_in_subprocess(functools.partial(sources.pids, 1), mp_context='fork')
'''
        done = run('-c', script)
        self.assertEqual(done.stdout, 'True\n', done.stderr)
        self.assertRegex(done.stderr, r'RuntimeError: .*fork.*\((gmain|pool-)')

    def test_fork_while_threads_end(self):
        """Threads of C, which Python doesn't know."""
        for _ in range(1000):
            for _ in range(3):
                _thread.start_new_thread(int, ())
            _start.get_context('fork')

    def test_initializers_run_in_order(self):
        for context in ('spawn', 'fork'):
            with tempfile.NamedTemporaryFile() as file, self.subTest(context):
                notes = [functools.partial(note, file.name, text) for text in ('a', 'b', 'c')]
                batches = arena.iterate_in_subprocess(functools.partial(read, file.name), initializer=notes,
                                                      mp_context=multiprocessing.get_context(context))
                self.assertEqual(list(batches), ['abc'])

    def test_an_arena_serves_once(self):
        factory = functools.partial(sources.pids, 1)
        with arena.iterate_in_subprocess(factory, arena=self.pool):
            self.refused(arena.NotSupportedError, 'serves one in its life', factory)
        self.refused(RuntimeError, 'serves one|closed', factory)

    def test_the_longest_queue(self):
        """One without an end, as SPDL has it where buffer_size is 0, is not offered."""
        longest = 65536
        for buffer_size in (0, -1, longest + 1, 1 << 70):
            self.refused(ValueError, f'buffer_size must be 1 to {longest}, not {buffer_size}$', sources.call,
                         buffer_size=buffer_size)
        # Which is the library's.
        with self.assertRaisesRegex(Arena.InvalidArgumentError, f'buffer_size is {longest + 1}, must be 1 to {longest}'):
            Arena.Consumer(backend=Arena.Pool(segment_size=4096, count=2), buffer_size=longest + 1)

    def test_arguments(self):
        self.refused(ValueError, 'timeout', sources.call, timeout=-1)
        self.refused(TypeError, 'buffer_size must be an integer, not str', sources.call, buffer_size='3')
        self.refused(TypeError, 'SharedMemorySegmentPool, .* ArenaProtocol', sources.call, arena=object())
        for arguments, text in (((0, 3), 'segment_size must be positive'), ((4096, -1), 'count must be positive')):
            with self.assertRaisesRegex(ValueError, text):
                arena.SharedMemorySegmentPool(*arguments)
        with self.assertRaisesRegex(ValueError, 'capacity must be positive'):
            arena.SharedMemoryRingBuffer(0)
        with self.assertRaisesRegex(ValueError, 'acquire_timeout must be non-negative'):
            arena.SharedMemoryRingBuffer(4096, acquire_timeout=-1)
        with self.assertRaisesRegex(ValueError, "'in-order' or 'any'"):
            arena.SharedMemorySegmentPool(4096, 3, reuse='random')
        with self.assertRaises(TypeError):
            arena.SharedMemorySegmentPool('4096', 3)


if __name__ == '__main__':
    tap.main()
