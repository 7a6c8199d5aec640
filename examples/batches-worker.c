/* SPDX-License-Identifier: LGPL-2.1-or-later
 * The other process of batches: makes batch i of elements i, in the memory from which it will be read. */
#include <arena.h>

#define N_BATCHES  8
#define N_ELEMENTS (1024 * 1024)

static gboolean
send_batch (ArenaProducer  *producer,
            float           value,
            GError        **error)
{
  const guint64 shape[] = { N_ELEMENTS };
  ArenaUnitBuilder *unit = arena_producer_begin_unit (producer, N_ELEMENTS * sizeof (float), -1, NULL, error);
  g_autoptr(GBytes) bytes = NULL;
  float *x;

  if (unit == NULL)
    return FALSE;

  bytes = arena_unit_builder_reserve (unit, "x", ARENA_DTYPE_FLOAT32, shape, 1, NULL, error);
  if (bytes == NULL)
    return FALSE;

  /* Ours to write until the commit */
  x = (float *) g_bytes_get_data (bytes, NULL);
  for (gsize i = 0; i < N_ELEMENTS; i++)
    x[i] = value;

  return arena_unit_builder_commit (unit, error);
}

int
main (void)
{
  g_autoptr(GError) error = NULL;
  g_autoptr(ArenaProducer) producer = arena_producer_new_from_environment (&error);

  while (producer != NULL && arena_producer_wait_iteration (producer, -1, NULL, NULL, &error))
    {
      g_autoptr(GError) failure = NULL;
      int i = 0;

      while (i < N_BATCHES && send_batch (producer, (float) i, &failure))
        i++;

      /* A consumer that has stopped, or is gone, takes no notice of either. */
      if (failure == NULL)
        arena_producer_finish_iteration (producer, NULL);
      else
        arena_producer_fail_with_error (producer, failure, i, NULL);
    }

  if (error != NULL)
    g_printerr ("batches-worker: %s\n", error->message);

  return error != NULL;
}
