# SPDX-License-Identifier: LGPL-2.1-or-later
"""F31 F76 F79 F90: a pool or ring between a worker and a queue of somebody else's, as SPDL has them."""
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


def write_unit(writer, *sizes):
    writer.begin_unit()
    for size in sizes:
        writer.write_binary(bytes(size))
    return writer.commit_unit()


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

    def test_a_full_arena_says_so(self):
        """A unit of a pool waits for its segment, one of a ring for what is written to it."""
        pool, ring = (cls(*sizes, acquire_timeout=0.05) for cls, sizes in
                      ((arena.SharedMemorySegmentPool, (SIZE, 1)), (arena.SharedMemoryRingBuffer, (SIZE,))))
        for storage, what in (pool, 'a unit'), (ring, f'{SIZE} bytes'):
            writer = storage.open_writer()
            write_unit(writer, SIZE)
            with self.assertRaisesRegex(BufferError, f'no room for {what} after 0.05 s'):
                write_unit(writer, SIZE)

    def test_a_unit_without_bytes_uses_no_segment(self):
        pool = arena.SharedMemorySegmentPool(SIZE, 1, acquire_timeout=0.05)
        writer = pool.open_writer()
        self.assertEqual([write_unit(writer), write_unit(writer), write_unit(writer, 100)], [0, 0, 100])

    def test_counts(self):
        pool, ring = self.storages()
        for storage in pool, ring:
            writer, reader = storage.open_writer(), storage.open_reader()
            for n in 1, 2:
                self.assertEqual(write_unit(writer, 100, 30), 130)
                if storage is ring:
                    self.assertEqual((ring.head, ring.tail), (130 * n, 130 * (n - 1)))
                view = reader.read_binary(0, 100) if storage is pool and n == 1 else None
                reader.end_unit(130, [view])
                if storage is ring:
                    self.assertEqual((ring.head, ring.tail), (130 * n, 130 * n))
                else:
                    self.assertEqual(pool.reclaimed, n - (view is not None))
                    del view
                    self.assertEqual(pool.reclaimed, n)

    def test_counts_after_what_was_left(self):
        ring = arena.SharedMemoryRingBuffer(4 * SIZE)
        writer, reader = ring.open_writer(), ring.open_reader()
        write_unit(writer, 100)
        writer.reset()
        write_unit(writer, 30)
        reader.reset()
        self.assertEqual((ring.head, ring.tail), (130, 100))

    def test_counts_of_a_boundary(self):
        pool, ring = self.storages()
        for storage in pool, ring:
            with arena.iterate_in_subprocess(functools.partial(sources.blobs, 5), arena=storage) as batches:
                for batch in batches:
                    del batch
                counts = (pool.reclaimed,) if storage is pool else (ring.head, ring.tail)
                self.assertEqual(counts, (5,) if storage is pool else (5 * SIZE, 5 * SIZE))

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
