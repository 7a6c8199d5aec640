/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "backend/arena-writer-private.h"

#include "backend/arena-pool-private.h"
#include "backend/arena-ring-private.h"
#include "backend/arena-vfunc-private.h"

/* The public calls look an interface up twice, to check the instance and to find the method, which for a small unit is a
 * third of the whole; and a GBytes around an address is there only to be taken apart again by our own writers. */

void
arena_writer_calls_init (ArenaWriterCalls *self,
                         ArenaWriter      *writer)
{
  *self = (ArenaWriterCalls) { .writer = writer };
  if (writer == NULL)
    return;

  self->methods = ARENA_WRITER_GET_IFACE (writer);
  if (ARENA_IS_POOL_WRITER (writer))
    self->write_data = arena_pool_writer_write_data;
  else if (ARENA_IS_RING_WRITER (writer))
    self->write_data = arena_ring_writer_write_data;
}

gboolean
arena_writer_calls_begin_unit (const ArenaWriterCalls  *self,
                               gsize                    expected_size,
                               gint64                   timeout,
                               GCancellable            *cancellable,
                               GError                 **error)
{
  GError *local_error = NULL;
  gboolean success;

  if (G_UNLIKELY (self->methods->begin_unit == NULL))
    {
      arena_vfunc_set_missing (self->writer, "begin_unit", error);
      return FALSE;
    }

  success = self->methods->begin_unit (self->writer, expected_size, timeout, cancellable, &local_error);
  return arena_vfunc_end (self->writer, "begin_unit", success, local_error, error);
}

gboolean
arena_writer_calls_write (const ArenaWriterCalls  *self,
                          GBytes                  *bytes,
                          gconstpointer            data,
                          gsize                    size,
                          guint64                 *offset,
                          GError                 **error)
{
  g_autoptr (GBytes) borrowed = NULL;

  if (G_LIKELY (self->write_data != NULL))
    return self->write_data (self->writer, data, size, offset, error);

  if (bytes == NULL)
    bytes = borrowed = g_bytes_new_static (data, size);

  return arena_writer_write (self->writer, bytes, offset, error);
}

gboolean
arena_writer_calls_commit_unit (const ArenaWriterCalls  *self,
                                guint64                 *span,
                                GError                 **error)
{
  GError *local_error = NULL;
  gboolean success;

  *span = 0;
  if (G_UNLIKELY (self->methods->commit_unit == NULL))
    {
      arena_vfunc_set_missing (self->writer, "commit_unit", error);
      return FALSE;
    }

  success = self->methods->commit_unit (self->writer, span, &local_error);
  return arena_vfunc_end (self->writer, "commit_unit", success, local_error, error);
}
