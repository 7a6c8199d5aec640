# SPDX-License-Identifier: LGPL-2.1-or-later
"""What goes wrong in a worker, as its consumer sees it."""
from __future__ import annotations

import signal

# The library's own errors, by what their receiver can do.
from gi.repository.Arena import BusyError, ClosedError, NotSupportedError, NoSpaceError, TooLargeError

__all__ = ['BusyError', 'ClosedError', 'NoSpaceError', 'NotSupportedError', 'TooLargeError', 'WorkerError',
           'WorkerTimeoutError']

# The library cuts what is too long for an envelope, and would cut off the end.
LONGEST_TEXT = 4000


class _RemoteTraceback(Exception):
    """What the worker printed where it failed; shown before the error, as its cause."""

    def __str__(self) -> str:
        return f'\n"""\n{self.args[0].rstrip()}\n"""'


class WorkerError(RuntimeError):
    """The worker failed, or has gone."""
    __module__ = 'arena'

    def __init__(self, message: str, *, type_name: str | None = None, text: str | None = None,
                 traceback: str | None = None, item: int | None = None, worker_id: int = 0,
                 exitcode: int | None = None) -> None:
        super().__init__(message)
        self.type_name = type_name  #: of the exception in the worker; None where the process has gone
        self.text = text            #: what that exception said
        self.traceback = traceback  #: and where it was raised, as text
        self.item = item            #: how many items of the iteration came before; None outside of one
        self.worker_id = worker_id
        self.exitcode = exitcode    #: as of multiprocessing.Process, where the process has gone
        if traceback:
            self.__cause__ = _RemoteTraceback(traceback)


class WorkerTimeoutError(TimeoutError, RuntimeError):
    """An item, or the worker's start, took longer than the timeout. A RuntimeError as whatever else ends a loop."""
    __module__ = 'arena'


def describe_exit(exitcode: int | None) -> str:
    if exitcode is None:
        return 'has gone'
    if exitcode >= 0:
        return f'exited with status {exitcode}'
    try:
        return f'was killed by signal {-exitcode} ({signal.Signals(-exitcode).name})'
    except ValueError:
        return f'was killed by signal {-exitcode}'


def shorten(text: str) -> str:
    if len(text) <= LONGEST_TEXT:
        return text
    half = LONGEST_TEXT // 2
    return f'{text[:half]}\n[... {len(text) - 2 * half} characters ...]\n{text[-half:]}'
