/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#define ARENA_INSIDE

#include "base/arena-error.h"
#include "base/arena-types.h"
#include "base/arena-version-macros.h"
#include "base/arena-version.h"

#undef ARENA_INSIDE
