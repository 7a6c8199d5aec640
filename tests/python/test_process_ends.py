# SPDX-License-Identifier: LGPL-2.1-or-later
"""F89 F128 F133 C76 C104: Ctrl-C and the interpreter's end take the worker along within a second, whatever it does."""
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time
import unittest

import tap

SCRIPT = '''
import functools, sys, time
import arena, sources

def main():
    global batches, iteration
    factory, context, what = sys.argv[1:]
    factory = {'blocked': functools.partial(sources.blobs, 1000), 'slow': functools.partial(sources.slow, 60, after=1),
               'ready': functools.partial(sources.blobs, 2)}[factory]
    pool = arena.SharedMemorySegmentPool(sources.BIG, 2)
    batches = arena.iterate_in_subprocess(factory, arena=pool, mp_context=context, buffer_size=1)
    iteration = iter(batches)
    next(iteration)
    print(batches.pid, flush=True)
    if what == 'interrupt':
        for batch in iteration:
            del batch
            time.sleep(0.01)
    elif what == 'raise':
        raise LookupError('the first error')

if __name__ == '__main__':
    main()
'''


def is_running(pid):
    try:
        with open(f'/proc/{pid}/stat') as stat:
            return stat.read().rpartition(')')[2].split()[0] != 'Z'
    except FileNotFoundError:
        return False


class TestProcessEnds(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.path = pathlib.Path(cls.folder.name, 'script.py')
        cls.path.write_text(SCRIPT)
        # A second, and on a loaded machine what it takes longer to do nothing.
        began = time.monotonic()
        subprocess.run([sys.executable, '-c', 'import gi'])
        cls.limit = 1 + 3 * (time.monotonic() - began)

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def run_script(self, *arguments, act=None):
        """Runs it; returns its status, what it wrote to stderr, and how long it took from when it was ready."""
        child = subprocess.Popen([sys.executable, self.path, *arguments], text=True, stdout=subprocess.PIPE,
                                 stderr=subprocess.PIPE, start_new_session=True)
        worker = int(child.stdout.readline())
        if act:
            act(child, worker)
        began = time.monotonic()
        # The worker has the pipes too: this waits for it.
        _, errors = child.communicate(timeout=30)
        took = time.monotonic() - began
        self.assertFalse(is_running(worker))
        return child.returncode, errors, took

    def test_a_global_iterator(self):
        for context in ('spawn', 'fork', 'forkserver'):
            for factory in ('blocked', 'slow', 'ready'):
                with self.subTest(f'{context} {factory}'):
                    status, errors, took = self.run_script(factory, context, 'return')
                    self.assertEqual((status, errors), (0, ''))
                    self.assertLess(took, self.limit)

    def test_an_exception(self):
        status, errors, took = self.run_script('blocked', 'spawn', 'raise')
        self.assertEqual((status, errors.count('Traceback'), 'the first error' in errors), (1, 1, True))
        self.assertLess(took, self.limit)

    def test_interrupt(self):
        def interrupt(child, worker):
            time.sleep(0.3)
            os.killpg(child.pid, signal.SIGINT)

        for context in ('spawn', 'fork', 'forkserver'):
            for factory in ('blocked', 'slow'):
                with self.subTest(f'{context} {factory}'):
                    status, errors, took = self.run_script(factory, context, 'interrupt', act=interrupt)
                    self.assertEqual((status, errors.count('Traceback'), 'KeyboardInterrupt' in errors),
                                     (-signal.SIGINT, 1, True), errors)
                    self.assertLess(took, self.limit)

    def test_interrupt_while_it_starts(self):
        for delay in (0.05, 0.15, 0.3):
            with self.subTest(delay):
                path = pathlib.Path(self.folder.name, 'start.py')
                path.write_text('''import functools, time
import arena, sources
if __name__ == '__main__':
    print('ready', flush=True)
    arena.iterate_in_subprocess(sources.pids, initializer=functools.partial(time.sleep, 60))
''')
                child = subprocess.Popen([sys.executable, path], text=True, stdout=subprocess.PIPE,
                                         stderr=subprocess.PIPE, start_new_session=True)
                child.stdout.readline()
                time.sleep(delay)
                began = time.monotonic()
                os.killpg(child.pid, signal.SIGINT)
                _, errors = child.communicate(timeout=30)
                self.assertEqual((child.returncode, errors.count('Traceback')), (-signal.SIGINT, 1), errors)
                self.assertLess(time.monotonic() - began, self.limit)

    def test_the_consumer_is_killed(self):
        def kill(child, worker):
            child.kill()

        for factory in ('blocked', 'ready'):
            with self.subTest(factory):
                status, errors, took = self.run_script(factory, 'spawn', 'interrupt', act=kill)
                self.assertEqual((status, errors), (-signal.SIGKILL, ''))
                self.assertLess(took, 1 + self.limit)


if __name__ == '__main__':
    tap.main()
