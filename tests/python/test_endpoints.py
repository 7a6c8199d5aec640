# SPDX-License-Identifier: LGPL-2.1-or-later
"""F31 F76 F79: a pool or ring between a worker and a queue of somebody else's, as SPDL has them."""
import functools
import multiprocessing
import os
import time
import unittest

import arena
import sources
import tap

SIZE = sources.BIG


def work(storage, n, epochs, commands, units):
    """For each command n units, each of two fields."""
    writer = storage.open_writer()
    for epoch in range(epochs):
        commands.get()
        writer.reset()
        units.put('started')
        for i in range(n):
            writer.begin_unit()
            places = [writer.write_binary(bytes([epoch * 16 + i]) * size) for size in (SIZE // 2 - 100, 100, 0)]
            if i == 3:
                writer.abort_unit()
                continue
            units.put((writer.commit_unit(), places))
        units.put(None)


class Boundary:
    def __init__(self, storage, context, n, epochs):
        context = multiprocessing.get_context(context)
        self.storage, self.reader = storage, None
        self.commands, self.units = context.Queue(), context.Queue(2)
        self.process = context.Process(target=work, args=(storage, n, epochs, self.commands, self.units))
        self.process.start()

    def iterate(self, stop=None):
        self.commands.put('start')
        while self.units.get() != 'started':
            pass
        self.reader = self.reader or self.storage.open_reader()
        self.reader.reset()
        for unit in iter(self.units.get, None):
            span, places = unit
            views = [self.reader.read_binary(*place) for place in places]
            self.reader.end_unit(span, views)
            yield views
            del views

    def drain(self):
        while self.units.get() is not None:
            pass

    def close(self):
        self.storage.shutdown_arena()
        self.process.join(10)
        self.storage.close()
        self.storage.unlink()


class TestEndpoints(unittest.TestCase):
    def storages(self):
        return arena.SharedMemorySegmentPool(SIZE, 4), arena.SharedMemoryRingBuffer(4 * SIZE)

    def test_both_ways(self):
        for context in ('fork', 'spawn', 'forkserver'):
            for storage in self.storages():
                with self.subTest(f'{context} {storage}'):
                    boundary = Boundary(storage, context, 10, 3)
                    for epoch in range(3):
                        seen = []
                        for views in boundary.iterate():
                            self.assertEqual([len(view) for view in views], [SIZE // 2 - 100, 100, 0])
                            self.assertEqual(bytes(views[0]), views[0][:1].tobytes() * len(views[0]))
                            seen.append(views[1][99])
                            del views
                        self.assertEqual(seen, [epoch * 16 + i for i in range(10) if i != 3])
                    boundary.close()
                    self.assertEqual(boundary.process.exitcode, 0)

    def test_what_was_left_goes_back(self):
        """After a reset; what is kept of the same iteration stays."""
        for storage in arena.SharedMemorySegmentPool(SIZE, 16, reuse='any'), arena.SharedMemoryRingBuffer(12 * SIZE):
            boundary = Boundary(storage, 'fork', 10, 5)
            kept = []
            for epoch in range(5):
                units = boundary.iterate()
                kept.append(next(units)[0])
                units.close()
                boundary.drain()
            self.assertEqual([bytes(view) for view in kept], [bytes([epoch * 16]) * len(kept[0]) for epoch in range(5)])
            boundary.close()
            self.assertEqual(boundary.process.exitcode, 0)

    def test_a_full_pool_says_so(self):
        storage = arena.SharedMemorySegmentPool(SIZE, 1, acquire_timeout=0.05)
        writer = storage.open_writer()
        for n in range(2):
            writer.begin_unit()
            if n == 0:
                writer.write_binary(bytes(100))
                writer.commit_unit()
            else:
                with self.assertRaisesRegex(BufferError, 'no room for 100 bytes after 0.05 s'):
                    writer.write_binary(bytes(100))
                writer.abort_unit()

    def test_what_never_fits(self):
        writer = arena.SharedMemorySegmentPool(SIZE, 1).open_writer()
        writer.begin_unit()
        with self.assertRaisesRegex(BufferError, f'{SIZE + 1}.*{SIZE}'):
            writer.write_binary(bytes(SIZE + 1))

    def test_shutdown_ends_a_wait(self):
        import threading
        storage = arena.SharedMemorySegmentPool(SIZE, 1)
        writer = storage.open_writer()
        writer.begin_unit()
        writer.write_binary(bytes(100))
        writer.commit_unit()
        threading.Timer(0.2, storage.shutdown_arena).start()
        with self.assertRaisesRegex(BufferError, 'shut down'):
            writer.begin_unit()
            writer.write_binary(bytes(100))

    def test_only_to_a_process_that_is_started(self):
        import pickle
        with self.assertRaisesRegex(RuntimeError, 'inheritance'):
            pickle.dumps(arena.SharedMemoryRingBuffer(SIZE))

    def test_a_fork_in_between_does_no_harm(self):
        """Forked children exist that have nothing to do with the arena; afterwards it goes to a boundary."""
        pool = arena.SharedMemorySegmentPool(SIZE, 4)
        child = multiprocessing.get_context('fork').Process(target=os.getpid)
        child.start()
        child.join()
        with arena.iterate_in_subprocess(functools.partial(sources.blobs, 5), arena=pool) as batches:
            n = 0
            for batch in batches:
                del batch
                n += 1
            self.assertEqual((n, pool.stats.units), (5, 5))


if __name__ == '__main__':
    tap.main()
