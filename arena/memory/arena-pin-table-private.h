/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* Which ranges of this process's memory are page-locked for a device: entered by whoever locks them, and asked by who wants
 * to know without asking a driver. Ranges don't overlap. Any thread; a forked child finds it empty, for nothing is locked
 * on its behalf. */
void     arena_pin_table_add        (gconstpointer  start,
                                     gsize          size);
void     arena_pin_table_remove     (gconstpointer  start);
/* Whether all of it lies in one range; two that touch are not one to the driver. FALSE for no bytes at all. */
gboolean arena_pin_table_covers     (gconstpointer  start,
                                     gsize          size);
/* One load: whether nothing is. */
gboolean arena_pin_table_is_empty   (void);
/* Bytes of all ranges that start in [@start, @start + @size), and how many they are. */
guint64  arena_pin_table_measure    (gconstpointer  start,
                                     gsize          size,
                                     guint         *n);

G_END_DECLS
