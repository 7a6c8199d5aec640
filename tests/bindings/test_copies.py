# SPDX-License-Identifier: LGPL-2.1-or-later
"""Copies to a device from Python, with a CUDA runtime that has no device: test_copies.py WORKER"""
import ctypes
import gc
import os
import sys
import threading
import unittest

import gi
gi.require_version('Arena', '1.0')
from gi.repository import Arena, GLib

import tap

FAKE = ctypes.CDLL(os.environ['ARENA_CUDART'])
FAKE.arena_fake_count.restype = ctypes.c_uint64
FAKE.arena_fake_violations.restype = ctypes.c_uint64
FAKE.cudaStreamCreateWithFlags.argtypes = [ctypes.c_void_p, ctypes.c_uint]
DATA = bytes(range(96))
ARGV = [sys.executable, sys.argv[1], 'count', '3', '8192']

is_valid = ctypes.pythonapi.PyCapsule_IsValid
is_valid.argtypes = [ctypes.py_object, ctypes.c_char_p]
get_pointer = ctypes.pythonapi.PyCapsule_GetPointer
get_pointer.argtypes = [ctypes.py_object, ctypes.c_char_p]
get_pointer.restype = ctypes.c_void_p
set_name = ctypes.pythonapi.PyCapsule_SetName
set_name.argtypes = [ctypes.py_object, ctypes.c_char_p]


class Tensor(ctypes.Structure):
    _fields_ = [('data', ctypes.c_void_p), ('device_type', ctypes.c_int32), ('device_id', ctypes.c_int32),
                ('n_dims', ctypes.c_int32), ('code', ctypes.c_uint8), ('bits', ctypes.c_uint8), ('lanes', ctypes.c_uint16),
                ('shape', ctypes.POINTER(ctypes.c_int64)), ('strides', ctypes.c_void_p), ('byte_offset', ctypes.c_uint64)]


class Managed(ctypes.Structure):
    _fields_ = [('tensor', Tensor), ('context', ctypes.c_void_p),
                ('deleter', ctypes.CFUNCTYPE(None, ctypes.c_void_p))]


def upload(data=DATA):
    transfer = Arena.Transfer.new(Arena.CudaContext.get_default())
    transfer.add(GLib.Bytes(data))
    return transfer.run(None)[0]


def count(name):
    return FAKE.arena_fake_count(name.encode())


