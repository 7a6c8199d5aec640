# SPDX-License-Identifier: LGPL-2.1-or-later
"""The leaves of a value of lists, tuples, mappings and dataclasses, and that value again with others in their place."""
from __future__ import annotations

import collections.abc
import copy
import dataclasses
from typing import Any, Callable


class Part:
    """A leaf, or a container that has some in it."""

    def __init__(self, value: Any, path: str, leaf: Any) -> None:
        self.value, self.path, self.leaf = value, path, leaf
        self.keys: list[Any] = []
        self.children: list[Any] = []
        self.parts: dict[int, Part] = {}
        self.result: Any = None  #: set for the leaves by whoever has others

    def rebuild(self) -> Any:
        """What stands in its place. One that stands there twice is made once."""
        if self.leaf is None and self.result is None:
            for i, part in self.parts.items():
                self.children[i] = part.rebuild()
            self.result = _rebuild(self.value, self.keys, self.children)
        return self.result


class Walk:
    """Finds each leaf once; make_leaf() says what is one, and None of all else."""

    def __init__(self, make_leaf: Callable[[Any], Any]) -> None:
        self.leaves: list[Part] = []
        self._make_leaf = make_leaf
        self._seen: dict[int, tuple[Any, Part | None]] = {}  # with the value, whose number nothing else has then
        self._open: set[int] = set()

    def find(self, value: Any, path: str) -> Part | None:
        key = id(value)
        if key in self._open:
            raise ValueError(f'{path} is a container that it is in itself')
        if key in self._seen:
            return self._seen[key][1]
        try:
            leaf = self._make_leaf(value)
        except TypeError as error:
            raise TypeError(f'{path}: {error}') from None
        opened = _open(value) if leaf is None else None
        if leaf is None and opened is None:
            return None
        part = self._find_in(value, path, *opened) if opened else self._add(Part(value, path, leaf))
        self._seen[key] = value, part
        return part

    def _add(self, part: Part) -> Part:
        self.leaves.append(part)
        return part

    def _find_in(self, value: Any, path: str, keys: list[Any], children: list[Any], form: str) -> Part | None:
        part = Part(value, path, None)
        part.keys, part.children = keys, children
        self._open.add(id(value))
        for i, child in enumerate(children):
            found = self.find(child, path + form.format(keys[i]))
            if found is not None:
                part.parts[i] = found
        self._open.discard(id(value))
        return part if part.parts else None


def _open(value: Any) -> tuple[list[Any], list[Any], str] | None:
    """The keys of a container, what they stand for, and how a key is written behind it."""
    if isinstance(value, collections.abc.Mapping):
        return list(value), list(value.values()), '[{!r}]'
    if isinstance(value, tuple) and hasattr(value, '_fields'):
        return list(value._fields), list(value), '.{}'
    if isinstance(value, (list, tuple)):
        return list(range(len(value))), list(value), '[{}]'
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        names = [field.name for field in dataclasses.fields(value) if hasattr(value, field.name)]
        return names, [getattr(value, name) for name in names], '.{}'
    return None


def _rebuild(value: Any, keys: list[Any], children: list[Any]) -> Any:
    """A copy that has these children, so that all else of it stays; constructors are for what can't be changed."""
    if isinstance(value, tuple):
        return value._make(children) if hasattr(value, '_make') else type(value)(children)
    if isinstance(value, collections.abc.Mapping) and not isinstance(value, dict):
        mapping: Any = type(value)
        return mapping(dict(zip(keys, children)))
    result = copy.copy(value)
    for key, child in zip(keys, children):
        if isinstance(value, (dict, list)):
            result[key] = child
        else:
            object.__setattr__(result, key, child)  # a frozen one's too
    return result
