/* SPDX-License-Identifier: LGPL-2.1-or-later
 * pipe-worker STATE COUNT: the other process of pipe. Loads the arena that STATE and COUNT descriptors from 3 on
 * describe, writes batches into it, and says on its standard output where they are. */
#include <arena.h>
#include <unistd.h>

#define N_BATCHES 8
#define SIZE      (4 << 20)

static ArenaWriter *
load_arena (const char  *text,
            int          n_fds,
            GError     **error)
{
  g_autoptr(ArenaBackend) arena = g_object_new (ARENA_TYPE_POOL, NULL);
  g_autoptr(GVariant) state = g_variant_parse (NULL, text, NULL, NULL, error);
  g_autoptr(GUnixFDList) list = NULL;
  const int fds[] = { 3, 4, 5, 6 };

  if (state == NULL)
    return NULL;

  list = g_unix_fd_list_new_from_array (fds, MIN (n_fds, (int) G_N_ELEMENTS (fds)));
  return arena_backend_load (arena, state, list, error) ? arena_backend_open_writer (arena, error) : NULL;
}

/* Waits for a free segment where the reader is behind: that is all the back pressure there is. */
static gboolean
send_batch (ArenaWriter  *writer,
            double        value,
            GError      **error)
{
  g_autoptr(GBytes) bytes = NULL;
  guint64 batch[3] = { 0, 0, SIZE }; /* span, offset, size */

  if (arena_writer_begin_unit (writer, SIZE, -1, NULL, error))
    bytes = arena_writer_reserve (writer, SIZE, 64, &batch[1], error);
  if (bytes == NULL)
    return FALSE;

  *(double *) g_bytes_get_data (bytes, NULL) = value;
  return arena_writer_commit_unit (writer, &batch[0], error) &&
         write (STDOUT_FILENO, batch, sizeof batch) == sizeof batch;
}

int
main (int    argc,
      char **argv)
{
  g_autoptr(GError) error = NULL;
  g_autoptr(ArenaWriter) writer = argc == 3 ? load_arena (argv[1], atoi (argv[2]), &error) : NULL;
  int i = 0;

  if (writer != NULL && arena_writer_start_epoch (writer, 1, &error))
    while (i < N_BATCHES && send_batch (writer, i, &error))
      i++;
  if (error != NULL)
    g_printerr ("pipe-worker: %s\n", error->message);
  return i == N_BATCHES ? 0 : 1;
}
