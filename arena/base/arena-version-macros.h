/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#if !defined(ARENA_INSIDE) && !defined(ARENA_COMPILATION)
#error "Only <arena.h> can be included directly."
#endif

/* Everything is hidden by default; one of these above a prototype is the only way out of the library. */
#define ARENA_AVAILABLE_IN_0_1 __attribute__ ((visibility ("default"))) extern
