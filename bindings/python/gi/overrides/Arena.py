# SPDX-License-Identifier: LGPL-2.1-or-later
"""The C API of Arena made iterable and viewable; gi imports this, nobody else does.

Every array and memoryview owns the GBytes it looks into, never the unit: it stays valid after the unit's release, and
the last one to go gives the storage back, without a collector.
"""
import contextlib
import ctypes
import functools
import gc
import math
import sys
import threading
import time
import traceback

from gi._gi import CallableInfo
from gi.module import get_introspection_module
from gi.overrides import override
from gi.repository import GLib

Arena = get_introspection_module('Arena')
__all__ = ['produce']

# Microseconds. Python handles signals between two calls only: Ctrl-C waits for this long.
SLICE = 100_000


# A subclass of GLib.Error for each code: `except Arena.BusyError`. The one of REMOTE is WorkerError, since
# Arena.RemoteError is what the worker reported; it has that as `remote`. `starved` says of what ended a wait for a unit
# whether this process held all that the producer could use.

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


def _type(error):
    """The same error in its class."""
    return make_error(error.message, error.domain, error.code) if type(error) is GLib.Error else error


def _typed(function):
    """The function with errors of those classes."""
    @functools.wraps(function)
    def call(*arguments, **keywords):
        try:
            return function(*arguments, **keywords)
        except GLib.Error as error:
            raise _type(error) from None
    return call


def _introspected(name):
    """A class as C has it, with typed errors."""
    cls = getattr(Arena, name)
    for key, function in list(vars(cls).items()):
        if isinstance(function, CallableInfo) and function.can_throw_gerror():
            method = staticmethod(_typed(getattr(cls, key))) if function.is_constructor() else _typed(function)
            setattr(cls, key, method)
    return cls


def _override(cls):
    __all__.append(cls.__name__)
    return override(cls)


class _Initable:
    """Keyword construction that raises: g_object_new() alone leaves a half-made object."""

    def __init__(self, **properties):
        super().__init__(**properties)
        _typed(self.init)(None)


class _Unconstructible:
    def __init__(self, *arguments, **keywords):
        raise TypeError(f'an Arena.{type(self).__name__} is not made this way')


# Data types: items as numpy names them ('f4') against DLPack's codes. numpy has no bfloat16, so that is seen as 'u2'.

_KINDS = {0: 'i', 1: 'u', 2: 'f', 4: 'u', 5: 'c', 6: 'b'}
_FORMATS = {'i1': 'b', 'i2': 'h', 'i4': 'i', 'i8': 'q', 'u1': 'B', 'u2': 'H', 'u4': 'I', 'u8': 'Q',
            'f4': 'f', 'f8': 'd', 'b1': '?'}
_FORMAT_KINDS = {**dict.fromkeys('bhilqn', 'i'), **dict.fromkeys('cBHILQN', 'u'), **dict.fromkeys('efd', 'f'), '?': 'b'}
_ORDER = '<' if sys.byteorder == 'little' else '>'


def _item_name(dtype):
    return f'{_KINDS[int(dtype) >> 16]}{(int(dtype) >> 8 & 255) // 8}'


_DTYPES = {_item_name(dtype): dtype for dtype in Arena.DType.__enum_values__.values() if dtype != Arena.DType.BFLOAT16}


def _dtype(name):
    if name not in _DTYPES:
        raise TypeError(f"items of type {name} can't be sent")
    return _DTYPES[name]


@functools.lru_cache(maxsize=None)
def _numpy():
    try:
        import numpy
        return numpy
    except ImportError:
        return None


class _Memory:
    """What numpy asks for the memory of an array, and what that array keeps."""
    __slots__ = ('__array_interface__', 'owner')

    def __init__(self, interface, owner):
        self.__array_interface__ = interface
        self.owner = owner


