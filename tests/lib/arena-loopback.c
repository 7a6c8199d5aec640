/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "arena-loopback.h"

#include "arena-test.h"
#include "base/arena-compat-private.h"
#include "base/arena-error.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

/* The buffer has exactly the bytes that units may use, so a sanitizer sees the first one beyond. */

#define ALIGNMENT 64

static void arena_loopback_writer_iface_init (ArenaWriterInterface *iface);

G_DEFINE_FINAL_TYPE_WITH_CODE (ArenaLoopbackWriter,
                               arena_loopback_writer,
                               G_TYPE_OBJECT,
                               G_IMPLEMENT_INTERFACE (ARENA_TYPE_WRITER, arena_loopback_writer_iface_init))

static gboolean
fail (int     *code,
      GError **error)
{
  if (*code == 0)
    return FALSE;

  g_set_error_literal (error, ARENA_ERROR, *code - 1, "told to fail");
  *code = 0;
  return TRUE;
}

static gboolean
begin_unit (ArenaWriter  *writer,
            gsize         expected_size,
            gint64        timeout,
            GCancellable *cancellable,
            GError      **error)
{
  ArenaLoopbackWriter *self = ARENA_LOOPBACK_WRITER (writer);

  g_assert_false (self->open);
  self->open = TRUE;
  self->end = self->start;
  self->n_begun++;
  return TRUE;
}

