/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "arena-ends.h"
#include "arena-test.h"

/* F136, C34: views of the last units of an iteration are kept over the next one; no byte of them changes, and the
 * producer takes what is free in its turn. */

#define EPOCHS 20
#define UNITS  8

static void
test (void)
{
  g_auto (ArenaEnds) ends = { 0 };
  g_autoptr (GError) error = NULL;
  GBytes *kept[2] = { NULL, NULL };
  ArenaSent kept_sent[2];

  arena_ends_open_pool (&ends, 65536, 4);
  for (guint64 epoch = 1; epoch <= EPOCHS; epoch++)
    {
      g_assert_true (arena_writer_start_epoch (ends.writer, epoch, &error));
      g_assert_true (arena_reader_enter_epoch (ends.reader, epoch, &error));
      for (guint u = 0; u < UNITS; u++)
        {
          ArenaSent sent;

          /* In order: the segment of a kept unit is needed sooner or later, and then there is only waiting. */
          while (!arena_ends_try_send (&ends, 16384, epoch * 100 + u, 0, &sent, NULL))
            {
              guint oldest = kept_sent[0].span < kept_sent[1].span && kept[0] != NULL ? 0 : kept[1] != NULL ? 1 : 0;

              g_assert_nonnull (kept[oldest]);
              arena_ends_check (kept[oldest], &kept_sent[oldest]);
              g_clear_pointer (&kept[oldest], g_bytes_unref);
            }

          if (u < UNITS - 2)
            arena_ends_pass (&ends, &sent);
          else
            {
              g_clear_pointer (&kept[u % 2], g_bytes_unref);
              kept[u % 2] = arena_ends_take (&ends, &sent);
              kept_sent[u % 2] = sent;
            }
          for (guint i = 0; i < 2; i++)
            if (kept[i] != NULL)
              arena_ends_check (kept[i], &kept_sent[i]);
        }
    }

  for (guint i = 0; i < 2; i++)
    g_clear_pointer (&kept[i], g_bytes_unref);
}

int
main (int argc, char **argv)
{
  arena_test_init (&argc, &argv);
  arena_test_add ("/arena/pool/epoch-keeps-views", test);
  return g_test_run ();
}
