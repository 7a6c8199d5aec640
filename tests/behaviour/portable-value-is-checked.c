/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "arena-loopback.h"
#include "arena-test.h"
#include "base/arena-error.h"
#include "unit/arena-envelope-private.h"

#include <string.h>

/* F146: a consumer that looks a handle up finds a field, whatever the producer wrote: a value that says otherwise never
 * becomes a unit. */

static ArenaUnit *
spoil (ArenaLoopback *loop,
       gsize          at,
       gint32         number,
       GError       **error)
{
  guint8 *envelope = arena_loopback_copy (loop);
  ArenaEnvelopeHeader *header = (gpointer) envelope;

  memcpy (envelope + header->value + arena_envelope_round_up (header->value_type_size) + at, &number, sizeof number);
  return arena_unit_new (0, 1, envelope, loop->published_size, NULL, NULL, error);
}

static void
test_handles_lead_to_fields (void)
{
  g_autoptr(ArenaLoopback) loop = arena_loopback_new (4096, 2048, 64);
  const gint32 bad[] = { 2, -1, G_MAXINT32, G_MININT32 };

  arena_loopback_open (loop);
  g_assert_true (arena_unit_builder_set_value (loop->builder, g_variant_new ("(ih)", 5, 1), NULL));
  arena_loopback_bytes (loop, "a", 8, 1);
  arena_loopback_bytes (loop, "b", 8, 2);
  g_assert_true (arena_unit_builder_commit (loop->builder, NULL));
  g_object_unref (spoil (loop, 4, 0, NULL));
  for (guint i = 0; i < G_N_ELEMENTS (bad); i++)
    {
      g_autoptr(GError) error = NULL;

      g_assert_null (spoil (loop, 4, bad[i], &error));
      arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_PROTOCOL, "handle");
    }
}

int
main (int    argc,
      char **argv)
{
  arena_test_init (&argc, &argv);
  arena_test_add ("/arena/portable-value/handles-lead-to-fields", test_handles_lead_to_fields);
  return g_test_run ();
}
