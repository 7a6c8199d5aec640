# SPDX-License-Identifier: LGPL-2.1-or-later
"""F168 C81 C82: a worker knows its share of the work, and numbers of its own for every iteration."""
import functools
import unittest

import arena
import sources
import tap


def share(n):
    return sources.Again(_share, n)


def _share(n):
    yield from arena.shard(range(n))


def at_set_up():
    return [arena.get_worker_info()]


def start(factory, **options):
    return arena.iterate_in_subprocess(factory, arena=arena.SharedMemoryRingBuffer(sources.BIG), mp_context='fork', **options)


class TestWorkerInfo(unittest.TestCase):
    def test_shards(self):
        seen = []
        for worker_id in range(3):
            with start(functools.partial(share, 10), worker_id=worker_id, worker_count=3) as batches:
                seen.append(list(batches))
                self.assertEqual(list(batches), seen[-1])
        self.assertEqual(seen, [[0, 3, 6, 9], [1, 4, 7], [2, 5, 8]])
        self.assertEqual(list(arena.shard(range(4))), [0, 1, 2, 3])

    def test_seeds_differ(self):
        infos = []
        for worker_id in range(2):
            with start(functools.partial(sources.infos, 1), worker_id=worker_id, worker_count=2, seed=5) as batches:
                infos += [info for _ in range(3) for info in batches]
        self.assertEqual([info[:3] for info in infos], [(id, 2, epoch) for id in range(2) for epoch in (1, 2, 3)])
        self.assertEqual(len({info.seed for info in infos}), 6)
        with start(functools.partial(sources.infos, 1), worker_count=2, seed=5) as batches:
            self.assertEqual(list(batches), infos[:1])  # the same again
        with start(functools.partial(sources.infos, 1), worker_count=2) as batches:
            self.assertNotEqual(list(batches), infos[:1])

    def test_elsewhere(self):
        with start(at_set_up, worker_id=1, worker_count=2) as batches:
            self.assertEqual(next(iter(batches))[:3], (1, 2, 0))
        self.assertIsNone(arena.get_worker_info())


if __name__ == '__main__':
    tap.main()
