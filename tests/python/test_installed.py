# SPDX-License-Identifier: LGPL-2.1-or-later
"""What is installed is whole, and found without the trees: test_installed.py BUILD SOURCE-ROOT"""
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

import tap

BUILD, ROOT = map(pathlib.Path, sys.argv[1:])
PROGRAM = '''
import functools
import arena
if __name__ == '__main__':
    factory = functools.partial(list, (1, 2, 3))
    print(arena.__file__, list(arena.iterate_in_subprocess(factory)))
'''


class TestInstalled(unittest.TestCase):
    def test_it_works_alone(self):
        with tempfile.TemporaryDirectory() as stage:
            subprocess.run(['meson', 'install', '-C', BUILD, '--no-rebuild', '--destdir', stage], check=True,
                           stdout=subprocess.DEVNULL)
            stage = pathlib.Path(stage)
            package = next(stage.rglob('arena/__init__.py')).parent
            self.assertTrue((package / 'py.typed').exists())
            overrides = next(stage.rglob('gi/overrides/Arena'))
            for installed, source in ((package, 'arena'), (overrides, 'gi/overrides/Arena')):
                self.assertEqual({path.name for path in installed.glob('*.py')},
                                 {path.name for path in (ROOT / 'bindings' / 'python' / source).glob('*.py')})

            environment = {name: value for name, value in os.environ.items() if not name.startswith('PYTHON')}
            environment |= {
                'GI_TYPELIB_PATH': str(next(stage.rglob('Arena-1.0.typelib')).parent),
                'LD_LIBRARY_PATH': str(next(stage.rglob('libarena-1.0.so')).parent),
                'PYTHONPATH': f'{package.parent}:{overrides.parents[2]}',
                'PYTHONDONTWRITEBYTECODE': '1',
            }
            program = stage / 'program.py'
            program.write_text(PROGRAM)
            done = subprocess.run([sys.executable, program], env=environment, cwd=stage, text=True, capture_output=True,
                                  timeout=50)
            self.assertEqual((done.stderr, done.stdout), ('', f'{package / "__init__.py"} [1, 2, 3]\n'))


if __name__ == '__main__':
    tap.main()
