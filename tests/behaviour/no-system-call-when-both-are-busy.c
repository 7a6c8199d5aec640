/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "arena-ends.h"
#include "arena-test.h"

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

/* F01: after the first units nothing is created, mapped or resized, and while neither side has to wait there is no system
 * call at all: in the child every one but exit_group() is forbidden and would kill it. */

/* AddressSanitizer's allocator and valgrind make calls of their own; there only the units are checked. */
static gboolean
is_instrumented (void)
{
#if defined(__SANITIZE_ADDRESS__)
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
    BPF_JUMP (BPF_JMP | BPF_JEQ | BPF_K, SYS_exit_group, 0, 1),
    BPF_STMT (BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    BPF_STMT (BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
  };
  struct sock_fprog program = { .len = G_N_ELEMENTS (code), .filter = code };

  g_assert_no_errno (prctl (PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0));
  g_assert_no_errno (prctl (PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program));
}

static void
pass_units (ArenaEnds *ends,
            guint      n)
{
  for (guint i = 0; i < n; i++)
    {
      ArenaSent sent;

      g_assert_true (arena_ends_try_send (ends, 500 + i % 500, i, -1, &sent, NULL));
      arena_ends_pass (ends, &sent);
    }
}

static int
run (gpointer data)
{
  ArenaEnds pool = { 0 };
  ArenaEnds ring = { 0 };

  arena_ends_open_pool (&pool, 1000, 3);
  arena_ends_open_ring (&ring, 5000);
  pass_units (&pool, 1000);
  pass_units (&ring, 1000);
  if (!is_instrumented ())
    forbid_all ();
  pass_units (&pool, 1000);
  pass_units (&ring, 1000);
  if (is_instrumented ())
    {
      arena_ends_clear (&pool);
      arena_ends_clear (&ring);
    }
  return 0;
}

static void
test (void)
{
  arena_test_assert_child (run, NULL);
}

int
main (int argc, char **argv)
{
  arena_test_init (&argc, &argv);
  arena_test_add ("/arena/backend/no-system-call-when-both-are-busy", test);
  return g_test_run ();
}
