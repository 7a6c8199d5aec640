/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "arena-boundary.h"
#include "cuda/arena-cuda-runtime-private.h"
#include "unit/arena-field.h"

#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

/* A process of its own with a pinned pool, which scenario-processes starts; what it asks CUDA for is in ARENA_FAKE_LOG.
 * Its argument says how it ends: "close", "exit" with everything alive, or "wait" to be killed. With "path" it only says
 * whether it has more rights than its user, and which runtime it found or why none. */

static ArenaConsumer *consumer;
static ArenaUnit *unit;

/* A leak checker could not look into a process with more rights, so it ends before one starts. */
G_NORETURN static void
print_path (void)
{
  g_autoptr(GError) error = NULL;
  const ArenaCudaRuntime *runtime = arena_cuda_runtime_open (&error);

  printf ("secure=%d %s\n", getauxval (AT_SECURE) != 0, runtime != NULL ? runtime->path : error->message);
  fflush (stdout);
  _exit (0);
}

int
main (int    argc,
      char **argv)
{
  ArenaBackend *pool;
  ArenaField *field;

  if (strcmp (argv[1], "path") == 0)
    print_path ();

  arena_test_init (&argc, &argv);
  pool = g_initable_new (ARENA_TYPE_POOL, NULL, NULL, "segment-size", G_GUINT64_CONSTANT (4096), "count", 3,
                         "pin-memory", TRUE, NULL);
  consumer = ARENA_CONSUMER (arena_test_worker_new (pool, 1, "units=2", "size=4096", NULL));
  unit = arena_test_next (consumer);
  field = arena_unit_dup_field (unit, 0, NULL);
  g_assert_true (arena_field_get_is_pinned (field));
  arena_test_assert_unit (unit, 4096);
  arena_field_free (field);
  printf ("pinned\n");
  fflush (stdout);
  if (strcmp (argv[1], "wait") == 0)
    pause ();
  if (strcmp (argv[1], "exit") == 0)
    return 0;

  g_object_unref (unit);
  arena_test_close (consumer, NULL);
  return 0;
}
