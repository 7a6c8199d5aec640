# SPDX-License-Identifier: LGPL-2.1-or-later
"""Whole values on a CUDA device: the arrays in them copied by one Arena.Transfer, all else as it is."""
from __future__ import annotations

import functools
import operator
import re
import sys
from typing import Any, TypeVar

from gi.repository import Arena, GLib

from . import _fast, _plain
from ._containers import Part, Walk

_Value = TypeVar('_Value')


class _Array:
    """A leaf that is numpy's."""

    def __init__(self, array: Any) -> None:
        from . import _numpy
        _numpy.find_code(array.dtype)
        self.data, self.size, self.is_dense = array, array.nbytes, array.flags.c_contiguous
        self.address: int = array.__array_interface__['data'][0]

    def find_owner(self) -> Any:
        return self.data

    def fill(self, memory: Any) -> None:
        import numpy
        numpy.copyto(numpy.ndarray(self.data.shape, self.data.dtype, memory), self.data)

    def wrap(self, buffer: Any) -> Any:
        return buffer.tensor(self.data.dtype.str[1:], self.data.shape)


class _Tensor:
    """A leaf that is torch's. Its bytes are what travels, so that any type of item does."""

    def __init__(self, tensor: Any) -> None:
        import torch
        if tensor.layout != torch.strided or tensor.is_quantized:
            raise TypeError(f'tensors of {tensor.dtype} with layout {tensor.layout} have no memory that can be copied')
        tensor = tensor.detach().resolve_conj().resolve_neg()
        self.data, self.size, self.is_dense = tensor, tensor.nelement() * tensor.element_size(), tensor.is_contiguous()
        self.address: int = tensor.data_ptr()

    def find_owner(self) -> Any:
        from . import _torch
        return _torch.find_owner(self.data)

    def fill(self, memory: Any) -> None:
        import torch
        torch.frombuffer(memory, dtype=self.data.dtype).view(self.data.shape).copy_(self.data)

    def wrap(self, buffer: Any) -> Any:
        import torch
        tensor = self.data
        if self.size == 0:
            return torch.empty(tensor.shape, dtype=tensor.dtype, device=f'cuda:{buffer.get_device()}')
        return torch.from_dlpack(buffer.tensor()).view(tensor.dtype).view(tensor.shape)


def _make_leaf(value: Any) -> Any:
    """Of exactly numpy's classes: an array that masks items, say, would lose its mask."""
    numpy, torch = sys.modules.get('numpy'), sys.modules.get('torch')
    if numpy is not None and type(value) in (numpy.ndarray, numpy.memmap):
        return _Array(value)
    if torch is not None and isinstance(value, torch.Tensor) and value.device.type == 'cpu':
        return _Tensor(value)
    return None


@functools.lru_cache(maxsize=None)
def _get_allocator(device: int) -> Any:
    return Arena.PinnedAllocator.new(Arena.CudaContext.get_for_device(device))


def _add(transfer: Any, leaf: Any, context: Any) -> None:
    """A view of an arena where it is; of anything else a copy, already page-locked, so that there is no second one."""
    if leaf.size > 0 and leaf.is_dense and _add_view(transfer, leaf):
        return
    data = _get_allocator(context.get_device()).alloc(leaf.size)
    if leaf.size > 0:
        leaf.fill(_plain.own(data, data.get_region(1, 0, leaf.size), leaf.size, False))
    transfer.add(data)


def _add_view(transfer: Any, leaf: Any) -> bool:
    owner = leaf.find_owner()
    while owner is not None:
        if isinstance(owner, _fast.Storage):
            owner.add_to(transfer, leaf.address, leaf.size)
            return True
        storage = getattr(owner, 'storage', None) or getattr(owner, 'owner', None)  # the package's, the override's
        if isinstance(storage, GLib.Bytes):
            return _add_part(transfer, storage, leaf)
        owner = owner.obj if isinstance(owner, memoryview) else getattr(owner, 'base', None)
    return False


def _add_part(transfer: Any, storage: Any, leaf: Any) -> bool:
    offset = leaf.address - (storage.get_region(1, 0, 1) or 0)
    if not 0 <= offset <= storage.get_size() - leaf.size:
        return False  # somebody else's attribute
    transfer.add(GLib.Bytes.new_from_bytes(storage, offset, leaf.size))
    return True


def _with_message(error: Any, message: str) -> Any:
    return type(error)(message, error.domain, error.code)


def _run(leaves: list[Part]) -> None:
    context = Arena.CudaContext.get_default()
    transfer = Arena.Transfer.new(context)
    for part in leaves:
        try:
            _add(transfer, part.leaf, context)
        except GLib.Error as error:
            raise _with_message(error, f'{part.path}: {error.message}') from None
    try:
        buffers = transfer.run(None)
    except GLib.Error as error:
        message = re.sub(r'^Field (\d+)', lambda match: leaves[int(match[1])].path, error.message)
        raise _with_message(error, message) from None
    for part, buffer in zip(leaves, buffers):
        part.result = part.leaf.wrap(buffer)


def transfer_tensor_h2d(value: _Value, *, num_caches: int = 4) -> _Value:
    """The value with its arrays of numpy and its tensors of torch on the CPU copied to the device of LOCAL_RANK; when it
    returns, they are there. Lists, tuples, mappings and dataclasses come out as the same types; what has no array in it,
    and tensors on a device, are passed on.

    Tensors become torch's; arrays become what Arena.DeviceBuffer.tensor() returns, which torch and others take. A view of
    an arena is read where it is. One that can't be copied is named in the error, and nothing is copied then.

    num_caches is for programs of SPDL, where it is how many batches stay alive behind the copies. Here it has no effect:
    each thread has a stream of its own, and the library keeps what a copy reads until its end is proven.
    """
    if operator.index(num_caches) < 0:
        raise ValueError(f'num_caches is {num_caches}: it can\'t be negative')
    walk = Walk(_make_leaf)
    whole = walk.find(value, 'value')
    if whole is None:
        return value
    _run(walk.leaves)
    result: _Value = whole.rebuild()
    return result
