/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "arena-ends.h"
#include "arena-test.h"
#include "sync/arena-timing-private.h"

#include <signal.h>
#include <sys/mman.h>

/* Protocol 3.4 (H1): the producer waits for one segment, and another is released in the very moment between its look at the
 * count and its store of what it wants. The release that it waits for must still wake it.
 *
 * The moment is a few nanoseconds long, so the producer's page is made read-only: the store faults, and the handler is
 * the other release. */

static ArenaChannel *channel;
static guint64 other_span;
static guint n_faults;

static void
protect_page (int protection)
{
  mprotect (channel->cp, arena_geometry_producer_page_size (&channel->geometry), protection);
}

static void
release_other (int number)
{
  n_faults++;
  atomic_store (&channel->cc->freed[other_span % 2], other_span);
  atomic_fetch_add (&channel->cc->released, 1);
  protect_page (PROT_READ | PROT_WRITE);
}

static gpointer
release_wanted (gpointer data)
{
  g_usleep (20000);
  g_bytes_unref (data);
  return NULL;
}

static void
test (void)
{
  struct sigaction action = { .sa_handler = release_other };
  struct sigaction before;
  g_auto (ArenaEnds) ends = { 0 };
  ArenaSent first;
  GThread *thread;
  gint64 start;
  GBytes *view;

  /* The log line would end a sleep, and hide a wake that was lost. */
  arena_timing.stall_log = 60 * G_USEC_PER_SEC;
  arena_ends_open_pool (&ends, 64, 2);
  channel = ends.storage->channel;
  first = arena_ends_send (&ends, 64, 0);
  other_span = arena_ends_send (&ends, 64, 1).span;
  view = arena_ends_take (&ends, &first);

  g_assert_no_errno (sigaction (SIGSEGV, &action, &before));
  protect_page (PROT_READ);
  thread = g_thread_new ("release", release_wanted, view);
  start = g_get_monotonic_time ();
  first = arena_ends_send (&ends, 64, 2);

  /* Unwoken it would find out at its deadline, after 2 s. */
  g_assert_cmpint (g_get_monotonic_time () - start, <, 1500000);
  g_assert_no_errno (sigaction (SIGSEGV, &before, NULL));
  g_assert_cmpuint (n_faults, ==, 1);
  g_thread_join (thread);
}

int
main (int argc, char **argv)
{
  arena_test_init (&argc, &argv);
  arena_test_add ("/arena/pool/wait-survives-other-releases", test);
  return g_test_run ();
}
