# SPDX-License-Identifier: LGPL-2.1-or-later
"""What is compared. Each is a context manager: (factory, size) -> (iterate, pid); iterate() is one iteration's units."""
import contextlib
import functools
import multiprocessing
import os

BUFFER_SIZE = 3
N_SEGMENTS = 5


def round_up(size):
    return (size + 63) // 64 * 64


@contextlib.contextmanager
def _arena(make, factory, size):
    import arena
    with arena.iterate_in_subprocess(factory, arena=make(arena, size), buffer_size=BUFFER_SIZE) as batches:
        yield lambda: iter(batches), batches.pid


def arena_pool(factory, size):
    return _arena(lambda arena, size: arena.SharedMemorySegmentPool(round_up(size), N_SEGMENTS), factory, size)


def arena_ring(factory, size):
    return _arena(lambda arena, size: arena.SharedMemoryRingBuffer(N_SEGMENTS * round_up(size)), factory, size)


@contextlib.contextmanager
def _spdl(make, factory, size):
    import spdl.pipeline
    before = {process.pid for process in multiprocessing.active_children()}
    batches = spdl.pipeline.iterate_in_subprocess(factory, arena=make(spdl.pipeline, size), buffer_size=BUFFER_SIZE)
    (pid,) = {process.pid for process in multiprocessing.active_children()} - before
    yield lambda: iter(batches), pid


def spdl_none(factory, size):
    return _spdl(lambda spdl, size: None, factory, size)


def spdl_pool(factory, size):
    return _spdl(lambda spdl, size: spdl.SharedMemorySegmentPool(round_up(size), N_SEGMENTS), factory, size)


def spdl_ring(factory, size):
    return _spdl(lambda spdl, size: spdl.SharedMemoryRingBuffer(N_SEGMENTS * round_up(size) + 64), factory, size)


# By hand: a process that iterates each time it is told to, and puts what it has into a queue.

def _serve(factory, commands, put):
    units = factory()
    while commands.get():
        for unit in units:
            put(unit)
        put(None)


@contextlib.contextmanager
def _by_hand(context, target, *arguments):
    commands = context.SimpleQueue()
    process = context.Process(target=target, args=(commands, *arguments), daemon=True)
    process.start()
    try:
        yield commands, process.pid
    finally:
        commands.put(False)
        process.join()


def _queue_worker(commands, factory, queue):
    _serve(factory, commands, queue.put)


@contextlib.contextmanager
def _queue(context, factory):
    queue = context.Queue(BUFFER_SIZE)
    with _by_hand(context, _queue_worker, factory, queue) as (commands, pid):
        def iterate():
            commands.put(True)
            return iter(queue.get, None)
        yield iterate, pid


def queue(factory, size):
    """multiprocessing.Queue."""
    return _queue(multiprocessing.get_context('fork'), factory)


def torch_queue(factory, size):
    """torch.multiprocessing.Queue, whose tensors are shared memory, made anew for each."""
    import torch.multiprocessing
    return _queue(torch.multiprocessing.get_context('fork'), factory)


def _shm_worker(commands, factory, segments, size, free, full):
    """What a careful user would write: segments that are used again, and their indices in two queues."""
    views = [segment.buf[:size] for segment in segments]

    def put(unit):
        if unit is None:
            full.put(None)
            return
        x = unit['x']
        index = free.get()
        views[index][:] = memoryview(x.numpy() if hasattr(x, 'numpy') else x).cast('B')
        full.put((index, type(x).__name__, {**unit, 'x': None}))

    _serve(factory, commands, put)


def _shm_view(buffer, kind):
    if kind == 'bytes':
        return buffer
    if kind == 'ndarray':
        import numpy
        return numpy.frombuffer(buffer, 'f4')
    import torch
    return torch.frombuffer(buffer, dtype=torch.float32)


@contextlib.contextmanager
def shared_memory(factory, size):
    """multiprocessing.shared_memory, by hand; a unit's segment is free again when the next is asked for."""
    from multiprocessing.shared_memory import SharedMemory
    context = multiprocessing.get_context('fork')
    segments = [SharedMemory(create=True, size=size) for _ in range(N_SEGMENTS)]
    free, full = context.SimpleQueue(), context.SimpleQueue()
    for index in range(N_SEGMENTS):
        free.put(index)

    def iterate():
        commands.put(True)
        for index, kind, unit in iter(full.get, None):
            unit['x'] = _shm_view(segments[index].buf[:size], kind)
            yield unit
            del unit
            free.put(index)

    try:
        with _by_hand(context, _shm_worker, factory, segments, size, free, full) as (commands, pid):
            yield iterate, pid
    finally:
        for segment in segments:
            with contextlib.suppress(BufferError):
                segment.close()
            segment.unlink()


SYSTEMS = {
    'arena-pool': arena_pool,
    'arena-ring': arena_ring,
    'spdl-none': spdl_none,
    'spdl-pool': spdl_pool,
    'spdl-ring': spdl_ring,
    'queue': queue,
    'shared-memory': shared_memory,
    'torch-queue': torch_queue,
}
