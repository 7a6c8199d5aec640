/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "arena-boundary.h"

/* Protocol 1.4: a producer that answers without having sealed the memory could hand it to a third process that writes. */
static void
test (void)
{
  g_autoptr(GError) error = NULL;
  ArenaBackend *pool = g_initable_new (ARENA_TYPE_POOL, NULL, &error, "segment-size", (guint64) 4096, "count", 2,
                                       "read-only", TRUE, NULL);
  ArenaConsumer *consumer = arena_test_consumer_new (pool, 2);
  ArenaSlot slot = { .kind = ARENA_SLOT_UNIT, .epoch = 1, .span = 2, .size = 64 };
  ArenaTestPeer peer;

  g_assert_true (arena_consumer_start (consumer, NULL));
  arena_test_peer_init (&peer, consumer);
  arena_test_peer_publish (&peer, slot);
  g_assert_null (arena_consumer_next (consumer, G_USEC_PER_SEC, NULL, &error));
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_PROTOCOL, "read-only arena's data file", "seals");
  arena_test_peer_clear (&peer);
  arena_test_close (consumer, NULL);
}

int
main (int    argc,
      char **argv)
{
  arena_test_init (&argc, &argv);
  arena_test_add ("/arena/boundary/read-only-needs-a-seal", test);
  return g_test_run ();
}
