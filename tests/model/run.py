#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Run the models of models.txt with Spin and speak TAP.

    run.py [--quick | --full] [--jobs N] [--memory MIB] [NAME...]

--quick (the default) runs what the table marks quick: about 100 seconds of processor time, so under a
minute on two free cores. --full runs the whole table: about 15 minutes on two free cores, and up to
3 GiB of memory per job. NAMEs choose runs whatever their suite is.

A model that should hold must be searched completely and without an error. A control takes one rule away;
it must break the very check that its line of the table names.
"""

import argparse
import concurrent.futures
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
DEPTH = 1000000
INCOMPLETE = 'max search depth', 'MEMLIM', 'out of memory', 'not completed', 'aborting'


class Run:
    """One line of the table."""

    def __init__(self, line):
        self.name, self.model, self.expect, self.suite, *rest = line.split()
        self.flags = [word for word in rest if word.startswith('-D')]
        bits = [word for word in rest if word.startswith('bitstate=')]
        self.bits = bits[0].partition('=')[2] if bits else None
        verdict, _, self.check = self.expect.partition('=')
        if (verdict not in ('ok', 'fail') or (verdict == 'fail') != bool(self.check)
                or self.suite not in ('quick', 'full')
                or len(rest) != len(self.flags) + len(bits)):
            raise SystemExit(f'models.txt: cannot read: {line}')


def read_table():
    with open(os.path.join(HERE, 'models.txt'), encoding='utf-8') as table:
        lines = (line.partition('#')[0].strip() for line in table)
        runs = [Run(line) for line in lines if line]
    names = [run.name for run in runs]
    if len(set(names)) != len(names):
        raise SystemExit('models.txt: a name stands twice')
    return runs


class Children:
    """The processes that run now, so that nothing is left behind when this one is told to end."""

    def __init__(self):
        self.running = set()
        self.ended = False

    def command(self, arguments, folder):
        child = subprocess.Popen(arguments, cwd=folder, text=True,
                                 stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        self.running.add(child)
        if self.ended:
            child.kill()
        output, _ = child.communicate()
        self.running.discard(child)
        return child.returncode, output

    def end(self, *_):
        self.ended = True
        for child in list(self.running):
            child.kill()


children = Children()


def search(run, folder, memory):
    """Translate, compile and search. Returns (problem or None, states, errors)."""
    model = os.path.join(HERE, run.model + '.pml')
    code, output = children.command(['spin', '-a', *run.flags, model], folder)
    if code != 0 or not os.path.exists(os.path.join(folder, 'pan.c')) or 'Error:' in output:
        return 'spin: ' + output, 0, 0

    kind = ['-DBITSTATE'] if run.bits else ['-DCOLLAPSE']
    # A control fails after a few states: there the time goes into the compiler.
    level = '-O2' if run.expect == 'ok' else '-O0'
    compiler = os.environ.get('CC', 'cc').split()
    code, output = children.command([*compiler, level, '-w', '-DSAFETY', f'-DMEMLIM={memory}', *kind,
                                     '-o', 'pan', 'pan.c'], folder)
    if code != 0:
        return 'cc: ' + output, 0, 0

    # -E: a blocked process is no error by itself; each model has a Monitor that judges.
    table = ['-w' + run.bits, '-k3'] if run.bits else ['-w24']
    code, output = children.command(['./pan', '-E', f'-m{DEPTH}', *table], folder)

    states = re.search(r'^\s*(\S+) states, stored', output, re.MULTILINE)
    errors = re.search(r'errors: (\d+)', output)
    if not states or not errors:
        return 'pan: ' + output, 0, 0
    return judge(run, output, int(errors[1])), int(float(states[1])), int(errors[1])


def judge(run, output, errors):
    if children.ended:
        return 'ended by a signal'
    violated = re.search(r'assertion violated (.*) \(at depth', output)
    if run.expect == 'ok':
        if errors:
            return 'error: ' + (violated[1].strip() if violated else output)
        if any(sign in output for sign in INCOMPLETE):
            return 'not complete: ' + output
        return None
    if not errors or not violated:
        return 'the rule is missing and nothing failed'
    if run.check not in violated[1]:
        return f'failed by {violated[1].strip()}, not by {run.check}'
    return None


def perform(run, memory):
    if children.ended:
        return 'ended by a signal', 0, 0, 0.0
    folder = tempfile.mkdtemp(prefix='arena-model-')
    begin = time.monotonic()
    try:
        problem, states, errors = search(run, folder, memory)
    finally:
        shutil.rmtree(folder)
    return problem, states, errors, time.monotonic() - begin


def main():
    parser = argparse.ArgumentParser(description='Run the models of the protocol.')
    suite = parser.add_mutually_exclusive_group()
    suite.add_argument('--quick', action='store_true', help='the quick part of the table (the default)')
    suite.add_argument('--full', action='store_true', help='the whole table')
    parser.add_argument('--jobs', type=int, default=2, help='runs at a time')
    parser.add_argument('--memory', type=int, default=6000, help='MiB that one search may use')
    parser.add_argument('names', nargs='*', metavar='NAME', help='only these runs')
    options = parser.parse_args()

    for tool in ('spin', os.environ.get('CC', 'cc').split()[0]):
        if shutil.which(tool) is None:
            print(f'1..0 # SKIP {tool} is not installed')
            return 0

    runs = read_table()
    unknown = set(options.names) - {run.name for run in runs}
    if unknown:
        parser.error('not in models.txt: ' + ' '.join(sorted(unknown)))
    if options.names:
        runs = [run for run in runs if run.name in options.names]
    elif not options.full:
        runs = [run for run in runs if run.suite == 'quick']

    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, children.end)

    print(f'1..{len(runs)}', flush=True)
    failed = 0
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        results = pool.map(lambda run: perform(run, options.memory), runs)
        for number, (run, (problem, states, errors, seconds)) in enumerate(zip(runs, results), 1):
            result = 'not ok' if problem else 'ok'
            print(f'{result} {number} - {run.name} '
                  f'(states={states}, errors={errors}, seconds={seconds:.1f})', flush=True)
            if problem:
                failed += 1
                for line in problem.strip().splitlines():
                    print('# ' + line, flush=True)
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main())
