/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#define ARENA_INSIDE

#include "backend/arena-backend.h"
#include "backend/arena-pool.h"
#include "backend/arena-reader.h"
#include "backend/arena-ring.h"
#include "backend/arena-stats.h"
#include "backend/arena-writer.h"
#include "base/arena-enums.h"
#include "base/arena-error.h"
#include "base/arena-types.h"
#include "base/arena-version-macros.h"
#include "base/arena-version.h"
#include "boundary/arena-consumer-state.h"
#include "boundary/arena-consumer.h"
#include "boundary/arena-producer.h"
#include "boundary/arena-remote-error.h"
#include "boundary/arena-worker.h"
#include "cuda/arena-cuda-context.h"
#include "cuda/arena-cuda-error.h"
#include "cuda/arena-device-buffer.h"
#include "cuda/arena-pinned-allocator.h"
#include "cuda/arena-pinned-stats.h"
#include "cuda/arena-quarantine.h"
#include "cuda/arena-transfer.h"
#include "unit/arena-dtype.h"
#include "unit/arena-field.h"
#include "unit/arena-unit-builder.h"
#include "unit/arena-unit.h"

#undef ARENA_INSIDE
