/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "arena-custom.h"

/* One class is all three, which a script may do as well: no method stands in two of the interfaces. */

enum
{
  PROP_ZERO_COPY = 1,
};

static void custom_backend_init (ArenaBackendInterface *iface);
static void custom_writer_init (ArenaWriterInterface *iface);
static void custom_reader_init (ArenaReaderInterface *iface);

G_DEFINE_FINAL_TYPE_WITH_CODE (ArenaCustom, arena_custom, G_TYPE_OBJECT,
                               G_IMPLEMENT_INTERFACE (ARENA_TYPE_BACKEND, custom_backend_init)
                               G_IMPLEMENT_INTERFACE (ARENA_TYPE_WRITER, custom_writer_init)
                               G_IMPLEMENT_INTERFACE (ARENA_TYPE_READER, custom_reader_init))

static gboolean
act (gpointer   instance,
     GError   **error)
{
  ArenaCustomMode mode = ARENA_CUSTOM (instance)->mode;

  if (mode == ARENA_CUSTOM_FAILS || mode == ARENA_CUSTOM_CONTRADICTS)
    g_set_error_literal (error, G_IO_ERROR, G_IO_ERROR_FAILED, "custom");

  return mode == ARENA_CUSTOM_WORKS || mode == ARENA_CUSTOM_CONTRADICTS || mode == ARENA_CUSTOM_LIES;
}

static gpointer
make_object (gpointer   instance,
             GError   **error)
{
  if (!act (instance, error))
    return NULL;

  return g_object_new (ARENA_CUSTOM (instance)->mode == ARENA_CUSTOM_LIES ? G_TYPE_OBJECT : ARENA_TYPE_CUSTOM, NULL);
}

static ArenaWriter *
open_writer (ArenaBackend  *backend,
             GError       **error)
{
  return make_object (backend, error);
}

static ArenaReader *
open_reader (ArenaBackend  *backend,
             GError       **error)
{
  return make_object (backend, error);
}

static gboolean
end_something (ArenaBackend  *backend,
               GError       **error)
{
  return act (backend, error);
}

static GVariant *
save (ArenaBackend  *backend,
      GUnixFDList   *fds,
      GError       **error)
{
  return act (backend, error) ? g_variant_new_uint32 (7) : NULL;
}

static gboolean
load (ArenaBackend  *backend,
      GVariant      *state,
      GUnixFDList   *fds,
      GError       **error)
{
  return act (backend, error);
}

static void
custom_backend_init (ArenaBackendInterface *iface)
{
  iface->open_writer = open_writer;
  iface->open_reader = open_reader;
  iface->shutdown = end_something;
  iface->close = end_something;
  iface->unlink = end_something;
  iface->save = save;
  iface->load = load;
}

static gboolean
start_epoch (ArenaWriter  *writer,
             guint64       epoch,
             GError      **error)
{
  return act (writer, error);
}

static gboolean
begin_unit (ArenaWriter   *writer,
            gsize          expected_size,
            gint64         timeout,
            GCancellable  *cancellable,
            GError       **error)
{
  return act (writer, error);
}

static gboolean
write_bytes (ArenaWriter  *writer,
             GBytes       *data,
             guint64      *offset,
             GError      **error)
{
  *offset = 1234;
  return act (writer, error);
}

static GBytes *
make_bytes (gpointer   instance,
            gsize      size,
            GError   **error)
{
  if (!act (instance, error))
    return NULL;
  if (ARENA_CUSTOM (instance)->mode == ARENA_CUSTOM_LIES)
    size++;

  return g_bytes_new_take (g_malloc0 (size), size);
}

static GBytes *
reserve (ArenaWriter  *writer,
         gsize         size,
         gsize         alignment,
         guint64      *offset,
         GError      **error)
{
  *offset = 1234;
  return make_bytes (writer, size, error);
}

static gboolean
commit_unit (ArenaWriter  *writer,
             guint64      *span,
             GError      **error)
{
  *span = 1234;
  return act (writer, error);
}

static gboolean
abort_unit (ArenaWriter  *writer,
            GError      **error)
{
  return act (writer, error);
}

static void
custom_writer_init (ArenaWriterInterface *iface)
{
  iface->start_epoch = start_epoch;
  iface->begin_unit = begin_unit;
  iface->write = write_bytes;
  iface->reserve = reserve;
  iface->commit_unit = commit_unit;
  iface->abort_unit = abort_unit;
}

static gboolean
enter_epoch (ArenaReader  *reader,
             guint64       epoch,
             GError      **error)
{
  return act (reader, error);
}

static GBytes *
read_bytes (ArenaReader  *reader,
            guint64       span,
            guint64       offset,
            gsize         size,
            GError      **error)
{
  return make_bytes (reader, size, error);
}

static gboolean
end_unit (ArenaReader  *reader,
          guint64       span,
          GError      **error)
{
  ArenaCustom *self = ARENA_CUSTOM (reader);

  self->n_ended++;
  self->last_ended = span;
  self->ended_on = g_thread_self ();
  return act (reader, error);
}

static void
custom_reader_init (ArenaReaderInterface *iface)
{
  iface->enter_epoch = enter_epoch;
  iface->read = read_bytes;
  iface->end_unit = end_unit;
}

static void
arena_custom_get_property (GObject    *object,
                           guint       property_id,
                           GValue     *value,
                           GParamSpec *pspec)
{
  g_value_set_boolean (value, ARENA_CUSTOM (object)->zero_copy);
}

static void
arena_custom_class_init (ArenaCustomClass *klass)
{
  G_OBJECT_CLASS (klass)->get_property = arena_custom_get_property;
  g_object_class_override_property (G_OBJECT_CLASS (klass), PROP_ZERO_COPY, "zero-copy");
}

static void
arena_custom_init (ArenaCustom *self)
{
  self->zero_copy = TRUE;
}

ArenaCustom *
arena_custom_new (ArenaCustomMode mode)
{
  ArenaCustom *self = g_object_new (ARENA_TYPE_CUSTOM, NULL);

  self->mode = mode;
  return self;
}

struct _ArenaBare
{
  GObject parent_instance;
};

G_DEFINE_FINAL_TYPE_WITH_CODE (ArenaBare, arena_bare, G_TYPE_OBJECT,
                               G_IMPLEMENT_INTERFACE (ARENA_TYPE_BACKEND, NULL)
                               G_IMPLEMENT_INTERFACE (ARENA_TYPE_WRITER, NULL)
                               G_IMPLEMENT_INTERFACE (ARENA_TYPE_READER, NULL))

static void
arena_bare_get_property (GObject    *object,
                         guint       property_id,
                         GValue     *value,
                         GParamSpec *pspec)
{
  g_value_set_boolean (value, FALSE);
}

static void
arena_bare_class_init (ArenaBareClass *klass)
{
  G_OBJECT_CLASS (klass)->get_property = arena_bare_get_property;
  g_object_class_override_property (G_OBJECT_CLASS (klass), PROP_ZERO_COPY, "zero-copy");
}

static void
arena_bare_init (ArenaBare *self)
{
}
