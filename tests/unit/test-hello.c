/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "base/arena-error.h"
#include "sync/arena-cursor-private.h"
#include "sync/arena-hello-private.h"

#include "arena-test.h"

#include <stddef.h>
#include <string.h>
#include <unistd.h>

#define MIB G_GUINT64_CONSTANT (1048576)

static guint64
page_size (void)
{
  return (guint64) sysconf (_SC_PAGESIZE);
}

static ArenaGeometry
new_geometry (ArenaKind kind,
              gboolean  with_queue)
{
  ArenaGeometry geometry = { .kind = ARENA_KIND_NONE };
  g_autoptr (GError) error = NULL;

  if (kind == ARENA_KIND_POOL)
    {
      g_assert_true (arena_geometry_init_pool (&geometry, 4 * MIB + 1, 5, &error));
      geometry.reuse = ARENA_REUSE_ANY;
      geometry.read_only = with_queue;
      geometry.oversize = with_queue ? ARENA_OVERSIZE_SPILL : ARENA_OVERSIZE_ERROR;
    }
  else if (kind == ARENA_KIND_RING)
    g_assert_true (arena_geometry_init_ring (&geometry, 1000, &error));
  if (with_queue)
    g_assert_true (arena_geometry_set_queue (&geometry, 2, 16384, 4096, &error));
  g_assert_no_error (error);
  return geometry;
}

static void
assert_equal (const ArenaGeometry *a,
              const ArenaGeometry *b)
{
  g_assert_cmpint (a->kind, ==, b->kind);
  g_assert_cmpint (a->reuse, ==, b->reuse);
  g_assert_cmpint (a->read_only, ==, b->read_only);
  g_assert_cmpint (a->oversize, ==, b->oversize);
  g_assert_cmpuint (a->n_segments, ==, b->n_segments);
  g_assert_cmpuint (a->segment_size, ==, b->segment_size);
  g_assert_cmpuint (a->stride, ==, b->stride);
  g_assert_cmpuint (a->capacity, ==, b->capacity);
  g_assert_cmpuint (a->data_size, ==, b->data_size);
  g_assert_cmpuint (a->first_sequence, ==, b->first_sequence);
  g_assert_cmpuint (a->first_cursor, ==, b->first_cursor);
  g_assert_cmpuint (a->queue_size, ==, b->queue_size);
  g_assert_cmpuint (a->envelope_size, ==, b->envelope_size);
  g_assert_cmpuint (a->threshold, ==, b->threshold);
}

static void
test_pool_sizes (void)
{
  const guint64 page = page_size ();
  const struct
  {
    guint64 segment_size;
    guint64 n_segments;
    guint64 stride;
  } table[] = {
    { 1, 1, page },
    { page - 1, 3, page },
    { page, 3, page },
    { page + 1, 3, 2 * page },
    { 64 * MIB, ARENA_MAX_SEGMENTS, 64 * MIB },
    { ARENA_MAX_DATA_SIZE, 1, ARENA_MAX_DATA_SIZE },
    { ARENA_MAX_DATA_SIZE / ARENA_MAX_SEGMENTS, ARENA_MAX_SEGMENTS, ARENA_MAX_DATA_SIZE / ARENA_MAX_SEGMENTS },
  };

  for (guint i = 0; i < G_N_ELEMENTS (table); i++)
    {
      ArenaGeometry pool;

      g_assert_true (arena_geometry_init_pool (&pool, table[i].segment_size, table[i].n_segments, NULL));
      assert_equal (&pool, &(ArenaGeometry) {
        .kind = ARENA_KIND_POOL,
        .n_segments = table[i].n_segments,
        .segment_size = table[i].segment_size,
        .stride = table[i].stride,
        .data_size = table[i].stride * table[i].n_segments,
        .first_sequence = table[i].n_segments,
      });
    }
}

