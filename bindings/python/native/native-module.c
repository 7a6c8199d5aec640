/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "native-calls-private.h"

#include "native-storage-private.h"

static PyObject *
import_attribute (const char *module,
                  const char *name)
{
  PyObject *imported = PyImport_ImportModule (module);
  PyObject *attribute = imported != NULL ? PyObject_GetAttrString (imported, name) : NULL;

  Py_XDECREF (imported);
  return attribute;
}

static int
exec_module (PyObject *module)
{
  NativeState *state = PyModule_GetState (module);

  /* Its overrides can't be imported before it. */
  Py_XDECREF (PyImport_ImportModule ("gi.repository.Arena"));
  if (PyErr_Occurred () != NULL)
    return -1;

  state->object_type = (PyTypeObject *) import_attribute ("gi.repository.GObject", "Object");
  state->make_error = import_attribute ("gi.overrides.Arena", "make_error");
  state->content_type = import_attribute ("arena._plain", "CONTENT_TYPE");
  state->storage_type = native_storage_type_new (module);
  if (PyErr_Occurred () != NULL)
    return -1;

  Py_SETREF (state->content_type, PyUnicode_AsUTF8String (state->content_type));
  if (state->content_type == NULL)
    return -1;

  return PyModule_AddType (module, state->storage_type);
}

static int
traverse (PyObject  *module,
          visitproc  visit,
          void      *arg)
{
  NativeState *state = PyModule_GetState (module);

  Py_VISIT (state->object_type);
  Py_VISIT (state->make_error);
  Py_VISIT (state->content_type);
  Py_VISIT (state->storage_type);
  return 0;
}

static int
clear (PyObject *module)
{
  NativeState *state = PyModule_GetState (module);

  Py_CLEAR (state->object_type);
  Py_CLEAR (state->make_error);
  Py_CLEAR (state->content_type);
  Py_CLEAR (state->storage_type);
  return 0;
}

static void
free_module (void *module)
{
  clear (module);
}

#define FAST_CALL(function) ((PyCFunction) (void (*) (void)) (function))

static PyMethodDef methods[] = {
  { "address_of", native_address_of, METH_O, "address_of(data)\n--\n\nWhere the bytes of a buffer without gaps are." },
  { "receive", FAST_CALL (native_receive), METH_FASTCALL,
    "receive(consumer, timeout, read_only=False)\n--\n\nThe next unit as (payload, fields, owner)." },
  { "send", FAST_CALL (native_send), METH_FASTCALL,
    "send(producer, payload, fields, timeout)\n--\n\nSends a unit." },
  { NULL },
};

static PyModuleDef_Slot slots[] = {
  { Py_mod_exec, exec_module },
  { 0 },
};

static PyModuleDef definition = {
  PyModuleDef_HEAD_INIT,
  .m_name = "arena._native",
  .m_doc = "What arena._plain does, in C.",
  .m_size = sizeof (NativeState),
  .m_methods = methods,
  .m_slots = slots,
  .m_traverse = traverse,
  .m_clear = clear,
  .m_free = free_module,
};

PyMODINIT_FUNC PyInit__native (void);

PyMODINIT_FUNC
PyInit__native (void)
{
  return PyModuleDef_Init (&definition);
}
