# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tensors of torch in the memory of the CPU. Only the exact class: a Parameter's pickle has its tensor in it anyway."""
from __future__ import annotations

import weakref
from typing import Any, Callable

import torch
from gi.repository import Arena

from . import _codec

_NAMES = {
    'int8': 'INT8', 'int16': 'INT16', 'int32': 'INT32', 'int64': 'INT64', 'uint8': 'UINT8', 'float16': 'FLOAT16',
    'float32': 'FLOAT32', 'float64': 'FLOAT64', 'bfloat16': 'BFLOAT16', 'complex64': 'COMPLEX64',
    'complex128': 'COMPLEX128', 'bool': 'BOOL',
}
_CODES = {getattr(torch, name): int(getattr(Arena.DType, code)) for name, code in _NAMES.items()}
_DTYPES = {code: dtype for dtype, code in _CODES.items()}

# A tensor doesn't tell whose memory it has. By the address of that.
_owners: weakref.WeakValueDictionary[int, Any] = weakref.WeakValueDictionary()


def _refuse(tensor: Any) -> str | None:
    if tensor.device.type != 'cpu':
        return f'is on {tensor.device}: send tensor.cpu()'
    if tensor.grad_fn is not None:
        return 'has a graph behind it that would be lost: send tensor.detach()'
    return None


def _storage(tensor: Any) -> tuple[int, int]:
    """Address and size of the memory that the tensor is a part of."""
    find = getattr(tensor, 'untyped_storage', None) or tensor.storage
    storage = find()
    return storage.data_ptr(), storage.nbytes()


def _is_dense(tensor: Any) -> bool:
    extent = sum((n - 1) * stride for n, stride in zip(tensor.shape, tensor.stride())) + 1
    return extent == tensor.nelement()


def make_reducer(encoder: _codec.Encoder) -> Callable[[Any], Any]:
    def reduce(tensor: Any) -> Any:
        problem = _refuse(tensor)
        if problem:
            raise TypeError(f'a tensor of shape {tuple(tensor.shape)} can\'t be sent: it {problem}')
        if tensor.layout != torch.strided or tensor.is_quantized or tensor.__dict__:
            return tensor.__reduce_ex__(5)
        requires_grad = tensor.requires_grad
        tensor = tensor.detach().resolve_conj().resolve_neg()
        size = tensor.nelement() * tensor.element_size()
        code = _CODES.get(tensor.dtype)
        if size < encoder.threshold or code is None:
            return reduce_small(tensor, requires_grad)
        return reduce_large(tensor, size, code, requires_grad)

    def reduce_small(tensor: Any, requires_grad: bool) -> Any:
        if tensor.dtype not in _CODES:
            return tensor.__reduce_ex__(5)
        data = bytearray(tensor.contiguous().view(-1).view(torch.uint8).numpy()) if tensor.nelement() else bytearray()
        return restore_small, (data, _CODES[tensor.dtype], tuple(tensor.shape), requires_grad)

    def reduce_large(tensor: Any, size: int, code: int, requires_grad: bool) -> Any:
        address, storage_size = _storage(tensor)
        shape, strides = tuple(tensor.shape), tensor.stride()
        index = encoder.loans.find(address) if encoder.loans is not None and encoder.loans.fields else None
        if index is not None:
            return restore_part, (index, tensor.data_ptr() - address, code, shape, strides, requires_grad)
        if encoder.share(address, storage_size, size):
            index = encoder.add_whole(address, address, storage_size, tensor)
            return restore_part, (index, tensor.data_ptr() - address, code, shape, strides, requires_grad)
        core = _codec.find_repeats(shape, strides)
        if core is not None:
            return restore_expanded, (tensor[core].contiguous(), shape, requires_grad)
        if not _is_dense(tensor):
            tensor = tensor.contiguous()
        byte_strides = None
        if not tensor.is_contiguous():
            byte_strides = tuple(stride * tensor.element_size() for stride in tensor.stride())
        encoder.kept.append(tensor)
        return restore, (encoder.add((tensor.data_ptr(), size, code, shape, byte_strides)), requires_grad)

    encoder.know(restore)
    return reduce


def _view(unit: _codec.Unit, index: int, start: int, code: int, count: int) -> Any:
    """A flat tensor over a part of a field. There are no tensors that can't be written to: such memory is copied."""
    if unit.read_only:
        return torch.frombuffer(bytearray(unit.view(index)), dtype=_DTYPES[code], count=count, offset=start)
    owner, offset = unit.memory(index)
    tensor = torch.frombuffer(owner, dtype=_DTYPES[code], count=count, offset=offset + start)
    _owners[tensor.data_ptr()] = owner
    return tensor


def find_owner(tensor: Any) -> Any:
    """What the tensor keeps, if it is a view of a unit."""
    return _owners.get(_storage(tensor)[0])


def restore(index: int, requires_grad: bool) -> Any:
    unit = _codec.current()
    _, size, code, shape, strides = unit.fields[index]
    item_size = (code >> 8 & 255) // 8
    tensor = _view(unit, index, 0, code, size // item_size)
    if strides is None:
        tensor = tensor.view(shape)
    else:
        tensor = tensor.as_strided(shape, [stride // item_size for stride in strides])
    return tensor.requires_grad_() if requires_grad else tensor


def restore_part(index: int, start: int, code: int, shape: Any, strides: Any, requires_grad: bool) -> Any:
    count = sum((n - 1) * stride for n, stride in zip(shape, strides)) + 1
    tensor = _view(_codec.current(), index, start, code, count).as_strided(shape, strides)
    return tensor.requires_grad_() if requires_grad else tensor


def restore_expanded(core: Any, shape: Any, requires_grad: bool) -> Any:
    tensor = core.expand(shape)
    return tensor.requires_grad_() if requires_grad else tensor


def restore_small(data: bytearray, code: int, shape: Any, requires_grad: bool) -> Any:
    dtype = _DTYPES[code]
    tensor = torch.frombuffer(data, dtype=dtype).view(shape) if data else torch.empty(shape, dtype=dtype)
    return tensor.requires_grad_() if requires_grad else tensor
