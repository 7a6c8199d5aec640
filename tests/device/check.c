/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "arena-ends.h"
#include "arena-test.h"
#include "cuda/arena-cuda-context.h"
#include "cuda/arena-transfer.h"

/* What only a device can tell: run by tests/device/run.sh with the real runtime, and as a test with the double, so that it
 * doesn't rot. Figures are printed and not judged. */

static ArenaCudaContext *
get_context (void)
{
  g_autoptr(GError) error = NULL;
  ArenaCudaContext *context = arena_cuda_context_get_default (&error);

  g_assert_no_error (error);
  return context;
}

static void
open_pinned (ArenaEnds *ends,
             gboolean   ring,
             gsize      size)
{
  g_autoptr(GError) error = NULL;

  *ends = (ArenaEnds) { NULL };
  ends->backend = ring ? g_initable_new (ARENA_TYPE_RING, NULL, &error, "capacity", (guint64) size * 3, "pin-memory", TRUE,
                                         NULL)
                       : g_initable_new (ARENA_TYPE_POOL, NULL, &error, "segment-size", (guint64) size, "count", 3,
                                         "pin-memory", TRUE, NULL);
  g_assert_no_error (error);
  ends->storage = arena_storage_ref (arena_backend_peek_storage (ends->backend));
  ends->reader = arena_backend_open_reader (ends->backend, &error);
  g_assert_no_error (error);
  ends->writer = arena_backend_open_writer (ends->backend, &error);
  g_assert_no_error (error);
}

static void
close_pinned (ArenaEnds *ends)
{
  g_autoptr(ArenaStats) stats = NULL;
  g_autoptr(GError) error = NULL;

  arena_cuda_context_retry_quarantine (get_context (), &error);
  g_assert_no_error (error);
  arena_backend_close (ends->backend, &error);
  g_assert_no_error (error);
  if (ARENA_IS_POOL (ends->backend))
    {
      stats = arena_pool_dup_stats (ARENA_POOL (ends->backend));
      g_assert_cmpuint (arena_stats_get_pinned_bytes (stats), ==, 0);
    }
  arena_ends_clear (ends);
}

static GPtrArray *
upload (GBytes  *bytes,
        gboolean wait)
{
  g_autoptr(ArenaTransfer) transfer = arena_transfer_new (get_context ());
  g_autoptr(GError) error = NULL;
  GPtrArray *buffers;

  arena_transfer_add (transfer, bytes, NULL);
  buffers = wait ? arena_transfer_run (transfer, NULL, &error) : arena_transfer_enqueue (transfer, &error);
  g_assert_no_error (error);
  return buffers;
}

static void
check (ArenaDeviceBuffer *buffer,
       guint64            seed)
{
  g_autoptr(GError) error = NULL;
  g_autoptr(GBytes) bytes = arena_device_buffer_download (buffer, &error);

  g_assert_no_error (error);
  g_assert_true (arena_test_check_pattern (g_bytes_get_data (bytes, NULL), g_bytes_get_size (bytes), seed));
}

static void
test_context (void)
{
  ArenaCudaContext *context = get_context ();

  g_test_message ("device %d, runtime %u, driver %u, %s, %s", arena_cuda_context_get_device (context),
                  arena_cuda_context_get_runtime_version (context), arena_cuda_context_get_driver_version (context),
                  arena_cuda_context_get_library_path (context),
                  arena_cuda_context_get_page_locks (context) ? "locks pages" : "doesn't lock pages");
}

/* Units are written over as soon as the arena lets the producer: what the device got must be what it was. */
static void
run_enqueued (gboolean ring)
{
  const gsize size = 1 << 20;
  g_autoptr(GPtrArray) all = g_ptr_array_new_with_free_func ((GDestroyNotify) g_ptr_array_unref);
  ArenaEnds ends;

  open_pinned (&ends, ring, size);
  for (guint64 i = 0; i < 64; i++)
    {
      ArenaSent sent;
      GBytes *bytes;

      while (!arena_ends_try_send (&ends, size, i, 0, &sent, NULL))
        arena_cuda_context_retry_quarantine (get_context (), NULL);
      bytes = arena_ends_take (&ends, &sent);
      g_ptr_array_add (all, upload (bytes, FALSE));
      g_bytes_unref (bytes);
    }

  for (guint i = 0; i < all->len; i++)
    check (g_ptr_array_index ((GPtrArray *) g_ptr_array_index (all, i), 0), i);
  g_ptr_array_set_size (all, 0);
  close_pinned (&ends);
}

static void
test_pool (void)
{
  run_enqueued (FALSE);
}

static void
test_ring (void)
{
  run_enqueued (TRUE);
}

static gpointer
work (gpointer data)
{
  for (guint64 i = 0; i < 50; i++)
    {
      guint64 seed = GPOINTER_TO_UINT (data) * 1000 + i;
      gsize size = 1000 + seed * 37 % 100000;
      guint8 *memory = g_malloc (size);
      g_autoptr(GBytes) bytes = g_bytes_new_take (memory, size);
      g_autoptr(GPtrArray) buffers = NULL;

      arena_test_fill_pattern (memory, size, seed);
      buffers = upload (bytes, i % 2 == 0);
      check (g_ptr_array_index (buffers, 0), seed);
    }

  return NULL;
}

static void
test_threads (void)
{
  GThread *threads[8];

  for (guint i = 0; i < G_N_ELEMENTS (threads); i++)
    threads[i] = g_thread_new ("device", work, GUINT_TO_POINTER (i));
  for (guint i = 0; i < G_N_ELEMENTS (threads); i++)
    g_thread_join (threads[i]);
}

static double
measure (GBytes *bytes)
{
  gint64 began;

  g_ptr_array_unref (upload (bytes, TRUE));
  began = g_get_monotonic_time ();
  for (guint i = 0; i < 8; i++)
    g_ptr_array_unref (upload (bytes, TRUE));
  return 8.0 * (double) g_bytes_get_size (bytes) / 1000.0 / (double) MAX (g_get_monotonic_time () - began, 1);
}

static void
test_throughput (void)
{
  const gsize largest = g_test_slow () ? 256 : 4;

  for (gsize mib = 4; mib <= largest; mib *= 8)
    {
      gsize size = mib << 20;
      g_autoptr(GBytes) pageable = g_bytes_new_take (g_malloc0 (size), size);
      ArenaEnds ends;
      ArenaSent sent;
      GBytes *view;

      open_pinned (&ends, FALSE, size);
      sent = arena_ends_send (&ends, size, 1);
      view = arena_ends_take (&ends, &sent);
      g_test_message ("%" G_GSIZE_FORMAT " MiB: view of a pinned pool %.1f GB/s, ordinary memory %.1f GB/s", mib,
                      measure (view), measure (pageable));
      g_bytes_unref (view);
      close_pinned (&ends);
    }
}

int
main (int    argc,
      char **argv)
{
  arena_test_init (&argc, &argv);
  arena_test_add ("/device/context", test_context);
  arena_test_add ("/device/pool", test_pool);
  arena_test_add ("/device/ring", test_ring);
  arena_test_add ("/device/threads", test_threads);
  arena_test_add ("/device/throughput", test_throughput);
  return g_test_run ();
}
