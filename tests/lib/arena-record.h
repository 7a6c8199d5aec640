/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "unit/arena-packed-private.h"

G_BEGIN_DECLS

/* Composes a record of the packed calls word by word, as a binding does from the documentation. */
typedef struct
{
  GArray *fields;     /* guint64 */
  guint n_fields;
  GByteArray *names;
  GByteArray *data;   /* of fields in the record */
  GArray *in_record;  /* guint: index in fields of the position to be settled */
  const char *content_type;
  GBytes *payload;
  GVariant *value;
} ArenaRecord;

ArenaRecord *arena_record_new     (void) G_GNUC_WARN_UNUSED_RESULT;
void         arena_record_free    (ArenaRecord   *self);
void         arena_record_field   (ArenaRecord   *self,
                                   const char    *name,
                                   ArenaDType     dtype,
                                   const guint64 *shape,
                                   guint          n_dims,
                                   const gint64  *byte_strides,
                                   const void    *address,
                                   gsize          size);
/* One dimension of bytes that travel in the record. */
void         arena_record_inline  (ArenaRecord   *self,
                                   const char    *name,
                                   const void    *data,
                                   gsize          size);
void         arena_record_payload (ArenaRecord   *self,
                                   const char    *content_type,
                                   const void    *data,
                                   gsize          size);
void         arena_record_value   (ArenaRecord   *self,
                                   GVariant      *value);
GBytes      *arena_record_end     (ArenaRecord   *self) G_GNUC_WARN_UNUSED_RESULT;

/* The other way: field @index of a received record. */
void         arena_record_read    (const guint8     *record,
                                   gsize             size,
                                   guint             index,
                                   ArenaPackedField *field);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (ArenaRecord, arena_record_free)

G_END_DECLS
