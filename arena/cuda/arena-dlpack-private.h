/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* The structures of DLPack, in our own words: as versions 0.x have them, and as 1.x. */

typedef struct
{
  gpointer data;
  gint32   device_type;
  gint32   device_id;
  gint32   n_dims;
  guint8   code;
  guint8   bits;
  guint16  lanes;
  gint64  *shape;
  gint64  *strides; /* NULL: C order */
  guint64  byte_offset;
} ArenaDLTensor;

typedef struct _ArenaDLManaged ArenaDLManaged;

struct _ArenaDLManaged
{
  ArenaDLTensor tensor;
  gpointer      context;
  void        (*deleter) (ArenaDLManaged *self);
};

typedef struct _ArenaDLVersioned ArenaDLVersioned;

struct _ArenaDLVersioned
{
  guint32       major, minor;
  gpointer      context;
  void        (*deleter) (ArenaDLVersioned *self);
  guint64       flags;
  ArenaDLTensor tensor;
};

#define ARENA_DL_CUDA  2
#define ARENA_DL_MAJOR 1
#define ARENA_DL_MINOR 0

G_STATIC_ASSERT (sizeof (ArenaDLTensor) == 48);
G_STATIC_ASSERT (G_STRUCT_OFFSET (ArenaDLTensor, code) == 20);
G_STATIC_ASSERT (G_STRUCT_OFFSET (ArenaDLManaged, deleter) == 56);
G_STATIC_ASSERT (G_STRUCT_OFFSET (ArenaDLVersioned, deleter) == 16);
G_STATIC_ASSERT (G_STRUCT_OFFSET (ArenaDLVersioned, tensor) == 32);

G_END_DECLS
