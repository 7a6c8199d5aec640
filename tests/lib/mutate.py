#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Shows that the tests notice broken code: mutate.py TALLY WORK PATCH...

Above its diff a patch says what must notice it: lines "Test: unit/test-pool", or one line "Suite: core", or both.
It is applied to a copy of the sources below WORK; it must compile there, and at least one of those tests must fail.
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys

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


def copy_sources():
    """Files git knows or would add, so that work in progress counts; kept files keep their times for ninja."""
    shutil.rmtree(source, ignore_errors=True)
    names = run('git', 'ls-files', '-z', '-co', '--exclude-standard').stdout.split('\0')
    for name in filter(os.path.isfile, names):
        (source / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(name, source / name)
    # Without a repository of its own, git apply would skip paths that the outer one ignores.
    must('git', 'init', '-q', cwd=source)


def selection(patch):
    """The arguments with which meson test runs what the patch's header names."""
    text = pathlib.Path(patch).read_text().partition('\n--- ')[0]
    suites = re.findall(r'^Suite: (\S+)$', text, re.MULTILINE)
    tests = re.findall(r'^Test: (\S+)$', text, re.MULTILINE)
    return (*(f'--suite={suite}' for suite in suites), *tests)


def programs(tests):
    """What ninja must build for these tests: linking every program again for each patch would take an hour."""
    names = [test for test in tests if not test.startswith('-')]
    if not names or not all(re.match(r'(unit|behaviour|process|fuzz|cuda)/', name) for name in names):
        return []
    return ['tests/' + name.replace('/', '-', 1) for name in names] + process_programs(names)


def process_programs(names):
    """The programs that tests of processes and of CUDA start."""
    started = []
    if any(name.startswith(('process/', 'cuda/')) for name in names):
        started += ['process/worker', 'process/pair-consumer', 'process/pair-producer']
    if any(name.startswith('cuda/') for name in names):
        started.append('cuda/scenario-consumer')
    return ['tests/' + name for name in started]


def compile_programs(targets=()):
    return run('ninja', '-C', str(build), '-j', '2', *targets)


def failures(tests):
    """How many of the tests fail; None when there are none to run."""
    process = run('meson', 'test', '-C', str(build), '--no-rebuild', '--num-processes', '2', *tests)
    if not tests or 'No suitable tests' in process.stdout:
        return None
    return process.returncode


def problem_with(patch, baseline):
    """None when a test noticed the patch, else what is wrong."""
    tests = selection(patch)
    if baseline[tests] is None:
        return f'names no test: {" ".join(tests)}'
    if baseline[tests] != 0:
        return f'its tests fail without it: {" ".join(tests)}'
    applied = run('git', 'apply', os.path.abspath(patch), cwd=source)
    if applied.returncode != 0:
        return f'does not apply\n{applied.stdout}'
    try:
        compiled = compile_programs(programs(tests))
        if compiled.returncode != 0:
            return f'does not compile\n{compiled.stdout[-2000:]}'
        return None if failures(tests) else f'noticed by none of {" ".join(tests)}'
    finally:
        must('git', 'apply', '-R', os.path.abspath(patch), cwd=source)


def main():
    baseline = {selection(patch): None for patch in patches}
    in_languages = re.search(r'api|bindings|examples|package|python|gjs|vala', ' '.join(sum(baseline, ())))
    copy_sources()
    shutil.rmtree(build, ignore_errors=True)
    must('meson', 'setup', str(build), str(source), '-Dexamples=true',
         f'-Dintrospection={"enabled" if in_languages else "disabled"}')
    compiled = compile_programs()
    if compiled.returncode != 0:
        sys.exit(compiled.stdout[-4000:])
    for tests in baseline:
        baseline[tests] = failures(tests)

    for patch in patches:
        problem = problem_with(patch, baseline)
        print(f'{os.path.basename(patch)}: {problem or "noticed"}', flush=True)
        with open(tally, 'a') as file:
            print(0 if problem else 1, 1 if problem else 0, 0, file=file)


if __name__ == '__main__':
    main()