@_override
class Unit(_Unconstructible, _introspected('Unit')):
    """Fields are named by index or by name."""

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.release()

    def release(self, strict=False):
        """Gives up the unit. Views of it stay valid, and the last one gives the memory back; strict: only if there is none,
        else BufferError says how many."""
        if strict and not self.get_released() and self.get_n_exports() > 0:
            raise BufferError(f'unit {self.get_sequence()} has {self.get_n_exports()} views')
        super().release()

    @property
    def fields(self):
        """The Arena.Field of each field."""
        return [self.dup_field(i) for i in range(self.get_n_fields())]

    @property
    def value(self):
        """The portable value in Python's own types, with arrays where it has handles; None where there is none."""
        value = self.dup_value()
        return None if value is None else _unpack(value, self.array)

    def array(self, field=0):
        """A numpy array over the field's memory; without numpy a memoryview."""
        numpy = _numpy()
        if numpy is None:
            return self.memoryview(field)

        index = self._find(field)
        layout = self.dup_field(index)
        shape = tuple(layout.get_shape())
        items = _ORDER + _item_name(layout.get_dtype())
        data = self.dup_bytes(index)
        size = data.get_size()
        if size == 0:
            return numpy.empty(shape, items)
        return numpy.asarray(_Memory({
            'version': 3, 'typestr': items, 'shape': shape, 'strides': tuple(layout.get_byte_strides() or ()) or None,
            'data': (data.get_region(1, 0, size), self.get_read_only()),
        }, data))

    def memoryview(self, field=0):
        """A memoryview of the field's items; of its bytes where Python has no format for them or they have strides."""
        index = self._find(field)
        layout = self.dup_field(index)
        format = _FORMATS.get(_item_name(layout.get_dtype()), 'B')
        data = self.dup_bytes(index)
        size = data.get_size()
        if size == 0:
            return memoryview(bytearray()).cast(format)
        memory = (ctypes.c_uint8 * size).from_address(data.get_region(1, 0, size))
        memory.owner = data
        view = memoryview(memory).cast('B')
        if self.get_read_only():
            view = view.toreadonly()
        return view if format == 'B' or layout.get_byte_strides() else view.cast(format, tuple(layout.get_shape()))

    def _find(self, field):
        if not isinstance(field, str):
            return field
        index = self.find_field(field)
        if index < 0:
            self.dup_value()  # says so where the unit has been released
            raise KeyError(field)
        return index


def _unpack(value, view):
    """GLib.Variant.unpack() with view(index) for each handle."""
    kind = value.get_type_string()
    if kind == 'h':
        return view(value.get_handle())
    if kind == 'v':
        return _unpack(value.get_variant(), view)
    if 'h' not in kind and 'v' not in kind:
        return value.unpack()
    children = [_unpack(value.get_child_value(i), view) for i in range(value.n_children())]
    if kind[0] == 'm':
        return children[0] if children else None
    if kind.startswith('a{'):
        return dict(children)
    return children if kind[0] == 'a' else tuple(children)


def _now():
    return time.monotonic_ns() // 1000


def _wait(function, instance, timeout, cancellable, *arguments):
    """The method of C, which the main thread leaves now and then for its signals' handlers. Every unit passes here."""
    if timeout < -1 or timeout == 0 or threading.get_ident() != threading.main_thread().ident:
        try:
            return function(instance, timeout, cancellable, *arguments)
        except GLib.Error as error:
            raise _type(error) from None
    end = math.inf if timeout < 0 else _now() + timeout
    part = SLICE if timeout < 0 else min(SLICE, timeout)
    while True:
        printed, hook = [], sys.excepthook
        try:
            sys.excepthook = lambda *error: printed.append(error)
            return function(instance, part, cancellable, *arguments)
        except GLib.Error as error:
            if _now() >= end or not error.matches(Arena.error_quark(), Arena.Error.TIMED_OUT):
                raise _type(error) from None
        except RuntimeError:
            # A handler ran while PyGObject made an exception of the time-out: that printed what was raised there.
            if not printed:
                raise
            raise printed.pop()[1] from None
        finally:
            sys.excepthook = hook
            for error in printed:
                hook(*error)
        part = max(min(SLICE, end - _now()), 1)


