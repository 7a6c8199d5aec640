/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "arena-boundary.h"
#include "scenario.h"

#include <sys/socket.h>

/* F48: once it is registered, a pinned pool is saved with the words of one that isn't pinned: no address and nothing of CUDA
 * crosses to another process. */

/* What another process gets to attach with. */
static GVariant *
save (ArenaEnds         *ends,
      ArenaHelloMessage *hello,
      int               *n_fds)
{
  g_autoptr(GUnixFDList) fds = g_unix_fd_list_new ();
  g_autoptr(GError) error = NULL;
  g_autoptr(GVariant) state = arena_backend_save (ends->backend, fds, &error);
  gint32 socket;

  g_assert_no_error (error);
  g_assert_true (g_variant_lookup (state, "socket", "h", &socket));
  g_assert_cmpint (recv (g_unix_fd_list_peek_fds (fds, n_fds)[socket], hello, sizeof *hello, MSG_PEEK | MSG_TRUNC), ==,
                   sizeof *hello);
  return g_steal_pointer (&state);
}

static void
test_wire_form (void)
{
  GVariant *states[2];
  ArenaHelloMessage hellos[2];
  int n_fds[2];

  for (guint pin = 0; pin < 2; pin++)
    {
      g_autoptr(GError) error = NULL;
      ArenaEnds ends = { .backend = pin ? scenario_pool_new (3, NULL, 0) : arena_test_pool_new (SCENARIO_PAGE, 3) };

      ends.reader = arena_backend_open_reader (ends.backend, &error);
      g_assert_no_error (error);
      scenario_assert_pinned (pin * 3, pin * 3 * SCENARIO_PAGE);
      states[pin] = save (&ends, &hellos[pin], &n_fds[pin]);
      scenario_close (&ends);
    }

  g_assert_cmpvariant (states[0], states[1]);
  g_assert_cmpmem (&hellos[0], sizeof hellos[0], &hellos[1], sizeof hellos[1]);
  g_assert_cmpint (n_fds[0], ==, n_fds[1]);
  g_variant_unref (states[0]);
  g_variant_unref (states[1]);
}

int
main (int    argc,
      char **argv)
{
  arena_test_init (&argc, &argv);
  scenario_add ("/arena/cuda/wire-form-has-no-pin/pool", test_wire_form);
  return g_test_run ();
}
