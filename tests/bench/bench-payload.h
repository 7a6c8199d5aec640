/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* What is sent: words that depend on their position, the first and the last one replaced by the unit's number. So a
 * stale, shifted or torn unit is noticed. Sizes are multiples of 8, at least 16. */

guint64 *bench_payload_new    (gsize          size);

static inline void
bench_payload_stamp (guint64 *payload,
                     gsize    size,
                     guint64  number)
{
  payload[0] = number;
  payload[size / 8 - 1] = number;
}

/* Fails unless unit @number is right: three words of it, or every word. */
void     bench_payload_sample (gconstpointer  data,
                               gsize          size,
                               guint64        number);
void     bench_payload_check  (gconstpointer  data,
                               gsize          size,
                               guint64        number);
/* Reads every byte once. */
guint64  bench_payload_sum    (gconstpointer  data,
                               gsize          size);

G_END_DECLS
