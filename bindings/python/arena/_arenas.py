# SPDX-License-Identifier: LGPL-2.1-or-later
"""The two arenas; each has the library's object for it."""
from __future__ import annotations

from typing import Any, NamedTuple

from gi.repository import Arena

from ._endpoints import Reader, Writer
from ._handover import Handover, load


class Stats(NamedTuple):
    """Counters of an arena or a boundary; times in seconds."""
    units: int
    bytes: int
    occupancy: int             #: bytes of the arena that aren't free
    peak_occupancy: int
    held_units: int            #: whose memory this process has views of
    consumer_waits: int
    consumer_wait_time: float
    producer_waits: int
    producer_wait_time: float
    reserved_bytes: int
    resident_bytes: int
    pinned_bytes: int          #: page-locked for a CUDA device
    output_bytes: int          #: of a ring's copies that still live
    spilled_bytes: int         #: received outside of the arena


def make_stats(stats: Any) -> Stats:
    values = {name: getattr(stats, 'get_' + name)() for name in Stats._fields}
    for name in ('consumer_wait_time', 'producer_wait_time'):
        values[name] /= 1e6
    return Stats(**values)


def check_size(name: str, value: Any, limit: int | None = None) -> int:
    if isinstance(value, bool) or not hasattr(value, '__index__'):
        raise TypeError(f'{name} must be an integer, not {type(value).__name__}')
    if limit is not None and not 0 < value.__index__() <= limit:
        raise ValueError(f'{name} must be 1 to {limit}, not {value}')
    if value.__index__() <= 0:
        raise ValueError(f'{name} must be positive, not {value}')
    return value.__index__()


LONGEST_TIMEOUT = 1e12


def check_timeout(name: str, value: Any) -> float | None:
    if value is not None and not 0 <= value <= LONGEST_TIMEOUT:
        raise ValueError(f'{name} must be non-negative and at most {LONGEST_TIMEOUT:g} seconds, or None, not {value}')
    return value


class _SharedMemory:
    """What both are: storage that one boundary takes over."""
    zero_copy: bool
    read_only = False

    def __init__(self, handover: Handover, acquire_timeout: float | None) -> None:
        self._handover = handover
        self._acquire_timeout = check_timeout('acquire_timeout', acquire_timeout)

    def __reduce__(self) -> Any:
        return _rebuild, (type(self), *self._handover.reduce()[1:], self._acquire_timeout)

    @property
    def _backend(self) -> Any:
        return self._handover.backend

    def open_writer(self) -> Writer:
        """The worker's end, for a queue of somebody else's; iterate_in_subprocess() needs none of it."""
        return self._handover.open_writer(self.zero_copy, self._acquire_timeout)

    def open_reader(self) -> Reader:
        """The consumer's end, likewise."""
        return self._handover.open_reader(self.zero_copy, self.read_only)

    @property
    def acquire_timeout(self) -> float | None:
        """For how many seconds a worker waits for room before its item fails; None: as long as the consumer lives."""
        return self._acquire_timeout

    @property
    def pin_memory(self) -> bool:
        return self._backend.get_pin_memory()

    @property
    def oversize(self) -> str:
        return _name(_OVERSIZE, self._backend.get_oversize())

    @property
    def label(self) -> str | None:
        return self._backend.get_label()

    @property
    def stats(self) -> Stats:
        return make_stats(self._backend.dup_stats())

    def shutdown_arena(self) -> None:
        """Ends the waits for room, on either side. Views stay valid, as after the other two."""
        self._backend.shutdown()

    def close(self) -> None:
        """Ends this process's use of the arena."""
        self._backend.close()

    def unlink(self) -> None:
        """Forgets the file behind the arena, so that nobody can attach any more."""
        self._backend.unlink()


def _rebuild(cls: type[_SharedMemory], arguments: Any, acquire_timeout: float | None) -> _SharedMemory:
    self = cls.__new__(cls)
    _SharedMemory.__init__(self, load(*arguments), acquire_timeout)
    return self


