# SPDX-License-Identifier: LGPL-2.1-or-later
"""The C API of Arena made iterable and viewable; gi imports this, nobody else does.

Every array and memoryview owns the GBytes it looks into, never the unit: it stays valid after the unit's release, and
the last one to go gives the storage back, without a collector.
"""
from . import _errors
from ._builder import UnitBuilder
from ._classes import Initable, introspected, override
from ._consumer import Consumer
from ._device import DeviceBuffer
from ._errors import *  # noqa: F403
from ._errors import make_error  # noqa: F401  the native module has it from here
from ._producer import Producer, produce
from ._unit import Unit

__all__ = [*_errors.__all__, 'Consumer', 'DeviceBuffer', 'PinnedAllocator', 'Pool', 'Producer', 'Ring', 'Transfer', 'Unit',
           'UnitBuilder', 'Worker', 'produce']


@override
class Worker(introspected('Worker')):
    pass


@override
class Pool(Initable, introspected('Pool')):
    pass


@override
class Ring(Initable, introspected('Ring')):
    pass


@override
class PinnedAllocator(Initable, introspected('PinnedAllocator')):
    pass


@override
class Transfer(introspected('Transfer')):
    pass
