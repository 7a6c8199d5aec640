# SPDX-License-Identifier: LGPL-2.1-or-later
"""F44: both ways bring every value, and what is promised of their times is nothing: test_pinned.py PINNED [RUNTIME]

With a CUDA runtime that has no device but the processor, and without any.
"""
import os
import re
import subprocess
import sys
import unittest

import tap

PINNED, *RUNTIME = sys.argv[1:]
N_BATCHES = 33
CHECKED = f'{N_BATCHES} batches, all {N_BATCHES << 20} values as written'


def run(runtime, script=''):
    env = {**os.environ, 'ARENA_CUDART': runtime, 'ARENA_FAKE_SCRIPT': script}
    return subprocess.run([PINNED], env=env, capture_output=True, text=True, timeout=50)


class TestPinned(unittest.TestCase):
    def test_device(self):
        for runtime in RUNTIME:  # built without CUDA there is none
            pinned = run(runtime)
            self.assertEqual((pinned.returncode, pinned.stderr), (0, ''))
            self.assertEqual(re.sub(r'\d+ us$', 'N us', pinned.stdout, flags=re.MULTILINE),
                             ''.join(f'{way}: {CHECKED}, median of 25: N us\n' for way in ('pinned', 'pageable')))

    def test_one_wrong_byte(self):
        """In the middle of the first batch, and of the last: the two ways take turns."""
        for runtime in RUNTIME:
            for nth, way in (1, 'pinned'), (2 * N_BATCHES, 'pageable'):
                pinned = run(runtime, f'damage {nth}')
                self.assertEqual((pinned.returncode, pinned.stdout, pinned.stderr),
                                 (1, '', f'pinned: 1 of {1 << 20} values of a {way} batch are wrong\n'))

    def test_no_device(self):
        pinned = run('/nonexistent')
        self.assertEqual((pinned.returncode, pinned.stderr), (0, ''))
        self.assertRegex(pinned.stdout, f'^no device, the batches stay here: .+\npageable: {CHECKED}\n$')


if __name__ == '__main__':
    tap.main()
