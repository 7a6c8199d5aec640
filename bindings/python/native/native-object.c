/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "native-object-private.h"

/* PyGObject has a C API, but only in a header of its own package, at a version of its own; a capsule with the pointer is
 * an attribute of each of its objects.
 */

gpointer
native_object_get (const NativeState *state,
                   PyObject          *object,
                   GType              type)
{
  PyObject *capsule;
  gpointer pointer;

  if (!PyObject_TypeCheck (object, state->object_type))
    {
      PyErr_Format (PyExc_TypeError, "%s expected, not %s", g_type_name (type), Py_TYPE (object)->tp_name);
      return NULL;
    }

  capsule = PyObject_GetAttrString (object, "__gpointer__");
  if (capsule == NULL)
    return NULL;

  pointer = PyCapsule_GetPointer (capsule, NULL);
  Py_DECREF (capsule);
  if (pointer != NULL && !g_type_is_a (G_TYPE_FROM_INSTANCE (pointer), type))
    {
      PyErr_Format (PyExc_TypeError, "%s expected, not %s", g_type_name (type), G_OBJECT_TYPE_NAME (pointer));
      return NULL;
    }

  return pointer;
}

/* What the worker reported goes with its error, as in the overrides. */
static PyObject *
add_remote (PyObject *exception,
            PyObject *object)
{
  PyObject *remote = PyObject_CallMethod (object, "dup_remote_error", NULL);

  if (remote == NULL || PyObject_SetAttrString (exception, "remote", remote) < 0)
    Py_CLEAR (exception);
  Py_XDECREF (remote);
  return exception;
}

void
native_object_raise (const NativeState *state,
                     PyObject          *object,
                     GError            *error)
{
  PyObject *exception = PyObject_CallFunction (state->make_error, "ssi", error->message,
                                               g_quark_to_string (error->domain), error->code);

  if (exception != NULL && g_error_matches (error, ARENA_ERROR, ARENA_ERROR_REMOTE))
    exception = add_remote (exception, object);
  if (exception != NULL)
    PyErr_SetObject ((PyObject *) Py_TYPE (exception), exception);
  Py_XDECREF (exception);
  g_error_free (error);
}
