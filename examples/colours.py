# SPDX-License-Identifier: LGPL-2.1-or-later
"""colours.py FOLDER [EPOCHS]: the mean and the spread of the colours of the folder's pictures, as a neural network's
normalization needs them, from random crops that differ in every epoch. Another process decodes the pictures."""
import functools
import itertools
import pathlib
import re
import sys

import gi
import numpy

import arena

gi.require_version('GdkPixbuf', '2.0')
from gi.repository import GLib
from gi.repository.GdkPixbuf import Pixbuf

SIDE, BATCH_SIZE = 224, 8


class Crops:
    """Iterates over batches of crops, anew for each epoch."""

    def __init__(self, folder):
        self.paths = sorted(path for path in pathlib.Path(folder).rglob('*')
                            if re.fullmatch(r'\.(jpe?g|png)', path.suffix, re.IGNORECASE))

    def __iter__(self):
        rng = numpy.random.default_rng(arena.get_worker_info().seed)
        for start in range(0, len(self.paths), BATCH_SIZE):
            paths = self.paths[start:start + BATCH_SIZE]
            batch = arena.empty((len(paths), SIDE, SIDE, 3), 'u1')  # where it will be read
            n = 0
            for path in paths:
                try:
                    batch[n] = load_crop(str(path), rng)
                    n += 1
                except GLib.Error as error:
                    print(f'colours: skipped {path}: {error.message}', file=sys.stderr)
            if n > 0:
                yield batch[:n]
            del batch  # or its segment can't be used again


def load_crop(path, rng):
    """A random square of the picture, whose shorter side becomes a bit longer than the square's."""
    _, width, height = Pixbuf.get_file_info(path)
    side = int(rng.integers(SIDE, SIDE * 5 // 4))
    picture = Pixbuf.new_from_file_at_scale(path, *((-1, side) if width > height else (side, -1)), True)
    channels = picture.get_n_channels()
    left, top = (int(rng.integers(0, max(size - SIDE, 0) + 1)) for size in (picture.get_width(), picture.get_height()))
    rows = numpy.frombuffer(picture.get_pixels(), 'u1')
    pixels = numpy.lib.stride_tricks.as_strided(
        rows, (picture.get_height(), picture.get_width(), 3), (picture.get_rowstride(), channels, 1))
    crop = pixels[top:top + SIDE, left:left + SIDE]
    return numpy.pad(crop, [(0, SIDE - crop.shape[0]), (0, SIDE - crop.shape[1]), (0, 0)], 'edge')


def show_progress(batches):
    """A bar with the rate, where there is a library for it and somebody to see it."""
    try:
        from tqdm import tqdm
    except ImportError:
        return batches
    return tqdm(batches, unit=' batches', disable=None)


def main():
    folder, n_epochs = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 3
    buffer_size = 2
    pool = arena.SharedMemorySegmentPool(BATCH_SIZE * SIDE * SIDE * 3, arena.suggest_count(buffer_size))
    n, total, squares = 0, numpy.zeros(3), numpy.zeros(3)
    with arena.iterate_in_subprocess(functools.partial(Crops, folder), arena=pool, buffer_size=buffer_size) as batches:
        for batch in show_progress(itertools.chain.from_iterable(itertools.repeat(batches, n_epochs))):
            pixels = batch.reshape(-1, 3) / 255
            total += pixels.sum(0)
            squares += (pixels ** 2).sum(0)
            n += len(pixels)
            del batch  # its segment is free again
        stats = batches.stats
    if n == 0:
        sys.exit(f'colours: no pictures in {folder}')

    mean = total / n
    print('mean', *(f'{value:.3f}' for value in mean))
    print('std ', *(f'{value:.3f}' for value in numpy.sqrt(squares / n - mean ** 2)))
    print(f'{n // SIDE ** 2} crops in {stats.units} batches, {stats.bytes / 1e6:.0f} MB through {pool}; waited '
          f'{stats.consumer_wait_time:.1f} s for the worker, which waited {stats.producer_wait_time:.1f} s for room')


if __name__ == '__main__':
    try:
        main()
    except (arena.WorkerError, GLib.Error) as error:
        sys.exit(f'colours: {error}')
