# SPDX-License-Identifier: LGPL-2.1-or-later
"""Iterates over a Python function in another process; its batches come through shared memory.

    pool = SharedMemorySegmentPool(segment_size=4 << 20, count=4)
    for batch in iterate_in_subprocess(make_batches, arena=pool, buffer_size=2):
        ...
        del batch
"""
import pkgutil

import gi
gi.require_version('Arena', '1.0')
# The native module is in another folder where Python keeps those apart, and before it is installed.
__path__ = pkgutil.extend_path(__path__, __name__)

from . import _log  # noqa: E402,F401
from ._arenas import SharedMemoryRingBuffer, SharedMemorySegmentPool, Stats, suggest_count  # noqa: E402
from ._errors import (  # noqa: E402
    BusyError, ClosedError, NoSpaceError, NotSupportedError, TooLargeError, WorkerError, WorkerTimeoutError,
)
from ._info import WorkerInfo, get_worker_info, shard  # noqa: E402
from ._iterable import SubprocessIterable  # noqa: E402
from ._iterate import iterate_in_subprocess  # noqa: E402
from ._loans import empty  # noqa: E402
from ._protocols import ArenaProtocol, ArenaReaderProtocol, ArenaWriterProtocol  # noqa: E402
from ._registry import OffloadHandler, register_handler, unregister_handler  # noqa: E402
from ._transfer import transfer_tensor_h2d  # noqa: E402

__all__ = [
    'ArenaProtocol', 'ArenaReaderProtocol', 'ArenaWriterProtocol',
    'BusyError', 'ClosedError', 'NoSpaceError', 'NotSupportedError', 'OffloadHandler', 'SharedMemoryRingBuffer',
    'SharedMemorySegmentPool', 'Stats', 'SubprocessIterable', 'TooLargeError', 'WorkerError', 'WorkerInfo',
    'WorkerTimeoutError', 'empty', 'get_worker_info', 'iterate_in_subprocess', 'register_handler', 'shard', 'suggest_count',
    'transfer_tensor_h2d', 'unregister_handler',
]
