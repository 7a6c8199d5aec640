/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "sync/arena-control-layout-private.h"

#include "arena-test.h"

#include <stddef.h>

/* Two processes may run different builds of the same version, so every offset is a promise. A word that moved to the
 * other page would be missing here: it would not compile. */

typedef struct
{
  const char *name;
  gsize       offset;
  gsize       expected;
} Offset;

#define WORD(type, name, expected) { #type "." #name, offsetof (type, name), expected }

static void
check_offsets (const Offset *offsets,
               gsize         n_offsets)
{
  for (gsize i = 0; i < n_offsets; i++)
    if (offsets[i].offset != offsets[i].expected)
      g_error ("%s is at %" G_GSIZE_FORMAT ", must be at %" G_GSIZE_FORMAT,
               offsets[i].name, offsets[i].offset, offsets[i].expected);
}

static void
test_consumer_page (void)
{
  const Offset offsets[] = {
    WORD (ArenaConsumerPage, qtail, 0),
    WORD (ArenaConsumerPage, want_qhead, 128),
    WORD (ArenaConsumerPage, released, 256),
    WORD (ArenaConsumerPage, state, 384),
    WORD (ArenaConsumerPage, wanted_epoch, 392),
    WORD (ArenaConsumerPage, stop_epoch, 400),
    WORD (ArenaConsumerPage, freed, 512),
  };

  check_offsets (offsets, G_N_ELEMENTS (offsets));
  g_assert_cmpuint (sizeof (ArenaConsumerPage), ==, 512);
}

static void
test_producer_page (void)
{
  const Offset offsets[] = {
    WORD (ArenaProducerPage, qhead, 0),
    WORD (ArenaProducerPage, want_qtail, 128),
    WORD (ArenaProducerPage, want_released, 136),
    WORD (ArenaProducerPage, need, 144),
    WORD (ArenaProducerPage, state, 256),
    WORD (ArenaProducerPage, slot_waits, 384),
    WORD (ArenaProducerPage, slot_wait_us, 392),
    WORD (ArenaProducerPage, storage_waits, 400),
    WORD (ArenaProducerPage, storage_wait_us, 408),
    WORD (ArenaProducerPage, committed, 416),
  };

  check_offsets (offsets, G_N_ELEMENTS (offsets));
  g_assert_cmpuint (sizeof (ArenaProducerPage), ==, 512);
  g_assert_cmpuint (ARENA_SLOTS_OFFSET, ==, 4096);
}

static void
test_slot (void)
{
  const Offset offsets[] = {
    WORD (ArenaSlot, unit, 0),
    WORD (ArenaSlot, epoch, 8),
    WORD (ArenaSlot, span, 16),
    WORD (ArenaSlot, offset, 24),
    WORD (ArenaSlot, size, 32),
    WORD (ArenaSlot, envelope_size, 40),
    WORD (ArenaSlot, kind, 44),
    WORD (ArenaSlot, index, 48),
    WORD (ArenaSlot, spilled, 52),
    WORD (ArenaSlot, reserved, 56),
  };

  check_offsets (offsets, G_N_ELEMENTS (offsets));
  g_assert_cmpuint (sizeof (ArenaSlot), ==, 64);
}

/* What one side writes while the other one polls something else must not share a pair of lines with it. */
static void
test_hot_words_have_their_own_lines (void)
{
  const gsize consumer[] = {
    offsetof (ArenaConsumerPage, qtail), offsetof (ArenaConsumerPage, want_qhead),
    offsetof (ArenaConsumerPage, released), offsetof (ArenaConsumerPage, state),
    offsetof (ArenaConsumerPage, freed),
  };
  const gsize producer[] = {
    offsetof (ArenaProducerPage, qhead), offsetof (ArenaProducerPage, want_qtail),
    offsetof (ArenaProducerPage, state), offsetof (ArenaProducerPage, slot_waits),
    ARENA_SLOTS_OFFSET,
  };

  for (guint i = 1; i < G_N_ELEMENTS (consumer); i++)
    g_assert_cmpuint (consumer[i] / ARENA_LINE, >, consumer[i - 1] / ARENA_LINE);
  for (guint i = 1; i < G_N_ELEMENTS (producer); i++)
    g_assert_cmpuint (producer[i] / ARENA_LINE, >, producer[i - 1] / ARENA_LINE);
  g_assert_cmpuint (_Alignof (ArenaConsumerPage), ==, ARENA_LINE);
  g_assert_cmpuint (_Alignof (ArenaProducerPage), ==, ARENA_LINE);
}

static void
test_words_are_lock_free (void)
{
  ArenaWord word = 0;

  g_assert_cmpuint (sizeof word, ==, 8);
  g_assert_true (atomic_is_lock_free (&word));
}

int
main (int    argc,
      char **argv)
{
  arena_test_init (&argc, &argv);
  arena_test_add ("/arena/control-layout/consumer-page", test_consumer_page);
  arena_test_add ("/arena/control-layout/producer-page", test_producer_page);
  arena_test_add ("/arena/control-layout/slot", test_slot);
  arena_test_add ("/arena/control-layout/hot-words-have-their-own-lines", test_hot_words_have_their_own_lines);
  arena_test_add ("/arena/control-layout/words-are-lock-free", test_words_are_lock_free);
  return g_test_run ();
}
