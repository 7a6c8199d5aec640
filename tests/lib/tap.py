# SPDX-License-Identifier: LGPL-2.1-or-later
"""unittest with one TAP line per test; a test file ends with: if __name__ == '__main__': tap.main()"""
import sys
import traceback
import unittest


class Result(unittest.TestResult):
    def point(self, test, ok, directive=''):
        name = test.id().removeprefix('__main__.')
        print(f'{"ok" if ok else "not ok"} {self.testsRun} - {name}{directive}', flush=True)

    def trouble(self, test, error):
        print(''.join('# ' + line + '\n' for line in ''.join(traceback.format_exception(*error)).splitlines()), end='')
        self.point(test, False)

    def addSuccess(self, test):
        self.point(test, True)

    def addSkip(self, test, reason):
        super().addSkip(test, reason)
        self.point(test, True, f' # SKIP {reason}')

    def addFailure(self, test, error):
        super().addFailure(test, error)
        self.trouble(test, error)

    def addError(self, test, error):
        super().addError(test, error)
        self.trouble(test, error)

    def addSubTest(self, test, subtest, error):
        super().addSubTest(test, subtest, error)
        if error is not None:
            self.trouble(subtest, error)


def main():
    tests = unittest.defaultTestLoader.loadTestsFromModule(sys.modules['__main__'])
    print(f'1..{tests.countTestCases()}', flush=True)
    result = Result()
    tests.run(result)
    sys.exit(0 if result.wasSuccessful() else 1)