static void
test_ring_sizes (void)
{
  const guint64 page = page_size ();
  const guint64 capacities[] = { 1, 63, 64, 1000, page - 1, page, page + 1, ARENA_MAX_DATA_SIZE };

  for (guint i = 0; i < G_N_ELEMENTS (capacities); i++)
    {
      ArenaGeometry ring;

      g_assert_true (arena_geometry_init_ring (&ring, capacities[i], NULL));
      assert_equal (&ring, &(ArenaGeometry) {
        .kind = ARENA_KIND_RING,
        .capacity = capacities[i],
        .data_size = (capacities[i] + page - 1) / page * page,
      });
    }
}

static void
test_own_sizes_are_checked (void)
{
  const struct
  {
    guint64     segment_size;
    guint64     n_segments;
    const char *field;
    const char *limit;
  } table[] = {
    { 0, 1, "segment_size is 0", "1 to 70368744177664" },
    { ARENA_MAX_DATA_SIZE + 1, 1, "segment_size is 70368744177665", "1 to 70368744177664" },
    { G_MAXUINT64, 1, "segment_size", "70368744177664" },
    { 1, 0, "count is 0", "1 to 65536" },
    { 1, 65537, "count is 65537", "1 to 65536" },
    { 1, G_MAXUINT64, "count", "65536" },
    { ARENA_MAX_DATA_SIZE, 2, "data_size is 140737488355328", "70368744177664" },
    { ARENA_MAX_DATA_SIZE, 65536, "data_size", "70368744177664" },
  };
  GError *error = NULL;
  ArenaGeometry geometry;

  for (guint i = 0; i < G_N_ELEMENTS (table); i++)
    {
      g_assert_false (arena_geometry_init_pool (&geometry, table[i].segment_size, table[i].n_segments, &error));
      arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_INVALID_ARGUMENT, table[i].field, table[i].limit);
    }

  g_assert_false (arena_geometry_init_ring (&geometry, 0, &error));
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_INVALID_ARGUMENT, "capacity is 0", "1 to");
  g_assert_false (arena_geometry_init_ring (&geometry, ARENA_MAX_DATA_SIZE + 1, &error));
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_INVALID_ARGUMENT, "capacity is 70368744177665");
}

static void
test_own_queue_is_checked (void)
{
  const struct
  {
    guint64     queue_size;
    guint64     envelope_size;
    guint64     threshold;
    const char *field;
  } table[] = {
    { 0, 16384, 4096, "buffer_size is 0, must be 1 to 65536" },
    { 65537, 16384, 4096, "buffer_size is 65537" },
    { 2, 0, 4096, "envelope_size is 0, must be 1 to 16777216" },
    { 2, 16777217, 4096, "envelope_size is 16777217" },
    { 2, 16384, 16777217, "threshold is 16777217, must be 0 to 16777216" },
  };
  GError *error = NULL;
  ArenaGeometry geometry = new_geometry (ARENA_KIND_POOL, FALSE);
  const ArenaGeometry before = geometry;

  for (guint i = 0; i < G_N_ELEMENTS (table); i++)
    {
      g_assert_false (arena_geometry_set_queue (&geometry, table[i].queue_size, table[i].envelope_size,
                                                table[i].threshold, &error));
      arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_INVALID_ARGUMENT, table[i].field);
      assert_equal (&geometry, &before);
    }
}

/* Pages are whole, hold what they must, and no slot straddles a line. */
static void
test_page_sizes (void)
{
  const guint64 page = page_size ();
  const guint64 envelopes[] = { 1, 63, 64, 65, 16384, ARENA_MAX_ENVELOPE_SIZE };
  ArenaGeometry geometry = new_geometry (ARENA_KIND_POOL, FALSE);

  g_assert_cmpuint (arena_geometry_consumer_page_size (&geometry), ==, page);
  g_assert_cmpuint (arena_geometry_producer_page_size (&geometry), ==, page);
  g_assert_true (arena_geometry_init_pool (&geometry, 1, ARENA_MAX_SEGMENTS, NULL));
  g_assert_cmpuint (arena_geometry_consumer_page_size (&geometry), >=, sizeof (ArenaConsumerPage) + ARENA_MAX_SEGMENTS * 8);
  g_assert_cmpuint (arena_geometry_consumer_page_size (&geometry) % page, ==, 0);

  for (guint i = 0; i < G_N_ELEMENTS (envelopes); i++)
    for (guint64 n = 1; n <= ARENA_MAX_QUEUE_SIZE; n *= 16)
      {
        guint64 stride;
        guint64 size;

        g_assert_true (arena_geometry_set_queue (&geometry, n, envelopes[i], 0, NULL));
        stride = arena_geometry_slot_stride (&geometry);
        size = arena_geometry_producer_page_size (&geometry);
        g_assert_cmpuint (stride, ==, sizeof (ArenaSlot) + geometry.envelope_size);
        g_assert_cmpuint (stride % 64, ==, 0);
        g_assert_cmpuint (geometry.envelope_size, >=, envelopes[i]);
        g_assert_cmpuint (geometry.envelope_size, <, envelopes[i] + 64);
        g_assert_cmpuint (size, >=, ARENA_SLOTS_OFFSET + (n + 2) * stride);
        g_assert_cmpuint (size, <, ARENA_SLOTS_OFFSET + (n + 2) * stride + page);
        g_assert_cmpuint (size % page, ==, 0);
      }
}

