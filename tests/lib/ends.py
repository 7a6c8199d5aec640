# SPDX-License-Identifier: LGPL-2.1-or-later
"""Both ends of a boundary in one process and thread, so that a test decides what happens when."""
import gi
gi.require_version('Arena', '1.0')
from gi.repository import Arena

UINT8 = Arena.DType.UINT8


class Ends:
    """A started iteration of a pool, unless another arena is given."""

    def __init__(self, arena=None, count=4, segment_size=1 << 16, buffer_size=2):
        self.arena = arena or Arena.Pool(segment_size=segment_size, count=count)
        self.consumer = Arena.Consumer(backend=self.arena, buffer_size=buffer_size)
        self.producer = Arena.Producer.new_from_fd(self.consumer.dup_worker_fd())
        self.begin()

    def begin(self):
        self.consumer.start()
        self.producer.wait_iteration(0, None)

    @property
    def held(self):
        """How many units' storage has not been given back."""
        return self.consumer.dup_stats().get_held_units()

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.consumer.close()


def field(data):
    """A field of bytes."""
    return data, len(data), UINT8, (len(data),), None
