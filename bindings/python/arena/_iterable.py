# SPDX-License-Identifier: LGPL-2.1-or-later
"""The consumer's side of a worker: its process, its boundary, and what goes wrong with them."""
from __future__ import annotations

import logging
import multiprocessing.connection  # noqa: F401  join() would at exit, and so make it forget a Ctrl-C
import os
from multiprocessing import util
from typing import Any, AsyncIterator, Generic, Iterator, TypeVar

from gi.repository import Arena

from . import _custom, _fast
from ._arenas import Stats, make_stats
from ._codec import decode
from ._errors import WorkerError, WorkerTimeoutError, describe_exit
from ._iterations import AsyncIteration, Iteration

T = TypeVar('T')
_log = logging.getLogger('arena')

# Seconds that a worker may take to leave: when it is closed, when nobody waits for that, and when it is killed.
CLOSE, DROP, KILL = 3.0, 0.2, 1.0


def _end(consumer: Any, process: Any, custom: Any, grace: float = DROP) -> None:
    """Ends the worker, then the arena."""
    if custom is not None:
        custom.shutdown()
    consumer.close(0)
    try:
        _end_process(process, grace)
    finally:
        if custom is not None:
            custom.end()


def _end_process(process: Any, grace: float) -> None:
    """Asks it, and soon kills it; who is killed takes as long as the kernel."""
    for end, seconds in ((lambda: None, grace), (process.terminate, grace), (process.kill, max(grace, KILL))):
        end()
        process.join(seconds)
        if process.exitcode is not None:
            process.close()
            return
    _log.warning('the worker, process %d, could not be killed', process.pid)


def _closed() -> Exception:
    """For whoever wants an item of what is closed, be it the next or the first: a RuntimeError as well."""
    return Arena.ClosedError('The worker process is shutdown. Cannot iterate again.', 'arena-error-quark',  # type: ignore
                             Arena.Error.CLOSED)


class SubprocessIterable(Generic[T]):
    """An iterable in another process. It ends that when it is closed, dropped, or when the interpreter ends."""

    def __init__(self, arena: Any, consumer: Any, process: Any, timeout: float | None, setup: Any) -> None:
        self._arena, self._consumer, self._process, self._setup = arena, consumer, process, setup
        self.pid: int = process.pid
        self._timeout = -1 if timeout is None else max(int(timeout * 1e6), 1)
        self._layout = arena.zero_copy, arena.read_only
        self._epoch = 0
        self._creator = os.getpid()  # multiprocessing has no finalizers in processes that it forks
        self._ready: Any = None
        self._receiver: _custom.CustomReceiver | None = None
        # At exit before multiprocessing waits for its processes.
        self._finalizer = util.Finalize(self, _end, (consumer, process, setup.custom), exitpriority=100)

    def __repr__(self) -> str:
        return f'<{type(self).__name__} of process {self.pid} through {self._arena!r}>'

    def __enter__(self) -> SubprocessIterable[T]:
        return self

    def __exit__(self, error: Any, *rest: Any) -> None:
        self.close(CLOSE if error is None else DROP)

    def close(self, timeout: float = CLOSE) -> None:
        """Ends the worker, which may take this many seconds by itself. What was received stays valid."""
        if self._finalizer.still_active():
            self._finalizer.cancel()
            _end(self._consumer, self._process, self._setup.custom, timeout)

    @property
    def stats(self) -> Stats:
        return make_stats(self._consumer.dup_stats())

    def __iter__(self) -> Iterator[T]:
        return Iteration(self)

    def __aiter__(self) -> AsyncIterator[T]:
        return AsyncIteration(self)

    def _set_up(self) -> None:
        if self._setup.custom is not None:
            self._receiver = _custom.CustomReceiver(self._setup.custom, self._consumer)
        self._consumer.start()
        try:
            self._receive(self._timeout)
        except WorkerTimeoutError:
            raise WorkerTimeoutError(f'The worker subprocess did not initialize after {self._timeout / 1e6:g} seconds; it '
                                     f'is alive (process {self.pid})') from None

    def _check_open(self) -> None:
        if not self._finalizer.still_active() and self._creator == os.getpid():
            raise _closed()

    def _begin(self) -> int:
        self._check_open()
        try:
            if self._receiver is not None:
                self._receiver.start()
            self._consumer.start()
        except Arena.PeerGoneError:
            raise self._lost() from None
        self._epoch += 1
        self._wake()
        return self._epoch

    def _wake(self) -> None:
        """Lets a task that waits for an item look again."""
        if self._ready is not None and not self._ready.done():
            self._ready.set_result(None)

    def _receive(self, timeout: int) -> Any:
        """One unit, or None at the end; the library's errors as Python's."""
        try:
            return self._consumer.receive_by(_fast.receive, self._consumer, timeout, self._layout[1])
        except Arena.WorkerError as error:
            raise self._failed(error.remote)  # noqa: B904  its cause is what happened in the worker
        except Arena.PeerGoneError:
            raise self._lost() from None
        except Arena.ClosedError:
            raise _closed() from None
        except Arena.TimedOutError as error:
            raise self._late(timeout, error.starved) from None
        except Arena.BusyError as error:
            if not error.starved:  # another thread waits here already
                raise
            raise self._starved(error) from None

    def _late(self, timeout: int, starved: bool) -> WorkerTimeoutError:
        why = 'all of the arena is held here, so it waits for that; ' if starved else ''
        return WorkerTimeoutError(f'The worker subprocess did not produce any data for {timeout / 1e6:g} seconds; {why}it '
                                  f'is alive (process {self.pid}), and the loop may go on')

    def _failed(self, remote: Any) -> WorkerError:
        stage, _, text = remote.get_message().partition(': ')
        item = remote.get_item() if remote.get_item() >= 0 else None
        where = '' if item is None else f' (item {item})'
        return WorkerError(f'{stage}{where}: {remote.get_type_name()}: {text}', type_name=remote.get_type_name(),
                           text=text, traceback=remote.get_traceback(), item=item, worker_id=self._setup.worker_id)

    def _lost(self) -> WorkerError:
        """The process is going or gone; how, only who started it knows."""
        exitcode = None
        if self._finalizer.still_active():
            self._process.join(1)
            exitcode = self._process.exitcode
        return WorkerError(f'The worker subprocess quit: process {self.pid} {describe_exit(exitcode)}',
                           worker_id=self._setup.worker_id, exitcode=exitcode)

    def _starved(self, error: Any) -> Exception:
        needed = self._consumer.get_buffer_size() + self._arena.count + 1
        advice = f'a larger count: {needed} for these and buffer_size={self._consumer.get_buffer_size()}'
        if self.stats.held_units < self._arena.count:
            advice = "reuse='any': in order, the oldest of them stops it again, whatever its count"
        elif self._arena.reuse == 'in-order':
            advice += ", or reuse='any' where some are kept for long: in order, the oldest of them stops it again"
        return Arena.BusyError(f'{error.message}. Release them sooner (del, or a copy), or give the pool {advice}',
                               error.domain, error.code)

    def _decode(self, unit: Any) -> T:
        if self._receiver is not None:
            return self._receiver.decode(*unit)  # type: ignore
        return decode(*unit, *self._layout)  # type: ignore
