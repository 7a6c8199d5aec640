/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "bench-spsc.h"

#include "bench-harness.h"

#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

int
bench_spsc_new (gsize n_slots)
{
  int fd = memfd_create ("bench-spsc", MFD_CLOEXEC);

  if (fd < 0 || ftruncate (fd, (off_t) (sizeof (BenchSpsc) + n_slots * BENCH_SPSC_SLOT)) != 0)
    bench_fail ("memfd: %s", g_strerror (errno));

  return fd;
}

BenchSpscEnd
bench_spsc_map (int   fd,
                gsize n_slots)
{
  void *data = mmap (NULL, sizeof (BenchSpsc) + n_slots * BENCH_SPSC_SLOT, PROT_READ | PROT_WRITE,
                     MAP_SHARED | MAP_POPULATE, fd, 0);

  if (data == MAP_FAILED)
    bench_fail ("mmap: %s", g_strerror (errno));

  return (BenchSpscEnd) { .queue = data, .n_slots = n_slots };
}
