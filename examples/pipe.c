/* SPDX-License-Identifier: LGPL-2.1-or-later
 * pipe: eight batches from a process that this program starts itself, without a boundary: save() and load() share the
 * arena, and a plain pipe is the queue that says where in it each batch is. */
#include <arena.h>

/* The arena's descriptors are the worker's 3, 4 ..., and the pipe its standard output. */
static GSubprocess *
start_worker (ArenaBackend  *arena,
              const char    *program,
              GError       **error)
{
  g_autoptr(GSubprocessLauncher) launcher = g_subprocess_launcher_new (G_SUBPROCESS_FLAGS_STDOUT_PIPE);
  g_autoptr(GUnixFDList) list = g_unix_fd_list_new ();
  g_autoptr(GVariant) state = arena_backend_save (arena, list, error);
  g_autofree char *text = state != NULL ? g_variant_print (state, TRUE) : NULL;
  int n_fds;
  g_autofree int *fds = g_unix_fd_list_steal_fds (list, &n_fds);
  g_autofree char *count = g_strdup_printf ("%d", n_fds);

  for (int i = 0; i < n_fds; i++)
    g_subprocess_launcher_take_fd (launcher, fds[i], 3 + i);
  return text != NULL ? g_subprocess_launcher_spawn (launcher, error, program, text, count, NULL) : NULL;
}

static void
print_batches (ArenaReader   *reader,
               GInputStream  *queue,
               GError       **error)
{
  guint64 batch[3]; /* span, offset, size */
  gsize n_read;

  while (g_input_stream_read_all (queue, batch, sizeof batch, &n_read, NULL, error) && n_read == sizeof batch)
    {
      g_autoptr(GBytes) bytes = arena_reader_read (reader, batch[0], batch[1], batch[2], error);

      if (bytes == NULL || !arena_reader_end_unit (reader, batch[0], error))
        return; /* a segment is free again when its last view is gone: here, the bytes */
      g_print ("%" G_GSIZE_FORMAT " %g\n", g_bytes_get_size (bytes), *(const double *) g_bytes_get_data (bytes, NULL));
    }
}

int
main (void)
{
  g_autoptr(GError) error = NULL;
  g_autoptr(ArenaPool) pool = arena_pool_new (4 << 20, 4, &error);
  g_autoptr(ArenaReader) reader = pool != NULL ? arena_backend_open_reader (ARENA_BACKEND (pool), &error) : NULL;
  g_autofree char *program = g_file_read_link ("/proc/self/exe", NULL);
  g_autofree char *worker = g_strconcat (program, "-worker", NULL);
  g_autoptr(GSubprocess) process = reader != NULL ? start_worker (ARENA_BACKEND (pool), worker, &error) : NULL;

  if (process != NULL)
    print_batches (reader, g_subprocess_get_stdout_pipe (process), &error);
  if (error == NULL && g_subprocess_wait_check (process, NULL, &error))
    return 0;

  g_printerr ("pipe: %s\n", error->message);
  return 1;
}
