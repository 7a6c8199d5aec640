# SPDX-License-Identifier: LGPL-2.1-or-later
"""Waits that Ctrl-C ends."""
import math
import sys
import threading
import time

from gi.module import get_introspection_module
from gi.repository import GLib

from ._errors import type_error

Arena = get_introspection_module('Arena')

# Microseconds. Python handles signals between two calls only: Ctrl-C waits for this long.
SLICE = 100_000


def _now():
    return time.monotonic_ns() // 1000


def wait(function, instance, timeout, cancellable, *arguments):
    """The method of C, which the main thread leaves now and then for its signals' handlers. Every unit passes here."""
    if timeout < -1 or timeout == 0 or threading.get_ident() != threading.main_thread().ident:
        try:
            return function(instance, timeout, cancellable, *arguments)
        except GLib.Error as error:
            raise type_error(error) from None
    end = math.inf if timeout < 0 else _now() + timeout
    part = SLICE if timeout < 0 else min(SLICE, timeout)
    while True:
        printed, hook = [], sys.excepthook
        take = lambda *error: printed.append(error)  # noqa: E731
        try:
            sys.excepthook = take
            return function(instance, part, cancellable, *arguments)
        except GLib.Error as error:
            if _now() >= end or not error.matches(Arena.error_quark(), Arena.Error.TIMED_OUT):
                raise type_error(error) from None
        except RuntimeError:
            # A handler ran while PyGObject made an exception of the time-out: that printed what was raised there.
            if not printed:
                raise
            raise printed.pop()[1] from None
        finally:
            if sys.excepthook is take:  # not set by a handler, or another thread
                sys.excepthook = hook
            for error in printed:
                sys.excepthook(*error)
        part = max(min(SLICE, end - _now()), 1)
