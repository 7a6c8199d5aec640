/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#if !defined(ARENA_INSIDE) && !defined(ARENA_COMPILATION)
#error "Only <arena.h> can be included directly."
#endif

#include "base/arena-types.h"

G_BEGIN_DECLS

#define ARENA_TYPE_CONSUMER_STATE (arena_consumer_state_get_type ())

/**
 * ArenaConsumerState:
 * @ARENA_CONSUMER_STATE_IDLE: no iteration has begun
 * @ARENA_CONSUMER_STATE_RUNNING: an iteration is running
 * @ARENA_CONSUMER_STATE_STOPPING: an iteration was told to stop and has not ended yet
 * @ARENA_CONSUMER_STATE_ENDED: the last iteration has ended; the next can be started
 * @ARENA_CONSUMER_STATE_FAILED: the producer is gone or broken; nothing follows
 * @ARENA_CONSUMER_STATE_CLOSED: the boundary was closed
 *
 * Where a [class@Arena.Consumer] stands.
 *
 * This enumeration may grow.
 *
 * Since: 0.1
 */
typedef enum
{
  ARENA_CONSUMER_STATE_IDLE,
  ARENA_CONSUMER_STATE_RUNNING,
  ARENA_CONSUMER_STATE_STOPPING,
  ARENA_CONSUMER_STATE_ENDED,
  ARENA_CONSUMER_STATE_FAILED,
  ARENA_CONSUMER_STATE_CLOSED,
} ArenaConsumerState;

ARENA_AVAILABLE_IN_0_1
GType arena_consumer_state_get_type (void) G_GNUC_CONST;

G_END_DECLS
