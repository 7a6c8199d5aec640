# SPDX-License-Identifier: LGPL-2.1-or-later
"""F21: what importing and using the package loads, and that it is the package: test_imports.py SOURCE-ROOT"""
import os
import pathlib
import subprocess
import sys
import unittest

import tap

ROOT = pathlib.Path(sys.argv[1]).resolve()
USE = '''
import functools, sys
import arena, sources
for storage in arena.SharedMemorySegmentPool(sources.BIG, 5), arena.SharedMemoryRingBuffer(4 * sources.BIG):
    with arena.iterate_in_subprocess(functools.partial(sources.blobs, 3), arena=storage) as batches:
        for batch in batches:
            del batch
print([name for name in ('numpy', 'torch', 'asyncio') if sys.modules.get(name)])
with open('/proc/self/maps') as maps:
    print('libcuda' in maps.read())
'''


def run(script, **options):
    return subprocess.run([sys.executable, '-c', script], text=True, capture_output=True, timeout=50, **options)


class TestImports(unittest.TestCase):
    def test_bytes_need_no_numpy(self):
        done = run(USE)
        self.assertEqual((done.stderr, done.stdout), ('', '[]\nFalse\n'))

    def test_from_a_checkout(self):
        """There, a folder of the same name has the library's sources."""
        self.assertTrue((ROOT / 'arena' / 'arena.h').exists())
        done = run('import arena; print(arena.__file__, arena.iterate_in_subprocess.__name__)', cwd=ROOT)
        self.assertEqual(done.stderr, '')
        self.assertEqual(done.stdout.split(),
                         [str(ROOT / 'bindings' / 'python' / 'arena' / '__init__.py'), 'iterate_in_subprocess'])
        # The folder must never become a package, for it would be found first.
        self.assertEqual(list((ROOT / 'arena').rglob('*.py')), [])

    def test_public_names_are_there(self):
        done = run('from arena import *; import arena; print(sorted(arena.__all__) == sorted(set(arena.__all__)))')
        self.assertEqual((done.stdout, done.stderr), ('True\n', ''))

    def test_without_the_library(self):
        environment = dict(os.environ, GI_TYPELIB_PATH='/nowhere')
        done = run('import arena', env=environment)
        self.assertRegex(done.stderr, 'ValueError: Namespace Arena not available')


if __name__ == '__main__':
    tap.main()