static void
test_round_trip (void)
{
  const guint64 starts[] = {
    0,
    (G_GUINT64_CONSTANT (1) << 32) - 3,
    (G_GUINT64_CONSTANT (1) << 53) - 3,
    (G_GUINT64_CONSTANT (1) << 63) - 1000000,
  };

  for (guint s = 0; s < G_N_ELEMENTS (starts); s++)
    for (guint i = 0; i < 6; i++)
      {
        g_autoptr (GError) error = NULL;
        ArenaKind kind = (ArenaKind) (i / 2);
        ArenaGeometry geometry = new_geometry (kind, i % 2 == 1 || kind == ARENA_KIND_NONE);
        ArenaGeometry decoded;
        ArenaHelloMessage hello;
        ArenaReplyMessage reply;
        guint uid = 0;

        geometry.first_cursor = starts[s];
        if (kind == ARENA_KIND_POOL && starts[s] > 0)
          geometry.first_sequence = starts[s];
        arena_hello_encode (&geometry, 1000 + i, &hello);
        g_assert_true (arena_hello_decode (&hello, sizeof hello, &decoded, &uid, &error));
        g_assert_no_error (error);
        assert_equal (&decoded, &geometry);
        g_assert_cmpuint (uid, ==, 1000 + i);
        g_assert_cmpuint (arena_geometry_n_fds (&decoded), ==, kind == ARENA_KIND_NONE ? 3 : 4);

        arena_reply_encode (&geometry, &reply);
        g_assert_true (arena_reply_decode (&reply, sizeof reply, &decoded, &error));
        g_assert_no_error (error);
      }
}

static void
assert_hello_refused (const void *data,
                      gsize       size,
                      const char *text)
{
  GError *error = NULL;
  ArenaGeometry geometry = new_geometry (ARENA_KIND_RING, TRUE);
  const ArenaGeometry before = geometry;
  guint uid = 7;

  g_assert_false (arena_hello_decode (data, size, &geometry, &uid, &error));
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_PROTOCOL, "hello: ", text);
  assert_equal (&geometry, &before);
  g_assert_cmpuint (uid, ==, 7);
}

typedef struct
{
  ArenaKind   kind;
  gboolean    with_queue;
  gsize       offset;
  gsize       size;
  guint64     value;
  const char *text; /* field, value and limit */
} WrongField;

#define FIELD(field) offsetof (ArenaHelloMessage, field), sizeof ((ArenaHelloMessage *) NULL)->field

static void
check_wrong_fields (const WrongField *table,
                    gsize             n)
{
  for (gsize i = 0; i < n; i++)
    {
      ArenaGeometry geometry = new_geometry (table[i].kind, table[i].with_queue);
      ArenaHelloMessage hello;
      guint32 word = (guint32) table[i].value;

      arena_hello_encode (&geometry, 1000, &hello);
      if (table[i].size == 4)
        memcpy ((guint8 *) &hello + table[i].offset, &word, 4);
      else
        memcpy ((guint8 *) &hello + table[i].offset, &table[i].value, 8);
      assert_hello_refused (&hello, sizeof hello, table[i].text);
    }
}

