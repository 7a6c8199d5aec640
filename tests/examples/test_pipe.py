# SPDX-License-Identifier: LGPL-2.1-or-later
"""test_pipe.py PIPE PIPE-WORKER"""
import subprocess
import sys
import unittest

import tap

PIPE, WORKER = sys.argv[1:]
GOLDEN = ''.join(f'4194304 {i}\n' for i in range(8))


def run(*command):
    return subprocess.run(command, capture_output=True, text=True, timeout=30)


class TestPipe(unittest.TestCase):
    def test_batches(self):
        pipe = run(PIPE)
        self.assertEqual((pipe.returncode, pipe.stdout, pipe.stderr), (0, GOLDEN, ''))

    def test_worker_alone(self):
        worker = run(WORKER, "{'kind': <'pool'>}", '0')
        self.assertEqual((worker.returncode, worker.stdout), (1, ''))
        self.assertRegex(worker.stderr, '^pipe-worker: .*saved state')


if __name__ == '__main__':
    tap.main()
