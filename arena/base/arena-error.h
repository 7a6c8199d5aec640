/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#if !defined(ARENA_INSIDE) && !defined(ARENA_COMPILATION)
#error "Only <arena.h> can be included directly."
#endif

#include "base/arena-types.h"

G_BEGIN_DECLS

/**
 * ARENA_ERROR:
 *
 * The error domain of this library. Errors in it are [error@Arena.Error].
 *
 * Since: 0.1
 */
#define ARENA_ERROR (arena_error_quark ())

/**
 * ArenaError:
 * @ARENA_ERROR_INVALID_ARGUMENT: Correct the call: an argument can't be right in any state. The message names it and
 *   its limit.
 * @ARENA_ERROR_INVALID_STATE: Correct the order of calls: this one has no meaning here.
 * @ARENA_ERROR_TOO_LARGE: Make the unit smaller or create an arena that is larger, or spills: it will never fit. The
 *   message has both numbers.
 * @ARENA_ERROR_WOULD_BLOCK: Call again when the descriptor or the source is ready. Nothing was lost.
 * @ARENA_ERROR_TIMED_OUT: Call again, or give up: the time given was not enough. Nothing was lost.
 * @ARENA_ERROR_NO_SPACE: Ask for less, or raise the limit that the message names. Nothing was reserved.
 * @ARENA_ERROR_CLOSED: Stop: this end or the other closed in good order. A producer is told so as well when its iteration
 *   was stopped: finish that, and wait for the next.
 * @ARENA_ERROR_PEER_GONE: Start again with a new arena: the other process ended. The message has its signal or exit
 *   status where they are known.
 * @ARENA_ERROR_REMOTE: Look into the producer: its own code failed, and the message is what it reported.
 * @ARENA_ERROR_PROTOCOL: Stop using this peer: it sent what no correct peer sends.
 * @ARENA_ERROR_BUSY: Free something and call again: no other process can end this wait. The message says what is
 *   held, and by whom. A second call that waits is told so as well, while the first one does.
 * @ARENA_ERROR_NOT_SUPPORTED: Choose another way: this kernel, machine or kind of arena can't do it.
 * @ARENA_ERROR_UNSERIALIZABLE: Change the value: the message names the part that can't be carried. The boundary goes
 *   on with the next unit.
 * @ARENA_ERROR_FORKED: Open an arena of your own: this one belongs to the process that forked the calling one.
 * @ARENA_ERROR_BACKEND: Look into the backend: one that is not part of this library failed.
 *
 * Says what the caller can do about a failure.
 *
 * Each code stands for one action, not for one cause; the message has the cause, with the numbers. A cancelled call
 * is `G_IO_ERROR_CANCELLED` and in no other way different from one that was never made.
 *
 * This enumeration may grow: treat a code that you don't know as final.
 *
 * Since: 0.1
 */
typedef enum
{
  ARENA_ERROR_INVALID_ARGUMENT,
  ARENA_ERROR_INVALID_STATE,
  ARENA_ERROR_TOO_LARGE,
  ARENA_ERROR_WOULD_BLOCK,
  ARENA_ERROR_TIMED_OUT,
  ARENA_ERROR_NO_SPACE,
  ARENA_ERROR_CLOSED,
  ARENA_ERROR_PEER_GONE,
  ARENA_ERROR_REMOTE,
  ARENA_ERROR_PROTOCOL,
  ARENA_ERROR_BUSY,
  ARENA_ERROR_NOT_SUPPORTED,
  ARENA_ERROR_UNSERIALIZABLE,
  ARENA_ERROR_FORKED,
  ARENA_ERROR_BACKEND,
} ArenaError;

ARENA_AVAILABLE_IN_0_1
GQuark arena_error_quark (void);

G_END_DECLS
