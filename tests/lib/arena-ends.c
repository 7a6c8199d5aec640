/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "arena-ends.h"

#include "arena-test.h"
#include "base/arena-error-private.h"

#define TIMEOUT_US (2 * G_USEC_PER_SEC)

static void
open_both (ArenaEnds *self)
{
  g_autoptr (GError) error = NULL;

  self->reader = arena_storage_open_reader (self->storage, &error);
  g_assert_no_error (error);
  self->writer = arena_storage_open_local_writer (self->storage, &error);
  g_assert_no_error (error);
}

void
arena_ends_open_pool (ArenaEnds *self,
                      gsize      segment_size,
                      guint      count)
{
  g_autoptr (GError) error = NULL;

  self->backend = ARENA_BACKEND (arena_pool_new (segment_size, count, &error));
  g_assert_no_error (error);
  self->storage = arena_storage_ref (arena_backend_peek_storage (self->backend));
  open_both (self);
}

void
arena_ends_open_any (ArenaEnds *self,
                     gsize      segment_size,
                     guint      count)
{
  g_autoptr (GError) error = NULL;

  self->backend = g_initable_new (ARENA_TYPE_POOL, NULL, &error, "segment-size", (guint64) segment_size, "count", count,
                                  "reuse", ARENA_REUSE_ANY, NULL);
  g_assert_no_error (error);
  self->storage = arena_storage_ref (arena_backend_peek_storage (self->backend));
  open_both (self);
}

void
arena_ends_open_ring (ArenaEnds *self,
                      gsize      capacity)
{
  g_autoptr (GError) error = NULL;

  self->backend = ARENA_BACKEND (arena_ring_new (capacity, &error));
  g_assert_no_error (error);
  self->storage = arena_storage_ref (arena_backend_peek_storage (self->backend));
  open_both (self);
}

void
arena_ends_open_at (ArenaEnds *self,
                    gsize      size,
                    guint      count,
                    guint64    first_cursor,
                    guint64    first_sequence)
{
  g_autoptr (GError) error = NULL;
  ArenaGeometry geometry;

  if (count > 0)
    arena_geometry_init_pool (&geometry, size, count, &error);
  else
    arena_geometry_init_ring (&geometry, size, &error);
  g_assert_no_error (error);

  geometry.first_cursor = first_cursor;
  if (count > 0)
    geometry.first_sequence = first_sequence;
  self->backend = NULL;
  self->storage = arena_storage_new (&geometry, NULL, NULL, &error);
  g_assert_no_error (error);
  open_both (self);
}

void
arena_ends_check_both (gsize   size,
                       guint   count,
                       void  (*check) (ArenaEnds *ends))
{
  ArenaEnds ends;

  arena_ends_open_pool (&ends, size, count);
  check (&ends);
  arena_ends_open_ring (&ends, size);
  check (&ends);
}

void
arena_ends_clear (ArenaEnds *self)
{
  g_clear_object (&self->writer);
  g_clear_object (&self->reader);
  g_clear_pointer (&self->storage, arena_storage_unref);
  g_clear_object (&self->backend);
}

gboolean
arena_ends_try_send (ArenaEnds  *self,
                     gsize       size,
                     guint64     seed,
                     gint64      timeout,
                     ArenaSent  *sent,
                     GError    **error)
{
  g_autoptr (GError) local_error = NULL;
  g_autoptr (GBytes) bytes = NULL;
  guint8 *data;

  if (!arena_writer_begin_unit (self->writer, size, timeout, NULL, error))
    return FALSE;

  data = g_malloc (size);
  arena_test_fill_pattern (data, size, seed);
  bytes = g_bytes_new_take (data, size);
  sent->size = size;
  sent->seed = seed;
  arena_writer_write (self->writer, bytes, &sent->offset, &local_error);
  g_assert_no_error (local_error);
  arena_writer_commit_unit (self->writer, &sent->span, &local_error);
  g_assert_no_error (local_error);
  return TRUE;
}

ArenaSent
arena_ends_send (ArenaEnds *self,
                 gsize      size,
                 guint64    seed)
{
  g_autoptr (GError) error = NULL;
  ArenaSent sent = { 0 };

  arena_ends_try_send (self, size, seed, TIMEOUT_US, &sent, &error);
  g_assert_no_error (error);
  return sent;
}

void
arena_ends_check (GBytes          *bytes,
                  const ArenaSent *sent)
{
  g_assert_cmpuint (g_bytes_get_size (bytes), ==, sent->size);
  g_assert_true (arena_test_check_pattern (g_bytes_get_data (bytes, NULL), sent->size, sent->seed));
}

GBytes *
arena_ends_take (ArenaEnds       *self,
                 const ArenaSent *sent)
{
  g_autoptr (GError) error = NULL;
  GBytes *bytes = arena_reader_read (self->reader, sent->span, sent->offset, sent->size, &error);

  g_assert_no_error (error);
  arena_ends_check (bytes, sent);
  arena_reader_end_unit (self->reader, sent->span, &error);
  g_assert_no_error (error);
  return bytes;
}

void
arena_ends_pass (ArenaEnds       *self,
                 const ArenaSent *sent)
{
  g_bytes_unref (arena_ends_take (self, sent));
}

guint
arena_ends_fill (ArenaEnds *self,
                 gsize      size)
{
  g_autoptr (GError) error = NULL;
  ArenaSent sent;
  guint n = 0;

  while (arena_ends_try_send (self, size, n, 0, &sent, &error))
    n++;

  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_WOULD_BLOCK);
  return n;
}