class _Iteration:
    """One iteration of a consumer; keeps no unit."""

    def __init__(self, consumer):
        consumer.start()
        self._consumer = consumer

    def __iter__(self):
        return self

    def __next__(self):
        unit = self._consumer.next()
        if unit is None:
            raise StopIteration
        return unit


async def _wait_readable(fd):
    import asyncio  # takes longer than all the rest
    loop = asyncio.get_running_loop()
    ready = loop.create_future()
    loop.add_reader(fd, lambda: ready.done() or ready.set_result(None))
    try:
        await ready
    finally:
        loop.remove_reader(fd)


class _AsyncIteration:
    """The same beside an asyncio loop, where other tasks may release units: it waits for them."""

    def __init__(self, consumer):
        self._fd = consumer.get_fd()  # only what is tried after this makes it readable
        consumer.start()
        self._consumer = consumer

    def __aiter__(self):
        return self

    async def __anext__(self):
        while True:
            try:
                unit = self._consumer.next(0)
                break
            except WouldBlockError:
                await _wait_readable(self._fd)
        if unit is None:
            raise StopAsyncIteration
        return unit


def _has_other_threads():
    """Whether there are any that might hold units. That of a progress bar doesn't."""
    me = threading.current_thread()
    return any(thread is not me and not type(thread).__module__.startswith('tqdm.') for thread in threading.enumerate())


_WAITING, _STARVED, _GAVE_UP = 'waiting', 'starved', 'gave up'


def _on_starved(consumer, n_held):
    """While the one thread of a process waits for a unit, nobody can release what it holds: BUSY, if a collection doesn't
    either."""
    gc.collect()
    if consumer._wait in (_WAITING, _STARVED):
        consumer._wait = _STARVED
        if consumer.get_starve_timeout() < 0 and not _has_other_threads():
            consumer._wait = _GAVE_UP
            consumer.set_starve_timeout(0)
    return False


# As C has them.
_next, _next_packed, _stop = Arena.Consumer.next, Arena.Consumer.next_packed, Arena.Consumer.stop
_send_packed = Arena.Producer.send_packed


@_override
class Consumer(_Initable, _introspected('Consumer')):
    """Each loop over a consumer is an iteration of its worker; `with` closes it."""
    _watches = False
    _wait = None

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.close()

    def __iter__(self):
        return _Iteration(self)

    def __aiter__(self):
        return _AsyncIteration(self)

    def next(self, timeout=-1, cancellable=None):
        """The next unit, or None at the end of the iteration."""
        return self.receive_by(self._receive, _next, timeout, cancellable)

    def next_packed(self, timeout=-1, cancellable=None):
        """The next unit as a record and its storage; at the end of the iteration the record is empty."""
        return self.receive_by(self._receive, _next_packed, timeout, cancellable)

    def _receive(self, function, timeout, cancellable):
        try:
            return _wait(function, self, timeout, cancellable)
        except WorkerError as error:
            error.remote = self.dup_remote_error()
            raise

    def receive_by(self, call, *arguments):
        """call(*arguments), which waits for a unit: BUSY at once where that starves the producer and no other thread can
        end it, unless a starve-timeout is set."""
        if self._wait is not None:
            return call(*arguments)
        if not self._watches:
            self._watches = True
            self.connect('starved', _on_starved)
        self._wait = _WAITING
        try:
            return call(*arguments)
        except GLib.Error as error:
            error.starved = self._wait is not _WAITING
            raise
        finally:
            if self._wait is _GAVE_UP:
                self.set_starve_timeout(-1)
            self._wait = None

    def stop(self, timeout=-1, cancellable=None):
        return _wait(_stop, self, timeout, cancellable)

    def close(self, timeout=-1, cancellable=None):
        return super().close(timeout, cancellable)


