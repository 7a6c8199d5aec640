/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "native-storage-private.h"

#include "native-object-private.h"

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
  PyObject   *weak_references;
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

  if (((NativeStorage *) object)->weak_references != NULL)
    PyObject_ClearWeakRefs (object);
  g_bytes_unref (((NativeStorage *) object)->bytes);
  type->tp_free (object);
  Py_DECREF (type);
}

static PyObject *
add_to (PyObject *object,
        PyObject *arguments)
{
  GBytes *bytes = ((NativeStorage *) object)->bytes;
  const NativeState *state = PyType_GetModuleState (Py_TYPE (object));
  unsigned long long address, size;
  g_autoptr(GBytes) part = NULL;
  ArenaTransfer *transfer;
  PyObject *wrapper;
  GError *error = NULL;
  guint64 offset;
  gint index;

  if (!PyArg_ParseTuple (arguments, "OKK:add_to", &wrapper, &address, &size))
    return NULL;

  transfer = native_object_get (state, wrapper, ARENA_TYPE_TRANSFER);
  if (transfer == NULL)
    return NULL;

  offset = address - GPOINTER_TO_SIZE (g_bytes_get_data (bytes, NULL));
  if (offset > g_bytes_get_size (bytes) || size > g_bytes_get_size (bytes) - offset)
    return PyErr_Format (PyExc_ValueError, "%llu bytes at %llu are not in this storage", size, address);

  part = g_bytes_new_from_bytes (bytes, (gsize) offset, (gsize) size);
  index = arena_transfer_add (transfer, part, &error);
  if (index < 0)
    {
      native_object_raise (state, wrapper, error);
      return NULL;
    }

  return PyLong_FromLong (index);
}

static PyMethodDef methods[] = {
  { "add_to", add_to, METH_VARARGS,
    "add_to($self, transfer, address, size)\n--\n\nAdds that part of the storage to an Arena.Transfer." },
  { NULL },
};

static PyMemberDef members[] = {
  { "__weaklistoffset__", T_PYSSIZET, offsetof (NativeStorage, weak_references), READONLY },
  { "n_exports", T_PYSSIZET, offsetof (NativeStorage, n_exports), READONLY, "How many buffers of it are held." },
  { NULL },
};

static PyType_Slot slots[] = {
  { Py_bf_getbuffer, get_buffer },
  { Py_bf_releasebuffer, release_buffer },
  { Py_tp_dealloc, dealloc },
  { Py_tp_doc, (char *) "The storage of a received unit, as a buffer that keeps it." },
  { Py_tp_members, members },
  { Py_tp_methods, methods },
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
