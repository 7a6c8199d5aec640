# SPDX-License-Identifier: LGPL-2.1-or-later
"""A unit's pickle names no function, which would be searched for on both sides; it begins with its number."""
import subprocess
import sys
import unittest

import numpy

from arena._codec import Encoder, decode

import tap

ALONE = '''
import sys
from arena._codec import decode
payload, data = map(bytes.fromhex, sys.argv[1:])
assert 'numpy' not in sys.modules
value = decode(payload, [(0, len(data), 0x010801, (len(data),), None)], bytearray(data), True, False)
assert value['x'].sum() == 3 * len(data) and value['s'] == ['s', 'text', 'text']
'''


def through(encoder, value):
    """The value again, and its pickle; fields stay where they are."""
    payload, fields = encoder.encode(value)
    data = b''.join(bytes(memoryview(field[0]).cast('B')) for field in fields)
    starts = [sum(field[1] for field in fields[:i]) for i in range(len(fields))]
    received = [(start, *field[1:]) for start, field in zip(starts, fields)]
    return decode(payload, received, bytearray(data), True, False), payload


class TestKnownFunctions(unittest.TestCase):
    def test_values(self):
        encoder = Encoder(100)
        array = numpy.arange(100.)
        for i in range(4):
            value = {'x': array, 'y': [array + 1, 'x', 'text'], 'z': array, 's': ('text', b'small', i)}
            again, payload = through(encoder, value)
            self.assertTrue((again['x'] == array).all() and (again['y'][0] == array + 1).all())
            self.assertIs(again['x'], again['z'])
            self.assertEqual((again['y'][1:], again['s']), (['x', 'text'], ('text', b'small', i)))
            self.assertNotIn(b'restore', payload)
            self.assertEqual(payload.startswith(b'\x80\5\x84'), i > 0)

    def test_after_a_failure(self):
        encoder = Encoder(100)
        array = numpy.ones(100)
        for i in range(4):
            with self.assertRaises(Exception):
                encoder.encode([array, 'text', lambda: 0])
            again, payload = through(encoder, [array, 'text', i])
            self.assertEqual((again[0].sum(), again[1:]), (100, ['text', i]))

    def test_long_pickles(self):
        """Pickle writes those in several pieces."""
        encoder = Encoder(1 << 20)
        texts = [str(i) * 3000 for i in range(100)]
        for _ in range(3):
            payload, fields = encoder.encode(texts)
            (data, size, *_), = fields
            self.assertEqual(decode(payload, [(0, size, 0, (size,), None)], bytearray(data), True, False), texts)

    def test_receiver_knows_it_by_number(self):
        encoder = Encoder(100)
        x = numpy.full(200, 3, 'u1')
        for _ in range(2):
            payload, _ = encoder.encode({'s': ['s', 'text', 'text'], 'x': x})
        subprocess.run([sys.executable, '-c', ALONE, payload.hex(), x.tobytes().hex()], check=True)


if __name__ == '__main__':
    tap.main()
