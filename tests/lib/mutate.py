#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Shows that the tests notice broken code: mutate.py TALLY WORK PATCH...

Above its diff a patch says what must notice it, in lines "Test: unit/test-pool". It is applied to a copy of the sources
below WORK; it must compile there, and at least one of those tests must fail. Without any patch they all must pass.
"""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

tally, work, *patches = sys.argv[1:]
if not all(map(os.path.exists, patches)):
    sys.exit('no patches')
source = pathlib.Path(work, 'source')
build = pathlib.Path(work, 'build')


def run(*command, cwd=None):
    return subprocess.run(command, cwd=cwd, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def must(*command, cwd=None):
    process = run(*command, cwd=cwd)
    if process.returncode != 0:
        sys.exit(f'{" ".join(map(str, command))}\n{process.stdout[-4000:]}')
    return process.stdout


def copy_sources():
    """Files git knows or would add, so that work in progress counts; kept files keep their times for ninja."""
    shutil.rmtree(source, ignore_errors=True)
    names = run('git', 'ls-files', '-z', '-co', '--exclude-standard').stdout.split('\0')
    for name in filter(os.path.isfile, names):
        (source / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(name, source / name)
    # Without a repository of its own, git apply would skip paths that the outer one ignores.
    must('git', 'init', '-q', cwd=source)


def tests_of(patch):
    header = pathlib.Path(patch).read_text().partition('\n--- ')[0]
    return re.findall(r'^Test: (\S+)$', header, re.MULTILINE)


def targets_of_tests():
    """What ninja builds for each test: linking every program again for each patch would take an hour. Those of the API
    may install, which takes all."""
    about = json.loads(must('meson', 'introspect', '--targets', '--tests', str(build)))
    files = {target['id']: target['filename'] for target in about['targets']}
    return {test['name']: {'all'} if test['name'].startswith('api/') else
            {os.path.relpath(name, build.resolve()) for id in test['depends'] for name in files[id]}
            for test in about['tests']}


def compile_for(tests, targets):
    return run('ninja', '-C', str(build), '-j', '2', *sorted(set().union(*map(targets.get, tests))))


def run_tests(tests, *options):
    return run('meson', 'test', '-C', str(build), '--no-rebuild', '--num-processes', '2', *options, *tests).returncode


def failing_without_patch(tests, targets):
    if not tests:
        return set()
    compiled = compile_for(tests, targets)
    if compiled.returncode != 0:
        sys.exit(compiled.stdout[-4000:])
    run_tests(tests)
    log = pathlib.Path(build, 'meson-logs', 'testlog.json').read_text()
    results = {run['name'].rpartition(' / ')[2]: run['result'] for run in map(json.loads, log.splitlines())}
    return {test for test in tests if results.get(test) != 'OK'}


def problem_with(patch, targets, failing):
    """None when a test noticed the patch, else what is wrong."""
    tests = tests_of(patch)
    if not tests or not targets.keys() >= set(tests):
        return f'names no test: {" ".join(tests)}'
    if failing.intersection(tests):
        return f'its tests do not pass without it: {" ".join(tests)}'
    applied = run('git', 'apply', os.path.abspath(patch), cwd=source)
    if applied.returncode != 0:
        return f'does not apply\n{applied.stdout}'
    try:
        compiled = compile_for(tests, targets)
        if compiled.returncode != 0:
            return f'does not compile\n{compiled.stdout[-2000:]}'
        return None if run_tests(tests, '--maxfail=1') else f'noticed by none of {" ".join(tests)}'
    finally:
        must('git', 'apply', '-R', os.path.abspath(patch), cwd=source)


def main():
    named = {test for patch in patches for test in tests_of(patch)}
    in_languages = any(re.match(r'api|every-call|examples|gjs|package|python|vala', name) for name in named)
    copy_sources()
    shutil.rmtree(build, ignore_errors=True)
    must('meson', 'setup', str(build), str(source), '-Dexamples=true',
         f'-Dintrospection={"enabled" if in_languages else "disabled"}')
    targets = targets_of_tests()
    failing = failing_without_patch(sorted(named & targets.keys()), targets)

    for patch in patches:
        problem = problem_with(patch, targets, failing)
        print(f'{os.path.basename(patch)}: {problem or "noticed"}', flush=True)
        with open(tally, 'a') as file:
            print(0 if problem else 1, 1 if problem else 0, 0, file=file)


if __name__ == '__main__':
    # Tests that fail leave their files behind.
    with tempfile.TemporaryDirectory() as folder:
        os.environ['TMPDIR'] = folder
        main()
