/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "arena-loopback.h"
#include "arena-test.h"
#include "base/arena-error.h"
#include "unit/arena-envelope-layout-private.h"

#include <stddef.h>
#include <string.h>

/* C72: what a producer says about its unit is not believed. Each of these is a PROTOCOL error, and no view comes out of
 * it; test-envelope-decode.c has every other word. */

typedef struct
{
  const char *what;
  gsize offset; /* in the first field's entry */
  gsize width;
  guint64 value;
} Corrupt;

#define ENTRY(member) offsetof (ArenaEnvelopeField, member), sizeof (((ArenaEnvelopeField *) 0)->member)

static const Corrupt table[] = {
  { "offset is the size", ENTRY (offset), 5056 },
  { "offset + size is beyond", ENTRY (offset), 64 },
  { "offset + size wraps to 0", ENTRY (offset), G_MAXUINT64 - 4999 },
  { "offset 2^64 - 8", ENTRY (offset), G_MAXUINT64 - 7 },
  { "offset 2^64 - 64", ENTRY (offset), G_MAXUINT64 - 63 },
  { "size 2^64 - 8", ENTRY (size), G_MAXUINT64 - 7 },
  { "size is another than the shape's", ENTRY (size), 5001 },
  { "rank -1", ENTRY (n_dims), 0xff },
  { "rank 2", ENTRY (n_dims), 2 },
  { "data type 0", ENTRY (dtype), 0 },
  { "data type of larger items", ENTRY (dtype), ARENA_DTYPE_INT64 },
  { "placement inline", ENTRY (kind), ARENA_PLACEMENT_INLINE },
  { "placement unknown", ENTRY (kind), 9 },
};

static void
publish (ArenaLoopback *loop)
{
  arena_loopback_open (loop);
  arena_loopback_bytes (loop, NULL, 5000, 1);
  arena_loopback_bytes (loop, NULL, 5000, 2);
  g_object_unref (arena_loopback_send (loop));
}

static void
assert_refused (ArenaLoopback *loop,
                guint8        *envelope,
                gsize          size)
{
  g_autoptr (GError) error = NULL;

  g_assert_null (arena_unit_new (0, 1, envelope, size, g_bytes_new (loop->writer->data + loop->offset, loop->size),
                                 NULL, &error));
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_PROTOCOL, "envelope");
}

static void
test_table (void)
{
  g_autoptr (ArenaLoopback) loop = arena_loopback_new (65536, 4096, 1024);

  publish (loop);
  for (guint i = 0; i < G_N_ELEMENTS (table); i++)
    {
      guint8 *envelope = arena_loopback_copy (loop);
      const ArenaEnvelopeHeader *header = (gconstpointer) envelope;

      g_test_message ("%s", table[i].what);
      memcpy (envelope + header->table + table[i].offset, &table[i].value, table[i].width);
      assert_refused (loop, envelope, loop->published_size);
    }
}

static void
test_truncated (void)
{
  g_autoptr (ArenaLoopback) loop = arena_loopback_new (65536, 4096, 1024);

  publish (loop);
  for (gsize size = 0; size < loop->published_size; size++)
    assert_refused (loop, g_memdup2 (loop->envelope, size), size);
}

int
main (int    argc,
      char **argv)
{
  arena_test_init (&argc, &argv);
  arena_test_add ("/arena/behaviour/corrupt-envelope-is-refused/table", test_table);
  arena_test_add ("/arena/behaviour/corrupt-envelope-is-refused/truncated", test_truncated);
  return g_test_run ();
}
