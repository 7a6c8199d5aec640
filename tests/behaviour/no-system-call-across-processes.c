/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "arena-boundary.h"

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "sync/arena-socket-private.h"

/* F01 of a boundary: while a producer's process fills one batch of units and a consumer's process reads the one before,
 * neither has to wait, and neither makes a system call: a filter would kill it. Each is told by a shared word when it may
 * go on; meanwhile it yields, which is the one call besides exit_group() that is allowed, and only with the test's own
 * argument. */

#define SIZE      8192
#define BATCH     50
#define N_WARM_UP 10
#define N_ROUNDS  30
#define YIELD     0x61726e61
/* In seconds; whoever is left over where the filter kills the other one ends then. */
#define PATIENCE  15

typedef struct
{
  _Atomic guint sent; /* batches */
  _Atomic guint read;
} Progress;

typedef struct
{
  ArenaBackend *(*new_backend) (void);
  Progress       *progress;
  int             sockets[2];
  gpointer         end; /* of a child that may not free it */
} Case;

/* AddressSanitizer's allocator and ThreadSanitizer make calls of their own; there only the units are checked. */
static gboolean
is_instrumented (void)
{
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  return TRUE;
#else
  return arena_test_on_valgrind ();
#endif
}

static void
forbid_all (void)
{
  struct sock_filter code[] = {
    BPF_STMT (BPF_LD | BPF_W | BPF_ABS, offsetof (struct seccomp_data, nr)),
    BPF_JUMP (BPF_JMP | BPF_JEQ | BPF_K, SYS_exit_group, 3, 0),
    BPF_JUMP (BPF_JMP | BPF_JEQ | BPF_K, SYS_sched_yield, 0, 3),
    BPF_STMT (BPF_LD | BPF_W | BPF_ABS, offsetof (struct seccomp_data, args[0])),
    BPF_JUMP (BPF_JMP | BPF_JEQ | BPF_K, YIELD, 0, 1),
    BPF_STMT (BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    BPF_STMT (BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
  };
  struct sock_fprog program = { .len = G_N_ELEMENTS (code), .filter = code };

  if (is_instrumented ())
    return;

  g_assert_no_errno (prctl (PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0));
  g_assert_no_errno (prctl (PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program));
}

static void
wait_for (_Atomic guint *word,
          guint          value)
{
  while (atomic_load (word) < value)
    syscall (SYS_sched_yield, YIELD);
}

static int
consume (gpointer data)
{
  Case *c = data;
  ArenaConsumer *consumer = arena_test_consumer_new (c->new_backend (), 2 * BATCH);
  int fd = arena_consumer_dup_worker_fd (consumer, NULL);

  c->end = consumer;
  alarm (PATIENCE);
  g_assert_true (arena_socket_send (c->sockets[0], "x", 1, &fd, 1, NULL));
  close (fd);
  g_assert_true (arena_consumer_start (consumer, NULL));
  for (guint round = 0; round < N_WARM_UP + N_ROUNDS; round++)
    {
      if (round == N_WARM_UP)
        forbid_all ();
      wait_for (&c->progress->sent, round + 1);
      arena_test_receive (consumer, BATCH, SIZE);
      atomic_fetch_add (&c->progress->read, 1);
    }
  return 0;
}

static int
produce (gpointer data)
{
  Case *c = data;
  ArenaProducer *producer;
  ArenaMessage message;
  char byte;

  alarm (PATIENCE);
  while (!arena_socket_receive (c->sockets[1], &byte, 1, &message, NULL))
    g_usleep (1000);
  producer = arena_producer_new_from_fd (arena_message_steal_fd (&message, 0), NULL);
  c->end = producer;
  g_assert_nonnull (producer);
  arena_message_clear (&message);
  arena_test_wait_iteration (producer);
  for (guint round = 0; round < N_WARM_UP + N_ROUNDS; round++)
    {
      if (round == N_WARM_UP)
        forbid_all ();
      /* What is read and what is sent are one batch each. */
      wait_for (&c->progress->read, round > 0 ? round - 1 : 0);
      for (guint i = 0; i < BATCH; i++)
        g_assert_true (arena_test_send (producer, SIZE, -1, NULL));
      atomic_fetch_add (&c->progress->sent, 1);
    }
  wait_for (&c->progress->read, N_WARM_UP + N_ROUNDS);
  return 0;
}

static void
run (ArenaBackend *(*new_backend) (void))
{
  Case c = { .new_backend = new_backend };
  pid_t consumer, producer;

  c.progress = mmap (NULL, sizeof *c.progress, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  g_assert_true (c.progress != MAP_FAILED);
  g_assert_true (arena_socket_pair (c.sockets, NULL));
  consumer = arena_test_start_child (consume, &c);
  producer = arena_test_start_child (produce, &c);
  g_assert_cmpint (arena_test_wait_child (consumer), ==, 0);
  g_assert_cmpint (arena_test_wait_child (producer), ==, 0);
  close (c.sockets[0]);
  close (c.sockets[1]);
  munmap (c.progress, sizeof *c.progress);
}

static ArenaBackend *
new_pool (void)
{
  return arena_test_pool_new (SIZE, 2 * BATCH + 1);
}

static ArenaBackend *
new_any_pool (void)
{
  return arena_test_any_pool_new (SIZE, 2 * BATCH + 1);
}

static ArenaBackend *
new_ring (void)
{
  return arena_test_ring_new (SIZE * (2 * BATCH + 1));
}

static void
test_pool (void)
{
  run (new_pool);
}

static void
test_any_pool (void)
{
  run (new_any_pool);
}

static void
test_ring (void)
{
  run (new_ring);
}

int
main (int    argc,
      char **argv)
{
  arena_test_init (&argc, &argv);
  arena_test_add ("/arena/boundary/no-system-call/pool", test_pool);
  arena_test_add ("/arena/boundary/no-system-call/any-pool", test_any_pool);
  arena_test_add ("/arena/boundary/no-system-call/ring", test_ring);
  return g_test_run ();
}
