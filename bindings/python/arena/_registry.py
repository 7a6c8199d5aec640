# SPDX-License-Identifier: LGPL-2.1-or-later
"""Which classes have their memory moved through the arena, and by whom."""
from __future__ import annotations

import copyreg
import sys
from typing import Any, Callable, Protocol, runtime_checkable


@runtime_checkable
class OffloadHandler(Protocol):
    """Moves the memory of a class of one's own through the arena: see register_handler()."""
    kind: str

    def get_buffer(self, value: Any) -> tuple[Any, Any]:
        """The value's memory, as a buffer without gaps and without a copy, and what else it takes to rebuild it."""

    def from_buffer(self, buffer: memoryview, state: Any) -> Any:
        """The value again. The buffer owns its memory: whoever refers to it keeps it."""


_handlers: dict[str, OffloadHandler] = {}
_kinds: dict[type, str] = {}


def register_handler(cls: type, handler: OffloadHandler) -> None:
    """Has values of exactly this class handled so, from then on. Both processes have to: the module that both import to
    know the class is the place."""
    if not isinstance(handler, OffloadHandler):
        raise TypeError(f'{handler!r} has no kind, get_buffer() and from_buffer()')
    if handler.kind in _kinds.values() and _handlers[handler.kind] is not handler:
        raise ValueError(f'there is an offload handler of kind {handler.kind!r} already')
    _handlers[handler.kind] = handler
    _kinds[cls] = handler.kind


def unregister_handler(cls: type) -> None:
    """Leaves values of this class to pickle again. Those that are under way still arrive."""
    if cls not in _kinds:
        raise LookupError(f'no offload handler is registered for {cls.__module__}.{cls.__qualname__}')
    del _kinds[cls]


def find_handler(kind: str) -> OffloadHandler:
    if kind not in _handlers:
        raise LookupError(f'no offload handler of kind {kind!r} is registered in this process: import the module that '
                          'does it here too')
    return _handlers[kind]


def _module_of(cls: type, name: str) -> Any:
    """The library that the class is really from; nothing of a class of the same name is touched."""
    package, _, attribute = name.rpartition('.')
    module = sys.modules.get(package)
    return module if module is not None and getattr(module, attribute, None) is cls else None


Reducer = Callable[[Any], Any]


class Reducers(dict):  # type: ignore[type-arg]
    """A pickler's dispatch_table that imports the code for numpy and torch when it meets a value of theirs."""

    def __init__(self, encoder: Any) -> None:
        super().__init__()
        self._encoder = encoder

    def __missing__(self, cls: type) -> Reducer:
        if cls in _kinds:
            kind = _kinds[cls]
            return lambda value: self._encoder.reduce_registered(kind, value)  # not kept: it may be unregistered
        reducer = self._find(cls)
        if reducer is None:
            reducer = copyreg.dispatch_table.get(cls)  # type: ignore[assignment]
            if reducer is None:
                raise KeyError(cls)
            return reducer
        self[cls] = reducer
        return reducer

    def _find(self, cls: type) -> Reducer | None:
        if cls.__name__ == 'ndarray' and _module_of(cls, 'numpy.ndarray'):
            from . import _numpy
            return _numpy.make_reducer(self._encoder)
        if cls.__name__ == 'Tensor' and _module_of(cls, 'torch.Tensor'):
            from . import _torch
            return _torch.make_reducer(self._encoder)
        return None