/* Another program, another version, another byte order. */
static void
test_foreign_head (void)
{
  const WrongField table[] = {
    { ARENA_KIND_POOL, TRUE, FIELD (magic), 0, "magic is 0" },
    { ARENA_KIND_POOL, TRUE, FIELD (magic), ARENA_REPLY_MAGIC, "magic is " },
    { ARENA_KIND_POOL, TRUE, FIELD (magic), GUINT64_SWAP_LE_BE (ARENA_HELLO_MAGIC), "magic is " },
    { ARENA_KIND_POOL, TRUE, FIELD (version), 0, "version is 0, must be 1" },
    { ARENA_KIND_POOL, TRUE, FIELD (version), 2, "version is 2, must be 1" },
    { ARENA_KIND_POOL, TRUE, FIELD (version), 0x01000000, "version is 16777216, must be 1" },
    { ARENA_KIND_POOL, TRUE, FIELD (kind), 3, "kind is 3, must be 0 to 2" },
    { ARENA_KIND_POOL, TRUE, FIELD (kind), G_MAXUINT32, "kind is 4294967295, must be 0 to 2" },
    { ARENA_KIND_POOL, TRUE, FIELD (uid), G_GUINT64_CONSTANT (1) << 32, "uid is 4294967296, must be 0 to 4294967295" },
    { ARENA_KIND_POOL, TRUE, FIELD (reserved), 1, "reserved is 1, must be 0" },
  };

  check_wrong_fields (table, G_N_ELEMENTS (table));
}

static void
test_wrong_pool (void)
{
  const WrongField table[] = {
    { ARENA_KIND_POOL, FALSE, FIELD (kind), ARENA_KIND_RING, "capacity is 0, must be 1 to" },
    { ARENA_KIND_POOL, TRUE, FIELD (kind), ARENA_KIND_NONE, "count is 5, must be 0" },
    { ARENA_KIND_POOL, FALSE, FIELD (n_segments), 0, "count is 0, must be 1 to 65536" },
    { ARENA_KIND_POOL, FALSE, FIELD (n_segments), 65537, "count is 65537, must be 1 to 65536" },
    { ARENA_KIND_POOL, FALSE, FIELD (n_segments), 4, "data_size is " },
    { ARENA_KIND_POOL, FALSE, FIELD (n_segments), 6, "data_size is " },
    { ARENA_KIND_POOL, FALSE, FIELD (n_segments), G_GUINT64_CONSTANT (1) << 62, "count is 4611686018427387904" },
    { ARENA_KIND_POOL, FALSE, FIELD (segment_size), 0, "segment_size is 0, must be 1 to 70368744177664" },
    { ARENA_KIND_POOL, FALSE, FIELD (segment_size), 4 * MIB, "stride is " },
    { ARENA_KIND_POOL, FALSE, FIELD (segment_size), ARENA_MAX_DATA_SIZE, "data_size is 351843720888320" },
    { ARENA_KIND_POOL, FALSE, FIELD (segment_size), G_MAXUINT64, "segment_size is 18446744073709551615" },
    { ARENA_KIND_POOL, FALSE, FIELD (stride), 0, "stride is 0, must be " },
    { ARENA_KIND_POOL, FALSE, FIELD (stride), 4 * MIB, "stride is 4194304, must be " },
    { ARENA_KIND_POOL, FALSE, FIELD (stride), G_MAXUINT64, "stride is 18446744073709551615" },
    { ARENA_KIND_POOL, FALSE, FIELD (capacity), 64, "capacity is 64, must be 0" },
    { ARENA_KIND_POOL, FALSE, FIELD (data_size), 0, "data_size is 0, must be " },
    { ARENA_KIND_POOL, FALSE, FIELD (data_size), 5 * 4 * MIB, "data_size is 20971520" },
    { ARENA_KIND_POOL, FALSE, FIELD (data_size), G_MAXUINT64, "data_size is 18446744073709551615" },
    { ARENA_KIND_POOL, FALSE, FIELD (first_sequence), 4, "first_sequence is 4, must be 5 to 9223372036854775808" },
    { ARENA_KIND_POOL, FALSE, FIELD (first_sequence), ARENA_CURSOR_MAX + 1, "first_sequence is 9223372036854775809" },
    { ARENA_KIND_POOL, FALSE, FIELD (first_cursor), ARENA_CURSOR_MAX + 1, "first_cursor is 9223372036854775809" },
    { ARENA_KIND_POOL, FALSE, FIELD (first_cursor), G_MAXUINT64, "must be 0 to 9223372036854775808" },
    { ARENA_KIND_POOL, FALSE, FIELD (reuse), 2, "reuse is 2, must be 0 to 1" },
    { ARENA_KIND_RING, FALSE, FIELD (reuse), 1, "reuse is 1, must be 0" },
    { ARENA_KIND_POOL, FALSE, FIELD (read_only), 2, "read_only is 2, must be 0 to 1" },
    { ARENA_KIND_RING, FALSE, FIELD (read_only), 1, "read_only is 1, must be 0" },
    { ARENA_KIND_POOL, FALSE, FIELD (oversize), 2, "oversize is 2, must be 0 to 1" },
    { ARENA_KIND_RING, TRUE, FIELD (oversize), 2, "oversize is 2, must be 0 to 1" },
    { ARENA_KIND_NONE, TRUE, FIELD (oversize), 1, "oversize is 1, must be 0" },
  };

  check_wrong_fields (table, G_N_ELEMENTS (table));
}

