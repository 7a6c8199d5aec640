# SPDX-License-Identifier: LGPL-2.1-or-later
"""F23 F24 F28: a program written for SPDL runs with another line of import; with numpy where there is no torch."""
import importlib.util
import pathlib
import subprocess
import sys
import tempfile
import unittest

import tap

PROGRAM = '''
from spdl.pipeline import SharedMemorySegmentPool, iterate_in_subprocess

def make_batches():
    import torch
    return [torch.full((1024 * 1024,), i, dtype=torch.float32)
            for i in range(8)]

def run_cpu():
    arena = SharedMemorySegmentPool(segment_size=4 * 1024 * 1024, count=4)
    batches = iterate_in_subprocess(
        make_batches, arena=arena, buffer_size=2, mp_context="spawn"
    )
    for cpu_batch in batches:
        print(cpu_batch.shape, int(cpu_batch[0]))
        del cpu_batch

if __name__ == "__main__":
    run_cpu()
'''
IMPORTS = {
    'from spdl.pipeline import SharedMemorySegmentPool, iterate_in_subprocess':
        'from arena import SharedMemorySegmentPool, iterate_in_subprocess',
    'from spdl.pipeline import SharedMemoryRingBuffer': 'from arena import SharedMemoryRingBuffer',
}
RING = PROGRAM.replace('SharedMemorySegmentPool(segment_size=4 * 1024 * 1024, count=4)',
                       'SharedMemoryRingBuffer(capacity=16 * 1024 * 1024)').replace(
                           'import Shared', 'import SharedMemoryRingBuffer\nfrom spdl.pipeline import Shared', 1)
LIBRARY = 'torch' if importlib.util.find_spec('torch') else 'numpy'
SHAPE = {'torch': 'torch.Size([1048576])', 'numpy': '(1048576,)'}[LIBRARY]


def run(program):
    for old, new in IMPORTS.items():
        program = program.replace(old, new)
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, 'program.py')
        path.write_text(program.replace('torch', LIBRARY))
        return subprocess.run([sys.executable, path], capture_output=True, text=True, timeout=50)


class TestReferenceExamples(unittest.TestCase):
    def check(self, program):
        done = run(program)
        self.assertEqual(done.stderr, '')
        self.assertEqual(done.stdout.splitlines(), [f'{SHAPE} {i}' for i in range(8)])

    def test_pool(self):
        self.check(PROGRAM)

    def test_ring(self):
        self.check(RING)


if __name__ == '__main__':
    tap.main()
