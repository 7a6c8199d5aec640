# SPDX-License-Identifier: LGPL-2.1-or-later
"""test_photos.py MAKE-PICTURES PHOTOS... -- PHOTOS-WORKER..."""
import math
import os
import re
import struct
import subprocess
import sys
import tempfile
import unittest
import zlib

import tap

MAKE_PICTURES, *COMMANDS = (os.path.abspath(word) if os.path.exists(word) else word for word in sys.argv[1:])
PHOTOS, WORKER = COMMANDS[:COMMANDS.index('--')], COMMANDS[COMMANDS.index('--') + 1:]
WIDTH, HEIGHT, GAP, COLUMNS = 384, 216, 8, 6
LINE = re.compile(r'worker (\d+): (\d+) pictures, (.*)')


def run(*command, **options):
    return subprocess.run(command, capture_output=True, text=True, timeout=60, **options)


def read_png(path):
    """(width, height, rows of RGB bytes)"""
    with open(path, 'rb') as file:
        data = file.read()
    assert data[:8] == b'\x89PNG\r\n\x1a\n'
    position, packed = 8, b''
    while position < len(data):
        size, kind = struct.unpack_from('>I4s', data, position)
        chunk = data[position + 8:position + 8 + size]
        position += size + 12
        if kind == b'IHDR':
            width, height, depth, colour = struct.unpack_from('>IIBB', chunk)
            assert (depth, colour) == (8, 2)
        elif kind == b'IDAT':
            packed += chunk
    raw = zlib.decompress(packed)
    stride, rows, above = width * 3, [], bytearray(width * 3)
    for start in range(0, len(raw), stride + 1):
        row = bytearray(raw[start + 1:start + 1 + stride])
        if raw[start] == 2 and not any(row):
            row = above
        else:
            unfilter(raw[start], row, above)
        rows.append(row)
        above = row
    return width, height, rows


def unfilter(kind, row, above):
    if kind == 0:
        return
    for i, value in enumerate(row):
        left = row[i - 3] if i >= 3 else 0
        corner = above[i - 3] if i >= 3 else 0
        estimate = left + above[i] - corner
        near = min((left, above[i], corner), key=lambda neighbour: abs(estimate - neighbour))
        row[i] = (value + (left, above[i], (left + above[i]) // 2, near)[kind - 1]) & 255


class TestPhotos(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.pictures = os.path.join(self.folder.name, 'pictures')
        self.sheet = os.path.join(self.folder.name, 'sheet.png')

    def make_pictures(self):
        made = subprocess.run([MAKE_PICTURES, self.pictures], capture_output=True, text=True, check=True)
        lines = [line.split('\t') for line in made.stdout.splitlines()]
        return [line[0] for line in lines], [tuple(map(int, line[1:])) for line in lines]

    def test_contact_sheet(self):
        paths, colours = self.make_pictures()
        photos = run(*PHOTOS, self.pictures, self.sheet)
        self.assertEqual(photos.returncode, 0, photos.stderr)

        first, *legend, second = photos.stdout.splitlines()
        first, second = LINE.fullmatch(first).groups(), LINE.fullmatch(second).groups()
        self.assertEqual(first, second)
        self.assertEqual(int(first[1]), len(colours))
        self.assertEqual(legend, [f'row {i // COLUMNS + 1}, column {i % COLUMNS + 1}: {path}'
                                  for i, path in enumerate(paths)])
        stated = [float(number) for number in re.findall(r'\d+\.\d+', first[2])]
        for channel in range(3):
            values = [colour[channel] for colour in colours]
            mean = sum(values) / len(values)
            deviation = math.sqrt(sum(value * value for value in values) / len(values) - mean * mean)
            self.assertAlmostEqual(stated[2 * channel], mean, delta=0.5)
            self.assertAlmostEqual(stated[2 * channel + 1], deviation, delta=0.5)

        for name in ('00-broken.jpg', '05-truncated.png'):
            self.assertEqual(len(re.findall(rf'photos-worker: skipped .*/{name}: .', photos.stderr)), 2, photos.stderr)
        self.assertNotIn('notes.txt', photos.stderr)
        self.assertEqual(len(re.findall(r'[\d.]+ units/s, [\d.]+ MB/s\n', photos.stderr)), 4, photos.stderr)

        width, height, rows = read_png(self.sheet)
        self.assertEqual((width, height), (COLUMNS * (WIDTH + GAP) + GAP, 2 * (HEIGHT + GAP) + GAP))
        for i, colour in enumerate(colours):
            left = GAP + i % COLUMNS * (WIDTH + GAP)
            top = GAP + i // COLUMNS * (HEIGHT + GAP)
            for x, y in ((left, top), (left + WIDTH - 1, top + HEIGHT - 1), (left + WIDTH // 2, top + HEIGHT // 2)):
                pixel = rows[y][3 * x:3 * x + 3]
                self.assertTrue(all(abs(a - b) <= 2 for a, b in zip(pixel, colour)), (i, x, y, list(pixel), colour))
        self.assertEqual(tuple(rows[0][:3]), (32, 32, 32))

    def assert_fails(self, *command, text):
        failed = run(*command, cwd=self.folder.name)
        self.assertEqual(failed.returncode, 1, failed)
        self.assertIn(text, failed.stderr)

    def test_no_folder(self):
        self.assert_fails(*PHOTOS, self.pictures, self.sheet, text='No such file or directory')
        self.assertFalse(os.path.exists(self.sheet))

    def test_no_pictures(self):
        os.mkdir(self.pictures)
        self.assert_fails(*PHOTOS, self.pictures, self.sheet, text='no pictures')

    def test_no_room_for_the_sheet(self):
        self.make_pictures()
        sheet = os.path.join(self.folder.name, 'absent', 'sheet.png')
        self.assert_fails(*PHOTOS, self.pictures, sheet, text='sheet.png')

    def test_worker_alone(self):
        self.assert_fails(*WORKER, self.pictures, text='photos-worker: ')


if __name__ == '__main__':
    tap.main()