_OVERSIZE = {'error': Arena.Oversize.ERROR, 'spill': Arena.Oversize.SPILL}
_REUSE = {'in-order': Arena.Reuse.IN_ORDER, 'any': Arena.Reuse.ANY}


def _choose(name: str, choices: dict[str, Any], value: str) -> Any:
    if value not in choices:
        raise ValueError(f'{name} must be {" or ".join(map(repr, choices))}, not {value!r}')
    return choices[value]


def _name(choices: dict[str, Any], value: Any) -> str:
    return next(name for name, choice in choices.items() if choice == value)


def _construct(cls: Any, n_units: int, oversize: str, pin_memory: bool, label: str | None,
               **properties: Any) -> Handover:
    properties.update(oversize=_choose('oversize', _OVERSIZE, oversize), pin_memory=bool(pin_memory))
    if label is not None:
        properties['label'] = label
    return Handover(cls, properties, n_units)


class SharedMemorySegmentPool(_SharedMemory):
    """Equal segments, one for each unit; what arrives are views of them.

    A segment is used again once its last view is gone. Take segment_size for all of a unit's arrays together, each
    rounded up to 64 bytes, and count for buffer_size + the units that you hold at once + 1: see suggest_count(). With
    oversize='spill', arrays that don't fit travel in memory of their own; with pin_memory, the consumer page-locks the
    segments for a CUDA device, or says why it can't.
    """
    zero_copy = True

    def __init__(self, segment_size: int, count: int, *, acquire_timeout: float | None = None,
                 pin_memory: bool = False, read_only: bool = False, reuse: str = 'in-order', oversize: str = 'error',
                 label: str | None = None) -> None:
        segment_size, count = check_size('segment_size', segment_size), check_size('count', count)
        super().__init__(_construct(Arena.Pool, count, oversize, pin_memory, label, segment_size=segment_size, count=count,
                                    read_only=bool(read_only), reuse=_choose('reuse', _REUSE, reuse)), acquire_timeout)

    def __repr__(self) -> str:
        return f'SharedMemorySegmentPool(segment_size={self.segment_size}, count={self.count})'

    @property
    def segment_size(self) -> int:
        return self._backend.get_segment_size()

    @property
    def count(self) -> int:
        return self._backend.get_count()

    @property
    def read_only(self) -> bool:  # type: ignore[override]
        """Whether the consumer maps the memory so that it can't be written to."""
        return self._backend.get_read_only()

    @property
    def reuse(self) -> str:
        return _name(_REUSE, self._backend.get_reuse())

    @property
    def reclaimed(self) -> int:
        """How many of the units that this process has received have given their segments back."""
        stats = self.stats
        return stats.units - stats.held_units


class SharedMemoryRingBuffer(_SharedMemory):
    """Bytes, first in, first out; what arrives are copies, which may be kept without holding anything up."""
    zero_copy = False

    def __init__(self, capacity: int, *, acquire_timeout: float | None = None, pin_memory: bool = False,
                 oversize: str = 'error', label: str | None = None) -> None:
        capacity = check_size('capacity', capacity)
        super().__init__(_construct(Arena.Ring, capacity // 64 + 1, oversize, pin_memory, label, capacity=capacity),
                         acquire_timeout)

    def __repr__(self) -> str:
        return f'SharedMemoryRingBuffer(capacity={self.capacity})'

    @property
    def capacity(self) -> int:
        return self._backend.get_capacity()

    @property
    def head(self) -> int:
        """Bytes that were written, without the gaps between fields where open_writer() was called."""
        table, stats = self._handover.table, self.stats
        return stats.bytes + stats.occupancy if table is None else table.head

    @property
    def tail(self) -> int:
        """Bytes of them whose room was given back."""
        table = self._handover.table
        return self.stats.bytes if table is None else table.tail


def suggest_count(buffer_size: int, held: int = 1) -> int:
    """How many segments a pool needs: for the queued units, those that the consumer holds at once, and one that is
    being written."""
    return check_size('buffer_size', buffer_size) + held + 1
