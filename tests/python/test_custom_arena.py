# SPDX-License-Identifier: LGPL-2.1-or-later
"""F31 F32 F33 F34 F35 F76 F90: an arena that knows nothing of this package, with room for a few units in a file."""
import functools
import mmap
import os
import tempfile
import threading
import time
import unittest
import weakref

import numpy

import arena
import sources
import tap

N, SIZE = 4, 2 * sources.BIG


class FileArena:
    """N slots of SIZE bytes in a file, behind one byte each that says whether it is taken."""
    zero_copy = True

    def __init__(self, folder):
        self.path, self.log = os.path.join(folder, 'arena'), []
        with open(self.path, 'wb') as file:
            file.truncate(mmap.PAGESIZE + N * SIZE)

    def __getstate__(self):
        return {'path': self.path, 'zero_copy': self.zero_copy}

    def map(self):
        with open(self.path, 'r+b') as file:
            return mmap.mmap(file.fileno(), 0)

    def open_writer(self):
        return FileWriter(self.map())

    def open_reader(self):
        return FileReader(self.map(), self)

    def shutdown_arena(self):
        self.log.append('shutdown')

    def close(self):
        self.log.append('close')

    def unlink(self):
        self.log.append('unlink')
        os.unlink(self.path)


class FileWriter:
    def __init__(self, memory):
        self.memory, self.slot, self.used = memory, None, 0

    def reset(self):
        pass

    def begin_unit(self):
        while all(self.memory[:N]):
            time.sleep(0.001)
        self.slot, self.used = self.memory[:N].index(0), 0

    def write_binary(self, data):
        if self.used + len(data) > SIZE:
            raise BufferError(f'{self.used + len(data)} bytes are more than {SIZE}')
        offset = mmap.PAGESIZE + self.slot * SIZE + self.used
        self.memory[offset:offset + len(data)] = data
        self.used += -(-len(data) // 64) * 64
        return offset, len(data)

    def commit_unit(self):
        self.memory[self.slot] = 1
        return self.slot + 1

    def abort_unit(self):
        self.slot = None


class FileReader:
    def __init__(self, memory, arena):
        self.memory, self.zero_copy, self.log = memory, arena.zero_copy, arena.log

    def reset(self):
        self.log.append('reset')

    def read_binary(self, offset, nbytes):
        view = memoryview(self.memory)[offset:offset + nbytes]
        return view if self.zero_copy else memoryview(bytes(view))

    def end_unit(self, span, pinned):
        left = [len(pinned)]

        def release():
            left[0] -= 1
            if left[0] <= 0:
                self.memory[span - 1] = 0

        for anchor in pinned:
            weakref.finalize(anchor, release)
        if not pinned:
            release()


class NotingArena(FileArena):
    """Notes, in one file, what both processes do."""

    def note(self, text):
        with open(f'{self.path}.notes', 'a') as file:
            file.write(f'{text}\n')

    def noting(self, end, *names):
        for name in names:
            def call(*arguments, name=name, method=getattr(end, name)):
                self.note(name if name != 'reset' else f'{type(end).__name__} reset')
                return method(*arguments)
            setattr(end, name, call)
        return end

    def open_writer(self):
        return self.noting(super().open_writer(), 'reset', 'begin_unit')

    def open_reader(self):
        return self.noting(super().open_reader(), 'reset', 'read_binary')


class CopyingArena(FileArena):
    zero_copy = False


def mixed(n):
    for i in range(n):
        base = numpy.full(sources.BIG // 8, i, 'f8')
        yield {'i': i, 'x': base, 'same': base, 'bytes': bytes([i]) * 5000, 'small': numpy.arange(3), 'text': 't' * 10000}


def failing():
    yield numpy.zeros(SIZE)
    yield [numpy.zeros(10000), threading.Lock()]


class TestCustomArena(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def start(self, factory, *arguments, cls=FileArena):
        self.storage = cls(self.folder)
        return arena.iterate_in_subprocess(functools.partial(sources.call, factory, *arguments), arena=self.storage,
                                           buffer_size=1)

    def test_it_has_the_methods(self):
        storage = FileArena(self.folder)
        for value, protocol in ((storage, arena.ArenaProtocol), (storage.open_writer(), arena.ArenaWriterProtocol),
                                (storage.open_reader(), arena.ArenaReaderProtocol)):
            self.assertIsInstance(value, protocol)
            self.assertNotIsInstance(object(), protocol)

    def test_values(self):
        for cls in (FileArena, CopyingArena):
            with self.subTest(cls.__name__), self.start(mixed, 20, cls=cls) as batches:
                for _ in range(2):
                    n = 0
                    for batch in batches:
                        self.assertEqual((batch['i'], batch['x'].min(), batch['x'].max()), (n, n, n))
                        self.assertIs(batch['x'], batch['same'])
                        self.assertEqual(bytes(batch['bytes']), bytes([n]) * 5000)
                        n += 1
                        del batch
                    self.assertEqual(n, 20)
            self.assertEqual([word for word in self.storage.log if word != 'reset'], ['shutdown', 'close', 'unlink'])

    def test_both_ends_are_reset_before_the_first_unit(self):
        """Of an iteration, and nothing is written or read in between; what an iteration left is still there."""
        with self.start(mixed, 3, cls=NotingArena) as batches:
            for _ in range(3):
                kept = next(iter(batches))['x']
            self.assertEqual(len(list(map(len, batches))), 3)
            self.assertEqual(set(kept), {0})
        with open(f'{self.storage.path}.notes') as file:
            notes = file.read().split('\n')
        resets = [i for i, note in enumerate(notes) if note.endswith('reset')]
        self.assertEqual([notes[i] for i in resets], ['FileReader reset', 'FileWriter reset'] * 4)
        self.assertTrue(all(resets[i] + 1 == resets[i + 1] for i in range(0, 8, 2)), notes)

    def test_views_keep_their_slot(self):
        with self.start(mixed, 12) as batches:
            iteration = iter(batches)
            kept = [next(iteration)['x'][5:10] for _ in range(2)]
            for batch in iteration:
                del batch
            self.assertEqual([list(view) for view in kept], [[i] * 5 for i in range(2)])
            with open(self.storage.path, 'rb', 0) as file:
                self.assertEqual(sum(file.read(N)), 2)
                kept.clear()
                file.seek(0)
                self.assertEqual(sum(file.read(N)), 0)

    def test_copies_are_kept(self):
        with self.start(mixed, 12, cls=CopyingArena) as batches:
            kept = [batch['x'] for batch in batches]
        self.assertEqual([int(x[7]) for x in kept], list(range(12)))

    def test_after_a_break(self):
        with self.start(mixed, 30) as batches:
            for _ in range(5):
                for batch in batches:
                    break
                del batch
            self.assertEqual([batch['i'] for batch in batches], list(range(30)))

    def test_a_failing_unit_is_aborted(self):
        with self.start(failing) as batches:
            for _ in range(2 * N):
                with self.assertRaisesRegex(arena.WorkerError, 'BufferError: .* are more than'):
                    next(iter(batches))

    def test_closed_while_the_worker_waits_for_room(self):
        with self.start(mixed, 100) as batches:
            iteration = iter(batches)
            kept = [next(iteration) for _ in range(N)]
            time.sleep(0.1)
            began = time.monotonic()
            batches.close(0.2)
            self.assertLess(time.monotonic() - began, 5)
        self.assertEqual([batch['x'][0] for batch in kept], list(range(N)))
        self.assertFalse(os.path.exists(self.storage.path))


if __name__ == '__main__':
    tap.main()