static void
test_wrong_ring (void)
{
  const WrongField table[] = {
    { ARENA_KIND_RING, FALSE, FIELD (kind), ARENA_KIND_POOL, "count is 0, must be 1 to 65536" },
    { ARENA_KIND_RING, TRUE, FIELD (kind), ARENA_KIND_NONE, "capacity is 1000, must be 0" },
    { ARENA_KIND_RING, FALSE, FIELD (n_segments), 1, "count is 1, must be 0" },
    { ARENA_KIND_RING, FALSE, FIELD (segment_size), 1, "segment_size is 1, must be 0" },
    { ARENA_KIND_RING, FALSE, FIELD (stride), 4096, "stride is 4096, must be 0" },
    { ARENA_KIND_RING, FALSE, FIELD (capacity), 0, "capacity is 0, must be 1 to 70368744177664" },
    { ARENA_KIND_RING, FALSE, FIELD (capacity), MIB, "data_size is " },
    { ARENA_KIND_RING, FALSE, FIELD (capacity), G_MAXUINT64, "capacity is 18446744073709551615" },
    { ARENA_KIND_RING, FALSE, FIELD (data_size), 0, "data_size is 0, must be " },
    { ARENA_KIND_RING, FALSE, FIELD (data_size), MIB, "data_size is 1048576, must be " },
    { ARENA_KIND_RING, FALSE, FIELD (first_sequence), 1, "first_sequence is 1, must be 0" },
    { ARENA_KIND_RING, FALSE, FIELD (first_cursor), ARENA_CURSOR_MAX + 1, "first_cursor is 9223372036854775809" },
  };

  check_wrong_fields (table, G_N_ELEMENTS (table));
}

static void
test_wrong_queue (void)
{
  const WrongField table[] = {
    { ARENA_KIND_NONE, TRUE, FIELD (kind), ARENA_KIND_POOL, "count is 0, must be 1 to 65536" },
    { ARENA_KIND_NONE, TRUE, FIELD (data_size), 4096, "data_size is 4096, must be 0" },
    { ARENA_KIND_NONE, TRUE, FIELD (first_sequence), 1, "first_sequence is 1, must be 0" },
    { ARENA_KIND_NONE, TRUE, FIELD (queue_size), 0, "buffer_size is 0, must be 1 to 65536" },
    { ARENA_KIND_POOL, TRUE, FIELD (queue_size), 0, "envelope_size is 16384, must be 0" },
    { ARENA_KIND_POOL, FALSE, FIELD (threshold), 1, "threshold is 1, must be 0" },
    { ARENA_KIND_POOL, FALSE, FIELD (queue_size), 1, "envelope_size is 0, must be 1 to 16777216" },
    { ARENA_KIND_POOL, TRUE, FIELD (queue_size), 65537, "buffer_size is 65537, must be 1 to 65536" },
    { ARENA_KIND_POOL, TRUE, FIELD (queue_size), G_MAXUINT64 - 1, "buffer_size is 18446744073709551614" },
    { ARENA_KIND_POOL, TRUE, FIELD (envelope_size), 16383, "envelope_size is 16383, must be 16384" },
    { ARENA_KIND_POOL, TRUE, FIELD (envelope_size), 16777280, "envelope_size is 16777280, must be 1 to 16777216" },
    { ARENA_KIND_POOL, TRUE, FIELD (threshold), 16777217, "threshold is 16777217, must be 0 to 16777216" },
  };

  check_wrong_fields (table, G_N_ELEMENTS (table));
}

