# SPDX-License-Identifier: LGPL-2.1-or-later
"""What the library has to say is said by the logger "arena", where a program has set up logging; else as GLib says it."""
import functools
import logging
import os
import subprocess
import sys
import threading
import unittest

import arena
import sources
import tap

SPILLS = '''
import functools, logging, sys
exec(sys.argv[1])
import arena, sources
pool = arena.SharedMemorySegmentPool(4096, 4, oversize='spill')
print(len(list(arena.iterate_in_subprocess(functools.partial(sources.blobs, 3), arena=pool))))
'''


def run(setup, **environment):
    done = subprocess.run([sys.executable, '-c', SPILLS, setup], capture_output=True, text=True, timeout=50,
                          env={**os.environ, **environment})
    return done.stdout, done.stderr


class TestLog(unittest.TestCase):
    def iterate(self, kept):
        """Records of the logger meanwhile."""
        pool = arena.SharedMemorySegmentPool(sources.BIG, 4)
        with arena.iterate_in_subprocess(functools.partial(sources.blobs, 8), arena=pool) as batches, \
                self.assertLogs('arena', logging.INFO) as logs:
            for batch in batches:
                kept.append(batch)
                if len(kept) == 4:
                    threading.Timer(2.5, kept.clear).start()
                del batch
        return [(record.levelname, record.getMessage(), record.threadName) for record in logs.records]

    def test_warning(self):
        """From within a call of C, with the thread that it was in."""
        kept = []
        records = []
        thread = threading.Thread(target=lambda: records.extend(self.iterate(kept)), name='waits')
        thread.start()
        thread.join()
        # A line that it waits may come first.
        (text, name), = [(text, name) for level, text, name in records if level == 'WARNING']
        self.assertEqual(name, 'waits')
        self.assertRegex(text, '^Units 0, 1, 2, 3 are held here')

    def test_information(self):
        words = 'Unit 0 came with 65536 bytes outside of the arena'
        self.assertEqual(run('logging.basicConfig(level=logging.WARNING)'), ('3\n', ''))
        out, err = run('logging.basicConfig(level=logging.INFO)')
        self.assertEqual((out, err.count(words)), ('3\n', 1))
        self.assertTrue(err.startswith(f'INFO:arena:{words}'), err)

    def test_without_logging(self):
        self.assertEqual(run(''), ('3\n', ''))
        said = ''.join(run('', G_MESSAGES_DEBUG='Arena'))
        self.assertRegex(said, 'Arena-INFO.*: Unit 0 came with 65536 bytes outside of the arena')


if __name__ == '__main__':
    tap.main()