@_override
class Worker(_introspected('Worker')):
    pass


@_override
class Pool(_Initable, _introspected('Pool')):
    pass


@_override
class Ring(_Initable, _introspected('Ring')):
    pass


@_override
class PinnedAllocator(_Initable, _introspected('PinnedAllocator')):
    pass


@_override
class Transfer(_introspected('Transfer')):
    pass


# Device buffers for tensor libraries. A capsule that nobody has taken gives its structure up itself: the deleter stands at
# that offset. DLPack and __cuda_array_interface__ number streams alike.

_CAPSULES = {b'dltensor': 56, b'dltensor_versioned': 16}
_DL_CUDA = 2
_LEGACY_STREAM = 1
_python = ctypes.pythonapi
_new_capsule = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)(
    ('PyCapsule_New', _python))
_is_capsule = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_char_p)(('PyCapsule_IsValid', _python))
_open_capsule = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p, ctypes.c_char_p)(('PyCapsule_GetPointer', _python))


@ctypes.PYFUNCTYPE(None, ctypes.c_void_p)
def _drop_capsule(capsule):
    for name, offset in _CAPSULES.items():
        if _is_capsule(capsule, name):
            address = _open_capsule(capsule, name)
            deleter = ctypes.c_void_p.from_address(address + offset).value
            ctypes.CFUNCTYPE(None, ctypes.c_void_p)(deleter)(address)


class _Tensor:
    """A device buffer as items of a type, in C order."""

    def __init__(self, buffer, items, shape):
        self.buffer, self.items, self.shape = buffer, items, tuple(shape)

    @property
    def device(self):
        """As torch writes it."""
        return f'cuda:{self.buffer.get_device()}'

    @property
    def dtype(self):
        """As numpy names it."""
        return self.items

    def _use_on(self, stream):
        """The array API's rule: -1 is not to wait."""
        if stream == 0 or stream is not None and stream < -1:
            raise ValueError(f'{stream} is no stream: 1 is the legacy default stream, 2 that of each thread')
        if stream != -1:
            self.buffer.wait_on_stream(stream or _LEGACY_STREAM)
        self.buffer.record_stream(_LEGACY_STREAM if stream in (None, -1) else stream)

    def __dlpack_device__(self):
        return _DL_CUDA, self.buffer.get_device()

    def __dlpack__(self, *, stream=None, max_version=None, dl_device=None, copy=None):
        if copy or dl_device not in (None, self.__dlpack_device__()):
            raise BufferError('a device buffer is exported where it is, without a copy')
        self._use_on(stream)
        name = b'dltensor_versioned' if max_version is not None and max_version[0] >= 1 else b'dltensor'
        address = self.buffer.export_dlpack(_dtype(self.items), self.shape, name == b'dltensor_versioned')
        return _new_capsule(address, name, ctypes.cast(_drop_capsule, ctypes.c_void_p))

    @property
    def __cuda_array_interface__(self):
        self._use_on(None)
        return {'version': 3, 'typestr': _ORDER + self.items, 'shape': self.shape, 'strides': None,
                'data': (self.buffer.get_pointer(), False), 'stream': _LEGACY_STREAM}


