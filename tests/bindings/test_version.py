# SPDX-License-Identifier: LGPL-2.1-or-later
import unittest

import gi
gi.require_version('Arena', '1.0')
from gi.repository import Arena

import tap


class Version(unittest.TestCase):
    def test_run_time_is_compile_time(self):
        self.assertEqual(Arena.get_major_version(), Arena.MAJOR_VERSION)
        self.assertEqual(Arena.get_minor_version(), Arena.MINOR_VERSION)
        self.assertEqual(Arena.get_micro_version(), Arena.MICRO_VERSION)

    def test_private_names_are_absent(self):
        for name in ('AVAILABLE_IN_0_1', 'INSIDE', 'COMPILATION', 'Mapping', 'mapping_new', 'memfd_new'):
            self.assertFalse(hasattr(Arena, name), name)


if __name__ == '__main__':
    tap.main()
