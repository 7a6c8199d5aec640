/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "cuda-test.h"

#include "cuda/arena-cuda-kept-private.h"

#include <string.h>

ArenaCudaContext *
cuda_test_get_context (void)
{
  g_autoptr(GError) error = NULL;
  ArenaCudaContext *context = arena_cuda_context_get_for_device (0, &error);

  g_assert_no_error (error);
  return context;
}

ArenaCudaDevice *
cuda_test_get_device (void)
{
  g_autoptr(GError) error = NULL;
  ArenaCudaDevice *device = arena_cuda_device_get (cuda_test_get_context (), &error);

  g_assert_no_error (error);
  return device;
}

void
cuda_test_sweep (void)
{
  ArenaCudaDevice *device = cuda_test_get_device ();
  g_autoptr(GError) error = NULL;
  ArenaCudaScope scope;

  arena_cuda_device_enter (device, &scope, &error);
  g_assert_no_error (error);
  arena_cuda_device_sweep (device, &scope);
  arena_cuda_scope_leave (&scope);
}

void
cuda_test_assert_kept (guint n_waiting,
                       guint n_quarantined)
{
  ArenaCudaKept waiting, quarantined;

  arena_cuda_device_count (cuda_test_get_device (), &waiting, &quarantined);
  g_assert_cmpuint (waiting.n_entries, ==, n_waiting);
  g_assert_cmpuint (quarantined.n_entries, ==, n_quarantined);
}

static void
run_checked (gconstpointer data)
{
  void (*const *func) (void) = data;
  ArenaTestResources resources;
  ArenaFakeLive before, after;
  const char *text;

  arena_fake_reset ();
  /* Before there are threads: ThreadSanitizer doesn't see what orders GLib's first error. */
  g_error_free (g_error_new_literal (ARENA_CUDA_ERROR, ARENA_CUDA_ERROR_COPY, "first"));
  cuda_test_get_device ();
  arena_fake_log_clear ();
  arena_test_resources_begin (&resources);
  arena_fake_live (&before);
  (*func) ();

  cuda_test_sweep ();
  cuda_test_assert_kept (0, 0);
  arena_pinned_cache_trim (cuda_test_get_device ()->staging);
  if (arena_fake_violations (&text) != 0)
    g_error ("the double complains: %s", text);
  arena_fake_reset (); /* waits for what frees memory */
  arena_fake_live (&after);
  g_assert_cmpuint (after.pins, ==, before.pins);
  g_assert_cmpuint (after.host_allocs, ==, before.host_allocs);
  g_assert_cmpuint (after.device_allocs, ==, before.device_allocs);
  arena_test_resources_end (&resources);
}

void
cuda_test_add (const char *path,
               void      (*func) (void))
{
  void (**box) (void) = g_new (typeof (func), 1);

  *box = func;
  g_test_add_data_func_full (path, box, run_checked, g_free);
}

void
cuda_test_expect_violation (const char *text)
{
  const char *found;

  g_assert_cmpuint (arena_fake_violations (&found), >, 0);
  if (strstr (found, text) == NULL)
    g_error ("no \"%s\" in the violations: %s", text, found);
  arena_fake_reset ();
}

GBytes *
cuda_test_take (ArenaPinnedCache *cache,
                gsize             size)
{
  g_autoptr(GError) error = NULL;
  gpointer buffer = arena_pinned_cache_take (cache, size, &error);

  g_assert_no_error (error);
  return arena_pinned_cache_finish (cache, buffer, size);
}

ArenaPinnedFigures
cuda_test_get_figures (ArenaPinnedCache *cache)
{
  ArenaPinnedFigures figures;

  arena_pinned_cache_get_figures (cache, &figures);
  g_assert_cmpuint (figures.used_bytes + figures.cached_bytes + figures.waiting_bytes, ==, figures.allocated_bytes);
  return figures;
}

CudaStream
cuda_test_stream_new (void)
{
  CudaStream stream;

  g_assert_cmpint (cudaStreamCreateWithFlags (&stream, CUDA_STREAM_NON_BLOCKING), ==, 0);
  return stream;
}

GBytes *
cuda_test_make_bytes (gsize   size,
                      guint64 seed)
{
  guint8 *data = g_malloc (size);

  arena_test_fill_pattern (data, size, seed);
  return g_bytes_new_take (data, size);
}

typedef struct
{
  guint8   *data;
  gboolean *freed;
} Watched;

static void
free_watched (gpointer data)
{
  Watched *watched = data;

  *watched->freed = TRUE;
  g_free (watched->data);
  g_free (watched);
}

GBytes *
cuda_test_watch_bytes (gsize     size,
                       guint64   seed,
                       gboolean *freed)
{
  Watched *watched = g_new (Watched, 1);

  *freed = FALSE;
  *watched = (Watched) { g_malloc (size), freed };
  arena_test_fill_pattern (watched->data, size, seed);
  return g_bytes_new_with_free_func (watched->data, size, free_watched, watched);
}

ArenaTransfer *
cuda_test_transfer_new (GBytes *a,
                        GBytes *b,
                        GBytes *c)
{
  ArenaTransfer *transfer = arena_transfer_new (cuda_test_get_context ());
  GBytes *const bytes[] = { a, b, c };

  for (gint i = 0; i < 3 && bytes[i] != NULL; i++)
    g_assert_cmpint (arena_transfer_add (transfer, bytes[i], NULL), ==, i);
  return transfer;
}

GPtrArray *
cuda_test_run (ArenaTransfer *transfer)
{
  g_autoptr(GError) error = NULL;
  GPtrArray *buffers = arena_transfer_run (transfer, NULL, &error);

  g_assert_no_error (error);
  g_object_unref (transfer);
  return buffers;
}

GPtrArray *
cuda_test_enqueue (ArenaTransfer *transfer)
{
  g_autoptr(GError) error = NULL;
  GPtrArray *buffers = arena_transfer_enqueue (transfer, &error);

  g_assert_no_error (error);
  g_object_unref (transfer);
  return buffers;
}

void
cuda_test_check_buffer (GPtrArray *buffers,
                        guint      index,
                        gsize      size,
                        guint64    seed)
{
  ArenaDeviceBuffer *buffer = g_ptr_array_index (buffers, index);

  g_assert_cmpuint (arena_device_buffer_get_size (buffer), ==, size);
  g_assert_cmpint (arena_device_buffer_get_device (buffer), ==, 0);
  if (size > 0)
    cuda_test_check_device (GSIZE_TO_POINTER (arena_device_buffer_get_pointer (buffer)), size, seed);
}

void
cuda_test_check_device (gconstpointer pointer,
                        gsize         size,
                        guint64       seed)
{
  g_autofree guint8 *copy = g_malloc (size);

  g_assert_cmpint (cudaMemcpy (copy, pointer, size, CUDA_DEVICE_TO_HOST), ==, 0);
  g_assert_true (arena_test_check_pattern (copy, size, seed));
}

ArenaFakeEntry
cuda_test_get_call (const char *function,
                    guint       n)
{
  ArenaFakeEntry entry;

  for (guint64 i = 0; i < arena_fake_log (i, &entry); i++)
    if (g_str_equal (entry.function, function) && n-- == 0)
      return entry;

  g_error ("%s was not called that often", function);
}
