# SPDX-License-Identifier: LGPL-2.1-or-later
"""The benchmark runs, and notices what it should: test_bench.py FOLDER"""
import contextlib
import csv
import io
import json
import subprocess
import sys
import tempfile
import unittest

import tap

FOLDER = sys.argv[1]
sys.path.insert(0, FOLDER)

import figures  # noqa: E402
import payloads  # noqa: E402
import runs  # noqa: E402
import table  # noqa: E402
import transport  # noqa: E402


def run_of(units_per_s=1000, wall_s=1, cpu_s=0.95, others_cpu_s=0):
    return {'units_per_s': units_per_s, 'wall_s': wall_s, 'consumer_cpu_s': cpu_s / 2, 'worker_cpu_s': cpu_s,
            'others_cpu_s': others_cpu_s}


class FakeRunner:
    def __init__(self, n_pairs, made):
        self.n_pairs, self.made = n_pairs, iter(made)

    def run(self, spec):
        made = next(self.made)
        if isinstance(made, Exception):
            raise made
        return made


class TestBench(unittest.TestCase):
    def test_every_system(self):
        for system, kind, *mode in (('arena-pool', 'numpy'), ('arena-pool', 'bytes'), ('arena-ring', 'numpy'),
                                    ('queue', 'numpy'), ('shared-memory', 'numpy'), ('shared-memory', 'bytes'),
                                    ('arena-pool', 'numpy', 'in-place'), ('arena-pool', 'numpy', 'computed')):
            command = [sys.executable, f'{FOLDER}/transport.py', system, kind, '8192', '2000', *mode]
            process = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
            made = json.loads(process.stdout)
            self.assertGreater(min(made['units_per_s'], made['worker_cpu_s'], made['consumer_cpu_s']), 0)
            self.assertGreater(made['units_per_s_margin'], 0)
            self.assertGreater(min(made['worker_peak_bytes'], made['consumer_peak_bytes']), 1 << 20)

    def test_wrong_contents(self):
        good = list(payloads.Units('bytes', 4096, 0).checked())
        transport.check(iter(good))
        for bad in (good[:-1], good[1:], [{**good[0], 'crc': 1}] + good[1:], [{**good[0], 'x': bytes(4096)}] + good[1:]):
            with self.assertRaises(SystemExit):
                transport.check(iter(bad))
        with self.assertRaises(SystemExit):
            transport.measure(iter([{'i': 0}, {'i': 2}]), 0, [5], ())

    def compare(self, size, *made):
        ours, base = runs.Spec('arena-pool', size=size), runs.Spec('spdl-pool', size=size)
        with contextlib.redirect_stdout(io.StringIO()):
            return figures.compare(FakeRunner(2, made), {'key': figures.throughput}, ours, base)

    def test_ratios(self):
        result = self.compare('4k', run_of(2000), run_of(1000), run_of(1000), run_of(4000))
        self.assertEqual({name: result[name] for name in ('key', 'key_n', 'key_skipped', 'key_ours', 'key_base')},
                         {'key': 3, 'key_n': 2, 'key_skipped': 0, 'key_ours': 3000, 'key_base': 1000})

    def test_disturbed_pairs(self):
        good = run_of(), run_of()
        for disturbance in ({'others_cpu_s': 0.5}, {'cpu_s': 0.5}):
            result = self.compare('4k', *good, run_of(9000, **disturbance), run_of(), *good)
            self.assertEqual((result['key'], result['key_skipped']), (1, 1))
        # With large units, a side may sleep.
        result = self.compare('4m', *good, run_of(3000, cpu_s=0.5), run_of())
        self.assertEqual((result['key_n'], result['key_skipped']), (2, 0))
        result = self.compare('4k', *[run_of(others_cpu_s=1)] * 6)
        self.assertIsNone(result['key'])
        self.assertIn('disturbed', result['key_reason'])
        self.assertEqual(result['key_disturbed'], 1)

    def test_margin(self):
        """F95: the 95 % interval of a run's rate, of ten parts of it; what isn't timed comes before."""
        ends = table.ends_of_parts(50, 1003)
        self.assertEqual((len(ends), ends[0], ends[-1]), (11, 50, 1053))
        ends = table.ends_of_parts(5, 1000)
        steady = [7 + i / 20 for i in range(11)]
        self.assertAlmostEqual(table.margin(ends, steady), 0)
        # Rates of 1000 and 3000 in turn: their deviation is 1054.09, and the mean's is that by the root of ten.
        uneven = [i // 2 * 0.4 / 3 + i % 2 * 0.1 for i in range(11)]
        self.assertAlmostEqual(table.margin(ends, uneven), 2.262 * 1054.0926 / 10 ** 0.5, 2)

    def test_table_for_a_spreadsheet(self):
        rows = [{'system': 'ours', 'kind': 'numpy', 'size': 4096, **run_of(), 'units_per_s_margin': 12.5},
                {'system': 'other', 'kind': 'torch', 'size': 4096, 'units_per_s': None, 'reason': 'no torch, and "so"'}]
        with tempfile.NamedTemporaryFile('r') as file:
            table.write(rows, file.name)
            read = list(csv.DictReader(file))
        self.assertEqual([(row['system'], row['units_per_s_margin'], row['reason']) for row in read],
                         [('ours', '12.5', ''), ('other', '', 'no torch, and "so"')])

    def test_what_is_missing(self):
        result = self.compare('4k', run_of(), runs.Missing('no SPDL'))
        self.assertEqual(result, {'key': None, 'key_reason': 'no SPDL'})


if __name__ == '__main__':
    tap.main()
