# SPDX-License-Identifier: LGPL-2.1-or-later
"""Starts a worker's process, or says before there is one why it can't be."""
from __future__ import annotations

import contextlib
import functools
import multiprocessing
import os
import pathlib
import signal
import sys
import threading
from multiprocessing import reduction, resource_tracker
from typing import Any

from ._descriptor import Descriptor

# What GLib calls its threads: a forked child would find their locks held and nobody to unlock them.
_GLIB_THREADS = ('gmain', 'gdbus', 'pool-', 'dconf worker')
_RECIPE = ("a daemonic process, as a DataLoader's worker is, can't start another. Loop over the batches in the process "
           'that needs them; a DataLoader takes an IterableDataset whose __iter__() returns iter(batches), with '
           'batch_size=None and num_workers=0')


def get_context(mp_context: Any) -> Any:
    """The context, spawn by default, in which a worker may be started here."""
    if mp_context is None:
        mp_context = 'spawn'
    context = multiprocessing.get_context(mp_context) if isinstance(mp_context, str) else mp_context
    process = multiprocessing.current_process()
    if process.daemon:
        raise RuntimeError(_RECIPE)
    if getattr(process, '_inheriting', False):
        raise RuntimeError("the main module of a worker starts another one: put what is not to be run again under "
                           "if __name__ == '__main__':")
    if context.get_start_method() == 'fork':
        _check_fork()
    return context


def _check_fork() -> None:
    names = [thread.name for thread in threading.enumerate() if thread is not threading.current_thread()]
    for comm in pathlib.Path('/proc/self/task').glob('*/comm'):
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):  # a thread that has just ended
            name = comm.read_text().strip()
            if name.startswith(_GLIB_THREADS):
                names.append(name)
    if names:
        raise RuntimeError("mp_context='fork': this process has other threads, whose locks a forked child would never "
                           f"see released ({', '.join(names)}); use 'spawn' or 'forkserver'")


def pickle_functions(context: Any, fn: Any, initializers: list[Any]) -> Any:
    """The functions as a new process can load them."""
    for function in [fn, *initializers]:
        if not callable(function):
            raise TypeError(f'{function!r} is not a function')
    if context.get_start_method() == 'fork':
        return fn, initializers
    for function in [fn, *initializers]:
        _check_importable(function)
    try:
        return bytes(reduction.ForkingPickler.dumps((fn, initializers)))
    except RuntimeError:  # locks and queues of multiprocessing: only while a process is being started
        return fn, initializers
    except Exception as error:
        raise TypeError(f'{_name(fn)} or an initializer can\'t be sent to a new process: {error}') from error


def _name(function: Any) -> str:
    return getattr(function, '__qualname__', None) or repr(function)


def _check_importable(function: Any) -> None:
    """Functions travel by name; these have none that another process could find."""
    while isinstance(function, functools.partial):
        function = function.func
    name, module = _name(function), getattr(function, '__module__', None)
    fix = 'make it a function at the top of a module, with functools.partial for its arguments'
    if '<lambda>' in name:
        raise TypeError(f"{name} in {module} is a lambda, which a new process can't import: {fix}")
    if '<locals>' in name:
        raise TypeError(f"{name} in {module} is defined in a function, so a new process can't import it: {fix}")
    if module == '__main__' and not _has_file():
        raise TypeError(f"{name} is defined in a notebook, at a prompt or in python -c, which a new process can't "
                        'import: put it into a file and import it from there')


def _has_file() -> bool:
    """Whether the main module can be run again."""
    main = sys.modules['__main__']
    path = getattr(main, '__file__', None)
    return getattr(main, '__spec__', None) is not None or path is not None and os.path.exists(path)


def start(context: Any, daemon: bool, main: Any, fd: int, setup: Any) -> tuple[Any, int]:
    """Starts main(descriptor, setup) in a process; returns that and its pidfd."""
    process = context.Process(target=main, args=(Descriptor(fd), setup), daemon=daemon)
    # Until the worker has a say, Ctrl-C would end it with a traceback of its own. Starting the tracker unblocks it.
    if context.get_start_method() == 'spawn':
        resource_tracker.ensure_running()
    blocked = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
    try:
        process.start()
    finally:
        os.close(fd)
        signal.pthread_sigmask(signal.SIG_SETMASK, blocked)
    return process, os.pidfd_open(process.pid)