@_override
class DeviceBuffer(_Unconstructible, _introspected('DeviceBuffer')):
    """torch.from_dlpack() and the like take it, or what tensor() returns."""

    def tensor(self, items='u1', shape=None):
        """The buffer as items named as numpy names them ('f4'); in one dimension unless told."""
        return _Tensor(self, items, (self.get_size() // int(items[1:]),) if shape is None else shape)

    def __dlpack_device__(self):
        return self.tensor().__dlpack_device__()

    def __dlpack__(self, **keywords):
        return self.tensor().__dlpack__(**keywords)

    @property
    def __cuda_array_interface__(self):
        return self.tensor().__cuda_array_interface__


@_override
class UnitBuilder(_Unconstructible, _introspected('UnitBuilder')):
    def append(self, data, name=None):
        """Copies an array (any object with numpy's array interface) or a buffer into a field; returns its index."""
        interface = getattr(data, '__array_interface__', None)
        if interface is None:
            view = memoryview(data)
            address, kept = _find_memory(view)
            dtype = _dtype(f'{_FORMAT_KINDS.get(view.format, view.format)}{view.itemsize}')
            return self.append_address(name, dtype, view.shape, address, view.nbytes, None)

        order, items = interface['typestr'][0], interface['typestr'][1:]
        dtype = _dtype(items)
        if order not in ('|', _ORDER):
            raise TypeError("items in the other byte order can't be sent")
        size, shape, strides = int(items[1:]), interface['shape'], interface.get('strides')
        n_bytes = functools.reduce(int.__mul__, shape, size)
        if strides is not None and (n_bytes == 0 or not _is_dense(shape, strides, n_bytes, size)):
            return self.append(_numpy().ascontiguousarray(data), name)
        return self.append_address(name, dtype, shape, interface['data'][0], n_bytes, strides)


def _is_dense(shape, strides, n_bytes, size):
    """Whether the items are one stretch of memory in some order of the dimensions."""
    return min(strides) >= 0 and sum((n - 1) * stride for n, stride in zip(shape, strides)) + size == n_bytes


def _find_memory(view):
    """The address of a buffer, and what keeps it there."""
    if not view.c_contiguous:
        view = memoryview(view.tobytes())
    if view.nbytes == 0:
        return 0, None
    if _numpy() is not None:
        array = _numpy().frombuffer(view, 'u1')
        return array.__array_interface__['data'][0], array
    if not view.readonly:
        memory = ctypes.c_char.from_buffer(view)
        return ctypes.addressof(memory), memory
    data = view.obj if isinstance(view.obj, bytes) and len(view.obj) == view.nbytes else view.tobytes()
    return ctypes.cast(ctypes.c_char_p(data), ctypes.c_void_p).value, data


def _text(text):
    """As C has it: without the surrogates of undecodable file names, and with no end in the middle."""
    return text.encode('utf-8', 'backslashreplace').decode().replace('\0', '\\0') if isinstance(text, str) else text


@_override
class Producer(_Unconstructible, _introspected('Producer')):
    def fail(self, type_name, message, traceback, item):
        super().fail(_text(type_name), _text(message), _text(traceback), item)

    def send_packed(self, timeout, cancellable, record):
        """Sends a whole unit; what fails can be sent again."""
        return _wait(_send_packed, self, timeout, cancellable, record)

    def send(self, value):
        """Sends a unit: an array or buffer, a sequence of them, or a dict of them by name. A GLib.Variant among them
        becomes the unit's portable value."""
        if isinstance(value, dict):
            items = value.items()
        elif isinstance(value, (list, tuple)):
            items = ((None, item) for item in value)
        else:
            items = ((None, value),)

        builder = self.begin_unit(0, -1)
        try:
            for name, item in items:
                if isinstance(item, GLib.Variant):
                    builder.set_value(item)
                else:
                    builder.append(item, name)
            builder.commit()
        except BaseException:
            builder.abort()
            raise


def produce(function):
    """Runs a worker: function() is called for each iteration, and each value it yields is sent as a unit. An exception
    ends the iteration and is raised as WorkerError in the consumer."""
    producer = Arena.Producer.new_from_environment()
    while producer.wait_iteration(-1, None)[0]:
        n_sent = 0
        try:
            with contextlib.ExitStack() as stack:
                values = iter(function())
                stack.callback(getattr(values, 'close', lambda: None))
                for value in values:
                    producer.send(value)
                    n_sent += 1
        except ClosedError:  # the consumer has stopped and reads no more
            producer.finish_iteration()
        except Exception as error:
            producer.fail(type(error).__name__, str(error), traceback.format_exc(), n_sent)
        else:
            producer.finish_iteration()
