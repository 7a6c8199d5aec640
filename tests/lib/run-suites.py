#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Runs Meson test suites and counts single tests: run-suites.py [--setup NAME] TALLY BUILD SUITE...

A TAP program counts once for every test point in it, any other once. Each suite adds a line to the file TALLY.
"""
import argparse
import fnmatch
import json
import pathlib
import re
import subprocess
import time

POINT = re.compile(r'(not )?ok\b\s*\d*\s*-?\s*(.*?)\s*(?:(?<!\\)#\s*(SKIP)\b\s*(.*))?$', re.IGNORECASE)
PLAN = re.compile(r'1\.\.(\d+)')
HERE = pathlib.Path(__file__).parent


def test_points(run):
    """Yields (name, outcome, reason) for every test that one entry of Meson's log stands for."""
    name, result, lines = run['name'].rpartition(' / ')[2], run['result'], run.get('stdout', '').splitlines()
    points = [match for match in map(POINT.fullmatch, lines) if match]
    failures = 0
    for not_ok, path, skip, reason in (match.groups() for match in points):
        outcome = 'failed' if not_ok else 'skipped' if skip else 'passed'
        failures += outcome == 'failed'
        yield f'{name}:{path}', outcome, reason or ''

    if result == 'SKIP' and not points:
        plan = next((line for line in lines if PLAN.match(line)), '')
        yield name, 'skipped', plan.partition('#')[2] or ' '.join(lines)
    elif result not in ('OK', 'SKIP', 'EXPECTEDFAIL') and failures == 0:
        # It crashed, hung, leaked or broke its plan: that is a failure whatever the points said.
        yield name, 'failed', result
    elif not points:
        yield name, 'passed', ''


def allowed_skips():
    """The rows of skips.txt: test pattern | capability, as the skip's reason names it | why it may be missing."""
    lines = (HERE.parent / 'skips.txt').read_text().splitlines()
    return [[cell.strip() for cell in line.split('|')] for line in lines if line.strip() and not line.startswith('#')]


def judge(name, outcome, reason, core, table):
    """A skip that nobody foresaw is a failure, and so is any in the core as users run it."""
    if outcome != 'skipped':
        return outcome
    listed = any(fnmatch.fnmatchcase(name, pattern) and words in reason for pattern, words, *_ in table)
    return 'skipped' if listed and not core else 'failed'


def end_of(output):
    """What is worth reading of a failed program's output."""
    return '\n'.join(line for line in output.splitlines() if not line.startswith('# GLib-DEBUG'))[-4000:]


def run_suite(build, suite, setup):
    """Runs one suite; returns its counts, having printed every failure and skip."""
    table = allowed_skips()
    log = pathlib.Path(build, 'meson-logs', f'{suite}.json')
    if setup:
        log = log.with_stem(f'{suite}-{setup}')
    log.unlink(missing_ok=True)
    command = ['meson', 'test', '-C', build, '--suite', suite, '--logbase', suite, '--no-rebuild',
               '--num-processes', '2', *(['--setup', setup] if setup else [])]
    meson = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    counts = dict(passed=0, failed=0, skipped=0)
    runs = [json.loads(line) for line in log.read_text().splitlines()] if log.exists() else []
    for run in runs:
        failed = False
        for name, outcome, reason in test_points(run):
            verdict = judge(name, outcome, reason, suite == 'core' and not setup, table)
            counts[verdict] += 1
            failed |= verdict == 'failed'
            if outcome != verdict:
                reason = f'a skip that skips.txt does not allow: {reason}'
            if verdict != 'passed':
                print(f'{verdict}: {name} {f"({reason})" if reason else ""}')
        if failed:
            print(end_of(run.get('stdout', '')), end_of(run.get('stderr', '')), sep='\n')
    if not runs or (meson.returncode != 0 and counts['failed'] == 0):
        counts['failed'] += 1
        print(f'failed: {suite} (meson test: exit status {meson.returncode}, {len(runs)} tests)')
        print(end_of(meson.stdout))
    return counts


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--setup')
    parser.add_argument('tally')
    parser.add_argument('build')
    parser.add_argument('suites', nargs='+')
    arguments = parser.parse_args()

    label = pathlib.Path(arguments.build).name
    for suite in arguments.suites:
        start = time.monotonic()
        counts = run_suite(arguments.build, suite, arguments.setup)
        numbers = ', '.join(f'{count} {outcome}' for outcome, count in counts.items())
        print(f'{label} {suite}: {numbers} in {time.monotonic() - start:.0f} s', flush=True)
        with open(arguments.tally, 'a') as tally:
            print(*counts.values(), file=tally)


if __name__ == '__main__':
    main()
