# SPDX-License-Identifier: LGPL-2.1-or-later
"""The recipe for torch's DataLoader: batches as they are, and in the process that trains."""
import functools
import unittest

import arena
import sources
import tap

try:
    import torch
except ImportError:
    torch = None


def tensors(n):
    import torch
    return [{'x': torch.full((64, 256), float(i)), 'y': torch.arange(64) + i} for i in range(n)]


def start(count=6):
    pool = arena.SharedMemorySegmentPool(2 * sources.BIG, count)
    return arena.iterate_in_subprocess(functools.partial(tensors, 20), arena=pool)


if torch is not None:
    class InWorker(torch.utils.data.IterableDataset):
        def __iter__(self):
            yield from start()


@unittest.skipIf(torch is None, 'no torch')
class TestDataLoader(unittest.TestCase):
    def test_batches_as_they_are(self):
        class Batches(torch.utils.data.IterableDataset):
            def __init__(self, batches):
                self.batches = batches

            def __iter__(self):
                return iter(self.batches)

        with start() as batches:
            loader = torch.utils.data.DataLoader(Batches(batches), batch_size=None, num_workers=0)
            for _ in range(2):
                n = 0
                for batch in loader:
                    self.assertEqual((batch['x'].sum().item(), batch['y'][0].item()), (n * 64 * 256, n))
                    n += 1
                    del batch
                self.assertEqual(n, 20)

    def test_without_a_loader(self):
        model = torch.nn.Linear(256, 1)
        with start() as batches:
            for batch in batches:
                model(batch['x']).sum().backward()
                del batch
            self.assertEqual(batches.stats.held_units, 0)

    def test_in_a_loaders_worker(self):
        loader = torch.utils.data.DataLoader(InWorker(), batch_size=None, num_workers=1)
        with self.assertRaisesRegex(RuntimeError, 'a daemonic process.*num_workers=0'):
            next(iter(loader))


if __name__ == '__main__':
    tap.main()