class TestCopies(unittest.TestCase):
    def setUp(self):
        FAKE.arena_fake_reset()
        Arena.CudaContext.get_default()

    def tearDown(self):
        gc.collect()
        self.assertTrue(Arena.CudaContext.get_default().retry_quarantine())
        self.assertEqual(FAKE.arena_fake_violations(None), 0)

    def test_scenario_71_round_trip(self):
        buffer = upload()
        self.assertEqual(buffer.props.size, len(DATA))
        self.assertEqual(buffer.download().get_data(), DATA)

    def test_scenario_72_errors(self):
        FAKE.arena_fake_inject(b'cudaMemcpyAsync', 1, 1, 1, False)
        with self.assertRaises(GLib.Error) as caught:
            upload()
        self.assertTrue(caught.exception.matches(GLib.quark_from_string('arena-cuda-error-quark'), Arena.CudaError.COPY))
        self.assertIn('Field 0: cudaMemcpyAsync', caught.exception.message)
        self.assertIn('cudaErrorInvalidValue (1)', caught.exception.message)
        transfer = Arena.Transfer.new(Arena.CudaContext.get_default())
        transfer.run(None)
        with self.assertRaises(Arena.InvalidStateError):
            transfer.run(None)
        with self.assertRaises(Arena.InvalidArgumentError):
            Arena.PinnedAllocator()

    def test_async(self):
        loop, done = GLib.MainLoop(), []
        transfer = Arena.Transfer.new(Arena.CudaContext.get_default())
        transfer.add(GLib.Bytes(DATA))
        transfer.run_async(None, lambda source, result: (done.append(source.run_finish(result)), loop.quit()))
        loop.run()
        self.assertEqual(done[0][0].download().get_data(), DATA)

    def test_allocator(self):
        allocator = Arena.PinnedAllocator(context=Arena.CudaContext.get_default(), limit_bytes=8192)
        buffer = allocator.alloc(5000)
        self.assertEqual(allocator.dup_stats().get_used_bytes(), 8192)
        with self.assertRaises(GLib.Error):
            allocator.alloc(1)
        self.assertTrue(allocator.record_stream(buffer, 1))

    def test_scenario_68_capsule(self):
        buffer = upload()
        self.assertEqual(buffer.__dlpack_device__(), (2, 0))
        capsule = buffer.tensor('f4', (2, 3, 4)).__dlpack__()
        pointer = buffer.get_pointer()
        del buffer
        managed = Managed.from_address(get_pointer(capsule, b'dltensor'))
        set_name(capsule, b'used_dltensor')
        del capsule
        gc.collect()
        self.assertEqual(count('cudaFreeAsync'), 0)
        tensor = managed.tensor
        self.assertEqual((tensor.data, tensor.device_type, tensor.code, tensor.bits, tensor.lanes), (pointer, 2, 2, 32, 1))
        self.assertEqual(tensor.shape[:tensor.n_dims], [2, 3, 4])
        thread = threading.Thread(target=managed.deleter, args=[ctypes.addressof(managed)])
        thread.start()
        thread.join()
        self.assertEqual(count('cudaFreeAsync'), 1)

    def test_scenario_68_host_view(self):
        import numpy
        pool = Arena.Pool(segment_size=8192, count=3, pin_memory=True)
        with Arena.Worker(backend=pool, argv=ARGV, buffer_size=2) as worker:
            unit = next(iter(worker))
            array = unit.array()
            self.assertEqual(array.__dlpack_device__(), (1, 0))
            other = numpy.from_dlpack(array)
            unit.release()
            del unit, array
            self.assertEqual(pool.dup_stats().get_held_units(), 1)
            self.assertEqual(other[0], 0)
            buffer = upload(other.tobytes())
        self.assertEqual(buffer.download().get_data(), other.tobytes())
        del other

    def test_scenario_68_versioned(self):
        capsule = upload().__dlpack__(max_version=(1, 0))
        self.assertTrue(is_valid(capsule, b'dltensor_versioned'))
        self.assertTrue(is_valid(upload().__dlpack__(max_version=(0, 8)), b'dltensor'))

    def test_scenario_69_never_consumed(self):
        for version in None, (1, 1):
            FAKE.arena_fake_log_clear()
            capsule = upload().__dlpack__(max_version=version)
            self.assertEqual(count('cudaFreeAsync'), 0)
            del capsule
            gc.collect()
            self.assertEqual(count('cudaFreeAsync'), 1)

    def test_scenario_70_streams(self):
        """F57: who takes a buffer says for which stream."""
        handle = ctypes.c_void_p()
        self.assertEqual(FAKE.cudaStreamCreateWithFlags(ctypes.byref(handle), 1), 0)
        transfer = Arena.Transfer.new(Arena.CudaContext.get_default())
        transfer.add(GLib.Bytes(DATA))
        FAKE.arena_fake_set_mode(2, 0)
        buffer = transfer.enqueue()[0]
        for stream, waits in (None, 1), (1, 1), (2, 1), (handle.value, 1), (-1, 0):
            before = count('cudaStreamWaitEvent')
            buffer.__dlpack__(stream=stream)
            self.assertEqual(count('cudaStreamWaitEvent') - before, waits)
        for stream in 0, -2:
            with self.assertRaises(ValueError):
                buffer.__dlpack__(stream=stream)
        with self.assertRaises(BufferError):
            buffer.__dlpack__(copy=True)
        with self.assertRaises(BufferError):
            buffer.__dlpack__(dl_device=(1, 0))
        with self.assertRaises(Arena.InvalidArgumentError):
            buffer.tensor('f4', (25,)).__dlpack__()
        FAKE.arena_fake_step(None, -1)
        self.assertTrue(buffer.synchronize())
        # Recorded: the handle's, 2 and 1, and the events of none other.
        FAKE.arena_fake_log_clear()
        del buffer
        gc.collect()
        self.assertEqual(count('cudaEventRecord'), 3)

    def test_interface(self):
        buffer = upload()
        interface = buffer.tensor('f4').__cuda_array_interface__
        self.assertEqual((interface['shape'], interface['version']), ((24,), 3))
        self.assertEqual(interface['data'], (buffer.get_pointer(), False))
        self.assertEqual(buffer.__cuda_array_interface__['shape'], (96,))


if __name__ == '__main__':
    tap.main()
