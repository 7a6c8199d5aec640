# SPDX-License-Identifier: LGPL-2.1-or-later
"""F93 F135: whole values go to a device, by a runtime that has none."""
import collections
import ctypes
import dataclasses
import functools
import gc
import importlib.util
import os
import subprocess
import sys
import tempfile
import types
import unittest
from unittest import mock

import arena
import numpy
import sources
import tap
from gi.repository import Arena, GLib

FAKE = ctypes.CDLL(os.environ['ARENA_CUDART'])
FAKE.arena_fake_count.restype = ctypes.c_uint64
FAKE.arena_fake_log.argtypes = [ctypes.c_uint64, ctypes.c_void_p]
FAKE.arena_fake_log.restype = ctypes.c_uint64
FAKE.arena_fake_violations.restype = ctypes.c_uint64
DELAY = 1
PROGRAM = '''
from spdl.pipeline import SharedMemoryRingBuffer, SharedMemorySegmentPool, iterate_in_subprocess

def make_batches():
    import torch
    return [torch.full((1024 * 1024,), i, dtype=torch.float32)
            for i in range(8)]

from spdl.io import transfer_tensor_h2d

def run_gpu():
    arena = SharedMemorySegmentPool(
        segment_size=4 * 1024 * 1024, count=4, pin_memory=True
    )
    batches = iterate_in_subprocess(
        make_batches, arena=arena, buffer_size=2, mp_context="spawn"
    )
    for cpu_batch in batches:
        gpu_batch = transfer_tensor_h2d(cpu_batch, num_caches=0)
        # Pass gpu_batch to training on the selected device's default stream.
        print(gpu_batch.shape, gpu_batch.device)
        del cpu_batch, gpu_batch

if __name__ == "__main__":
    run_gpu()
'''
RING = PROGRAM.replace('''SharedMemorySegmentPool(
        segment_size=4 * 1024 * 1024, count=4, pin_memory=True
    )''', 'SharedMemoryRingBuffer(capacity=16 * 1024 * 1024, pin_memory=True)')

Pair = collections.namedtuple('Pair', 'left right')


@dataclasses.dataclass
class Sample:
    image: object
    name: str
    later: object = dataclasses.field(init=False)
    unset: object = dataclasses.field(init=False)


@dataclasses.dataclass(frozen=True)
class Frozen:
    image: object


class Named(collections.OrderedDict):
    """What is set on it belongs to it."""


