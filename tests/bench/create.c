/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "bench-figures.h"

#include <arena.h>

#include "backend/arena-pool-private.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

/* Ours: arena_pool_new() for 64 MiB in 16 segments, then this process's page tables are filled as a producer's are. The
 * base: memfd_create(), ftruncate(), mmap() and MADV_POPULATE_WRITE for as many bytes; of the second key with fallocate()
 * before, as ours does to learn of missing memory. Taking it all down is not in the time. Per call, in ns. */

#define N_SEGMENTS   16
#define SEGMENT_SIZE (4 << 20)
#define SIZE         (N_SEGMENTS * SEGMENT_SIZE)

static void
check_zeros (const guint8 *data)
{
  for (gsize at = 0; at < SIZE; at += 4096)
    if (data[at] != 0)
      bench_fail ("new memory is not zero");
}

static double
create_ours (void)
{
  g_autoptr (GError) error = NULL;
  gint64 start = bench_now ();
  g_autoptr (ArenaPool) pool = arena_pool_new (SEGMENT_SIZE, N_SEGMENTS, &error);
  ArenaStorage *storage;
  gint64 end;

  bench_check_error (error, "arena_pool_new");
  storage = arena_pool_peek_storage (pool);
  arena_mapping_populate (storage->data, &error);
  end = bench_now ();
  bench_check_error (error, "arena_mapping_populate");
  check_zeros (arena_mapping_get_data (storage->data));
  return (double) (end - start);
}

static double
create_base (gboolean reserve)
{
  gint64 start = bench_now ();
  int fd = memfd_create ("bench-create", MFD_CLOEXEC);
  void *data;
  gint64 end;

  if (fd < 0 || ftruncate (fd, SIZE) != 0 || (reserve && fallocate (fd, 0, 0, SIZE) != 0))
    bench_fail ("memfd: %s", g_strerror (errno));

  data = mmap (NULL, SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (data == MAP_FAILED || madvise (data, SIZE, MADV_POPULATE_WRITE) != 0)
    bench_fail ("mmap: %s", g_strerror (errno));

  end = bench_now ();
  check_zeros (data);
  munmap (data, SIZE);
  close (fd);
  return (double) (end - start);
}

static void
measure_key (const char *key,
             gboolean    reserve)
{
  BenchSeries series;

  bench_series_init (&series, key, BENCH_TIME);
  for (guint i = 0; i < bench_settings.n_runs; i++)
    {
      double ours = create_ours ();
      double base = create_base (reserve);

      bench_series_add (&series, ours, base);
    }

  bench_series_print (&series);
}

static void
measure (void)
{
  create_ours ();
  measure_key ("create_over_populate", FALSE);
  measure_key ("create_over_fallocate_populate", TRUE);
}

const BenchFigure bench_create = {
  .name = "create",
  .measure = measure,
  .keys = { "create_over_populate", "create_over_fallocate_populate" },
};
