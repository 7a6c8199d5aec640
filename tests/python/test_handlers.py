# SPDX-License-Identifier: LGPL-2.1-or-later
"""F71 F72 F121 F123 F124 F125: whose memory goes through the arena can be told for any class."""
import functools
import unittest

import arena
from arena import _codec
import sources
import tap


class Packets:
    """An opaque object with memory, as a decoder's packets are."""

    def __init__(self, data, rate):
        self.data, self.rate = data, rate

    def __reduce__(self):
        raise AssertionError('pickled')


class PacketsHandler:
    kind = 'test.Packets'

    def get_buffer(self, packets):
        return packets.data, packets.rate

    def from_buffer(self, buffer, rate):
        return Packets(buffer, rate)


handler = PacketsHandler()
arena.register_handler(Packets, handler)


def packets(n, size):
    return [{'i': i, 'packets': Packets(bytes([i]) * size, 48000 + i)} for i in range(n)]


class TestHandlers(unittest.TestCase):
    def test_both_ways(self):
        for storage in (arena.SharedMemorySegmentPool(sources.BIG, 5), arena.SharedMemoryRingBuffer(4 * sources.BIG)):
            with arena.iterate_in_subprocess(functools.partial(packets, 9, sources.BIG), arena=storage) as batches:
                for i, batch in enumerate(batches):
                    self.assertEqual((batch['packets'].rate, bytes(batch['packets'].data)),
                                     (48000 + i, bytes([i]) * sources.BIG))
                    held = batches.stats.held_units
                    self.assertEqual(held, 1 if storage.zero_copy else 0)
                    del batch
                self.assertEqual(batches.stats.held_units, 0)

    def test_any_part_keeps_the_unit(self):
        """What the handler made of the memory may go."""
        storage = arena.SharedMemorySegmentPool(sources.BIG, 5)
        with arena.iterate_in_subprocess(functools.partial(packets, 4, sources.BIG), arena=storage) as batches:
            iteration = iter(batches)
            next(iteration)
            kept = next(iteration)['packets'].data.cast('I', (64, sources.BIG // 256)).cast('B')[5:10]
            self.assertEqual(sum(1 for _ in iteration), 2)
            self.assertEqual((batches.stats.held_units, bytes(kept)), (1, b'\1' * 5))
            del kept
            self.assertEqual(batches.stats.held_units, 0)

    def test_no_copy_is_made_to_be_sent(self):
        value = Packets(bytearray(5000), 1)
        self.assertIs(_codec.Encoder(4096).encode(value)[1][0][0], value.data)

    def test_small_ones_stay_inline(self):
        for size, n_fields in ((4095, 0), (4096, 1)):
            payload, fields = _codec.Encoder(4096).encode(packets(1, size))
            self.assertEqual(len(fields), n_fields)
            small = _codec.decode(payload, [], None, True, False) if not fields else None
            if small:
                self.assertEqual(bytes(small[0]['packets'].data), bytes(4095))

    def test_a_kind_is_one_handler(self):
        with self.assertRaisesRegex(ValueError, "of kind 'test.Packets' already"):
            arena.register_handler(int, PacketsHandler())
        with self.assertRaisesRegex(TypeError, 'has no kind'):
            arena.register_handler(int, object())

    def test_an_unknown_kind(self):
        with self.assertRaisesRegex(LookupError, "no offload handler of kind 'test.other'.*import the module"):
            _codec.restore_small_registered('test.other', b'', None)

    def test_what_is_under_way_still_arrives(self):
        """Though its class's handler has gone; a new one of that kind takes its place."""
        self.addCleanup(arena.register_handler, Packets, handler)
        self.addCleanup(arena.unregister_handler, Packets)
        storage = arena.SharedMemorySegmentPool(sources.BIG, 5)
        with arena.iterate_in_subprocess(functools.partial(packets, 2, sources.BIG), arena=storage) as batches:
            arena.unregister_handler(Packets)
            self.assertEqual([batch['packets'].rate for batch in batches], [48000, 48001])
        arena.register_handler(Packets, PacketsHandler())

    def test_unregistered(self):
        """From then on, over an encoder that has met the class before too."""
        encoder = _codec.Encoder(4096)
        self.assertEqual(len(encoder.encode(packets(1, 5000))[1]), 1)
        self.addCleanup(arena.register_handler, Packets, handler)
        arena.unregister_handler(Packets)
        with self.assertRaisesRegex(AssertionError, 'pickled'):
            encoder.encode(packets(1, 5000))
        with self.assertRaisesRegex(LookupError, 'no offload handler is registered for .*Packets'):
            arena.unregister_handler(Packets)

    def test_only_the_exact_class(self):
        class Derived(Packets):
            pass
        with self.assertRaisesRegex(AssertionError, 'pickled'):
            _codec.Encoder(4096).encode(Derived(b'x' * 5000, 1))

    def test_nothing_is_kept_of_a_value(self):
        """What was encoded is free at once, and the encoder can't be entered from within."""
        encoder = _codec.Encoder(4096)

        class Sender:
            def __reduce__(self):
                encoder.encode(1)

        with self.assertRaisesRegex(RuntimeError, 'sends another'):
            encoder.encode(Sender())
        import weakref
        value = Packets(bytearray(5000), 1)
        ref = weakref.ref(value)
        fields = encoder.encode([value])
        del value, fields
        self.assertIsNone(ref())


if __name__ == '__main__':
    tap.main()
