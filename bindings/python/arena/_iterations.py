# SPDX-License-Identifier: LGPL-2.1-or-later
"""One loop over a worker's items."""
from __future__ import annotations

import time
from typing import Any, AsyncIterator, Generic, Iterator, TypeVar

from gi.repository import Arena

T = TypeVar('T')


class Iteration(Generic[T]):
    """One iteration; keeps no item."""

    def __init__(self, batches: Any) -> None:
        self._batches = batches
        self._epoch = batches._begin()
        self._ended = False

    def __iter__(self) -> Iterator[T]:
        return self

    def _check(self) -> bool:
        """Whether it has ended, and not for one of the reasons that are errors."""
        if self._ended:
            return True
        self._batches._check_open()
        if self._epoch != self._batches._epoch:
            raise RuntimeError('another iteration over the same worker has begun since')
        return False

    def __next__(self) -> T:
        batches = self._batches
        if self._ended or self._epoch != batches._epoch:
            if self._check():
                raise StopIteration
        unit = batches._receive(batches._timeout)
        if unit is None:
            self._ended = True
            raise StopIteration
        return batches._decode(unit)


class AsyncIteration(Iteration[T]):
    """The same beside an asyncio loop, where other tasks may release units: it waits for them."""

    def __init__(self, batches: Any) -> None:
        batches._check_open()
        self._fd = batches._consumer.get_fd()  # only what is tried after this makes it readable
        self._waiting = False
        super().__init__(batches)

    def __aiter__(self) -> AsyncIterator[T]:
        return self

    async def __anext__(self) -> T:
        if self._waiting:
            raise RuntimeError('another task is waiting for the next item of this loop')
        self._waiting = True
        try:
            return await self._next()
        finally:
            self._waiting = False

    async def _next(self) -> T:
        batches = self._batches
        deadline = None if batches._timeout < 0 else time.monotonic() + batches._timeout / 1e6
        while True:
            if self._check():
                raise StopAsyncIteration
            try:
                unit = batches._receive(0)
                break
            except Arena.WouldBlockError as error:
                await _wait_readable(self._fd, deadline, batches, error.starved)
        if unit is None:
            self._ended = True
            raise StopAsyncIteration
        return batches._decode(unit)


async def _wait_readable(fd: int, deadline: float | None, batches: Any, starved: bool) -> None:
    import asyncio  # takes longer than all the rest
    loop = asyncio.get_running_loop()
    batches._ready = ready = loop.create_future()
    loop.add_reader(fd, lambda: None if ready.done() else ready.set_result(None))
    try:
        await asyncio.wait_for(ready, None if deadline is None else max(deadline - time.monotonic(), 0))
    except asyncio.TimeoutError:
        raise batches._late(batches._timeout, starved) from None
    finally:
        if batches._ready is ready:  # else the next loop's task waits there
            batches._ready = None
            loop.remove_reader(fd)
