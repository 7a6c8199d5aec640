# SPDX-License-Identifier: LGPL-2.1-or-later
"""A subclass of GLib.Error for each code: `except Arena.BusyError`. The one of REMOTE is WorkerError, since
Arena.RemoteError is what the worker reported; it has that as `remote`. `starved` says of what ended a wait for a unit
whether this process held all that the producer could use."""
import functools

from gi.module import get_introspection_module
from gi.repository import GLib

Arena = get_introspection_module('Arena')
__all__ = []

_errors = {}
for _value in Arena.Error.__info__.get_values():
    _words = _value.get_name().replace('remote', 'worker').split('_')
    _name = ''.join(word.capitalize() for word in _words) + 'Error'
    globals()[_name] = type(_name, (GLib.Error,), {'__module__': 'gi.repository.Arena', 'starved': False})
    _errors[_value.get_value()] = globals()[_name]
    __all__.append(_name)


def make_error(message, domain, code):
    """The exception that stands for an error of C, here and in the native module."""
    cls = _errors.get(code, GLib.Error) if domain == 'arena-error-quark' else GLib.Error
    return cls(message, domain, code)


def type_error(error):
    """The same error in its class."""
    return make_error(error.message, error.domain, error.code) if type(error) is GLib.Error else error


def typed(function):
    """The function with errors of those classes."""
    @functools.wraps(function)
    def call(*arguments, **keywords):
        try:
            return function(*arguments, **keywords)
        except GLib.Error as error:
            raise type_error(error) from None
    return call
