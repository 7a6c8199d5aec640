/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "arena-loopback.h"
#include "arena-test.h"

/* F02: what goes through the queue says where bytes are and what they mean, and never holds a second copy of them. */

static void
test_64_mib (void)
{
  const gsize size = 64 << 20;
  g_autoptr (ArenaLoopback) loop = arena_loopback_new (size, 16384, 4096);
  g_autoptr (GBytes) data = g_bytes_new_take (g_malloc0 (size), size);
  g_autoptr (GError) error = NULL;
  const guint64 shape[] = { 4, 16, 1024, 1024 };

  arena_loopback_open (loop);
  arena_unit_builder_append_bytes (loop->builder, "video", ARENA_DTYPE_UINT8, shape, 4, data, &error);
  g_assert_no_error (error);
  arena_unit_builder_commit (loop->builder, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (loop->size, ==, size);
  g_assert_cmpuint (loop->published_size, <, 1024);
}

int
main (int    argc,
      char **argv)
{
  arena_test_init (&argc, &argv);
  arena_test_add ("/arena/behaviour/envelope-holds-no-payload", test_64_mib);
  return g_test_run ();
}
