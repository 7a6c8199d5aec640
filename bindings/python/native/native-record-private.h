/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "native-private.h"

/* The record of a unit that is to be sent, as arena_producer_send_packed() documents it, and the buffers that it points
 * into. It lives on the stack, as a whole for all but large units. */

#define NATIVE_RECORD_WORDS   256
#define NATIVE_RECORD_BUFFERS 8

typedef struct
{
  guint64   *words;
  gsize      n_words;
  gsize      n_reserved;
  gsize      n_bytes;     /* once it is whole */
  Py_buffer *buffers;
  gsize      n_buffers;
  guint64    own_words[NATIVE_RECORD_WORDS];
  Py_buffer  own_buffers[NATIVE_RECORD_BUFFERS];
} NativeRecord;

/* @fields: a sequence of (buffer or address, bytes, data type, shape, byte strides or None); buffers stay where they are
 * until the record is cleared. Returns FALSE with an exception, and nothing to be cleared. */
gboolean native_record_init       (NativeRecord *self,
                                   PyObject     *fields,
                                   PyObject     *content_type,
                                   PyObject     *payload);
void     native_record_clear      (NativeRecord *self);

/* A buffer without gaps, in C's order or Fortran's. Returns FALSE with an exception. */
gboolean native_record_get_buffer (PyObject     *data,
                                   Py_buffer    *buffer);
