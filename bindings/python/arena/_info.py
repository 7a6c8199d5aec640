# SPDX-License-Identifier: LGPL-2.1-or-later
"""What a worker knows of itself."""
from __future__ import annotations

import hashlib
import itertools
from typing import Any, Iterator, NamedTuple

_info: WorkerInfo | None = None


class WorkerInfo(NamedTuple):
    id: int     #: from 0
    count: int  # type: ignore[assignment]  #: of the workers that share the work
    epoch: int  #: the iteration, from 1; 0 while initializers and the factory run
    seed: int   #: another for each worker and iteration, below 2**64


def get_worker_info() -> WorkerInfo | None:
    """In a worker, who it is; None elsewhere."""
    return _info


def set_worker_info(id: int, count: int, epoch: int, seed: int) -> None:
    global _info
    digest = hashlib.blake2b(f'{seed}/{id}/{epoch}'.encode(), digest_size=8).digest()
    _info = WorkerInfo(id, count, epoch, int.from_bytes(digest, 'little'))


def shard(items: Any) -> Iterator[Any]:
    """This worker's share of the items: each count-th from its id on; all of them outside of a worker."""
    return iter(items) if _info is None else itertools.islice(items, _info.id, None, _info.count)
