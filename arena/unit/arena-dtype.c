/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "unit/arena-dtype.h"

/* A data type arrives as a plain number, from scripts and from envelopes, so nothing here believes that it is one of
 * the enumeration: get_name() is the list of those that are, and every check for a known one ends there. */

G_DEFINE_ENUM_TYPE (ArenaDType,
                    arena_dtype,
                    G_DEFINE_ENUM_VALUE (ARENA_DTYPE_INT8, "int8"),
                    G_DEFINE_ENUM_VALUE (ARENA_DTYPE_INT16, "int16"),
                    G_DEFINE_ENUM_VALUE (ARENA_DTYPE_INT32, "int32"),
                    G_DEFINE_ENUM_VALUE (ARENA_DTYPE_INT64, "int64"),
                    G_DEFINE_ENUM_VALUE (ARENA_DTYPE_UINT8, "uint8"),
                    G_DEFINE_ENUM_VALUE (ARENA_DTYPE_UINT16, "uint16"),
                    G_DEFINE_ENUM_VALUE (ARENA_DTYPE_UINT32, "uint32"),
                    G_DEFINE_ENUM_VALUE (ARENA_DTYPE_UINT64, "uint64"),
                    G_DEFINE_ENUM_VALUE (ARENA_DTYPE_FLOAT16, "float16"),
                    G_DEFINE_ENUM_VALUE (ARENA_DTYPE_FLOAT32, "float32"),
                    G_DEFINE_ENUM_VALUE (ARENA_DTYPE_FLOAT64, "float64"),
                    G_DEFINE_ENUM_VALUE (ARENA_DTYPE_BFLOAT16, "bfloat16"),
                    G_DEFINE_ENUM_VALUE (ARENA_DTYPE_COMPLEX64, "complex64"),
                    G_DEFINE_ENUM_VALUE (ARENA_DTYPE_COMPLEX128, "complex128"),
                    G_DEFINE_ENUM_VALUE (ARENA_DTYPE_BOOL, "bool"))

/**
 * arena_dtype_get_name:
 * @dtype: a data type
 *
 * Gets the usual name of a data type, for example `float32`.
 *
 * The names are those of NumPy and of DLPack's users. This function may be called from any thread.
 *
 * Returns: (transfer none) (nullable): the name, or `NULL` if @dtype is not one of the enumeration
 *
 * Since: 0.1
 */
const char *
arena_dtype_get_name (ArenaDType dtype)
{
  switch (dtype)
    {
    case ARENA_DTYPE_INT8:
      return "int8";
    case ARENA_DTYPE_INT16:
      return "int16";
    case ARENA_DTYPE_INT32:
      return "int32";
    case ARENA_DTYPE_INT64:
      return "int64";
    case ARENA_DTYPE_UINT8:
      return "uint8";
    case ARENA_DTYPE_UINT16:
      return "uint16";
    case ARENA_DTYPE_UINT32:
      return "uint32";
    case ARENA_DTYPE_UINT64:
      return "uint64";
    case ARENA_DTYPE_FLOAT16:
      return "float16";
    case ARENA_DTYPE_FLOAT32:
      return "float32";
    case ARENA_DTYPE_FLOAT64:
      return "float64";
    case ARENA_DTYPE_BFLOAT16:
      return "bfloat16";
    case ARENA_DTYPE_COMPLEX64:
      return "complex64";
    case ARENA_DTYPE_COMPLEX128:
      return "complex128";
    case ARENA_DTYPE_BOOL:
      return "bool";
    default:
      return NULL;
    }
}

/**
 * arena_dtype_get_item_size:
 * @dtype: a data type
 *
 * Gets the size of one item in bytes.
 *
 * This function may be called from any thread.
 *
 * Returns: the size in bytes, or 0 if @dtype is not one of the enumeration
 *
 * Since: 0.1
 */
guint
arena_dtype_get_item_size (ArenaDType dtype)
{
  guint bits = ((guint) dtype >> 8) & 0xff;
  guint lanes = (guint) dtype & 0xff;

  return arena_dtype_get_name (dtype) != NULL ? bits / 8 * lanes : 0;
}
