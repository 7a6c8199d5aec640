# SPDX-License-Identifier: LGPL-2.1-or-later
"""SPDL's functions with this package's arenas, and how SPDL and this package differ: test_spdl.py SPDL.md, whose table it
reads."""
import gc
import multiprocessing
import pathlib
import re
import sys
import threading
import time
import unittest

import numpy

import arena
import tap

try:
    import spdl.pipeline
except ImportError:
    spdl = None

ROW = re.compile(r'\| `(?P<expression>.*\(.*)` \| `(?P<spdl>[^`]+)` \| `(?P<arena>[^`]+)` \|')


def make():
    return [{'i': i, 'x': numpy.full(40000, i, 'f4'), 'bytes': bytes([i]) * 50000} for i in range(8)]


def double(i):
    return {'i': 2 * i, 'x': numpy.full(40000, 2 * i, 'f4')}


def storages():
    return arena.SharedMemorySegmentPool(1 << 20, 6), arena.SharedMemoryRingBuffer(4 << 20)


@unittest.skipIf(spdl is None, 'no spdl')
class TestSpdl(unittest.TestCase):
    def test_iterate_in_subprocess(self):
        for context in ('fork', 'spawn', 'forkserver'):
            for storage in storages():
                with self.subTest(f'{context} {storage}'):
                    batches = spdl.pipeline.iterate_in_subprocess(make, arena=storage, buffer_size=2, mp_context=context)
                    for n_wanted in (8, 3, 8):
                        n = 0
                        for batch in batches:
                            self.assertEqual((batch['i'], batch['x'].min(), batch['x'].max()), (n, n, n))
                            self.assertEqual(bytes(batch['bytes']), bytes([n]) * 50000)
                            del batch
                            n += 1
                            if n == n_wanted:
                                break
                    del batches

    def test_views_are_never_overwritten(self):
        """What SPDL's pool does to a view that is kept over an iteration's end."""
        pool = arena.SharedMemorySegmentPool(1 << 20, 12, reuse='any')
        batches = spdl.pipeline.iterate_in_subprocess(make, arena=pool, buffer_size=2)
        kept = []
        for _ in range(5):
            kept += [batch['x'] for batch in batches if batch['i'] == 7]
        self.assertEqual([(x.min(), x.max()) for x in kept], [(7, 7)] * 5)
        del batches

    def test_run_pipeline_in_subprocess(self):
        for context in ('fork', 'spawn'):
            for storage in storages():
                builder = spdl.pipeline.PipelineBuilder().add_source(range(10)).pipe(double).add_sink(2)
                batches = spdl.pipeline.run_pipeline_in_subprocess(builder.get_config(), num_threads=1, arena=storage,
                                                                   mp_context=context)
                self.assertEqual([int(batch['x'][-1]) for batch in batches], list(range(0, 20, 2)))
                del batches

    def test_its_arenas_with_our_function(self):
        """Their locks are of the context that multiprocessing has by default. We fork beside no threads of queues."""
        gc.collect()
        for thread in set(threading.enumerate()) - {threading.current_thread()}:
            thread.join(10)
        for make_arena in (lambda: spdl.pipeline.SharedMemorySegmentPool(1 << 20, 6),
                           lambda: spdl.pipeline.SharedMemoryRingBuffer(4 << 20)):
            with arena.iterate_in_subprocess(make, arena=make_arena(), buffer_size=2, mp_context='fork') as batches:
                for _ in range(2):
                    n = 0
                    for batch in batches:
                        self.assertEqual((batch['i'], batch['x'].min(), batch['x'].max()), (n, n, n))
                        del batch
                        n += 1
                    self.assertEqual(n, 8)


# What the table's expressions call.

def process_type():
    return [type(multiprocessing.current_process()).__name__]


def generate():
    yield from make()


def frozen():
    x = numpy.zeros(10000)
    x.flags.writeable = False
    return [x]


def fortran():
    return [numpy.zeros((100, 100)).T]


def twice():
    x = numpy.zeros(10000)
    return [(x, x)]


class Holder:
    def __init__(self, value):
        self.value = value


def hold():
    return [Holder(bytes(10000))]


class Slow:
    def __iter__(self):
        time.sleep(2)
        yield 0


class FailsOnce:
    failed = False

    def __iter__(self):
        yield 0
        if not self.failed:
            self.failed = True
            raise ValueError


def one(batches):
    return next(iter(batches))


def count(batches):
    n = 0
    for batch in batches:
        del batch
        n += 1
    return n


def second_count(batches):
    try:
        count(batches)
    except RuntimeError:
        pass
    return count(batches)


shares = numpy.shares_memory


def outcome(expression, module):
    try:
        return repr(eval(expression, globals() | {name: getattr(module, name) for name in module.__all__}))
    except Exception as error:
        return type(error).__name__


@unittest.skipIf(spdl is None, 'no spdl')
class TestDifferences(unittest.TestCase):
    def test_table(self):
        rows = [match.groupdict() for match in map(ROW.match, pathlib.Path(sys.argv[1]).read_text().splitlines()) if match]
        self.assertGreater(len(rows), 10)
        for row in rows:
            for name, module in ('spdl', spdl.pipeline), ('arena', arena):
                with self.subTest(f'{row["expression"]}, {name}'):
                    self.assertEqual(outcome(row['expression'], module), row[name])

    def test_errors(self):
        """What catches SPDL's catches these."""
        for error in arena.BusyError, arena.ClosedError, arena.TooLargeError, arena.WorkerError, arena.WorkerTimeoutError:
            self.assertTrue(issubclass(error, RuntimeError), error)


if __name__ == '__main__':
    tap.main()
