# SPDX-License-Identifier: LGPL-2.1-or-later
"""test_colours.py MAKE-PICTURES COLOURS..."""
import re
import subprocess
import sys
import tempfile
import unittest

import tap

MAKE_PICTURES, *COLOURS = sys.argv[1:]
# What make-pictures.c fills its pictures with; the one that can't be seen is black.
FILLED = ['ff0000', '00ff00', '808080', '404040', '0000ff', '123456', 'c0c0c0', 'fedcba', '000000', '010203', 'ffffff']


def run(*command):
    return subprocess.run(command, capture_output=True, text=True, timeout=50)


class TestColours(unittest.TestCase):
    def test_one_colour_each(self):
        with tempfile.TemporaryDirectory() as folder:
            run(MAKE_PICTURES, folder)
            colours = run(*COLOURS, folder, '2')
        self.assertEqual(colours.returncode, 0, colours.stderr)
        self.assertRegex(colours.stderr, r'\A(colours: skipped .*(JPEG|Premature).*\n){4}\Z')
        lines = colours.stdout.splitlines()
        for channel, mean in enumerate(lines[0].split()[1:]):
            values = [int(colour[2 * channel:2 * channel + 2], 16) / 255 for colour in FILLED]
            self.assertAlmostEqual(float(mean), sum(values) / len(values), delta=0.01)
        self.assertTrue(re.match(r'22 crops in 4 batches', lines[2]), lines[2])

    def test_no_pictures(self):
        with tempfile.TemporaryDirectory() as folder:
            colours = run(*COLOURS, folder)
        self.assertEqual((colours.returncode, colours.stderr), (1, f'colours: no pictures in {folder}\n'))


if __name__ == '__main__':
    tap.main()
