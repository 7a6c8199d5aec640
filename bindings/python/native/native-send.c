/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "native-calls-private.h"

#include "native-object-private.h"
#include "native-record-private.h"
#include "native-wait-private.h"

/* Returns FALSE with @error or an exception set. */
static gboolean
send_record (ArenaProducer       *producer,
             const NativeRecord  *record,
             gint64               timeout,
             GError             **error)
{
  gboolean sent;
  NativeWait wait;

  native_wait_init (&wait, timeout, 0);
  do
    {
      Py_BEGIN_ALLOW_THREADS
      sent = arena_producer_send_packed (producer, wait.slice, NULL, (const guint8 *) record->words, record->n_bytes,
                                         error);
      Py_END_ALLOW_THREADS
    }
  while (!sent && native_wait_goes_on (&wait, error));

  return sent;
}

PyObject *
native_send (PyObject        *module,
             PyObject *const *arguments,
             Py_ssize_t       n_arguments)
{
  const NativeState *state = PyModule_GetState (module);
  GError *error = NULL;
  ArenaProducer *producer;
  NativeRecord record;
  gboolean sent;
  gint64 timeout;

  if (n_arguments != 4)
    return PyErr_Format (PyExc_TypeError, "send() takes a producer, a payload, fields and a timeout");

  producer = native_object_get (state, arguments[0], ARENA_TYPE_PRODUCER);
  timeout = PyLong_AsLongLong (arguments[3]);
  if (producer == NULL || (timeout == -1 && PyErr_Occurred () != NULL) ||
      !native_record_init (&record, arguments[2], state->content_type, arguments[1]))
    return NULL;

  sent = send_record (producer, &record, timeout, &error);
  native_record_clear (&record);
  if (error != NULL)
    native_object_raise (state, arguments[0], error);
  if (!sent)
    return NULL;

  Py_RETURN_NONE;
}

PyObject *
native_address_of (PyObject *module,
                   PyObject *data)
{
  Py_buffer buffer;
  PyObject *address;

  if (!native_record_get_buffer (data, &buffer))
    return NULL;

  address = PyLong_FromVoidPtr (buffer.buf);
  PyBuffer_Release (&buffer);
  return address;
}
