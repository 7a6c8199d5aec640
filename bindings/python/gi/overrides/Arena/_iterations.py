# SPDX-License-Identifier: LGPL-2.1-or-later
"""One loop over a consumer's units."""
from ._errors import WouldBlockError


class Iteration:
    """One iteration of a consumer; keeps no unit."""

    def __init__(self, consumer):
        consumer.start()
        self._consumer = consumer

    def __iter__(self):
        return self

    def __next__(self):
        unit = self._consumer.next()
        if unit is None:
            raise StopIteration
        return unit


async def _wait_readable(fd):
    import asyncio  # takes longer than all the rest
    loop = asyncio.get_running_loop()
    ready = loop.create_future()
    loop.add_reader(fd, lambda: ready.done() or ready.set_result(None))
    try:
        await ready
    finally:
        loop.remove_reader(fd)


class AsyncIteration:
    """The same beside an asyncio loop, where other tasks may release units: it waits for them."""

    def __init__(self, consumer):
        self._fd = consumer.get_fd()  # only what is tried after this makes it readable
        consumer.start()
        self._consumer = consumer

    def __aiter__(self):
        return self

    async def __anext__(self):
        while True:
            try:
                unit = self._consumer.next(0)
                break
            except WouldBlockError:
                await _wait_readable(self._fd)
        if unit is None:
            raise StopAsyncIteration
        return unit
