# SPDX-License-Identifier: LGPL-2.1-or-later
"""test_same_sheet.py MAKE-PICTURES PHOTOS... [-- PHOTOS...]...: every language draws the same contact sheet."""
import itertools
import os
import subprocess
import sys
import tempfile
import unittest

import tap

MAKE_PICTURES, *WORDS = sys.argv[1:]
COMMANDS = [list(words) for end, words in itertools.groupby(WORDS, '--'.__eq__) if not end]


class TestSameSheet(unittest.TestCase):
    def test_same(self):
        with tempfile.TemporaryDirectory() as folder:
            pictures, sheet = os.path.join(folder, 'pictures'), os.path.join(folder, 'sheet.png')
            subprocess.run([MAKE_PICTURES, pictures], check=True, stdout=subprocess.DEVNULL)
            sheets = {}
            for command in COMMANDS:
                subprocess.run([*command, pictures, sheet], check=True, timeout=60, capture_output=True)
                with open(sheet, 'rb') as file:
                    sheets[' '.join(command)] = file.read()
            first = next(iter(sheets.values()))
            self.assertEqual([command for command, data in sheets.items() if data != first], [])


if __name__ == '__main__':
    tap.main()