static void
test_every_other_size_is_refused (void)
{
  ArenaGeometry geometry = new_geometry (ARENA_KIND_POOL, TRUE);
  ArenaHelloMessage hello[2] = { 0 };

  arena_hello_encode (&geometry, 1000, &hello[0]);
  for (gsize size = 0; size <= sizeof hello; size++)
    if (size != sizeof hello[0])
      {
        g_autofree char *text = g_strdup_printf ("size is %" G_GSIZE_FORMAT ", must be 120", size);
        g_autofree guint8 *exact = g_memdup2 (hello, size);

        assert_hello_refused (exact, size, text);
      }
}

static void
test_wrong_reply (void)
{
  const struct
  {
    ArenaReplyMessage reply;
    gsize             size;
    const char       *text;
  } table[] = {
    { { ARENA_HELLO_MAGIC, 1, 0, 0 }, 24, "magic is " },
    { { ARENA_REPLY_MAGIC, 2, 0, 0 }, 24, "version is 2, must be 1" },
    { { ARENA_REPLY_MAGIC, 1, 9, 0 }, 24, "reserved is 9, must be 0" },
    { { ARENA_REPLY_MAGIC, 1, 0, 0 }, 24, "page_size is 0, must be " },
    { { ARENA_REPLY_MAGIC, 1, 0, G_MAXUINT64 }, 24, "page_size is 18446744073709551615" },
    { { ARENA_REPLY_MAGIC, 1, 0, 0 }, 0, "size is 0, must be 24" },
    { { ARENA_REPLY_MAGIC, 1, 0, 0 }, 23, "size is 23, must be 24" },
    { { ARENA_REPLY_MAGIC, 1, 0, 0 }, 25, "size is 25, must be 24" },
  };
  ArenaGeometry geometry = new_geometry (ARENA_KIND_POOL, TRUE);
  GError *error = NULL;

  for (guint i = 0; i < G_N_ELEMENTS (table); i++)
    {
      g_assert_false (arena_reply_decode (&table[i].reply, table[i].size, &geometry, &error));
      arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_PROTOCOL, "reply: ", table[i].text);
    }
}

int
main (int    argc,
      char **argv)
{
  arena_test_init (&argc, &argv);
  arena_test_add ("/arena/hello/pool-sizes", test_pool_sizes);
  arena_test_add ("/arena/hello/ring-sizes", test_ring_sizes);
  arena_test_add ("/arena/hello/own-sizes-are-checked", test_own_sizes_are_checked);
  arena_test_add ("/arena/hello/own-queue-is-checked", test_own_queue_is_checked);
  arena_test_add ("/arena/hello/page-sizes", test_page_sizes);
  arena_test_add ("/arena/hello/round-trip", test_round_trip);
  arena_test_add ("/arena/hello/foreign-head", test_foreign_head);
  arena_test_add ("/arena/hello/wrong-pool", test_wrong_pool);
  arena_test_add ("/arena/hello/wrong-ring", test_wrong_ring);
  arena_test_add ("/arena/hello/wrong-queue", test_wrong_queue);
  arena_test_add ("/arena/hello/every-other-size-is-refused", test_every_other_size_is_refused);
  arena_test_add ("/arena/hello/wrong-reply", test_wrong_reply);
  return g_test_run ();
}
