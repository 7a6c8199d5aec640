# SPDX-License-Identifier: LGPL-2.1-or-later
"""The worker's process: sets up, then sends what the iterable yields, once for each iteration of its consumer.

The boundary's first iteration is the set-up: it has no units, and its end says that the worker is ready.
"""
from __future__ import annotations

import contextlib
import pickle
import signal
import traceback
from typing import Any, Iterable, NamedTuple

import gi
gi.require_version('Arena', '1.0')
from gi.repository import Arena, GLib  # noqa: E402

from . import _custom, _fast, _info, _loans  # noqa: E402
from ._codec import Encoder  # noqa: E402
from ._errors import shorten  # noqa: E402


class Setup(NamedTuple):
    """What a worker is told at its start."""
    functions: Any                 #: (factory, initializers), pickled unless they can only be inherited
    threshold: int
    acquire_timeout: float | None
    custom: Any                    #: _custom.Custom, if the arena isn't the library's
    worker_id: int
    worker_count: int
    seed: int


class Stage:
    INITIALIZE = 'Initializer failed'
    CREATE = 'Failed to create the iterable'
    START = 'Failed to create the iterator'
    FETCH = 'Failed to fetch the next item'
    SEND = 'Failed to send the item'


class _SingleUse(RuntimeError):
    pass


def main(descriptor: Any, setup: Setup) -> None:
    # Ctrl-C goes to the whole group; the consumer ends its worker.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGINT])
    try:
        producer = Arena.Producer.new_from_fd(descriptor.detach())
        _Worker(producer, setup).run()
    except (Arena.PeerGoneError, Arena.ClosedError):
        pass  # there is nobody to tell


class _Worker:
    def __init__(self, producer: Any, setup: Setup) -> None:
        self.producer, self.setup = producer, setup
        timeout = setup.acquire_timeout
        self.timeout = -1 if timeout is None else int(timeout * 1e6)
        self.loans = _loans.Loans(producer, setup.threshold, self.timeout)
        self.encoder = Encoder(setup.threshold, self.loans)
        self.custom: _custom.CustomSender | None = None
        self.stage, self.item = Stage.INITIALIZE, -1

    def run(self) -> None:
        iterable: Any = None
        while True:
            wanted, epoch = self.producer.wait_iteration(-1, None)
            if not wanted:
                return
            setup = self.setup
            _info.set_worker_info(setup.worker_id, setup.worker_count, epoch - 1, setup.seed)
            self.item = -1
            try:
                if epoch == 1:
                    iterable = self.set_up()
                else:
                    self.iterate(iterable, epoch)
            except _loans.Stopped:
                self.producer.finish_iteration()
            except Exception as error:
                self.fail(error)
            except BaseException as error:
                self.fail(error)
                raise
            else:
                self.producer.finish_iteration()

    def set_up(self) -> Any:
        self.stage = Stage.INITIALIZE
        functions = self.setup.functions
        factory, initializers = pickle.loads(functions) if isinstance(functions, bytes) else functions
        for initializer in initializers:
            initializer()
        if self.setup.custom is not None:
            self.custom = _custom.CustomSender(self.producer, self.setup.custom)
        self.stage = Stage.CREATE
        return factory()

    def iterate(self, iterable: Iterable[Any], epoch: int) -> None:
        self.stage = Stage.START
        if self.custom:
            self.custom.start()
        values = iter(iterable)
        if values is iterable and epoch > 2:
            raise _SingleUse(f'the factory returned a {type(values).__name__}, which can be iterated over only once; '
                             'let it return a list, or an object whose __iter__() starts anew')
        with contextlib.ExitStack() as stack:
            stack.callback(self.loans.abort)
            stack.callback(_loans.set_current, None)
            _loans.set_current(None if self.custom else self.loans)
            stack.callback(getattr(values, 'close', lambda: None))
            for self.item in range(1 << 62):
                self.stage = Stage.FETCH
                if self.custom and self.custom.is_stopped():
                    return
                try:
                    value = next(values)
                except StopIteration:
                    return
                self.stage = Stage.SEND
                self.send(value)
                del value

    def send(self, value: Any) -> None:
        if self.loans.are_dropped():
            self.loans.abort()
        payload, fields = self.encoder.encode(value)
        try:
            if self.custom:
                self.custom.send(payload, fields)
            elif self.loans.fields:
                self.loans.send(payload, fields)
            else:
                self.send_whole(payload, fields)
        except (Arena.ClosedError, Arena.PeerGoneError):
            raise _loans.Stopped from None
        finally:
            self.encoder.kept.clear()

    def send_whole(self, payload: bytes, fields: list[Any]) -> None:
        if self.timeout >= 0:
            # The time is for memory; a place in the queue is waited for as long as it takes.
            self.producer.begin_unit(0, -1, None).abort()
        try:
            _fast.send(self.producer, payload, fields, self.timeout)
        except (Arena.TimedOutError, Arena.WouldBlockError):
            size = sum(field[1] for field in fields)
            raise BufferError(
                f'no room for {size} bytes after {self.setup.acquire_timeout:g} s: the consumer holds its units for '
                'too long or has stalled; raise acquire_timeout or the count of segments, or release views sooner'
            ) from None

    def fail(self, error: BaseException) -> None:
        lines = traceback.format_exception(type(error), error, error.__traceback__)
        try:
            text = str(error)
        except Exception as broken:
            text = f'<its str() raised {type(broken).__name__}>'
        message = shorten(text)
        name = type(error).__name__
        self.producer.fail(name, f'{self.stage}: {message}', shorten(''.join(lines)), self.item)
