/* SPDX-License-Identifier: LGPL-2.1-or-later
 * pinned: batches to a CUDA device and back, from a pool that is pinned and from one that isn't; or why they stay here. */
#include <arena.h>

static GBytes *
pass (ArenaCudaContext  *context,
      GBytes            *bytes,
      GError           **error)
{
  g_autoptr(ArenaTransfer) transfer = arena_transfer_new (context);
  gboolean added = arena_transfer_add (transfer, bytes, error) >= 0;
  g_autoptr(GPtrArray) buffers = added ? arena_transfer_run (transfer, NULL, error) : NULL;

  return buffers != NULL ? arena_device_buffer_download (g_ptr_array_index (buffers, 0), error) : NULL;
}

static void
print_batches (ArenaCudaContext    *context,
               gboolean             pin,
               const char * const  *command,
               GError             **error)
{
  g_autoptr(ArenaBackend) pool = g_initable_new (ARENA_TYPE_POOL, NULL, error, "segment-size", (guint64) 4 << 20,
                                                 "count", 4, "pin-memory", pin, NULL);
  g_autoptr(ArenaWorker) worker = pool != NULL ? arena_worker_new (pool, command, 2, error) : NULL;

  while (worker != NULL)
    {
      g_autoptr(ArenaUnit) unit = arena_consumer_next (ARENA_CONSUMER (worker), -1, NULL, error);
      g_autoptr(GBytes) bytes = unit != NULL ? arena_unit_dup_bytes (unit, 0, error) : NULL;
      gint64 began = g_get_monotonic_time ();
      g_autoptr(GBytes) back = bytes == NULL || context == NULL ? g_steal_pointer (&bytes) : pass (context, bytes, error);
      const float *x = back != NULL ? g_bytes_get_data (back, NULL) : NULL;

      if (x == NULL)
        return;
      g_print ("%s: %g to %g, %" G_GINT64_FORMAT " us\n", pin ? "pinned" : "pageable", (double) x[0],
               (double) x[g_bytes_get_size (back) / sizeof *x - 1], g_get_monotonic_time () - began);
    }
}

int
main (void)
{
  g_autoptr(GError) error = NULL;
  ArenaCudaContext *context = arena_cuda_context_get_default (&error);
  g_autofree char *program = g_file_read_link ("/proc/self/exe", NULL);
  g_autofree char *folder = g_path_get_dirname (program);
  g_autofree char *worker = g_build_filename (folder, "batches-worker", NULL);
  const char *command[] = { worker, NULL };

  if (context == NULL)
    g_print ("no device, the batches stay here: %s\n", error->message);
  g_clear_error (&error);
  for (int pin = context != NULL; pin >= 0 && error == NULL; pin--)
    print_batches (context, pin, command, &error);
  if (error != NULL)
    g_printerr ("pinned: %s\n", error->message);
  return error != NULL;
}
