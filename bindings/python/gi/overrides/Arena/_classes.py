# SPDX-License-Identifier: LGPL-2.1-or-later
"""What the classes of the overrides have in common."""
from gi import overrides
from gi._gi import CallableInfo
from gi.module import get_introspection_module

from ._errors import typed

Arena = get_introspection_module('Arena')


def introspected(name):
    """A class as C has it, with typed errors."""
    cls = getattr(Arena, name)
    for key, function in list(vars(cls).items()):
        if isinstance(function, CallableInfo) and function.can_throw_gerror():
            method = staticmethod(typed(getattr(cls, key))) if function.is_constructor() else typed(function)
            setattr(cls, key, method)
    return cls


def override(cls):
    """Has gi make this of what C returns. It reads the namespace off the name of the module."""
    cls.__module__ = 'gi.overrides.Arena'
    return overrides.override(cls)


class Initable:
    """Keyword construction that raises: g_object_new() alone leaves a half-made object."""

    def __init__(self, **properties):
        super().__init__(**properties)
        typed(self.init)(None)


class Unconstructible:
    def __init__(self, *arguments, **keywords):
        raise TypeError(f'an Arena.{type(self).__name__} is not made this way')
