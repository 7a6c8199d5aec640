# SPDX-License-Identifier: LGPL-2.1-or-later
"""Descriptors for another process."""
from __future__ import annotations

from multiprocessing import reduction
from typing import Any


class Descriptor:
    """A descriptor on its way into the child."""

    def __init__(self, fd: int) -> None:
        self.fd = fd

    def detach(self) -> int:
        return self.fd

    def __reduce__(self) -> Any:
        return _detach, (reduction.DupFd(self.fd),)


def _detach(duplicate: Any) -> Descriptor:
    return Descriptor(duplicate.detach())
