/* SPDX-License-Identifier: LGPL-2.1-or-later
 * own-process: as batches, but this program starts the process in its own way and passes it the descriptor through which
 * it becomes the producer. So can a job runner or a service manager. */
#include <arena.h>

#define WORKER_FD 3 /* its number there */

static GSubprocess *
start_worker (ArenaConsumer  *consumer,
              GError        **error)
{
  g_autoptr(GSubprocessLauncher) launcher = g_subprocess_launcher_new (G_SUBPROCESS_FLAGS_NONE);
  g_autofree char *program = g_file_read_link ("/proc/self/exe", NULL);
  g_autofree char *folder = g_path_get_dirname (program);
  g_autofree char *worker = g_build_filename (folder, "batches-worker", NULL);
  int fd = arena_consumer_dup_worker_fd (consumer, error);

  if (fd < 0)
    return NULL;

  /* No other process may keep it: its end is how this one learns of the worker's. */
  g_subprocess_launcher_take_fd (launcher, fd, WORKER_FD);
  g_subprocess_launcher_setenv (launcher, "ARENA_WORKER_FD", G_STRINGIFY (WORKER_FD), TRUE);
  return g_subprocess_launcher_spawn (launcher, error, worker, NULL);
}

static void
print_batches (ArenaConsumer  *consumer,
               GError        **error)
{
  ArenaUnit *unit;

  while ((unit = arena_consumer_next (consumer, -1, NULL, error)) != NULL)
    {
      g_autoptr(GBytes) bytes = arena_unit_dup_bytes (unit, 0, NULL);
      const float *x = g_bytes_get_data (bytes, NULL);

      g_print ("%" G_GSIZE_FORMAT " %g\n", g_bytes_get_size (bytes), (double) x[0]);
      g_object_unref (unit);
    }
}

int
main (void)
{
  g_autoptr(GError) error = NULL;
  g_autoptr(ArenaPool) pool = arena_pool_new (4 << 20, 4, &error);
  g_autoptr(ArenaConsumer) consumer = pool != NULL ? arena_consumer_new (ARENA_BACKEND (pool), 2, &error) : NULL;
  g_autoptr(GSubprocess) process = consumer != NULL ? start_worker (consumer, &error) : NULL;

  if (process != NULL)
    print_batches (consumer, &error);
  if (error == NULL && arena_consumer_close (consumer, -1, NULL, &error) &&
      g_subprocess_wait_check (process, NULL, &error))
    return 0;

  g_printerr ("own-process: %s\n", error->message);
  return 1;
}
