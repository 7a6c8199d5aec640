/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* A fuzz target defines these; fuzz-driver.c runs them as a plain test, libFuzzer finds the first by its name. */

/* Must not crash, hang, leak or read beyond @size; asserts what it promises about the result. */
int              LLVMFuzzerTestOneInput (const guint8 *data,
                                         gsize         size);
/* Valid inputs of every kind, as GBytes: what the mutations start from. */
GPtrArray       *fuzz_seeds             (void);
extern const char fuzz_name[]; /* "hello": ends up in the test's path */

G_END_DECLS
