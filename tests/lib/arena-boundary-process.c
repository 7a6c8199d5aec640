/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "arena-boundary.h"

#include <pthread.h>
#include <string.h>

/* The process's side of the boundary helpers, and the log. */

ArenaWorker *
arena_test_worker_new (ArenaBackend *backend,
                       guint         buffer_size,
                       ...)
{
  g_autoptr(ArenaBackend) owned = backend;
  g_autoptr(GPtrArray) argv = g_ptr_array_new_with_free_func (g_free);
  g_autoptr(GError) error = NULL;
  const char *argument;
  ArenaWorker *worker;
  va_list arguments;

  g_ptr_array_add (argv, g_test_build_filename (G_TEST_BUILT, "process", "worker", NULL));
  va_start (arguments, buffer_size);
  while ((argument = va_arg (arguments, const char *)) != NULL)
    g_ptr_array_add (argv, g_strdup (argument));
  va_end (arguments);
  g_ptr_array_add (argv, NULL);

  worker = arena_worker_new (owned, (const char * const *) argv->pdata, buffer_size, &error);
  g_assert_no_error (error);
  g_assert_nonnull (worker);
  return worker;
}

guint
arena_test_assert_gone (ArenaConsumer *consumer,
                        const char    *text)
{
  g_autoptr(GError) error = NULL;
  ArenaUnit *unit;
  guint n = 0;

  while ((unit = arena_consumer_next (consumer, 10 * G_USEC_PER_SEC, NULL, &error)) != NULL)
    {
      g_object_unref (unit);
      n++;
    }

  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_PEER_GONE, text);
  return n;
}

gboolean
arena_test_process_exists (gint64 pid)
{
  g_autofree char *path = g_strdup_printf ("/proc/%" G_GINT64_FORMAT "/stat", pid);
  g_autofree char *stat = NULL;
  const char *after_name;

  if (!g_file_get_contents (path, &stat, NULL, NULL))
    return FALSE;

  after_name = strrchr (stat, ')');
  return after_name != NULL && after_name[2] != 'Z' && after_name[2] != 'X';
}

typedef struct
{
  GLogLevelFlags  level;
  char           *text;
} Entry;

/* Guards log_entries. ThreadSanitizer can't see into a GMutex. */
static pthread_mutex_t log_mutex = PTHREAD_MUTEX_INITIALIZER;
static GArray *log_entries;

static void
clear_entry (gpointer data)
{
  g_free (((Entry *) data)->text);
}

static const char *
get_field (const GLogField *fields,
           gsize            n_fields,
           const char      *key)
{
  for (gsize i = 0; i < n_fields; i++)
    if (strcmp (fields[i].key, key) == 0)
      return fields[i].value;

  return "";
}

static GLogWriterOutput
write_log (GLogLevelFlags   level,
           const GLogField *fields,
           gsize            n_fields,
           gpointer         data)
{
  Entry entry = { .level = level & G_LOG_LEVEL_MASK };

  if (strcmp (get_field (fields, n_fields, "GLIB_DOMAIN"), "Arena") != 0 || entry.level <= G_LOG_LEVEL_CRITICAL)
    return g_log_writer_default (level, fields, n_fields, data);

  pthread_mutex_lock (&log_mutex);
  entry.text = g_strdup (get_field (fields, n_fields, "MESSAGE"));
  g_array_append_val (log_entries, entry);
  pthread_mutex_unlock (&log_mutex);
  return G_LOG_WRITER_HANDLED;
}

void
arena_test_log_capture (void)
{
  log_entries = g_array_new (FALSE, FALSE, sizeof (Entry));
  g_array_set_clear_func (log_entries, clear_entry);
  g_log_set_writer_func (write_log, NULL, NULL);
  g_log_set_always_fatal (G_LOG_FATAL_MASK | G_LOG_LEVEL_CRITICAL); /* a test's warnings are too */
}

guint
arena_test_log_count (GLogLevelFlags  level,
                      const char     *text)
{
  guint n = 0;

  pthread_mutex_lock (&log_mutex);
  for (guint i = 0; i < log_entries->len; i++)
    {
      const Entry *entry = &g_array_index (log_entries, Entry, i);

      n += (entry->level & level) != 0 && (text == NULL || strstr (entry->text, text) != NULL);
    }
  pthread_mutex_unlock (&log_mutex);
  return n;
}

void
arena_test_log_forget (void)
{
  pthread_mutex_lock (&log_mutex);
  g_array_set_size (log_entries, 0);
  pthread_mutex_unlock (&log_mutex);
}
