# SPDX-License-Identifier: LGPL-2.1-or-later
"""What an arena of one's own has to have. There is nothing to import or to derive from: its methods are enough.

The values are somebody else's: an arena only stores bytes, in units.
"""
from __future__ import annotations

from typing import Any, Protocol, runtime_checkable


@runtime_checkable
class ArenaWriterProtocol(Protocol):
    """The worker's end; one thread."""

    def reset(self) -> None:
        """An iteration begins. Nothing that was written and not read before will be read any more."""

    def begin_unit(self) -> None:
        """Opens a unit; may wait for room here or in write_binary()."""

    def write_binary(self, data: Any) -> tuple[int, int]:
        """Copies bytes into the unit; returns where they are, in terms that the reader understands, and how many."""

    def commit_unit(self) -> int:
        """Ends the unit, which may be read from now on; returns its span, a number for the reader's end_unit()."""

    def abort_unit(self) -> None:
        """Forgets the unit; called where something went wrong before the commit."""


@runtime_checkable
class ArenaReaderProtocol(Protocol):
    """The consumer's end; one thread."""

    zero_copy: bool  #: whether read_binary() gives views of the arena; else what it gives is the caller's own

    def reset(self) -> None:
        """An iteration will begin, before the writer knows. Views of earlier ones stay valid."""

    def read_binary(self, offset: int, nbytes: int) -> Any:
        """The bytes that a write_binary() of the next unit told of, as a memoryview that keeps them."""

    def end_unit(self, span: int, pinned: list[Any]) -> None:
        """The unit was read. Its storage may be used again once the objects in the list have died: each of them is kept
        by every view of its bytes, and can be referred to weakly."""


@runtime_checkable
class ArenaProtocol(Protocol):
    """An arena: what the consumer's process creates and hands over, and the worker's gets by pickle.

    It is ended in this order: shutdown_arena(), if there is one, before the worker is waited for, to end its wait for
    room; close() when the worker has gone; then unlink(), also where close() failed. None of them ends a view.
    """

    def open_writer(self) -> ArenaWriterProtocol:
        """Called once, in the worker."""

    def open_reader(self) -> ArenaReaderProtocol:
        """Called once, in the consumer's process."""

    def close(self) -> None:
        """Ends this process's use."""

    def unlink(self) -> None:
        """Forgets what other processes could find the arena by."""
