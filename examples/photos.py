# SPDX-License-Identifier: LGPL-2.1-or-later
"""photos.py [FOLDER] [OUTPUT.png]: another process decodes the pictures of a folder, this one measures them and draws a
contact sheet. Both passes have the same worker; numpy and GdkPixbuf read the pixels where the arena has them."""
import os
import sys
import time

import gi
import numpy

gi.require_version('Arena', '1.0')
gi.require_version('GdkPixbuf', '2.0')
from gi.repository import Arena, GLib
from gi.repository.GdkPixbuf import Colorspace, Pixbuf

WIDTH, HEIGHT, GAP, COLUMNS = 384, 216, 8, 6
TILE_SIZE, BATCH_SIZE, BUFFERED = WIDTH * HEIGHT * 3, 8, 2


def draw_tile(sheet, position, tile, name):
    row, column = divmod(position, COLUMNS)
    picture = Pixbuf.new_from_bytes(tile, Colorspace.RGB, False, 8, WIDTH, HEIGHT, WIDTH * 3)
    picture.copy_area(0, 0, WIDTH, HEIGHT, sheet, GAP + (WIDTH + GAP) * column, GAP + (HEIGHT + GAP) * row)
    print(f'row {row + 1}, column {column + 1}: {name}')


def read_pictures(worker, sheet=None):
    start, n_units, n, sums, squares = time.monotonic(), 0, 0, 0, 0
    for unit in worker:
        pixels, tiles, names = unit.array('tiles').reshape(-1, 3), unit.dup_bytes(0), unit.value
        sums = sums + pixels.sum(0, 'u8')
        squares = squares + numpy.square(pixels, dtype='u4').sum(0, 'u8')
        for i, name in enumerate(names if sheet is not None else ()):
            draw_tile(sheet, n + i, tiles.new_from_bytes(i * TILE_SIZE, TILE_SIZE), name)
        n, n_units, seconds = n + len(names), n_units + 1, time.monotonic() - start
        print(f'{n_units / seconds:.1f} units/s, {TILE_SIZE / 1e6 * n / seconds:.1f} MB/s', file=sys.stderr)
    if n == 0:
        sys.exit(f'photos: no pictures in {worker.get_argv()[-1]}')

    means = sums / (n * WIDTH * HEIGHT)
    deviations = numpy.sqrt(squares / (n * WIDTH * HEIGHT) - means ** 2)
    colours = map('{} {:.2f} +- {:.2f}'.format, 'RGB', means, deviations)
    print(f'worker {worker.get_pid()}: {n} pictures', *colours, sep=', ')
    return n


def main(folder='/usr/share/backgrounds/mate', output='contact-sheet.png'):
    pool = Arena.Pool(segment_size=BATCH_SIZE * TILE_SIZE, count=BUFFERED + 2)
    argv = [sys.executable, os.path.join(os.path.dirname(__file__), 'photos-worker.py'), folder]
    with Arena.Worker(backend=pool, argv=argv, buffer_size=BUFFERED) as worker:
        rows = -(-read_pictures(worker) // COLUMNS)
        sheet = Pixbuf.new(Colorspace.RGB, False, 8, GAP + (WIDTH + GAP) * COLUMNS, GAP + (HEIGHT + GAP) * rows)
        sheet.fill(0x202020ff)
        read_pictures(worker, sheet)
    sheet.savev(output, 'png', [], [])


try:
    main(*sys.argv[1:])
except GLib.Error as error:
    sys.exit(f'photos: {error.message}')
