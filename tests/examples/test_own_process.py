# SPDX-License-Identifier: LGPL-2.1-or-later
"""test_own_process.py OWN-PROCESS BATCHES-WORKER"""
import subprocess
import sys
import unittest

import tap

PROGRAM = sys.argv[1]
GOLDEN = ''.join(f'4194304 {i}\n' for i in range(8))


class TestOwnProcess(unittest.TestCase):
    def test_batches(self):
        process = subprocess.run([PROGRAM], capture_output=True, text=True, timeout=30)
        self.assertEqual((process.returncode, process.stdout, process.stderr), (0, GOLDEN, ''))


if __name__ == '__main__':
    tap.main()
