# SPDX-License-Identifier: LGPL-2.1-or-later
"""Workers of every language under a consumer in Python: test_workers.py LANGUAGE PROGRAM... [-- LANGUAGE PROGRAM...]..."""
import itertools
import os
import signal
import subprocess
import sys
import unittest

import gi
gi.require_version('Arena', '1.0')
from gi.repository import Arena, GLib

import tap

ALL = {words[0]: words[1:] for words in map(str.split, ' '.join(sys.argv[1:]).split(' -- '))}
# The one in C is an example, which does nothing but count.
LANGUAGES = {language: argv for language, argv in ALL.items() if language != 'c'}
SCRIPTS = {language: argv for language, argv in LANGUAGES.items() if language != 'vala'}
KINDS = {'python': 'LookupError', 'gjs': 'RangeError', 'vala': 'IOError'}

CONSUMER_PYTHON = '''if True:
    import sys, gi
    gi.require_version('Arena', '1.0')
    from gi.repository import Arena
    pool = Arena.Pool(segment_size=4 << 20, count=4)
    worker = Arena.Worker(backend=pool, argv=sys.argv[1:], buffer_size=2)
    worker.next()
    print('ready', flush=True)
    sys.stdin.read()
'''
CONSUMER_GJS = '''
    const {Arena, GLib} = imports.gi;
    const backend = new Arena.Pool({segmentSize: 4 << 20, count: 4});
    const worker = new Arena.Worker({backend, argv: ARGV, bufferSize: 2});
    worker.next();
    print('ready');
    GLib.usleep(1000 * 1000 * 1000);
'''


def start(argv, *arguments):
    pool = Arena.Pool(segment_size=4 << 20, count=4)
    return Arena.Worker(backend=pool, argv=[*argv, *map(str, arguments)], buffer_size=2)


class TestWorkers(unittest.TestCase):
    def test_failure(self):
        for language, argv in LANGUAGES.items():
            with self.subTest(language), start(argv, 'fail', 3) as worker:
                for _ in range(2):
                    units = iter(worker)
                    self.assertEqual([bytes(next(units).array()) for _ in range(3)], [b'\0', b'\1', b'\2'])
                    with self.assertRaises(Arena.WorkerError) as raised:
                        next(units)
                    report = raised.exception.remote
                    kind = KINDS[language]
                    self.assertEqual((report.get_type_name(), report.get_message()), (kind, 'lost ☃'))
                    self.assertEqual(report.get_item(), 3)
                    self.assertIn('worker.', report.get_traceback())
                    self.assertIn(f'item 3: {kind}: lost', raised.exception.message)

    def test_failure_within_a_unit(self):
        """Nobody sees what there was of it, and it keeps no storage."""
        for language, argv in LANGUAGES.items():
            with self.subTest(language), start(argv, 'torn', 2) as worker:
                for _ in range(6):
                    units = iter(worker)
                    self.assertEqual([bytes(next(units).array()) for _ in range(2)], [b'\0', b'\1'])
                    with self.assertRaisesRegex(Arena.WorkerError, f'item 2: {KINDS[language]}: lost'):
                        next(units)
                    self.assertEqual(list(units), [])
                self.assertEqual(worker.dup_stats().get_held_units(), 0)

    def test_what_cannot_be_sent(self):
        for language, argv in SCRIPTS.items():
            with self.subTest(language), start(argv, 'bad') as worker:
                with self.assertRaises(Arena.WorkerError) as raised:
                    next(iter(worker))
                self.assertEqual(raised.exception.remote.get_type_name(), 'TypeError')
        with start(LANGUAGES['python'], 'other_order') as worker:
            with self.assertRaisesRegex(Arena.WorkerError, 'byte order'):
                next(iter(worker))

    def test_is_killed(self):
        for language, argv in ALL.items():
            with self.subTest(language), start(argv, 'count', 1000, 1 << 20) as worker:
                kept = worker.next().array()
                before = kept.tobytes()
                os.kill(worker.get_pid(), signal.SIGKILL)
                with self.assertRaisesRegex(Arena.PeerGoneError, 'killed by signal 9'):
                    for _ in iter(worker.next, None):
                        pass
                self.assertEqual(kept.tobytes(), before)
                with self.assertRaises(Arena.PeerGoneError):
                    iter(worker).__next__()

    def test_is_killed_in_a_wait(self):
        for language, argv in LANGUAGES.items():
            with self.subTest(language), start(argv, 'hang', 1) as worker:
                worker.next()
                GLib.spawn_command_line_async(f'sh -c "sleep 0.3; kill -KILL {worker.get_pid()}"')
                with self.assertRaises(Arena.PeerGoneError):
                    worker.next()

    def test_leaves_after_its_consumer(self):
        """The consumer is killed; its worker notices and ends."""
        consumers = {'python': [sys.executable, '-c', CONSUMER_PYTHON]}
        if 'gjs' in ALL:
            consumers['gjs'] = [ALL['gjs'][0], '-c', CONSUMER_GJS]
        for consumer_language, (language, argv) in itertools.product(consumers, LANGUAGES.items()):
            with self.subTest(f'{language} after {consumer_language}'):
                command = [*consumers[consumer_language], *argv, 'count', '1000', '8192']
                consumer = subprocess.Popen(command, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                            stderr=subprocess.PIPE)
                self.assertEqual(consumer.stdout.readline(), 'ready\n')
                consumer.kill()
                # The worker has the pipe of its standard error too: this reads until it ends.
                _, errors = consumer.communicate(timeout=10)
                self.assertNotIn('Segmentation', errors)

    def test_stopped_amid_an_iteration(self):
        for language, argv in LANGUAGES.items():
            with self.subTest(language), start(argv, 'count', 1000, 1 << 20) as worker:
                for _ in range(3):
                    next(iter(worker))
                worker.stop()
                self.assertEqual(next(iter(worker)).array('x')[0], 0)
            self.assertEqual(worker.get_exit_status(), 0)


if __name__ == '__main__':
    tap.main()
