# SPDX-License-Identifier: LGPL-2.1-or-later
"""F83 F134: a worker is set up once, stands by, iterates when told to, and does what it is told between two items."""
import functools
import multiprocessing.util
import pathlib
import tempfile
import threading
import time
import unittest

import arena
import sources
import tap


def note(path, text):
    with open(path, 'a') as file:
        file.write(f'{text}\n')


class Noting:
    """Items that take a while to make, and notes of what is done with them."""

    def __init__(self, path, n):
        self.path, self.n = path, n
        note(path, 'create')
        multiprocessing.util.Finalize(None, note, (path, 'exit'), exitpriority=1)

    def __iter__(self):
        note(self.path, 'iterate')
        try:
            for i in range(self.n):
                note(self.path, f'begin {i}')
                time.sleep(0.01)
                note(self.path, f'end {i}')
                yield bytes([i]) * sources.BIG
        finally:
            note(self.path, 'leave')


def parked(n):
    """n items, and then none, but no end."""
    yield from range(n)
    threading.Event().wait()


class TestWorkerStates(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = pathlib.Path(folder.name, 'notes')

    def start(self, n=100, **options):
        return arena.iterate_in_subprocess(functools.partial(Noting, self.path, n),
                                           initializer=functools.partial(note, self.path, 'initialize'),
                                           arena=arena.SharedMemorySegmentPool(sources.BIG, 4), buffer_size=1, **options)

    def notes(self):
        return self.path.read_text().split('\n')[:-1]

    def items(self, n):
        return [f'{what} {i}' for i in range(n) for what in ('begin', 'end')]

    def test_stands_by(self):
        """Until the first loop, and after each."""
        with self.start(2) as batches:
            time.sleep(0.1)
            self.assertEqual(self.notes(), ['initialize', 'create'])
            for n_loops in (1, 2):
                self.assertEqual(sum(1 for batch in batches), 2)
                time.sleep(0.1)
                self.assertEqual(self.notes(), ['initialize', 'create'] + ['iterate', *self.items(2), 'leave'] * n_loops)
        self.assertEqual(self.notes()[-1], 'exit')

    def test_stops_between_items(self):
        """An item that has been begun is made; what the generator has to leave is left; then comes the next iteration."""
        with self.start() as batches:
            for _ in range(3):
                for batch in batches:
                    if batch[0] == 2:
                        break
                del batch
            self.assertEqual(sum(1 for batch in batches), 100)
        loops = '\n'.join(self.notes()).split('iterate\n')
        self.assertEqual(loops[0].split(), ['initialize', 'create'])
        for loop in loops[1:4]:
            n_made = loop.count('end')
            self.assertEqual(loop.split('\n'), [*self.items(n_made), 'leave', ''])
            self.assertIn(n_made, range(3, 100))
        self.assertEqual(loops[4].split('\n'), [*self.items(100), 'leave', 'exit'])

    def test_closed_in_the_middle(self):
        with self.start() as batches:
            for batch in batches:
                break
        notes = self.notes()
        self.assertEqual(notes[-2:], ['leave', 'exit'])
        self.assertLess(len(notes), 100)

    def test_parked(self):
        """A worker that waits for something to send, for ever, ends all the same, and its arena with it."""
        for how in (arena.SubprocessIterable.close, lambda batches: batches.__exit__(KeyError, None, None)):
            batches = arena.iterate_in_subprocess(functools.partial(sources.call, parked, 2), mp_context='fork')
            iteration = iter(batches)
            self.assertEqual([next(iteration), next(iteration)], [0, 1])
            process, began = batches._process, time.monotonic()
            how(batches)
            self.assertLess(time.monotonic() - began, 10)
            with self.assertRaisesRegex(ValueError, 'closed'):  # as multiprocessing says of what has been waited for
                process.is_alive()


if __name__ == '__main__':
    tap.main()
