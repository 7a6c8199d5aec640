# SPDX-License-Identifier: LGPL-2.1-or-later
"""test_iterate.py ITERATE..."""
import subprocess
import sys
import unittest

import tap


class TestIterate(unittest.TestCase):
    def test_golden(self):
        done = subprocess.run(sys.argv[1:], capture_output=True, text=True, timeout=50)
        self.assertEqual((done.returncode, done.stderr), (0, ''))
        self.assertEqual(done.stdout, ''.join(f'(1048576,) {i}\n' for i in range(8)))


if __name__ == '__main__':
    tap.main()
