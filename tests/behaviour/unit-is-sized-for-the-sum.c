/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "arena-loopback.h"
#include "arena-test.h"
#include "base/arena-error.h"

/* F05: all fields of a unit share its room, each from a multiple of 64. Two that fit singly but not together are
 * refused; one that fills the room exactly is not. */

#define CAPACITY 8192

static gboolean
fits (gsize first,
      gsize second)
{
  g_autoptr (ArenaLoopback) loop = arena_loopback_new (CAPACITY, 4096, 1024);
  g_autoptr (GBytes) data = g_bytes_new_take (g_malloc0 (second), second);
  g_autoptr (GError) error = NULL;
  const guint64 shape[] = { second };

  arena_loopback_open (loop);
  arena_loopback_bytes (loop, "first", first, 1);
  if (arena_unit_builder_append_bytes (loop->builder, "second", ARENA_DTYPE_UINT8, shape, 1, data, &error) >= 0)
    {
      g_object_unref (arena_loopback_send (loop));
      g_assert_cmpuint (loop->size, ==, (first + 63) / 64 * 64 + second);
      return TRUE;
    }

  g_assert_error (error, ARENA_ERROR, ARENA_ERROR_TOO_LARGE);
  return FALSE;
}

static void
test_sum (void)
{
  g_autoptr (ArenaLoopback) loop = arena_loopback_new (CAPACITY, 4096, 1024);

  arena_loopback_open (loop);
  arena_loopback_bytes (loop, NULL, CAPACITY, 1);
  g_object_unref (arena_loopback_send (loop));
  g_assert_cmpuint (loop->size, ==, CAPACITY);

  g_assert_true (fits (4096, 4096));
  g_assert_false (fits (4097, 4096));
  g_assert_true (fits (4097, 4032));
  g_assert_false (fits (4097, 4033));
  g_assert_false (fits (5000, 5000));
}

int
main (int    argc,
      char **argv)
{
  arena_test_init (&argc, &argv);
  arena_test_add ("/arena/behaviour/unit-is-sized-for-the-sum", test_sum);
  return g_test_run ();
}
