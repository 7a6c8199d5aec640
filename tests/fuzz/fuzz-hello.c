/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "base/arena-error.h"
#include "sync/arena-cursor-private.h"
#include "sync/arena-hello-private.h"

#include "fuzz.h"

#include <string.h>

/* Whatever arrives: a PROTOCOL error, or a geometry in which everything agrees and which encodes to the same bytes. */

const char fuzz_name[] = "hello";

static void
check_same (const guint8 *data,
            gsize         size,
            const void   *again,
            gsize         expected)
{
  g_assert_cmpuint (size, ==, expected);
  g_assert_cmpint (memcmp (data, again, size), ==, 0);
}

static void
check_refusal (GError *error)
{
  g_assert_error (error, ARENA_ERROR, ARENA_ERROR_PROTOCOL);
  g_assert_cmpuint (strlen (error->message), >, 0);
}

static void
check_geometry (const ArenaGeometry *geometry)
{
  g_assert_cmpuint (geometry->data_size, <=, ARENA_MAX_DATA_SIZE);
  g_assert_cmpuint (geometry->first_sequence, >=, geometry->n_segments);
  g_assert_cmpuint (geometry->first_sequence, <=, ARENA_CURSOR_MAX);
  g_assert_cmpuint (geometry->first_cursor, <=, ARENA_CURSOR_MAX);
  g_assert_cmpuint (geometry->queue_size, <=, ARENA_MAX_QUEUE_SIZE);
  g_assert_cmpuint (arena_geometry_n_fds (geometry), ==, geometry->data_size > 0 ? 4 : 3);
  g_assert_cmpuint (arena_geometry_slot_stride (geometry) % 64, ==, 0);
  if (geometry->kind == ARENA_KIND_POOL)
    {
      g_assert_cmpuint (geometry->n_segments - 1, <, ARENA_MAX_SEGMENTS);
      g_assert_cmpuint (geometry->segment_size, <=, geometry->stride);
      g_assert_cmpuint (geometry->stride * geometry->n_segments, ==, geometry->data_size);
    }
  else
    {
      g_assert_cmpuint (geometry->capacity, <=, geometry->data_size);
      g_assert_cmpuint (geometry->n_segments, ==, 0);
    }
}

static void
try_hello (const guint8 *data,
           gsize         size)
{
  g_autoptr (GError) error = NULL;
  ArenaHelloMessage again;
  ArenaGeometry geometry;
  guint uid;

  if (!arena_hello_decode (data, size, &geometry, &uid, &error))
    {
      check_refusal (error);
      return;
    }

  g_assert_no_error (error);
  check_geometry (&geometry);
  arena_hello_encode (&geometry, uid, &again);
  check_same (data, size, &again, sizeof again);
}

static void
try_reply (const guint8 *data,
           gsize         size)
{
  g_autoptr (GError) error = NULL;
  ArenaReplyMessage again;
  ArenaGeometry geometry;

  g_assert_true (arena_geometry_init_pool (&geometry, 65536, 4, NULL));
  if (!arena_reply_decode (data, size, &geometry, &error))
    {
      check_refusal (error);
      return;
    }

  g_assert_no_error (error);
  arena_reply_encode (&geometry, &again);
  check_same (data, size, &again, sizeof again);
}

int
LLVMFuzzerTestOneInput (const guint8 *data,
                        gsize         size)
{
  try_hello (data, size);
  try_reply (data, size);
  return 0;
}

static void
add_seed (GPtrArray           *seeds,
          const ArenaGeometry *geometry)
{
  ArenaHelloMessage hello;
  ArenaReplyMessage reply;

  arena_hello_encode (geometry, 1000, &hello);
  g_ptr_array_add (seeds, g_bytes_new (&hello, sizeof hello));
  arena_reply_encode (geometry, &reply);
  g_ptr_array_add (seeds, g_bytes_new (&reply, sizeof reply));
}

GPtrArray *
fuzz_seeds (void)
{
  GPtrArray *seeds = g_ptr_array_new_with_free_func ((GDestroyNotify) g_bytes_unref);
  ArenaGeometry geometry = { .kind = ARENA_KIND_NONE };

  g_assert_true (arena_geometry_set_queue (&geometry, 2, 16384, 4096, NULL));
  add_seed (seeds, &geometry);
  g_assert_true (arena_geometry_init_ring (&geometry, 1000, NULL));
  add_seed (seeds, &geometry);
  g_assert_true (arena_geometry_set_queue (&geometry, 8, 64, 0, NULL));
  add_seed (seeds, &geometry);
  g_assert_true (arena_geometry_init_pool (&geometry, 65536, 4, NULL));
  add_seed (seeds, &geometry);
  geometry.first_sequence = (G_GUINT64_CONSTANT (1) << 63) - 1000000;
  geometry.first_cursor = (G_GUINT64_CONSTANT (1) << 53) - 3;
  g_assert_true (arena_geometry_set_queue (&geometry, 2, 16384, 4096, NULL));
  add_seed (seeds, &geometry);
  return seeds;
}
