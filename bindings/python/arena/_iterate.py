# SPDX-License-Identifier: LGPL-2.1-or-later
"""Starts a worker for an iterable that lives in another process."""
from __future__ import annotations

import os
from typing import Any, Callable, Iterable, Sequence, TypeVar

from gi.repository import Arena

from . import _custom, _start, _worker
from ._arenas import SharedMemoryRingBuffer, SharedMemorySegmentPool, check_size, check_timeout
from ._iterable import DROP, SubprocessIterable
from ._protocols import ArenaProtocol

T = TypeVar('T')

LONGEST_QUEUE = 65536  # the library's limit
_DEFAULT_CAPACITY = 64 << 20
_ENVELOPE_SIZE = 64 << 10


def iterate_in_subprocess(
    fn: Callable[[], Iterable[T]],
    *,
    buffer_size: int = 3,
    initializer: Callable[[], None] | Sequence[Callable[[], None]] | None = None,
    mp_context: Any = None,
    timeout: float | None = None,
    daemon: bool = False,
    arena: SharedMemorySegmentPool | SharedMemoryRingBuffer | ArenaProtocol | None = None,
    worker_id: int = 0,
    worker_count: int = 1,
    seed: int | None = None,
) -> SubprocessIterable[T]:
    """What fn() returns, which is called once in a process of its own and iterated over there.

    Each loop over the result is an iteration of that iterable by the same worker; leaving a loop early leaves the
    worker ready for the next.

    fn: a function at the top of a module, or a functools.partial of one
    buffer_size: how many items may be queued, 1 to 65536; each place takes 64 KiB
    initializer: one function or several, called in the worker before fn
    mp_context: 'spawn' (the default), 'forkserver', 'fork', or a context of multiprocessing
    timeout: seconds without an item after which WorkerTimeoutError is raised; the worker goes on, and so may the loop
    daemon: as of multiprocessing.Process
    arena: a pool, a ring or one of your own (see ArenaProtocol), taken over; by default a ring of 64 MiB, whose items
        are yours to keep
    worker_id, worker_count, seed: what get_worker_info() tells the worker, for several that share the work
    """
    context = _start.get_context(mp_context)
    initializers = [] if initializer is None else [initializer] if callable(initializer) else list(initializer)
    functions = _start.pickle_functions(context, fn, initializers)
    check_size('buffer_size', buffer_size, LONGEST_QUEUE)
    check_timeout('timeout', timeout)
    if arena is None:
        arena = SharedMemoryRingBuffer(_DEFAULT_CAPACITY)
    custom = None
    if not isinstance(arena, (SharedMemorySegmentPool, SharedMemoryRingBuffer)):
        if not isinstance(arena, ArenaProtocol):
            raise TypeError('arena must be a SharedMemorySegmentPool, a SharedMemoryRingBuffer or have the methods of '
                            f'an ArenaProtocol, not {arena!r}')
        custom, arena = _custom.Custom(arena), SharedMemoryRingBuffer(_custom.RING_CAPACITY)
    if seed is None:
        seed = int.from_bytes(os.urandom(8), 'little')

    try:
        consumer = Arena.Consumer(backend=arena._handover.take(), buffer_size=buffer_size, envelope_size=_ENVELOPE_SIZE)
    except Arena.ClosedError as error:
        raise Arena.ClosedError(f'{arena!r} was closed, or served another worker before: make one for each', error.domain,
                                error.code) from None
    setup = _worker.Setup(functions, consumer.get_threshold(), arena.acquire_timeout, custom, worker_id, worker_count,
                          seed)
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
        batches.close(DROP)
        raise
    return batches
