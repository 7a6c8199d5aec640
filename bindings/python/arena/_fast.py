# SPDX-License-Identifier: LGPL-2.1-or-later
"""The three functions that every unit goes through, chosen once: natively where that module is installed, else over
PyGObject. ARENA_NATIVE=0 asks for the latter, ARENA_NATIVE=1 for nothing less than the former."""
import os
from typing import Any

from . import _plain

NATIVE = False
send, receive, address_of = _plain.send, _plain.receive, _plain.address_of
Storage: Any = ()  #: the class of the owner that a unit has natively

if os.environ.get('ARENA_NATIVE') != '0':
    try:
        from ._native import Storage, address_of, receive, send  # type: ignore[import,no-redef]  # noqa: F811
        NATIVE = True
    except ImportError:
        if os.environ.get('ARENA_NATIVE') == '1':
            raise
