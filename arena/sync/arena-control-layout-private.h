/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdatomic.h>

G_BEGIN_DECLS

/* The two control files of a channel. Each has one writer and is mapped read-only by the other side, so a peer that
 * goes wild can spoil only its own words. Every cursor is a 64-bit number that only grows: it is never reset, never
 * wrapped and has no sentinel value. Words written at different moments are 128 bytes apart, since adjacent lines are
 * prefetched in pairs. */

#define ARENA_LINE 128

typedef _Atomic guint64 ArenaWord;

/* Process states; a bit once set stays set. */
#define ARENA_STATE_SHUTDOWN (1u << 0)
#define ARENA_STATE_CLOSED   (1u << 1)

/* Written by the consumer only. */
typedef struct
{
  _Alignas (ARENA_LINE) ArenaWord qtail;      /* descriptors copied out of the queue */
  _Alignas (ARENA_LINE) ArenaWord want_qhead; /* event index over the producer's qhead */
  _Alignas (ARENA_LINE) ArenaWord released;   /* pool: releases counted; ring: bytes given back */
  _Alignas (ARENA_LINE) ArenaWord state;      /* ARENA_STATE_* */
  ArenaWord wanted_epoch;                     /* the newest epoch the producer may run */
  ArenaWord stop_epoch;                       /* the newest epoch the producer must end early */
  _Alignas (ARENA_LINE) ArenaWord freed[];    /* pool: the last sequence released from each segment */
} ArenaConsumerPage;

/* Written by the producer only; the queue's slots follow at ARENA_SLOTS_OFFSET, and with ARENA_REUSE_ANY the segments of
 * the newest N sequences. */
typedef struct
{
  _Alignas (ARENA_LINE) ArenaWord qhead;          /* descriptors published: the only publish point of a boundary */
  _Alignas (ARENA_LINE) ArenaWord want_qtail;     /* event index over the consumer's qtail */
  ArenaWord want_released;                        /* event index over the consumer's released */
  ArenaWord need;                                 /* 0: not waiting for storage; in order: sequence + 1; any: 1 + the
                                                   * number of segments that are freed but on loan here */
  _Alignas (ARENA_LINE) ArenaWord state;          /* ARENA_STATE_* */
  _Alignas (ARENA_LINE) ArenaWord slot_waits;     /* statistics, relaxed */
  ArenaWord slot_wait_us;
  ArenaWord storage_waits;
  ArenaWord storage_wait_us;
  ArenaWord committed;                            /* likewise, from 0: segments (ring: bytes) ever used */
  ArenaWord spilled;                              /* likewise: bytes sent outside of the arena */
} ArenaProducerPage;

typedef enum
{
  ARENA_SLOT_UNIT  = 1,
  ARENA_SLOT_END   = 2, /* the epoch's last descriptor */
  ARENA_SLOT_ERROR = 3, /* likewise; the envelope holds a remote error */
} ArenaSlotKind;

/* Head of a queue slot; its envelope area follows at once. */
typedef struct
{
  guint64 unit;          /* u: numbers every UNIT, never reset between epochs */
  guint64 epoch;
  guint64 span;          /* pool: the segment's sequence s; ring: the span's end position; 0 without storage */
  guint64 offset;        /* of the unit's first byte in the arena's data */
  guint64 size;          /* layout size of the unit in the arena; 0: it took none */
  guint32 envelope_size;
  guint32 kind;          /* ArenaSlotKind */
  guint32 index;         /* pool: the segment */
  guint32 spilled;       /* 1: the next message on the socket brings a part of the unit; else 0 */
  guint32 reserved[2];
} ArenaSlot;

#define ARENA_SLOTS_OFFSET 4096

G_STATIC_ASSERT (sizeof (ArenaWord) == 8);
G_STATIC_ASSERT (sizeof (ArenaSlot) == 64);
G_STATIC_ASSERT (sizeof (ArenaConsumerPage) == 4 * ARENA_LINE);
G_STATIC_ASSERT (sizeof (ArenaProducerPage) <= ARENA_SLOTS_OFFSET);
G_STATIC_ASSERT (ATOMIC_LLONG_LOCK_FREE == 2);

G_END_DECLS
