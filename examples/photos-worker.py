# SPDX-License-Identifier: LGPL-2.1-or-later
"""photos-worker.py FOLDER: the other process of photos.py. Loads every JPEG and PNG file below the folder and draws it,
scaled and cropped to a tile."""
import os
import re
import sys

import gi
import numpy

gi.require_version('Arena', '1.0')
gi.require_version('GdkPixbuf', '2.0')
from gi.repository import Arena, GLib
from gi.repository.GdkPixbuf import Colorspace, InterpType, Pixbuf

WIDTH, HEIGHT, BATCH_SIZE = 384, 216, 8


def find_pictures(folder):
    for entry in os.scandir(folder):
        if re.search(r'\.(jpe?g|png)$', entry.name, re.IGNORECASE):
            yield entry.path
        elif entry.is_dir():
            yield from find_pictures(entry.path)


def load_tile(path):
    """The middle of the picture, which is made as small as covers a tile."""
    _, width, height = Pixbuf.get_file_info(path)
    size = (-1, HEIGHT) if width * HEIGHT > height * WIDTH else (WIDTH, -1)
    picture = Pixbuf.new_from_file_at_scale(path, *size, True)
    left, top = int((WIDTH - picture.get_width()) / 2), int((HEIGHT - picture.get_height()) / 2)
    tile = Pixbuf.new(Colorspace.RGB, False, 8, WIDTH, HEIGHT)
    tile.fill(0x303030ff)
    picture.composite(tile, 0, 0, WIDTH, HEIGHT, left, top, 1, 1, InterpType.NEAREST, 255)
    return numpy.frombuffer(tile.get_pixels(), 'u1').reshape(HEIGHT, WIDTH, 3)


def make_batches():
    tiles, names = [], []
    for path in sorted(find_pictures(sys.argv[1])):
        try:
            tiles.append(load_tile(path))
            names.append(GLib.filename_display_name(path))
        except GLib.Error as error:
            print(f'photos-worker: skipped {path}: {error.message}', file=sys.stderr)
        if len(tiles) == BATCH_SIZE:
            yield {'tiles': numpy.stack(tiles), 'names': GLib.Variant('as', names)}
            tiles, names = [], []
    if tiles:
        yield {'tiles': numpy.stack(tiles), 'names': GLib.Variant('as', names)}


try:
    Arena.produce(make_batches)
except GLib.Error as error:
    sys.exit(f'photos-worker: {error.message}')
