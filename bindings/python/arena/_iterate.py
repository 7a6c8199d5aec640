# SPDX-License-Identifier: LGPL-2.1-or-later
"""Iterates over an iterable that lives in another process."""
from __future__ import annotations

import gc
import logging
import multiprocessing.connection  # join() would, when the interpreter ends, and so make it forget a Ctrl-C  # noqa: F401
import os
import threading
import time
import weakref
from multiprocessing import util
from typing import Any, AsyncIterator, Callable, Generic, Iterable, Iterator, Sequence, TypeVar

from gi.repository import Arena

from . import _fast, _start, _worker
from ._arenas import SharedMemoryRingBuffer, SharedMemorySegmentPool, Stats, check_size, check_timeout, make_stats
from ._codec import decode
from ._errors import WorkerError, describe_exit

T = TypeVar('T')
_log = logging.getLogger('arena')

_DEFAULT_CAPACITY = 64 << 20
_ENVELOPE_SIZE = 64 << 10
# Seconds that a worker may take to leave: when it is closed, and when nobody waits for that.
_CLOSE, _DROP = 3.0, 0.2


def iterate_in_subprocess(
    fn: Callable[[], Iterable[T]],
    *,
    buffer_size: int = 3,
    initializer: Callable[[], None] | Sequence[Callable[[], None]] | None = None,
    mp_context: Any = None,
    timeout: float | None = None,
    daemon: bool = False,
    arena: SharedMemorySegmentPool | SharedMemoryRingBuffer | None = None,
    worker_id: int = 0,
    worker_count: int = 1,
    seed: int | None = None,
) -> SubprocessIterable[T]:
    """What fn() returns, which is called once in a process of its own and iterated over there.

    Each loop over the result is an iteration of that iterable by the same worker; leaving a loop early leaves the worker
    ready for the next.

    fn: a function at the top of a module, or a functools.partial of one
    buffer_size: how many items may be queued
    initializer: one function or several, called in the worker before fn
    mp_context: 'spawn' (the default), 'forkserver', 'fork', or a context of multiprocessing
    timeout: seconds without an item after which TimeoutError is raised; the worker goes on, and so may the loop
    daemon: as of multiprocessing.Process
    arena: a pool or a ring, taken over; by default a ring of 64 MiB, whose items are yours to keep
    worker_id, worker_count, seed: what get_worker_info() tells the worker, for several that share the work
    """
    context = _start.get_context(mp_context)
    initializers = [] if initializer is None else [initializer] if callable(initializer) else list(initializer)
    functions = _start.pickle_functions(context, fn, initializers)
    check_size('buffer_size', buffer_size)
    check_timeout('timeout', timeout)
    if arena is None:
        arena = SharedMemoryRingBuffer(_DEFAULT_CAPACITY)
    elif not isinstance(arena, (SharedMemorySegmentPool, SharedMemoryRingBuffer)):
        raise TypeError(f'arena must be a SharedMemorySegmentPool or a SharedMemoryRingBuffer, not {arena!r}')
    if seed is None:
        seed = int.from_bytes(os.urandom(8), 'little')

    consumer = Arena.Consumer(backend=arena._backend, buffer_size=buffer_size, envelope_size=_ENVELOPE_SIZE)
    setup = _worker.Setup(functions, consumer.get_threshold(), arena.acquire_timeout, worker_id, worker_count, seed)
    try:
        process, pidfd = _start.start(context, daemon, _worker.main, consumer.dup_worker_fd(), setup)
    except BaseException:
        consumer.close()
        raise
    batches: SubprocessIterable[T] = SubprocessIterable(arena, consumer, process, timeout, setup)
    try:
        consumer.watch_pidfd(pidfd)
        batches._set_up()
    except BaseException:
        batches.close(_DROP)
        raise
    return batches


def _end(consumer: Any, process: Any, grace: float = _DROP) -> None:
    """Ends the worker: asks it, and soon kills it."""
    consumer.close(0)
    for end in (lambda: None, process.terminate, process.kill):
        end()
        process.join(grace)
        if process.exitcode is not None:
            process.close()
            return
    _log.warning('the worker, process %d, could not be killed', process.pid)


