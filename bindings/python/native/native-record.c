/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "native-record-private.h"

#include "native-format-private.h"

#include <string.h>

enum
{
  DATA,
  SIZE,
  DTYPE,
  SHAPE,
  STRIDES,
  N_ITEMS,
};

/* Takes @n more words, which are not set. */
static guint64 *
take (NativeRecord *self,
      gsize         n)
{
  gsize taken = self->n_words;

  self->n_words += n;
  if (self->n_words > self->n_reserved)
    {
      guint64 *old = self->words == self->own_words ? NULL : self->words;

      self->n_reserved = MAX (self->n_words, 2 * self->n_reserved);
      self->words = g_renew (guint64, old, self->n_reserved);
      if (old == NULL)
        memcpy (self->words, self->own_words, taken * NATIVE_WORD);
    }

  return self->words + taken;
}

static gboolean
get_word (PyObject *number,
          gboolean  is_signed,
          guint64  *word)
{
  guint64 value = is_signed ? (guint64) PyLong_AsLongLong (number) : PyLong_AsUnsignedLongLong (number);

  if (value == G_MAXUINT64 && PyErr_Occurred () != NULL)
    return FALSE;

  *word = GUINT64_TO_LE (value);
  return TRUE;
}

static gboolean
put_numbers (NativeRecord *self,
             PyObject     *numbers,
             gboolean      are_signed,
             gsize        *n)
{
  PyObject *tuple = PySequence_Tuple (numbers);
  gboolean put = tuple != NULL;
  guint64 *words;

  if (!put)
    return FALSE;

  *n = (gsize) PyTuple_GET_SIZE (tuple);
  words = take (self, *n);
  for (gsize i = 0; put && i < *n; i++)
    put = get_word (PyTuple_GET_ITEM (tuple, (Py_ssize_t) i), are_signed, &words[i]);
  Py_DECREF (tuple);
  return put;
}

gboolean
native_record_get_buffer (PyObject  *data,
                          Py_buffer *buffer)
{
  return PyObject_GetBuffer (data, buffer, PyBUF_ANY_CONTIGUOUS) == 0;
}

static gboolean
put_address (NativeRecord *self,
             PyObject     *data,
             guint64       size,
             guint64      *address)
{
  Py_buffer *buffer = &self->buffers[self->n_buffers];

  if (PyLong_Check (data))
    return get_word (data, FALSE, address);

  if (!native_record_get_buffer (data, buffer))
    return FALSE;

  self->n_buffers++;
  *address = GUINT64_TO_LE (GPOINTER_TO_SIZE (buffer->buf));
  if (size <= (guint64) buffer->len)
    return TRUE;

  PyErr_Format (PyExc_ValueError, "a field of %llu bytes in a buffer of %zd", (unsigned long long) size, buffer->len);
  return FALSE;
}

static gboolean
put_field (NativeRecord *self,
           PyObject     *field)
{
  gsize at = self->n_words;
  gsize n_dims = 0, n_strides = 0;
  guint64 words[NATIVE_FIELD_WORDS] = { 0 };
  PyObject **items;
  gboolean strided;

  if (!PyTuple_Check (field) || PyTuple_GET_SIZE (field) != N_ITEMS)
    {
      PyErr_Format (PyExc_TypeError, "a field is a tuple of %d items", N_ITEMS);
      return FALSE;
    }

  items = PySequence_Fast_ITEMS (field);
  strided = items[STRIDES] != Py_None;
  take (self, NATIVE_FIELD_WORDS);
  if (!get_word (items[SIZE], FALSE, &words[NATIVE_FIELD_SIZE]) ||
      !get_word (items[DTYPE], FALSE, &words[NATIVE_FIELD_DTYPE]) ||
      !put_address (self, items[DATA], GUINT64_FROM_LE (words[NATIVE_FIELD_SIZE]), &words[NATIVE_FIELD_POSITION]) ||
      !put_numbers (self, items[SHAPE], FALSE, &n_dims) ||
      (strided && !put_numbers (self, items[STRIDES], TRUE, &n_strides)))
    return FALSE;

  if (strided && n_strides != n_dims)
    {
      PyErr_Format (PyExc_ValueError, "%zu strides for %zu dimensions", n_strides, n_dims);
      return FALSE;
    }

  words[NATIVE_FIELD_FLAGS] = GUINT64_TO_LE ((guint64) (strided ? NATIVE_HAS_STRIDES : 0));
  words[NATIVE_FIELD_N_DIMS] = GUINT64_TO_LE ((guint64) n_dims);
  memcpy (self->words + at, words, sizeof words);
  return TRUE;
}

