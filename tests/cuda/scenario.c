/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "scenario.h"

#include <string.h>

typedef struct
{
  void   (*func) (void);
  gboolean lasting;
} Scenario;

static void
assert_clean (void)
{
  ArenaFakeLive live;

  arena_cuda_context_get_default (NULL); /* the next use, which finishes what finalizers left */
  cudaDeviceSynchronize ();              /* device memory is freed in the order of a stream */
  arena_fake_live (&live);
  g_assert_cmpuint (live.pins, ==, 0);
  g_assert_cmpuint (live.host_allocs, ==, 0);
  g_assert_cmpuint (live.device_allocs, ==, 0);
  g_assert_cmpuint (live.pending, ==, 0);
}

static int
run_in_child (gpointer data)
{
  const Scenario *scenario = data;
  ArenaTestResources resources;
  const char *text;

  /* Before there are threads: ThreadSanitizer doesn't see what orders GLib's first error. */
  g_error_free (g_error_new_literal (ARENA_CUDA_ERROR, ARENA_CUDA_ERROR_COPY, "first"));
  arena_test_resources_begin (&resources);
  scenario->func ();
  if (!scenario->lasting)
    {
      assert_clean ();
      arena_test_resources_end (&resources);
    }
  if (arena_fake_violations (&text) > 0)
    g_error ("%s", text);
  return 0;
}

static void
run (gconstpointer data)
{
  arena_test_assert_child (run_in_child, (gpointer) data);
}

static void
add (const char *path,
     void      (*func) (void),
     gboolean    lasting)
{
  Scenario *scenario = g_new (Scenario, 1);

  scenario->func = func;
  scenario->lasting = lasting;
  g_test_add_data_func_full (path, scenario, run, g_free);
}

void
scenario_add (const char *path,
              void      (*func) (void))
{
  add (path, func, FALSE);
}

void
scenario_add_lasting (const char *path,
                      void      (*func) (void))
{
  add (path, func, TRUE);
}

ArenaBackend *
scenario_pool_new (guint       count,
                   const char *property,
                   int         value)
{
  g_autoptr(GError) error = NULL;
  ArenaBackend *pool = g_initable_new (ARENA_TYPE_POOL, NULL, &error,
                                       "segment-size", (guint64) SCENARIO_PAGE,
                                       "count", count,
                                       "pin-memory", TRUE,
                                       property, value,
                                       NULL);

  g_assert_no_error (error);
  return pool;
}

gboolean
scenario_open (ArenaEnds     *ends,
               ArenaBackend  *backend,
               GError       **error)
{
  g_autoptr(GError) local_error = NULL;

  *ends = (ArenaEnds) { .backend = backend };
  ends->storage = arena_storage_ref (arena_backend_peek_storage (backend));
  ends->reader = arena_backend_open_reader (backend, error);
  if (ends->reader == NULL)
    return FALSE;

  ends->writer = arena_backend_open_writer (backend, &local_error);
  g_assert_no_error (local_error);
  return TRUE;
}

void
scenario_open_pool (ArenaEnds *ends,
                    guint      count)
{
  g_autoptr(GError) error = NULL;

  scenario_open (ends, scenario_pool_new (count, NULL, 0), &error);
  g_assert_no_error (error);
}

void
scenario_close (ArenaEnds *ends)
{
  g_autoptr(GError) error = NULL;

  arena_backend_close (ends->backend, &error);
  g_assert_no_error (error);
  arena_ends_clear (ends);
}

static guint
scan (const char     *function,
      guint           n,
      ArenaFakeEntry *found)
{
  ArenaFakeEntry entry;
  guint count = 0;

  for (uint64_t i = 0; i < arena_fake_log (i, &entry); i++)
    if (strcmp (entry.function, function) == 0 && count++ == n)
      *found = entry;

  return count;
}

ArenaFakeEntry
scenario_get_call (const char *function,
                   guint       n)
{
  ArenaFakeEntry entry = { 0 };

  g_assert_cmpuint (scan (function, n, &entry), >, n);
  return entry;
}

guint
scenario_count (const char *function)
{
  ArenaFakeEntry entry;

  return scan (function, 0, &entry);
}

void
scenario_assert_pinned (guint   n,
                        guint64 bytes)
{
  ArenaFakeLive live;

  arena_fake_live (&live);
  g_assert_cmpuint (live.pins, ==, n);
  g_assert_cmpuint (live.pinned_bytes, ==, bytes);
}

guint8 *
scenario_get_segment (const ArenaEnds *ends,
                      guint            i)
{
  return arena_mapping_get_data (((ArenaOwnReader *) ends->reader)->data) + i * SCENARIO_PAGE;
}

guint
scenario_count_unmapped (void)
{
  return scenario_count ("munmap");
}