class SubprocessIterable(Generic[T]):
    """An iterable in another process. It ends that when it is closed, dropped, or when the interpreter ends."""

    def __init__(self, arena: Any, consumer: Any, process: Any, timeout: float | None, setup: Any) -> None:
        self._arena, self._consumer, self._process, self._setup = arena, consumer, process, setup
        self.pid: int = process.pid
        self._timeout = -1 if timeout is None else max(int(timeout * 1e6), 1)
        self._layout = arena.zero_copy, arena.read_only
        self._epoch = 0
        self._gave_up = self._starving = False
        ref = weakref.ref(self)
        consumer.connect('starved', lambda consumer, n_held: _on_starved(ref))
        # At exit before multiprocessing waits for its processes.
        self._finalizer = util.Finalize(self, _end, (consumer, process), exitpriority=100)

    def __repr__(self) -> str:
        return f'<{type(self).__name__} of process {self.pid} through {self._arena!r}>'

    def __enter__(self) -> SubprocessIterable[T]:
        return self

    def __exit__(self, error: Any, *rest: Any) -> None:
        self.close(_CLOSE if error is None else _DROP)

    def close(self, timeout: float = _CLOSE) -> None:
        """Ends the worker, which may take this many seconds by itself. What was received stays valid."""
        if self._finalizer.still_active():
            self._finalizer.cancel()
            _end(self._consumer, self._process, timeout)

    @property
    def stats(self) -> Stats:
        return make_stats(self._consumer.dup_stats())

    def __iter__(self) -> Iterator[T]:
        return _Iteration(self)

    def __aiter__(self) -> AsyncIterator[T]:
        return _AsyncIteration(self)

    def _set_up(self) -> None:
        self._consumer.start()
        try:
            self._receive(self._timeout)
        except TimeoutError:
            raise TimeoutError(f'The worker subprocess did not initialize after {self._timeout / 1e6:g} seconds; it is '
                               f'alive (process {self.pid})') from None

    def _begin(self) -> int:
        if not self._finalizer.still_active():
            raise RuntimeError('The worker process is shutdown. Cannot iterate again.')
        try:
            self._consumer.start()
        except Arena.PeerGoneError:
            raise self._lost() from None
        self._epoch += 1
        return self._epoch

    def _receive(self, timeout: int) -> Any:
        """One unit, or None at the end; the library's errors as Python's."""
        try:
            return _fast.receive(self._consumer, timeout, self._layout[1])
        except Arena.WorkerError as error:
            failure = self._failed(error.remote)
            raise failure from failure.__cause__
        except Arena.PeerGoneError:
            raise self._lost() from None
        except Arena.TimedOutError:
            raise self._late(timeout) from None
        except Arena.BusyError as error:
            raise self._starved(error) from None
        finally:
            if self._gave_up:
                self._gave_up = False
                self._consumer.set_starve_timeout(-1)

    def _late(self, timeout: int) -> TimeoutError:
        why = 'all of the arena is held here, so it waits for that; ' if self._starving else ''
        self._starving = False
        return TimeoutError(f'The worker subprocess did not produce any data for {timeout / 1e6:g} seconds; {why}it is alive '
                            f'(process {self.pid}), and the loop may go on')

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
        return Arena.BusyError(f'{error.message}. Release them sooner (del, or a copy), or give the pool a larger count: '
                               f'{needed} for these and buffer_size={self._consumer.get_buffer_size()}',
                               error.domain, error.code)

    def _decode(self, unit: Any) -> T:
        return decode(*unit, *self._layout)  # type: ignore[no-any-return]


def _on_starved(ref: Any) -> bool:
    """Nobody else can release what a single thread holds: it gives up, if a collection doesn't help either."""
    gc.collect()
    batches = ref()
    if batches is None:
        return False
    if threading.active_count() == 1:
        batches._gave_up = True
        batches._consumer.set_starve_timeout(0)
    else:
        batches._starving = True
        _log.info('all segments of %r are held here; waiting for another thread to release one', batches._arena)
    return True


class _Iteration(Generic[T]):
    """One iteration; keeps no item."""

    def __init__(self, batches: SubprocessIterable[T]) -> None:
        self._batches = batches
        self._epoch = batches._begin()
        self._ended = False

    def __iter__(self) -> Iterator[T]:
        return self

    def _check(self) -> bool:
        if self._epoch != self._batches._epoch:
            raise RuntimeError('another iteration over the same worker has begun since')
        return self._ended

    def __next__(self) -> T:
        batches = self._batches
        if self._ended or self._epoch != batches._epoch:
            if self._check():
                raise StopIteration
        unit = batches._receive(batches._timeout)
        if unit is None:
            self._ended = True
            raise StopIteration
        return decode(*unit, *batches._layout)  # type: ignore[no-any-return]


class _AsyncIteration(_Iteration[T]):
    """The same beside an asyncio loop, where other tasks may release units: it waits for them."""

    def __init__(self, batches: SubprocessIterable[T]) -> None:
        self._fd = batches._consumer.get_fd()  # only what is tried after this makes it readable
        super().__init__(batches)

    def __aiter__(self) -> AsyncIterator[T]:
        return self

    async def __anext__(self) -> T:
        if self._check():
            raise StopAsyncIteration
        batches = self._batches
        deadline = None if batches._timeout < 0 else time.monotonic() + batches._timeout / 1e6
        while True:
            try:
                unit = batches._receive(0)
                break
            except Arena.WouldBlockError:
                await _wait_readable(self._fd, deadline, batches)
        if unit is None:
            self._ended = True
            raise StopAsyncIteration
        return batches._decode(unit)


async def _wait_readable(fd: int, deadline: float | None, batches: Any) -> None:
    import asyncio  # takes longer than all the rest
    loop = asyncio.get_running_loop()
    ready = loop.create_future()
    loop.add_reader(fd, lambda: ready.done() or ready.set_result(None))
    try:
        await asyncio.wait_for(ready, None if deadline is None else max(deadline - time.monotonic(), 0))
    except asyncio.TimeoutError:
        raise batches._late(batches._timeout) from None
    finally:
        loop.remove_reader(fd)
