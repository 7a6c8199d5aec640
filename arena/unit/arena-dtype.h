/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#if !defined(ARENA_INSIDE) && !defined(ARENA_COMPILATION)
#error "Only <arena.h> can be included directly."
#endif

#include "base/arena-types.h"

G_BEGIN_DECLS

#define ARENA_TYPE_DTYPE (arena_dtype_get_type ())

/**
 * ArenaDType:
 * @ARENA_DTYPE_INT8: signed, 8 bits
 * @ARENA_DTYPE_INT16: signed, 16 bits
 * @ARENA_DTYPE_INT32: signed, 32 bits
 * @ARENA_DTYPE_INT64: signed, 64 bits
 * @ARENA_DTYPE_UINT8: unsigned, 8 bits; also for bytes of any other kind
 * @ARENA_DTYPE_UINT16: unsigned, 16 bits
 * @ARENA_DTYPE_UINT32: unsigned, 32 bits
 * @ARENA_DTYPE_UINT64: unsigned, 64 bits
 * @ARENA_DTYPE_FLOAT16: IEEE 754 half precision
 * @ARENA_DTYPE_FLOAT32: IEEE 754 single precision
 * @ARENA_DTYPE_FLOAT64: IEEE 754 double precision
 * @ARENA_DTYPE_BFLOAT16: the upper half of a `FLOAT32`
 * @ARENA_DTYPE_COMPLEX64: two `FLOAT32`, real part first
 * @ARENA_DTYPE_COMPLEX128: two `FLOAT64`, real part first
 * @ARENA_DTYPE_BOOL: one byte, 0 or 1
 *
 * Names the data type of a field's items.
 *
 * A value is a DLPack data type in one number: type code << 16 | bits << 8 | lanes. Items are in the byte order of
 * the machine. Only the values listed here can be sent.
 *
 * This enumeration may grow.
 *
 * Since: 0.1
 */
typedef enum
{
  ARENA_DTYPE_INT8       = 0x000801,
  ARENA_DTYPE_INT16      = 0x001001,
  ARENA_DTYPE_INT32      = 0x002001,
  ARENA_DTYPE_INT64      = 0x004001,
  ARENA_DTYPE_UINT8      = 0x010801,
  ARENA_DTYPE_UINT16     = 0x011001,
  ARENA_DTYPE_UINT32     = 0x012001,
  ARENA_DTYPE_UINT64     = 0x014001,
  ARENA_DTYPE_FLOAT16    = 0x021001,
  ARENA_DTYPE_FLOAT32    = 0x022001,
  ARENA_DTYPE_FLOAT64    = 0x024001,
  ARENA_DTYPE_BFLOAT16   = 0x041001,
  ARENA_DTYPE_COMPLEX64  = 0x054001,
  ARENA_DTYPE_COMPLEX128 = 0x058001,
  ARENA_DTYPE_BOOL       = 0x060801,
} ArenaDType;

ARENA_AVAILABLE_IN_0_1
GType        arena_dtype_get_type      (void) G_GNUC_CONST;

ARENA_AVAILABLE_IN_0_1
const char  *arena_dtype_get_name      (ArenaDType dtype);
ARENA_AVAILABLE_IN_0_1
guint        arena_dtype_get_item_size (ArenaDType dtype);

G_END_DECLS
