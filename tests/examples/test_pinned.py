# SPDX-License-Identifier: LGPL-2.1-or-later
"""test_pinned.py PINNED [RUNTIME]: with a CUDA runtime that has no device, and without any."""
import os
import re
import subprocess
import sys
import unittest

import tap

PINNED, *RUNTIME = sys.argv[1:]


def run(runtime):
    env = {**os.environ, 'ARENA_CUDART': runtime}
    return subprocess.run([PINNED], env=env, capture_output=True, text=True, timeout=30)


def batches(kind, n):
    return ''.join(f'{kind}: {i} to {i}, N us\n' for i in range(n))


class TestPinned(unittest.TestCase):
    def check(self, pinned, golden):
        self.assertEqual((pinned.returncode, pinned.stderr), (0, ''))
        self.assertEqual(re.sub(r', \d+ us$', ', N us', pinned.stdout, flags=re.MULTILINE), golden)

    def test_device(self):
        for runtime in RUNTIME:  # built without CUDA there is none
            self.check(run(runtime), batches('pinned', 8) + batches('pageable', 8))

    def test_no_device(self):
        pinned = run('/nonexistent')
        self.assertRegex(pinned.stdout, '^no device, the batches stay here: .+\n')
        pinned.stdout = pinned.stdout.partition('\n')[2]
        self.check(pinned, batches('pageable', 8))


if __name__ == '__main__':
    tap.main()
