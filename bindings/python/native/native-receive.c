/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "native-calls-private.h"

#include "native-format-private.h"
#include "native-object-private.h"
#include "native-storage-private.h"
#include "native-wait-private.h"

#include <string.h>

/* The library made the record, so its lengths hold. */
static guint64
get_word (const guint8 *record,
          gsize         index)
{
  guint64 word;

  memcpy (&word, record + index * NATIVE_WORD, sizeof word);
  return GUINT64_FROM_LE (word);
}

/* A tuple whose items were made one by one, or NULL if one of them couldn't be. */
static PyObject *
check_items (PyObject *tuple)
{
  if (PyErr_Occurred () != NULL)
    Py_CLEAR (tuple);
  return tuple;
}

static PyObject *
get_numbers (const guint8 *at,
             gsize         n,
             gboolean      are_signed)
{
  PyObject *numbers = PyTuple_New ((Py_ssize_t) n);

  for (gsize i = 0; numbers != NULL && i < n; i++)
    {
      guint64 word = get_word (at, i);
      PyObject *number = are_signed ? PyLong_FromLongLong ((gint64) word) : PyLong_FromUnsignedLongLong (word);

      PyTuple_SET_ITEM (numbers, (Py_ssize_t) i, number);
    }

  return check_items (numbers);
}

/* Moves *at behind the field, and *names_size behind its name. */
static PyObject *
get_field (const guint8 **at,
           gsize         *names_size)
{
  const guint8 *words = *at;
  const guint8 *shape = words + NATIVE_FIELD_WORDS * NATIVE_WORD;
  gsize n_dims = (gsize) get_word (words, NATIVE_FIELD_N_DIMS);
  gboolean strided = (get_word (words, NATIVE_FIELD_FLAGS) & NATIVE_HAS_STRIDES) != 0;
  const guint8 *strides = strided ? shape + n_dims * NATIVE_WORD : NULL;
  PyObject *field = PyTuple_New (5);

  *at = shape + (strides != NULL ? 2 * n_dims : n_dims) * NATIVE_WORD;
  *names_size += (gsize) get_word (words, NATIVE_FIELD_NAME_SIZE);
  if (field == NULL)
    return NULL;

  for (gsize i = NATIVE_FIELD_POSITION; i <= NATIVE_FIELD_DTYPE; i++)
    PyTuple_SET_ITEM (field, (Py_ssize_t) i, PyLong_FromUnsignedLongLong (get_word (words, i)));
  PyTuple_SET_ITEM (field, 3, get_numbers (shape, n_dims, FALSE));
  PyTuple_SET_ITEM (field, 4, strides != NULL ? get_numbers (strides, n_dims, TRUE) : Py_NewRef (Py_None));
  return check_items (field);
}

/* (payload, fields, owner); takes @storage over. */
static PyObject *
unpack (const NativeState *state,
        const guint8      *record,
        GBytes            *storage,
        gboolean           readonly)
{
  gsize n_fields = (gsize) get_word (record, NATIVE_HEAD_N_FIELDS);
  gsize texts_size = (gsize) (get_word (record, NATIVE_HEAD_CONTENT_TYPE_SIZE) +
                              get_word (record, NATIVE_HEAD_VALUE_TYPE_SIZE));
  const guint8 *at = record + NATIVE_HEAD_WORDS * NATIVE_WORD;
  PyObject *unit = PyTuple_New (3);
  PyObject *fields = PyList_New ((Py_ssize_t) n_fields);
  PyObject *owner = storage != NULL ? native_storage_new (state->storage_type, storage, readonly) : Py_NewRef (Py_None);
  gsize payload;

  for (gsize i = 0; fields != NULL && i < n_fields; i++)
    PyList_SET_ITEM (fields, (Py_ssize_t) i, get_field (&at, &texts_size));
  payload = ((gsize) (at - record) + texts_size + NATIVE_WORD - 1) / NATIVE_WORD * NATIVE_WORD +
            (gsize) get_word (record, NATIVE_HEAD_VALUE_SIZE);
  if (unit == NULL)
    {
      Py_XDECREF (fields);
      Py_XDECREF (owner);
      return NULL;
    }

  PyTuple_SET_ITEM (unit, 0, PyBytes_FromStringAndSize ((const char *) record + payload,
                                                        (Py_ssize_t) get_word (record, NATIVE_HEAD_PAYLOAD_SIZE)));
  PyTuple_SET_ITEM (unit, 1, fields);
  PyTuple_SET_ITEM (unit, 2, owner);
  return check_items (unit);
}

/* Returns NULL with @error or an exception set. */
static guint8 *
next_record (ArenaConsumer  *consumer,
             gint64          timeout,
             gsize          *n_bytes,
             GBytes        **storage,
             GError        **error)
{
  guint8 *record;
  NativeWait wait;

  /* A slice that ended before would hide that it was about to say BUSY. */
  native_wait_init (&wait, timeout, MAX (arena_consumer_get_starve_timeout (consumer), 0));
  do
    {
      Py_BEGIN_ALLOW_THREADS
      record = arena_consumer_next_packed (consumer, wait.slice, NULL, n_bytes, storage, error);
      Py_END_ALLOW_THREADS
    }
  while (record == NULL && native_wait_goes_on (&wait, error));

  return record;
}

PyObject *
native_receive (PyObject        *module,
                PyObject *const *arguments,
                Py_ssize_t       n_arguments)
{
  const NativeState *state = PyModule_GetState (module);
  g_autofree guint8 *record = NULL;
  GError *error = NULL;
  GBytes *storage = NULL;
  gsize n_bytes = 0;
  ArenaConsumer *consumer;
  gboolean readonly;
  gint64 timeout;

  if (n_arguments < 2 || n_arguments > 3)
    return PyErr_Format (PyExc_TypeError, "receive() takes a consumer, a timeout and perhaps read_only");

  consumer = native_object_get (state, arguments[0], ARENA_TYPE_CONSUMER);
  timeout = PyLong_AsLongLong (arguments[1]);
  readonly = n_arguments > 2 ? PyObject_IsTrue (arguments[2]) : FALSE;
  if (consumer == NULL || readonly < 0 || (timeout == -1 && PyErr_Occurred () != NULL))
    return NULL;

  record = next_record (consumer, timeout, &n_bytes, &storage, &error);
  if (error != NULL)
    native_object_raise (state, arguments[0], error);
  if (record == NULL)
    return NULL;
  if (n_bytes == 0)
    Py_RETURN_NONE;

  return unpack (state, record, storage, readonly);
}
