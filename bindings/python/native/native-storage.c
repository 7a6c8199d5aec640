/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "native-storage-private.h"

#include <structmember.h>

/* The GBytes goes with this object and never before: who looks into the memory need not count as an export, for
 * numpy.ndarray() keeps no buffer, but keeps this object. No cycle can go through it, since it has no reference to
 * another one.
 */

typedef struct
{
  PyObject_HEAD
  GBytes     *bytes;
  gboolean    readonly;
  Py_ssize_t  n_exports;
} NativeStorage;

static int
get_buffer (PyObject  *object,
            Py_buffer *view,
            int        flags)
{
  NativeStorage *self = (NativeStorage *) object;
  gsize size;
  gpointer data = (gpointer) g_bytes_get_data (self->bytes, &size);

  /* Refuses to give a writable view of what can't be written. */
  if (PyBuffer_FillInfo (view, object, data, (Py_ssize_t) size, self->readonly, flags) < 0)
    return -1;

  self->n_exports++;
  return 0;
}

static void
release_buffer (PyObject  *object,
                Py_buffer *view)
{
  ((NativeStorage *) object)->n_exports--;
}

static void
dealloc (PyObject *object)
{
  PyTypeObject *type = Py_TYPE (object);

  g_bytes_unref (((NativeStorage *) object)->bytes);
  type->tp_free (object);
  Py_DECREF (type);
}

static PyMemberDef members[] = {
  { "n_exports", T_PYSSIZET, offsetof (NativeStorage, n_exports), READONLY, "How many buffers of it are held." },
  { NULL },
};

static PyType_Slot slots[] = {
  { Py_bf_getbuffer, get_buffer },
  { Py_bf_releasebuffer, release_buffer },
  { Py_tp_dealloc, dealloc },
  { Py_tp_doc, (char *) "The storage of a received unit, as a buffer that keeps it." },
  { Py_tp_members, members },
  { 0 },
};

static PyType_Spec spec = {
  .name = "arena._native.Storage",
  .basicsize = sizeof (NativeStorage),
  .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION | Py_TPFLAGS_IMMUTABLETYPE,
  .slots = slots,
};

PyTypeObject *
native_storage_type_new (PyObject *module)
{
  return (PyTypeObject *) PyType_FromModuleAndSpec (module, &spec, NULL);
}

PyObject *
native_storage_new (PyTypeObject *type,
                    GBytes       *bytes,
                    gboolean      readonly)
{
  NativeStorage *self = (NativeStorage *) type->tp_alloc (type, 0);

  if (self == NULL)
    {
      g_bytes_unref (bytes);
      return NULL;
    }

  self->bytes = bytes;
  self->readonly = readonly;
  return (PyObject *) self;
}
