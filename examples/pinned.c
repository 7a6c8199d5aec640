/* SPDX-License-Identifier: LGPL-2.1-or-later
 * pinned: batches to a CUDA device, by turns from a pool that is pinned and from one that isn't. Checks every value that
 * comes back and prints the median time of the way there, which is this machine's; or says why the batches stay here. */
#include <arena.h>
#include <stdlib.h>

#define N_WARM_UP 8 /* batches, which aren't timed */
#define N_TIMED   25

typedef struct
{
  const char    *name;
  ArenaConsumer *worker;
  int            batch; /* of the iteration: the worker made each value so */
  guint64        n_checked;
  gint64         times[N_TIMED];
} Way;

static void
start (Way                 *way,
       gboolean             pin,
       const char * const  *command,
       GError             **error)
{
  g_autoptr(ArenaBackend) pool = g_initable_new (ARENA_TYPE_POOL, NULL, error, "segment-size", (guint64) 4 << 20,
                                                 "count", 4, "pin-memory", pin, NULL);

  *way = (Way) { .name = pin ? "pinned" : "pageable", .batch = -1 };
  way->worker = pool != NULL ? (ArenaConsumer *) arena_worker_new (pool, command, 2, error) : NULL;
}

static GBytes *
next_batch (Way     *way,
            GError **error)
{
  g_autoptr(GError) failure = NULL;
  g_autoptr(ArenaUnit) unit = arena_consumer_next (way->worker, -1, NULL, &failure);

  way->batch++;
  if (unit == NULL && failure == NULL && arena_consumer_start (way->worker, &failure)) /* the next iteration */
    {
      unit = arena_consumer_next (way->worker, -1, NULL, &failure);
      way->batch = 0;
    }
  if (failure != NULL)
    g_propagate_error (error, g_steal_pointer (&failure));
  return unit != NULL ? arena_unit_dup_bytes (unit, 0, error) : NULL;
}

static GBytes *
pass (ArenaCudaContext  *context,
      GBytes            *bytes,
      gint64            *time,
      GError           **error)
{
  g_autoptr(ArenaTransfer) transfer = arena_transfer_new (context);
  gint64 began = g_get_monotonic_time ();
  gboolean added = arena_transfer_add (transfer, bytes, error) >= 0;
  g_autoptr(GPtrArray) buffers = added ? arena_transfer_run (transfer, NULL, error) : NULL;

  *time = g_get_monotonic_time () - began;
  return buffers != NULL ? arena_device_buffer_download (g_ptr_array_index (buffers, 0), error) : NULL;
}

static void
check (Way     *way,
       GBytes  *bytes,
       GError **error)
{
  gsize size, n_wrong = 0;
  const float *x = g_bytes_get_data (bytes, &size);
  gsize n = size / sizeof *x;

  for (gsize i = 0; i < n; i++)
    n_wrong += x[i] != (float) way->batch;
  if (n_wrong > 0)
    g_set_error (error, G_IO_ERROR, G_IO_ERROR_INVALID_DATA,
                 "%" G_GSIZE_FORMAT " of %" G_GSIZE_FORMAT " values of a %s batch are wrong", n_wrong, n, way->name);
  way->n_checked += n;
}

static void
take_batch (Way               *way,
            ArenaCudaContext  *context,
            gint64            *time,
            GError           **error)
{
  g_autoptr(GBytes) bytes = next_batch (way, error);
  g_autoptr(GBytes) back = NULL;

  if (bytes != NULL)
    back = context != NULL ? pass (context, bytes, time, error) : g_bytes_ref (bytes);
  if (back != NULL)
    check (way, back, error);
}

static int
compare_times (const void *a,
               const void *b)
{
  return *(const gint64 *) a < *(const gint64 *) b ? -1 : *(const gint64 *) a > *(const gint64 *) b;
}

static void
print_result (Way      *way,
              gboolean  timed)
{
  g_print ("%s: %d batches, all %" G_GUINT64_FORMAT " values as written", way->name, N_WARM_UP + N_TIMED, way->n_checked);
  qsort (way->times, N_TIMED, sizeof *way->times, compare_times);
  if (timed)
    g_print (", median of %d: %" G_GINT64_FORMAT " us", N_TIMED, way->times[N_TIMED / 2]);
  g_print ("\n");
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
  guint n_ways = context != NULL ? 2 : 1;
  Way ways[2] = { 0 };

  if (context == NULL)
    g_print ("no device, the batches stay here: %s\n", error->message);
  g_clear_error (&error);
  for (guint w = 0; w < n_ways && error == NULL; w++)
    start (&ways[w], w + 1 < n_ways, command, &error);
  for (guint i = 0; i < N_WARM_UP + N_TIMED && error == NULL; i++)
    for (guint w = 0; w < n_ways && error == NULL; w++)
      take_batch (&ways[w], context, &ways[w].times[i < N_WARM_UP ? 0 : i - N_WARM_UP], &error);
  if (error != NULL)
    g_printerr ("pinned: %s\n", error->message);
  for (guint w = 0; w < n_ways && error == NULL; w++)
    print_result (&ways[w], context != NULL);
  for (guint w = 0; w < n_ways; w++)
    g_clear_object (&ways[w].worker);
  return error != NULL;
}
