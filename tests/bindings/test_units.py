# SPDX-License-Identifier: LGPL-2.1-or-later
"""What a unit of a worker in Python is in Python: test_units.py WORKER"""
import ctypes
import functools
import gc
import subprocess
import sys
import time
import unittest

import gi
gi.require_version('Arena', '1.0')
from gi.repository import Arena, GLib

import numpy

import tap

WORKER = sys.argv[1]


def start(*arguments, count=4):
    pool = Arena.Pool(segment_size=4 << 20, count=count)
    return Arena.Worker(backend=pool, argv=[sys.executable, WORKER, *map(str, arguments)], buffer_size=2)


class TestTypes(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        with start('types') as worker:
            cls.types, cls.shapes, cls.handles, cls.alone = worker

    def test_every_type(self):
        names = ['i1', 'i2', 'i4', 'i8', 'u1', 'u2', 'u4', 'u8', 'f2', 'f4', 'f8', 'c8', 'c16']
        for i, name in enumerate(names):
            expected = numpy.arange(6000).astype(name).reshape(60, 100)
            array = self.types.array(i)
            self.assertEqual((array.dtype, array.shape), (expected.dtype, expected.shape))
            self.assertTrue((array == expected).all())
            view = self.types.memoryview(i)
            self.assertEqual(view.nbytes, expected.nbytes)
            self.assertEqual(view.tobytes(), expected.tobytes())
            if view.ndim > 1:
                self.assertEqual((view.shape, view[1, 2]), ((60, 100), expected[1, 2]))
        truths, scalar, empty = map(self.types.array, range(len(names), len(names) + 3))
        self.assertEqual((truths.dtype, list(truths[:3])), (numpy.dtype(bool), [True, False, True]))
        self.assertEqual((scalar.shape, scalar[()]), ((), 7))
        self.assertEqual(empty.shape, (0, 3))
        self.assertEqual(self.types.memoryview(len(names) + 2).nbytes, 0)

    def test_strides_and_buffers(self):
        unit, x = self.shapes, numpy.arange(6000, dtype='f4').reshape(60, 100)
        for name, expected in (('fortran', x), ('transposed', x.T), ('reversed', x[::-1]), ('sparse', x[::2, ::3])):
            self.assertTrue(numpy.array_equal(unit.array(name), expected), name)
        self.assertTrue(unit.array('fortran').flags.f_contiguous)
        self.assertEqual(unit.memoryview('fortran').tobytes(), x.tobytes('F'))
        for name, expected in (('bytes', b'abc'), ('bytearray', b'abcd'), ('memoryview', b'bcde'),
                               ('every second', b'ace'), ('empty', b'')):
            self.assertEqual((unit.array(name).tobytes(), bytes(unit.memoryview(name))), (expected, expected))
        self.assertEqual((unit.memoryview('shaped').format, unit.array('shaped').shape), ('i', (2, 3)))

    def test_large_fields_are_buffers(self):
        """C94: 16 MiB through each accessor, without a copy and never as a list."""
        pool = Arena.Pool(segment_size=16 << 20, count=2)
        argv = [sys.executable, WORKER, 'count', '1', str(16 << 20)]
        with Arena.Worker(backend=pool, argv=argv, buffer_size=1) as worker:
            unit = worker.next()
            ways = {
                'array': (lambda: unit.array(0), numpy.ndarray), 'memoryview': (lambda: unit.memoryview(0), memoryview),
                'dup_bytes': (lambda: unit.dup_bytes(0), GLib.Bytes),
            }
            for name, (way, kind) in ways.items():
                elapsed = []
                for _ in range(5):
                    began = time.monotonic()
                    data = way()
                    elapsed.append(time.monotonic() - began)
                    self.assertIsInstance(data, kind)
                    del data
                self.assertLess(min(elapsed), 0.01, name)

    def test_fields(self):
        self.assertEqual([field.get_name() for field in self.handles.fields], ['first', 'second'])
        self.assertEqual(len(self.types.fields), self.types.get_n_fields())
        for missing in ('third', ''):
            with self.assertRaises(KeyError):
                self.handles.array(missing)
        with self.assertRaises(Arena.InvalidArgumentError):
            self.handles.array(2)
        for wrong in (None, b'first', [0]):
            with self.assertRaises(TypeError):
                self.handles.array(wrong)
        with self.assertRaises(OverflowError):
            self.handles.array(-1)

    def test_value(self):
        value = self.handles.value
        x = numpy.arange(6000, dtype='f4').reshape(60, 100)
        self.assertEqual(sorted(value), ['array', 'deep', 'list', 'name', 'tuple'])
        self.assertTrue((value['array'] == x).all())
        self.assertTrue(numpy.shares_memory(value['array'], self.handles.array('first')))
        self.assertEqual([array.nbytes for array in value['list']], [24000, 3])
        self.assertEqual((value['tuple'][0], bytes(value['tuple'][1]), value['tuple'][2]), (3, b'abc', None))
        self.assertEqual((value['name'], bytes(value['deep']['one'])), ('n', b'abc'))
        self.assertEqual((self.alone.value, self.alone.fields), (['only', 'a', 'value'], []))
        self.assertIsNone(self.types.value)


class TestViews(unittest.TestCase):
    def test_release(self):
        with start('count', 3, 1 << 20) as worker:
            with worker.next() as unit:
                x, view = unit.array('x'), unit.memoryview('x')
            self.assertTrue(unit.get_released())
            unit.release()
            by_name = functools.partial(unit.array, 'x')
            for call in (unit.array, unit.memoryview, by_name, lambda: unit.value, lambda: unit.fields[0]):
                with self.assertRaises(Arena.InvalidStateError):
                    call()
            self.assertEqual((x.sum(), sum(view)), (0, 0))

    def test_aliases_share(self):
        with start('count', 1, 1 << 20) as worker:
            unit = worker.next()
            x, view = unit.array('x'), unit.memoryview('x')
            x[5] = 7
            self.assertEqual((view[5], unit.array('x')[5]), (7, 7))
            view[6] = 8
            self.assertEqual(x[6], 8)

    def test_read_only(self):
        """F156: nothing here makes such an array writable, small field or large."""
        for read_only, n_bytes in ((True, 1 << 20), (True, 64), (False, 1 << 20)):
            pool = Arena.Pool(segment_size=1 << 20, count=2, read_only=read_only)
            argv = [sys.executable, WORKER, 'count', '1', str(n_bytes)]
            with Arena.Worker(backend=pool, argv=argv, buffer_size=1) as worker:
                unit = worker.next()
                x, view = unit.array('x'), unit.memoryview('x')
                self.assertEqual((unit.props.read_only, view.readonly), (read_only, read_only))
                self.assertEqual((x.flags.writeable, x[1:].flags.writeable), (not read_only, not read_only))
                if read_only:
                    for write in (lambda: x.fill(1), lambda: x.setflags(write=True), lambda: view.__setitem__(0, 1)):
                        with self.assertRaises((ValueError, TypeError)):
                            write()
                self.assertEqual((x.sum(), view.nbytes), (0, n_bytes))

    def test_views_survive(self):
        with start('count', 8, 1 << 20, count=8) as worker:
            kept = [worker.next().array('x')[i:] for i in range(3)]
            rest = sum(1 for unit in iter(worker.next, None))
            self.assertEqual(rest, 5)
        del worker
        for i, x in enumerate(kept):
            self.assertTrue((x == i).all())

    def test_views_do_not_leak(self):
        """C42: 10000 of one unit."""
        gc.collect()
        gc.disable()
        with start('count', 1, 1 << 20) as worker:
            unit = worker.next()
            for view in (unit.array, unit.memoryview, lambda: unit.dup_bytes(0)):
                view()
                before = len(gc.get_objects())
                for _ in range(10000):
                    view()
                self.assertLess(len(gc.get_objects()) - before, 100)
                self.assertEqual(unit.get_n_exports(), 0)
            unit.release()
            self.assertEqual(worker.dup_stats().get_held_units(), 0)
        gc.enable()

    def test_no_alias_owns_the_unit(self):
        gc.disable()
        with start('count', 4, 1 << 20) as worker:
            for alias in (Arena.Unit.array, Arena.Unit.memoryview, lambda unit: unit.array()[1:]):
                unit = worker.next()
                kept = alias(unit)
                self.assertEqual(unit.get_n_exports(), 1)
                gone = unit.weak_ref()
                unit.kept = kept
                del unit
                self.assertIsNone(gone())
                self.assertEqual(worker.dup_stats().get_held_units(), 1)
                del kept
                self.assertEqual(worker.dup_stats().get_held_units(), 0)
        gc.enable()


class TestBuilder(unittest.TestCase):
    def setUp(self):
        self.consumer = Arena.Consumer(backend=Arena.Pool(segment_size=65536, count=4), buffer_size=2)
        self.consumer.start()
        self.producer = Arena.Producer.new_from_fd(self.consumer.dup_worker_fd())
        self.assertTrue(self.producer.wait_iteration(-1, None)[0])

    def test_refused_by_name(self):
        builder = self.producer.begin_unit(0, -1)
        for wrong in ('text', None, 7, [1, 2], object()):
            with self.assertRaises(TypeError):
                builder.append(wrong)
        for name in ('O', 'U5', 'S5', 'M8[s]', 'f4, i4', 'g'):
            with self.assertRaisesRegex(TypeError, "can't be sent"):
                builder.append(numpy.zeros(3, name))
        for wrong in (5, b'name'):
            with self.assertRaises(TypeError):
                builder.append(b'data', wrong)
        self.assertEqual(builder.append(b'data', 'name'), 0)
        builder.commit()
        self.assertEqual(bytes(self.consumer.next().array('name')), b'data')

    def test_failed_unit_is_none(self):
        with self.assertRaises(TypeError):
            self.producer.send([b'fine', 'not fine'])
        with self.assertRaises(Arena.TooLargeError):
            self.producer.send(bytes(65537))
        value = GLib.Variant('s', 'one')
        with self.assertRaises(Arena.InvalidStateError):
            self.producer.send([value, value])
        self.producer.send((b'one', bytearray(b'two')))
        self.producer.finish_iteration()
        self.assertEqual([bytes(self.consumer.next().array(1))], [b'two'])
        self.assertIsNone(self.consumer.next())

    def test_reserved(self):
        """C105: it is writable until the commit, however often it is referred to."""
        builder = self.producer.begin_unit(0, -1)
        data, index = builder.reserve('x', Arena.DType.UINT8, [5000])
        kept = [data, GLib.Bytes.new_from_bytes(data, 0, 5000), GLib.Bytes.new_from_bytes(data, 1, 10)]
        for i in range(2):
            memory = (ctypes.c_uint8 * 5000).from_address(kept[i].get_region(1, 0, 5000))
            memory[i] = 7 + i
        builder.commit()
        unit = self.consumer.next()
        self.assertEqual((index, list(unit.array('x')[:3])), (0, [7, 8, 0]))
        self.assertEqual(kept[2].get_data()[0], 8)

    def test_nothing_is_kept(self):
        gc.disable()
        numbers = numpy.arange(5000)
        for data in (numbers, numbers[::2], bytes(5000), bytearray(5000), memoryview(bytes(5000))):
            before = sys.getrefcount(data)
            for _ in range(3):
                self.producer.send(data)
                self.assertEqual(self.consumer.next().array().tobytes(), getattr(data, 'tobytes', lambda: data)())
            self.assertEqual(sys.getrefcount(data), before)
        gc.enable()


class TestWithoutNumpy(unittest.TestCase):
    def test_memoryviews(self):
        """Importing numpy is made to fail."""
        script = '''if True:
            import sys
            sys.modules['numpy'] = None
            import gi
            gi.require_version('Arena', '1.0')
            from gi.repository import Arena
            pool = Arena.Pool(segment_size=4 << 20, count=4)
            with Arena.Worker(backend=pool, argv=sys.argv[1:], buffer_size=2) as worker:
                kept = [unit.array('x') for unit in worker]
            print([(x.format, x.shape, x[0]) for x in kept])
        '''
        done = subprocess.run([sys.executable, '-c', script, sys.executable, WORKER, 'count', '3', '8192'],
                              capture_output=True, text=True, check=True)
        self.assertEqual(done.stdout.strip(), str([('f', (2048,), float(i)) for i in range(3)]))

    def test_not_imported_by_itself(self):
        script = '''if True:
            import sys, gi
            gi.require_version('Arena', '1.0')
            from gi.repository import Arena
            sys.exit('numpy' in sys.modules)
        '''
        subprocess.run([sys.executable, '-c', script], check=True)


class TestStrictRelease(unittest.TestCase):
    def test_counts_views(self):
        with start('count', 3, 8192) as worker:
            unit = worker.next()
            views = [unit.array('x'), unit.memoryview('x')]
            with self.assertRaisesRegex(BufferError, 'unit 0 has 2 views'):
                unit.release(strict=True)
            self.assertFalse(unit.get_released())
            views.clear()
            unit.release(strict=True)
            self.assertTrue(unit.get_released())
            unit.release(strict=True)


if __name__ == '__main__':
    tap.main()
