# SPDX-License-Identifier: LGPL-2.1-or-later
"""F23, F24: the arena is made by the parent, and the numbers are the same in each language:
test_batches.py BATCHES... -- BATCHES-WORKER..."""
import subprocess
import sys
import unittest

import tap

BATCHES, WORKER = sys.argv[1:sys.argv.index('--')], sys.argv[sys.argv.index('--') + 1:]
GOLDEN = ''.join(f'(1048576,) {i}\n' for i in range(8))


def run(*command):
    return subprocess.run(command, capture_output=True, text=True, timeout=30)


class TestBatches(unittest.TestCase):
    def assert_golden(self, *command):
        batches = run(*command)
        self.assertEqual((batches.returncode, batches.stdout, batches.stderr), (0, GOLDEN, ''))

    def test_pool(self):
        self.assert_golden(*BATCHES)

    def test_ring(self):
        self.assert_golden(*BATCHES, '--ring')

    def test_worker_alone(self):
        worker = run(*WORKER)
        self.assertEqual((worker.returncode, worker.stdout), (1, ''))
        self.assertRegex(worker.stderr, '^batches(-worker)?: .')


if __name__ == '__main__':
    tap.main()
