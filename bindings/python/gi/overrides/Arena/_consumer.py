# SPDX-License-Identifier: LGPL-2.1-or-later
"""A consumer is iterable, and a lone thread is told that it starves its own producer."""
import gc
import threading

from gi.module import get_introspection_module
from gi.repository import GLib

from ._classes import Initable, introspected, override
from ._errors import WorkerError
from ._iterations import AsyncIteration, Iteration
from ._wait import wait

Arena = get_introspection_module('Arena')

# As C has them.
_next, _next_packed, _stop = Arena.Consumer.next, Arena.Consumer.next_packed, Arena.Consumer.stop


def _has_other_threads():
    """Whether there are any that might hold units. That of a progress bar doesn't."""
    me = threading.current_thread()
    return any(thread is not me and not type(thread).__module__.startswith('tqdm.') for thread in threading.enumerate())


_WAITING, _STARVED, _GAVE_UP = 'waiting', 'starved', 'gave up'


def _on_starved(consumer, n_held):
    """While the one thread of a process waits for a unit, nobody can release what it holds: BUSY, if a collection doesn't
    either."""
    if consumer._wait is not _STARVED:  # once a wait, which may be several of C
        gc.collect()
    if consumer._wait in (_WAITING, _STARVED):
        consumer._wait = _STARVED
        if consumer.get_starve_timeout() < 0 and not _has_other_threads():
            consumer._wait = _GAVE_UP
            consumer.set_starve_timeout(0)
    return False


@override
class Consumer(Initable, introspected('Consumer')):
    """Each loop over a consumer is an iteration of its worker; `with` closes it."""
    _watches = False
    _wait = None

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.close()

    def __iter__(self):
        return Iteration(self)

    def __aiter__(self):
        return AsyncIteration(self)

    def next(self, timeout=-1, cancellable=None):
        """The next unit, or None at the end of the iteration."""
        return self.receive_by(self._receive, _next, timeout, cancellable)

    def next_packed(self, timeout=-1, cancellable=None):
        """The next unit as a record and its storage; at the end of the iteration the record is empty."""
        return self.receive_by(self._receive, _next_packed, timeout, cancellable)

    def _receive(self, function, timeout, cancellable):
        try:
            return wait(function, self, timeout, cancellable)
        except WorkerError as error:
            error.remote = self.dup_remote_error()
            raise

    def receive_by(self, call, *arguments):
        """call(*arguments), which waits for a unit: BUSY at once where that starves the producer and no other thread can
        end it, unless a starve-timeout is set."""
        if self._wait is not None:
            return call(*arguments)
        if not self._watches:
            self._watches = True
            self.connect('starved', _on_starved)
        self._wait = _WAITING
        try:
            return call(*arguments)
        except GLib.Error as error:
            error.starved = self._wait is not _WAITING
            raise
        finally:
            if self._wait is _GAVE_UP:
                self.set_starve_timeout(-1)
            self._wait = None

    def stop(self, timeout=-1, cancellable=None):
        return wait(_stop, self, timeout, cancellable)

    def close(self, timeout=-1, cancellable=None):
        return super().close(timeout, cancellable)