static gsize
round_up (gsize size)
{
  return (size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

static guint8 *
place (ArenaLoopbackWriter *self,
       gsize                size,
       guint64             *offset,
       GError             **error)
{
  gsize start = round_up (self->end);

  g_assert_true (self->open);
  if (fail (&self->fail_write, error))
    return NULL;
  if (start > self->start + self->capacity || size > self->start + self->capacity - start)
    {
      g_set_error (error, ARENA_ERROR, ARENA_ERROR_TOO_LARGE, "%zu bytes do not fit in %zu", size, self->capacity);
      return NULL;
    }

  *offset = (guint64) ((gint64) start + self->shift);
  self->shift = 0;
  self->end = start + size;
  self->n_writes++;
  return self->data + start;
}

static gboolean
write_bytes (ArenaWriter *writer,
             GBytes      *data,
             guint64     *offset,
             GError     **error)
{
  gsize size;
  gconstpointer source = g_bytes_get_data (data, &size);
  guint8 *destination = place (ARENA_LOOPBACK_WRITER (writer), size, offset, error);

  if (destination == NULL)
    return FALSE;

  memcpy (destination, source, size);
  return TRUE;
}

static GBytes *
reserve (ArenaWriter *writer,
         gsize        size,
         gsize        alignment,
         guint64     *offset,
         GError     **error)
{
  ArenaLoopbackWriter *self = ARENA_LOOPBACK_WRITER (writer);
  guint8 *destination = place (self, size, offset, error);

  if (destination == NULL)
    return NULL;

  return g_bytes_new_with_free_func (destination, size, g_object_unref, g_object_ref (self));
}

static gboolean
commit_unit (ArenaWriter *writer,
             guint64     *span,
             GError     **error)
{
  ArenaLoopbackWriter *self = ARENA_LOOPBACK_WRITER (writer);

  g_assert_true (self->open);
  if (fail (&self->fail_commit, error))
    return FALSE;

  self->open = FALSE;
  self->n_committed++;
  *span = ++self->span;
  return TRUE;
}

static gboolean
abort_unit (ArenaWriter  *writer,
            GError      **error)
{
  ArenaLoopbackWriter *self = ARENA_LOOPBACK_WRITER (writer);

  g_assert_true (self->open);
  self->open = FALSE;
  self->n_aborted++;
  return TRUE;
}

static void
arena_loopback_writer_iface_init (ArenaWriterInterface *iface)
{
  iface->begin_unit = begin_unit;
  iface->write = write_bytes;
  iface->reserve = reserve;
  iface->commit_unit = commit_unit;
  iface->abort_unit = abort_unit;
}

static void
arena_loopback_writer_finalize (GObject *object)
{
  g_free (ARENA_LOOPBACK_WRITER (object)->data);

  G_OBJECT_CLASS (arena_loopback_writer_parent_class)->finalize (object);
}

static void
arena_loopback_writer_class_init (ArenaLoopbackWriterClass *klass)
{
  G_OBJECT_CLASS (klass)->finalize = arena_loopback_writer_finalize;
}

static void
arena_loopback_writer_init (ArenaLoopbackWriter *self)
{
}

static gboolean
take_error (GError **from,
            GError **error)
{
  if (*from == NULL)
    return FALSE;

  g_propagate_error (error, g_steal_pointer (from));
  return TRUE;
}

static gboolean
sink_acquire (gpointer owner,
              gsize    size,
              GError **error)
{
  ArenaLoopback *self = owner;

  if (take_error (&self->fail_acquire, error))
    return FALSE;

  self->n_acquired++;
  self->acquired_size = size;
  return arena_writer_begin_unit (ARENA_WRITER (self->writer), size, -1, NULL, error);
}

static void
check_seals (ArenaLoopback *self)
{
  const int seals = F_SEAL_WRITE | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;

  g_assert_true (self->outside_fd < 0 || (fcntl (self->outside_fd, F_GET_SEALS) & 0xf) == seals);
  g_clear_fd (&self->outside_fd, NULL);
}

static gboolean
sink_publish (gpointer owner,
              gsize    envelope_size,
              guint64  span,
              guint64  offset,
              guint64  size,
              GError **error)
{
  ArenaLoopback *self = owner;

  g_assert_false (arena_unit_builder_is_open (self->builder));
  check_seals (self);
  if (take_error (&self->fail_publish, error))
    return FALSE;

  self->n_published++;
  self->published_size = envelope_size;
  self->span = span;
  self->offset = offset;
  self->size = size;
  return TRUE;
}

static void
sink_abandon (gpointer owner)
{
  ArenaLoopback *self = owner;

  self->n_abandoned++;
}

static gboolean
sink_check (gpointer owner,
            GError **error)
{
  ArenaLoopback *self = owner;

  if (self->fail_check == NULL)
    return TRUE;

  g_propagate_error (error, g_error_copy (self->fail_check));
  return FALSE;
}

static gboolean
sink_send (gpointer owner,
           int      fd,
           guint64  fields_size,
           guint64  size,
           GError **error)
{
  ArenaLoopback *self = owner;
  guint8 *data = g_malloc (size + 1);

  g_assert_cmpint (pread (fd, data, size + 1, 0), ==, (gssize) size);
  g_clear_pointer (&self->outside, g_bytes_unref);
  self->outside = g_bytes_new_take (data, size);
  if (take_error (&self->fail_send, error))
    return FALSE;

  self->outside_fd = fcntl (fd, F_DUPFD_CLOEXEC, 0);
  self->spill_size = fields_size;
  self->n_sent++;
  return TRUE;
}

static const ArenaUnitSink sink = {
  .acquire = sink_acquire,
  .publish = sink_publish,
  .abandon = sink_abandon,
  .check = sink_check,
};

static const ArenaUnitSink spilling_sink = {
  .acquire = sink_acquire,
  .publish = sink_publish,
  .send = sink_send,
  .abandon = sink_abandon,
  .check = sink_check,
};

static ArenaLoopback *
make (gsize    capacity,
      gsize    envelope_size,
      guint64  threshold,
      gboolean spills)
{
  ArenaLoopback *self = g_new0 (ArenaLoopback, 1);

  self->outside_fd = -1;
  if (capacity > 0)
    {
      self->writer = g_object_new (ARENA_TYPE_LOOPBACK_WRITER, NULL);
      self->writer->capacity = capacity;
      self->writer->start = 3 * ALIGNMENT;
      self->writer->data = g_malloc (self->writer->start + capacity);
    }

  self->envelope_size = envelope_size;
  self->envelope = g_malloc0 (envelope_size);
  self->builder = arena_unit_builder_new (self->writer != NULL ? ARENA_WRITER (self->writer) : NULL, threshold,
                                          spills ? capacity : G_MAXUINT64, spills ? &spilling_sink : &sink, self);
  return self;
}

ArenaLoopback *
arena_loopback_new (gsize   capacity,
                    gsize   envelope_size,
                    guint64 threshold)
{
  return make (capacity, envelope_size, threshold, FALSE);
}

ArenaLoopback *
arena_loopback_new_spilling (gsize   capacity,
                             gsize   envelope_size,
                             guint64 threshold)
{
  return make (capacity, envelope_size, threshold, TRUE);
}

void
arena_loopback_free (ArenaLoopback *self)
{
  arena_unit_builder_detach (self->builder);
  g_object_unref (self->builder);
  g_clear_object (&self->writer);
  g_clear_fd (&self->outside_fd, NULL);
  g_clear_error (&self->fail_acquire);
  g_clear_error (&self->fail_publish);
  g_clear_error (&self->fail_check);
  g_clear_error (&self->fail_send);
  g_clear_pointer (&self->outside, g_bytes_unref);
  g_free (self->envelope);
  g_free (self);
}

void
arena_loopback_open (ArenaLoopback *self)
{
  g_autoptr (GError) error = NULL;

  g_clear_pointer (&self->outside, g_bytes_unref);
  self->spill_size = 0;
  arena_unit_builder_open (self->builder, self->n_opened++, self->envelope, self->envelope_size, FALSE, &error);
  g_assert_no_error (error);
}

guint8 *
arena_loopback_copy (ArenaLoopback *self)
{
  gsize start = round_up (self->spill_size);

  if (self->published_size <= self->envelope_size)
    return g_memdup2 (self->envelope, self->published_size);

  g_assert_cmpuint (g_bytes_get_size (self->outside), ==, start + self->published_size);
  return g_memdup2 ((const guint8 *) g_bytes_get_data (self->outside, NULL) + start, self->published_size);
}

/* A copy of what is outside beside the envelope, NULL without. */
static GBytes *
copy_spill (ArenaLoopback *self)
{
  return self->spill_size > 0 ? g_bytes_new_from_bytes (self->outside, 0, self->spill_size) : NULL;
}

ArenaUnit *
arena_loopback_send (ArenaLoopback *self)
{
  g_autoptr (GError) error = NULL;
  GBytes *storage = NULL;
  ArenaUnit *unit;

  arena_unit_builder_commit (self->builder, &error);
  g_assert_no_error (error);

  if (self->size > 0)
    storage = g_bytes_new (self->writer->data + self->offset, self->size);
  unit = arena_unit_new (self->n_opened - 1, 1, arena_loopback_copy (self), self->published_size, storage,
                         copy_spill (self), &error);
  g_assert_no_error (error);
  return unit;
}

guint
arena_loopback_bytes (ArenaLoopback *self,
                      const char    *name,
                      gsize          size,
                      guint64        seed)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GBytes) data = g_bytes_new_take (g_malloc (size), size);
  const guint64 shape[] = { size };
  gint index;

  arena_test_fill_pattern ((gpointer) g_bytes_get_data (data, NULL), size, seed);
  index = arena_unit_builder_append_bytes (self->builder, name, ARENA_DTYPE_UINT8, shape, 1, data, &error);
  g_assert_no_error (error);
  g_assert_cmpint (index, >=, 0);
  return (guint) index;
}
