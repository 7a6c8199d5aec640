# SPDX-License-Identifier: LGPL-2.1-or-later
"""SPDL's functions with this package's arenas: test_spdl.py SOURCE-OF-SPDL, of which SPDL's own tests are run where it
is there."""
import importlib.util
import pathlib
import re
import sys
import unittest

import numpy

import arena
import tap

try:
    import spdl.pipeline
except ImportError:
    spdl = None

SOURCE = pathlib.Path(sys.argv[1])
# A file that names what is private to SPDL tests that, not what others may rely on.
PRIVATE = re.compile(r'\bspdl(\.\w+)*\._|\b(arena|buf|pool|ring)\._')


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
        """Their locks are of the context that multiprocessing has by default."""
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

    def test_its_own_tests(self):
        paths = [path for path in SOURCE.glob('tests/pipeline/*arena*_test.py') if not PRIVATE.search(path.read_text())]
        if not paths:
            self.skipTest('no source of spdl')
        for name in ('SharedMemorySegmentPool', 'SharedMemoryRingBuffer'):
            original = getattr(spdl.pipeline, name)
            self.addCleanup(setattr, spdl.pipeline, name, original)
            setattr(spdl.pipeline, name, getattr(arena, name))
        for path in paths:
            spec = importlib.util.spec_from_file_location(path.stem, path)
            sys.modules[path.stem] = module = importlib.util.module_from_spec(spec)
            spec.loader.exec_module(module)
            result = unittest.TestResult()
            unittest.defaultTestLoader.loadTestsFromModule(module).run(result)
            self.assertGreater(result.testsRun, 0)
            self.assertEqual([text for _, text in result.errors + result.failures], [])


if __name__ == '__main__':
    tap.main()
