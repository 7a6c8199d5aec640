/* SPDX-License-Identifier: LGPL-2.1-or-later
 * batches [--ring]: eight batches of a million floats that another process makes. A pool lends them where that process
 * wrote them; a ring gives copies, which may be kept without holding anything up. */
#include <arena.h>

static ArenaBackend *
create_arena (gboolean   ring,
              GError   **error)
{
  if (ring)
    return (ArenaBackend *) arena_ring_new (16 << 20, error);

  return (ArenaBackend *) arena_pool_new (4 << 20, 4, error);
}

/* No early return is a leak: dropping a unit gives its segment back, dropping the worker ends its process. */
static void
print_batches (ArenaBackend        *arena,
               const char * const  *command,
               GError             **error)
{
  g_autoptr(ArenaWorker) worker = arena_worker_new (arena, command, 2, error);

  while (worker != NULL)
    {
      g_autoptr(ArenaUnit) unit = arena_consumer_next (ARENA_CONSUMER (worker), -1, NULL, error);
      g_autoptr(GBytes) bytes = unit != NULL ? arena_unit_dup_bytes (unit, 0, error) : NULL;
      g_autoptr(ArenaField) field = bytes != NULL ? arena_unit_dup_field (unit, 0, error) : NULL;
      const float *x;
      gsize n_dims;

      if (field == NULL)
        return;

      x = g_bytes_get_data (bytes, NULL);
      g_print ("(%" G_GUINT64_FORMAT ",) %g\n", arena_field_get_shape (field, &n_dims)[0], (double) x[0]);
    }
}

int
main (int    argc,
      char **argv)
{
  g_autoptr(GError) error = NULL;
  g_autoptr(ArenaBackend) arena = create_arena (g_strcmp0 (argv[argc - 1], "--ring") == 0, &error);
  g_autofree char *program = g_file_read_link ("/proc/self/exe", NULL);
  g_autofree char *worker = g_strconcat (program, "-worker", NULL);
  const char *command[] = { worker, NULL };

  if (arena != NULL)
    print_batches (arena, command, &error);

  if (error == NULL)
    return 0;

  g_printerr ("batches: %s\n", error->message);
  return 1;
}
