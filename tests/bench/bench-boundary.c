/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "bench-boundary.h"

#include "bench-payload.h"

#include <unistd.h>

/* A glance at small units would be a part of what they cost. */
#define GLANCE_ALWAYS (1 << 20)
#define GLANCE_RARELY 16

void
bench_boundary_open (BenchBoundary *self,
                     ArenaBackend  *backend,
                     guint          buffer_size,
                     const char    *figure,
                     gsize          size,
                     const int     *fds,
                     guint          n_fds)
{
  g_autoptr (GError) error = NULL;
  int all[BENCH_MAX_FDS];

  self->size = size;
  self->consumer = arena_consumer_new (backend, buffer_size, &error);
  bench_check_error (error, "arena_consumer_new");
  g_object_unref (backend);

  all[0] = arena_consumer_dup_worker_fd (self->consumer, &error);
  bench_check_error (error, "arena_consumer_dup_worker_fd");
  for (guint i = 0; i < n_fds; i++)
    all[i + 1] = fds[i];
  bench_peer_start (&self->peer, figure, size, all, n_fds + 1);
  close (all[0]);
}

guint64
bench_warm_up (guint64 n_units)
{
  return n_units / 10;
}

double
bench_boundary_receive (BenchBoundary *self,
                        BenchCommand   command,
                        guint64        n_units,
                        BenchUse       use)
{
  guint64 every = self->size >= GLANCE_ALWAYS ? 1 : GLANCE_RARELY;
  g_autoptr (ArenaUnit) last = NULL;
  g_autoptr (GBytes) last_bytes = NULL;
  g_autoptr (GError) error = NULL;
  guint64 sum = 0;
  gint64 end = 0;
  gint64 start;

  bench_peer_order (&self->peer, command, n_units);
  arena_consumer_start (self->consumer, &error);
  bench_check_error (error, "arena_consumer_start");

  for (guint64 i = 0; i < n_units; i++)
    {
      ArenaUnit *unit = arena_consumer_next (self->consumer, -1, NULL, &error);
      GBytes *bytes;

      if (unit == NULL)
        bench_fail ("unit %" G_GUINT64_FORMAT ": %s", i, error != NULL ? error->message : "missing");

      bytes = arena_unit_dup_bytes (unit, 0, &error);
      bench_check_error (error, "arena_unit_dup_bytes");
      if (use == BENCH_READ)
        sum += bench_payload_sum (g_bytes_get_data (bytes, NULL), self->size);
      if (i + 1 == n_units)
        {
          end = bench_now ();
          last = unit;
          last_bytes = bytes;
          break;
        }

      if (i % every == 0)
        bench_payload_sample (g_bytes_get_data (bytes, NULL), self->size, i);
      g_bytes_unref (bytes);
      g_object_unref (unit);
    }

  bench_payload_check (g_bytes_get_data (last_bytes, NULL), self->size, n_units - 1);
  if (arena_consumer_next (self->consumer, -1, NULL, &error) != NULL)
    bench_fail ("a unit too many");
  bench_check_error (error, "arena_consumer_next");

  /* The sum has to be used, or it is not made. */
  start = bench_peer_await (&self->peer) + (sum == 1);
  return (double) (end - start) / (double) (n_units - bench_warm_up (n_units));
}

double
bench_boundary_base (BenchBoundary *self,
                     guint64        n_units)
{
  bench_peer_order (&self->peer, BENCH_BASE, n_units);
  return (double) bench_peer_await (&self->peer) / (double) n_units;
}

void
bench_boundary_close (BenchBoundary *self)
{
  g_autoptr (GError) error = NULL;

  bench_peer_stop (&self->peer);
  arena_consumer_close (self->consumer, -1, NULL, &error);
  bench_check_error (error, "arena_consumer_close");
  g_clear_object (&self->consumer);
}

void
bench_sender_init (BenchSender *self,
                   gsize        size)
{
  g_autoptr (GError) error = NULL;

  self->producer = arena_producer_new_from_fd (bench_work_fd (0), &error);
  bench_check_error (error, "arena_producer_new_from_fd");
  self->size = size;
  self->source = bench_payload_new (size);
  self->slots = g_ptr_array_new ();
}

/* Copies the source into the arena; the warm iteration does it by itself, to learn where that is. */
static void
add_field (BenchSender      *self,
           ArenaUnitBuilder *builder,
           gboolean          warm,
           GError          **error)
{
  const guint64 shape[] = { self->size };
  g_autoptr (GBytes) reserved = NULL;
  gpointer slot;

  if (!warm)
    {
      arena_unit_builder_append_address (builder, NULL, ARENA_DTYPE_UINT8, shape, 1,
                                         (guint64) GPOINTER_TO_SIZE (self->source), self->size, NULL, 0, error);
      return;
    }

  reserved = arena_unit_builder_reserve (builder, NULL, ARENA_DTYPE_UINT8, shape, 1, NULL, error);
  if (reserved == NULL)
    return;

  slot = (gpointer) g_bytes_get_data (reserved, NULL);
  memcpy (slot, self->source, self->size);
  g_ptr_array_add (self->slots, slot);
}

void
bench_sender_send (BenchSender      *self,
                   const BenchOrder *order)
{
  guint64 warm_up = bench_warm_up (order->n_units);
  g_autoptr (GError) error = NULL;
  gint64 start = 0;

  arena_producer_wait_iteration (self->producer, -1, NULL, NULL, &error);
  bench_check_error (error, "arena_producer_wait_iteration");
  for (guint64 i = 0; i < order->n_units; i++)
    {
      ArenaUnitBuilder *builder;

      if (i == warm_up)
        start = bench_now ();

      builder = arena_producer_begin_unit (self->producer, self->size, -1, NULL, &error);
      bench_check_error (error, "arena_producer_begin_unit");
      bench_payload_stamp (self->source, self->size, i);
      add_field (self, builder, order->command == BENCH_WARM, &error);
      bench_check_error (error, "adding a field");
      arena_unit_builder_commit (builder, &error);
      bench_check_error (error, "arena_unit_builder_commit");
    }

  arena_producer_finish_iteration (self->producer, &error);
  bench_check_error (error, "arena_producer_finish_iteration");
  bench_work_reply (start);
}

void
bench_sender_clear (BenchSender *self)
{
  g_clear_object (&self->producer);
  g_clear_pointer (&self->slots, g_ptr_array_unref);
  free (self->source);
}