static gboolean
put_fields (NativeRecord *self,
            PyObject     *fields)
{
  gsize n_fields = (gsize) PyTuple_GET_SIZE (fields);

  if (n_fields > NATIVE_RECORD_BUFFERS)
    self->buffers = g_new (Py_buffer, n_fields);
  for (gsize i = 0; i < n_fields; i++)
    if (!put_field (self, PyTuple_GET_ITEM (fields, (Py_ssize_t) i)))
      return FALSE;

  return TRUE;
}

/* Zeros behind the content type bring the payload to a whole word. */
static gboolean
put_payload (NativeRecord *self,
             PyObject     *content_type,
             PyObject     *payload,
             gsize        *size)
{
  gsize type_size = (gsize) PyBytes_GET_SIZE (content_type) + 1;
  gsize type_words = (type_size + NATIVE_WORD - 1) / NATIVE_WORD;
  Py_buffer buffer;
  guint64 *words;

  if (PyObject_GetBuffer (payload, &buffer, PyBUF_SIMPLE) < 0)
    return FALSE;

  *size = (gsize) buffer.len;
  words = take (self, type_words + (*size + NATIVE_WORD - 1) / NATIVE_WORD);
  self->n_bytes = (gsize) (words + type_words - self->words) * NATIVE_WORD + *size;
  words[type_words - 1] = 0;
  memcpy (words, PyBytes_AS_STRING (content_type), type_size);
  memcpy (words + type_words, buffer.buf, *size);
  PyBuffer_Release (&buffer);
  return TRUE;
}

gboolean
native_record_init (NativeRecord *self,
                    PyObject     *fields,
                    PyObject     *content_type,
                    PyObject     *payload)
{
  PyObject *tuple = PySequence_Tuple (fields);
  guint64 head[NATIVE_HEAD_WORDS] = { 0 };
  gsize payload_size = 0;

  self->words = self->own_words;
  self->n_words = NATIVE_HEAD_WORDS;
  self->n_reserved = NATIVE_RECORD_WORDS;
  self->buffers = self->own_buffers;
  self->n_buffers = 0;
  if (tuple == NULL)
    return FALSE;

  if (!put_fields (self, tuple) || !put_payload (self, content_type, payload, &payload_size))
    {
      Py_DECREF (tuple);
      native_record_clear (self);
      return FALSE;
    }

  head[NATIVE_HEAD_N_FIELDS] = GUINT64_TO_LE ((guint64) PyTuple_GET_SIZE (tuple));
  head[NATIVE_HEAD_CONTENT_TYPE_SIZE] = GUINT64_TO_LE ((guint64) PyBytes_GET_SIZE (content_type) + 1);
  head[NATIVE_HEAD_PAYLOAD_SIZE] = GUINT64_TO_LE ((guint64) payload_size);
  memcpy (self->words, head, sizeof head);
  Py_DECREF (tuple);
  return TRUE;
}

void
native_record_clear (NativeRecord *self)
{
  while (self->n_buffers > 0)
    PyBuffer_Release (&self->buffers[--self->n_buffers]);
  if (self->buffers != self->own_buffers)
    g_free (self->buffers);
  if (self->words != self->own_words)
    g_free (self->words);
}
