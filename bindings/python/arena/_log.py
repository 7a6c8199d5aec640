# SPDX-License-Identifier: LGPL-2.1-or-later
"""The library's messages go to Python's logging, as those of the logger "arena"; where a program has not set that up, they go
where GLib's go."""
from __future__ import annotations

import atexit
import logging
from typing import Any

from gi.repository import GLib

_log = logging.getLogger('arena')
_INFO, _WARNING = GLib.LogLevelFlags.LEVEL_INFO, GLib.LogLevelFlags.LEVEL_WARNING


def _forward(domain: str, level: Any, message: str, *data: Any) -> None:
    if _log.hasHandlers():
        _log.log(logging.WARNING if level & _WARNING else logging.INFO, '%s', message)
    else:
        GLib.log_default_handler(domain, level, message, None)


# Until Python ends: C may have something to say after it.
atexit.register(GLib.log_remove_handler, 'Arena', GLib.log_set_handler('Arena', _INFO | _WARNING, _forward))
