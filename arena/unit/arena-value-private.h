/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

#define ARENA_MAX_VALUE_DEPTH 64 /* containers in one another; a variant is one */

/* NULL where @value may travel: in normal form, not too deep, no negative handle; else what is wrong, to follow "the
 * value". @n_fields gets how many fields its handles ask for: the largest plus 1, or 0. */
const char *arena_value_check (GVariant *value,
                               guint    *n_fields);

G_END_DECLS
