/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "native-private.h"

/* The words of a record, as arena_producer_send_packed() documents it. */

#define NATIVE_WORD        sizeof (guint64)
#define NATIVE_HAS_STRIDES 1u

typedef enum
{
  NATIVE_HEAD_N_FIELDS,
  NATIVE_HEAD_STORAGE,
  NATIVE_HEAD_SEQUENCE,
  NATIVE_HEAD_EPOCH,
  NATIVE_HEAD_CONTENT_TYPE_SIZE,
  NATIVE_HEAD_PAYLOAD_SIZE,
  NATIVE_HEAD_VALUE_TYPE_SIZE,
  NATIVE_HEAD_VALUE_SIZE,
  NATIVE_HEAD_WORDS,
} NativeHeadWord;

typedef enum
{
  NATIVE_FIELD_POSITION,
  NATIVE_FIELD_SIZE,
  NATIVE_FIELD_DTYPE,
  NATIVE_FIELD_FLAGS,
  NATIVE_FIELD_N_DIMS,
  NATIVE_FIELD_NAME_SIZE,
  NATIVE_FIELD_WORDS,
} NativeFieldWord;
