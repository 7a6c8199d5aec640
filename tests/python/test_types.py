# SPDX-License-Identifier: LGPL-2.1-or-later
"""The package says what it takes and gives: test_types.py PACKAGE"""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

import tap

PACKAGE = pathlib.Path(sys.argv[1]).resolve().parent
HERE = pathlib.Path(__file__).parent
CLIENT = '''
import arena

def make() -> list[dict[str, int]]:
    return []

pool = arena.SharedMemorySegmentPool(4096, 3, reuse='any')
protocol: arena.ArenaProtocol = pool
writer: arena.ArenaWriterProtocol = pool.open_writer()
reader: arena.ArenaReaderProtocol = pool.open_reader()
batches = arena.iterate_in_subprocess(make, arena=pool, initializer=[lambda: None], timeout=3)
for batch in batches:
    reveal_type(batch)
async def main() -> None:
    async for batch in batches:
        reveal_type(batch)
arena.iterate_in_subprocess(make, arena=5)
arena.iterate_in_subprocess(3)
arena.SharedMemoryRingBuffer(capacity='large')
'''


@unittest.skipUnless(shutil.which('mypy'), 'no mypy')
class TestTypes(unittest.TestCase):
    def check(self, *arguments):
        with tempfile.TemporaryDirectory() as cache:
            done = subprocess.run(['mypy', '--config-file', HERE / 'mypy.ini', '--cache-dir', cache, *arguments], text=True,
                                  capture_output=True, cwd=PACKAGE.parent, env=dict(os.environ, MYPYPATH=PACKAGE.parent))
            return done.stdout.splitlines()

    def test_inside(self):
        self.assertRegex('\n'.join(self.check('-p', 'arena')), '^Success')

    def test_outside(self):
        with tempfile.NamedTemporaryFile('w', suffix='.py') as file:
            file.write(CLIENT)
            file.flush()
            lines = self.check(file.name)
        revealed = [line for line in lines if 'Revealed type' in line]
        errors = [line for line in lines if ': error: ' in line]
        self.assertEqual(['builtins.dict[builtins.str, builtins.int]' in line for line in revealed], [True, True], lines)
        self.assertEqual([int(line.split(':')[1]) for line in errors], [17, 18, 19], lines)


if __name__ == '__main__':
    tap.main()