def nested(n):
    for i in range(n):
        sample = Sample(numpy.full(sources.BIG // 16, i), 'sample')
        sample.later = numpy.full(3, i)
        named = Named(pair=Pair(numpy.full(sources.BIG // 16, -i), None), sample=sample)
        named.note = i
        yield named


def tensors(n):
    import torch
    return [torch.full((100, 200), i, dtype=torch.bfloat16) for i in range(n)]


class Entry(ctypes.Structure):
    _fields_ = [('seq', ctypes.c_uint64), ('pid', ctypes.c_int), ('tid', ctypes.c_int), ('function', ctypes.c_char_p),
                ('device', ctypes.c_int), ('stream', ctypes.c_uint64), ('ptr', ctypes.c_uint64),
                ('other', ctypes.c_uint64), ('len', ctypes.c_uint64), ('flags', ctypes.c_uint), ('result', ctypes.c_int)]


class Live(ctypes.Structure):
    _fields_ = [(name, ctypes.c_uint64) for name in ('pins', 'pinned_bytes', 'host_allocs', 'host_bytes', 'device_allocs',
                                                     'device_bytes', 'streams', 'events', 'pending')]


def log():
    entries = [Entry() for _ in range(FAKE.arena_fake_log(0, None))]
    for i, entry in enumerate(entries):
        FAKE.arena_fake_log(i, ctypes.byref(entry))
    return entries


def copies():
    """The source and length of each copy."""
    return [(entry.ptr, entry.len) for entry in log() if entry.function == b'cudaMemcpyAsync']


def live():
    counts = Live()
    FAKE.arena_fake_live(ctypes.byref(counts))
    return counts


def read(tensor):
    items = numpy.frombuffer(tensor.buffer.download().get_data() or b'', tensor.dtype)
    return items.reshape(tensor.shape).tolist()


def address(array):
    return array.__array_interface__['data'][0]


def import_copy(tensor):
    """In place of torch.from_dlpack(), which would want a device: what it would have found there."""
    import torch
    return torch.frombuffer(bytearray(tensor.buffer.download().get_data()), dtype=torch.uint8)


class TestTransfer(unittest.TestCase):
    def setUp(self):
        FAKE.arena_fake_reset()

    def tearDown(self):
        gc.collect()
        self.assertTrue(Arena.CudaContext.get_default().retry_quarantine())
        self.assertEqual(FAKE.arena_fake_violations(None), 0)

    def test_containers(self):
        first, second = numpy.arange(6, dtype='f4').reshape(2, 3), numpy.arange(4)
        for value, leaf in (
                (first, lambda v: v),
                ([1, first], lambda v: v[1]),
                (('a', [first]), lambda v: v[1][0]),
                (Pair(first, None), lambda v: v.left),
                ({'x': {2: first}}, lambda v: v['x'][2]),
                (collections.defaultdict(set, x=first), lambda v: v['x']),
                (collections.OrderedDict(b=first, a=second), lambda v: v['b']),
                (collections.UserDict(x=first), lambda v: v['x']),
                (types.MappingProxyType({'x': first}), lambda v: v['x']),
                (Frozen(first), lambda v: v.image)):
            with self.subTest(value=type(value)):
                result = arena.transfer_tensor_h2d(value)
                self.assertEqual((read(leaf(result)), leaf(result).shape, leaf(result).device, leaf(result).dtype),
                                 (first.tolist(), (2, 3), 'cuda:0', 'f4'))
                self.assertIs(leaf(value), first)
                if value is not first:
                    self.assertIs(type(result), type(value))
        ordered = arena.transfer_tensor_h2d(collections.OrderedDict(b=first, a=second))
        self.assertEqual(list(ordered), ['b', 'a'])
        self.assertIs(arena.transfer_tensor_h2d(collections.defaultdict(set, x=first)).default_factory, set)

    def test_dataclass(self):
        sample = Sample(numpy.arange(3), 'three')
        sample.later = [numpy.arange(5)]
        sample.extra = 'kept'
        result = arena.transfer_tensor_h2d(sample)
        self.assertEqual((read(result.image), result.name, read(result.later[0]), result.extra),
                         ([0, 1, 2], 'three', [0, 1, 2, 3, 4], 'kept'))
        self.assertFalse(hasattr(result, 'unset'))
        self.assertIs(type(result), Sample)
        self.assertIs(type(sample.image), numpy.ndarray)

    def test_classes_of_a_pinned_arena(self):
        """C90"""
        made = arena.SharedMemorySegmentPool(sources.BIG * 2, 4, pin_memory=True)
        with arena.iterate_in_subprocess(functools.partial(nested, 3), arena=made) as batches:
            for i, batch in enumerate(batches):
                for value, numbers in (batch, numpy.ndarray.tolist), (arena.transfer_tensor_h2d(batch), read):
                    self.assertEqual([type(value), type(value['pair']), type(value['sample'])], [Named, Pair, Sample])
                    self.assertEqual((list(value), value.note, value['pair'].right), (['pair', 'sample'], i, None))
                    self.assertEqual(set(numbers(value['pair'].left)), {-i})
                    self.assertEqual((set(numbers(value['sample'].image)), value['sample'].name), ({i}, 'sample'))
                    self.assertEqual(numbers(value['sample'].later), [i] * 3)
                    self.assertFalse(hasattr(value['sample'], 'unset'))
                del batch, value

    def test_layouts(self):
        base = numpy.arange(24, dtype='i2').reshape(4, 6)
        arrays = [base[:, ::2], base.T, base[1:3], base[::-1], numpy.zeros((0, 3)), numpy.array(7.5), base > 9,
                  numpy.arange(3) * 1j, numpy.asfortranarray(base), numpy.broadcast_to(base[0], (2, 6))]
        for array, result in zip(arrays, arena.transfer_tensor_h2d(arrays)):
            self.assertEqual((read(result), result.shape), (array.tolist(), array.shape))

    def test_the_rest_passes_through(self):
        masked = numpy.ma.masked_array([1, 2], [True, False])
        value = {'text': 'x', 'number': numpy.float32(2), 'masked': masked, 'class': Sample, 'set': {1}, 'list': [1]}
        FAKE.arena_fake_log_clear()
        self.assertIs(arena.transfer_tensor_h2d(value), value)
        self.assertEqual(FAKE.arena_fake_log(0, None), 0)
        result = arena.transfer_tensor_h2d({**value, 'x': numpy.arange(2)})
        again = arena.transfer_tensor_h2d(result)  # what is there already
        for key, item in value.items():
            self.assertIs(result[key], item)
        self.assertIs(again, result)

    def test_deep_and_many(self):
        """One transfer has all of them, each with a place of its own."""
        value = leaves = [numpy.full(i + 1, i, 'i4') for i in range(500)]
        for depth in range(60):
            value = {'next': (value,)} if depth % 2 else [value]
        result = arena.transfer_tensor_h2d(value)
        while len(result) == 1:
            result = result['next'][0] if isinstance(result, dict) else result[0]
        self.assertEqual([read(leaf) for leaf in result], [leaf.tolist() for leaf in leaves])

    def test_once(self):
        array = numpy.arange(9)
        FAKE.arena_fake_log_clear()
        shared = [array]
        result = arena.transfer_tensor_h2d({'a': array, 'b': shared, 'c': shared})
        self.assertEqual(len(copies()), 1)
        self.assertIs(result['a'], result['b'][0])
        self.assertIs(result['b'], result['c'])

    def test_views_of_an_arena_are_aliased(self):
        for arena_class, arguments in ((arena.SharedMemorySegmentPool, (sources.BIG * 2, 4)),
                                       (arena.SharedMemoryRingBuffer, (16 * sources.BIG,))):
            made = arena_class(*arguments, pin_memory=True)
            with self.subTest(made=made), \
                    arena.iterate_in_subprocess(functools.partial(sources.arrays, 4), arena=made) as batches:
                for i, batch in enumerate(batches):
                    FAKE.arena_fake_log_clear()
                    part, odd, own = batch[100:300], batch[::2], numpy.arange(8)
                    results = arena.transfer_tensor_h2d((batch, part, odd, own))
                    (whole_at, whole_size), (part_at, part_size), (odd_at, _), (own_at, _) = copies()
                    self.assertEqual((whole_at, whole_size), (address(batch), batch.nbytes))
                    self.assertEqual((part_at, part_size), (address(part), part.nbytes))
                    end = address(batch) + batch.nbytes
                    self.assertFalse(address(batch) <= odd_at < end or own_at == address(own))
                    del batch, part, odd
                    self.assertEqual([set(read(result)) for result in results[:3]], [{float(i)}] * 3)
                    self.assertEqual(read(results[3]), list(range(8)))

    def test_views_by_the_override(self):
        """And what only looks like one, whose bytes are elsewhere, is copied."""
        memory = Arena.PinnedAllocator.new(Arena.CudaContext.get_default()).alloc(200)
        start = memory.get_region(1, 0, 200)
        ctypes.memmove(start, bytes(range(200)), 200)
        items = (ctypes.c_uint8 * 64).from_address(start + 8)
        for owner, is_aliased in ((memory, True), (GLib.Bytes(bytes(500)), False)):
            items.owner = owner
            FAKE.arena_fake_log_clear()
            result = arena.transfer_tensor_h2d(numpy.frombuffer(items, 'u1')[2:])
            self.assertEqual(copies() == [(start + 10, 62)], is_aliased)
            self.assertEqual(read(result), list(range(10, 72)))

    def test_read_only_views(self):
        made = arena.SharedMemorySegmentPool(sources.BIG * 2, 4, pin_memory=True, read_only=True)
        with arena.iterate_in_subprocess(functools.partial(sources.arrays, 2), arena=made) as batches:
            for i, batch in enumerate(batches):
                FAKE.arena_fake_log_clear()
                result = arena.transfer_tensor_h2d(batch)
                self.assertEqual(copies(), [(address(batch), batch.nbytes)])
                self.assertEqual(set(read(result)), {float(i)})
                del batch

    @unittest.skipUnless(importlib.util.find_spec('torch'), 'no torch')
    def test_tensors(self):
        import torch
        square = torch.arange(9.0).view(3, 3)
        values = [square, square.t(), square[:, 1], torch.tensor(5), torch.tensor([True, False]),
                  torch.tensor([1 + 2j]).conj(), torch.nn.Parameter(square), torch.ones(3, dtype=torch.bfloat16)]
        with mock.patch.object(torch, 'from_dlpack', import_copy):
            for value, result in zip(values, arena.transfer_tensor_h2d(values)):
                self.assertEqual((result.dtype, result.shape), (value.dtype, value.shape))
                self.assertTrue(torch.equal(result, value.detach().resolve_conj()))
        meta = torch.empty(3, device='meta')
        self.assertIs(arena.transfer_tensor_h2d([meta])[0], meta)
        for value, name in ((square.to_sparse(), 'sparse'), (torch.quantize_per_tensor(square, 1, 0, torch.qint8), 'qint8')):
            with self.assertRaisesRegex(TypeError, rf'^value\[1\]: .*{name}'):
                arena.transfer_tensor_h2d([square, value])

    @unittest.skipUnless(importlib.util.find_spec('torch'), 'no torch')
    def test_tensors_of_an_arena_are_aliased(self):
        import torch
        for made in (arena.SharedMemorySegmentPool(sources.BIG, 4, pin_memory=True),
                     arena.SharedMemoryRingBuffer(16 * sources.BIG, pin_memory=True)):
            with arena.iterate_in_subprocess(functools.partial(tensors, 6), arena=made) as batches, \
                    mock.patch.object(torch, 'from_dlpack', import_copy):
                for i, batch in enumerate(batches):
                    FAKE.arena_fake_log_clear()
                    result, rows = arena.transfer_tensor_h2d((batch, batch[10:20]))
                    to_device = [copy for copy in copies() if copy[0] in (batch.data_ptr(), batch[10].data_ptr())]
                    self.assertEqual([size for _, size in to_device], [2 * 100 * 200, 2 * 10 * 200])
                    self.assertTrue(torch.equal(result, batch) and torch.equal(rows, batch[10:20]))
                    self.assertEqual(int(result[0, 0]), i)
                    del batch

    def test_what_cannot_be_copied_is_named(self):
        for array, name in ((numpy.array([None]), 'object'), (numpy.zeros(3, '>f4'), '>f4'), (numpy.array(['a']), '<U1'),
                            (numpy.zeros(2, 'M8[s]'), r'datetime64\[s\]')):
            FAKE.arena_fake_log_clear()
            with self.assertRaisesRegex(TypeError, rf"^value\['x'\]\[2\]: .*{name}"):
                arena.transfer_tensor_h2d({'a': numpy.arange(3), 'x': [1, 2, array]})
            self.assertEqual(FAKE.arena_fake_log(0, None), 0)
        with self.assertRaisesRegex(TypeError, r"^value\.left\.image: "):
            arena.transfer_tensor_h2d(Pair(Frozen(numpy.array([None])), 0))
        endless = []
        endless.append([endless])
        with self.assertRaisesRegex(ValueError, r'^value\[0\]\[0\] '):
            arena.transfer_tensor_h2d(endless)
        for number, error in ((-1, ValueError), ('x', TypeError)):
            with self.assertRaises(error):
                arena.transfer_tensor_h2d(3, num_caches=number)

    def test_errors_on_the_way_wait_for_what_was_begun(self):
        """F53"""
        arrays = [numpy.full(5000, i) for i in range(3)]
        for function, code in (('cudaMemcpyAsync', Arena.CudaError.COPY), ('cudaHostAlloc', Arena.CudaError.NO_MEMORY)):
            with self.subTest(function=function):
                FAKE.arena_fake_reset()
                FAKE.arena_fake_set_mode(DELAY, 20)
                gc.collect()
                before = live().device_allocs
                if function == 'cudaHostAlloc':  # what isn't cached
                    arrays[1] = numpy.zeros(3 << 20, 'u1')
                    FAKE.arena_fake_inject(function.encode(), 1, -1, 2, False)
                else:
                    FAKE.arena_fake_inject(function.encode(), 2, 1, 1, False)
                with self.assertRaisesRegex(GLib.Error, r"value\['b'\]\[0\]: ") as caught:
                    arena.transfer_tensor_h2d({'a': arrays[0], 'b': [arrays[1]], 'c': arrays[2]})
                self.assertEqual((caught.exception.domain, caught.exception.code), ('arena-cuda-error-quark', code))
                if function == 'cudaMemcpyAsync':
                    functions = [entry.function for entry in log()]
                    functions.reverse()
                    self.assertIn(b'cudaStreamSynchronize', functions[:functions.index(b'cudaMemcpyAsync')])
                FAKE.arena_fake_reset()
                self.assertEqual(live().device_allocs, before)
                self.assertEqual(len(Arena.CudaContext.get_default().list_quarantine()), 0)
                self.assertEqual(read(arena.transfer_tensor_h2d(arrays[2])), arrays[2].tolist())

    def test_device_of_the_rank(self):
        script = 'import arena, numpy; print(arena.transfer_tensor_h2d([numpy.arange(3)])[0].device)'
        for rank, output in (('1', 'cuda:1\n'), ('2', '')):
            environment = dict(os.environ, LOCAL_RANK=rank, ARENA_FAKE_SCRIPT='set_devices 2')
            done = subprocess.run([sys.executable, '-c', script], capture_output=True, text=True, env=environment,
                                  timeout=50)
            self.assertEqual((done.stdout, done.returncode, 'LOCAL_RANK' in done.stderr), (output, rank == '2', rank == '2'))

    def test_reference_example(self):
        """F45"""
        self.assertNotEqual(PROGRAM, RING)
        for program in PROGRAM, RING:
            program = program.replace('spdl.pipeline', 'arena').replace('spdl.io', 'arena').replace('torch', 'numpy')
            with tempfile.NamedTemporaryFile('w', suffix='.py') as file:
                file.write(program)
                file.flush()
                done = subprocess.run([sys.executable, file.name], capture_output=True, text=True, timeout=50)
            self.assertEqual(done.stderr, '')
            self.assertEqual(done.stdout.splitlines(), ['(1048576,) cuda:0'] * 8)


if __name__ == '__main__':
    tap.main()
