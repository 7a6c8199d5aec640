/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "arena-test.h"
#include "cuda/arena-cuda-retire-private.h"
#include "memory/arena-memfd-private.h"

#include <unistd.h>

/* With nothing registered; tests/cuda has the rest. */

static ArenaCudaPin *
new_pin (void)
{
  g_autoptr(GError) error = NULL;
  int fd = arena_memfd_new ("arena-test", 4096, NULL, &error);
  ArenaMapping *mapping;

  g_assert_no_error (error);
  mapping = arena_mapping_new (fd, 4096, ARENA_MAPPING_WRITABLE, &error);
  g_assert_no_error (error);
  close (fd);
  return arena_cuda_pin_new (mapping, 4096, NULL);
}

static guint
count (void)
{
  guint64 bytes;
  guint n;

  arena_cuda_retire_measure (&n, &bytes);
  g_assert_cmpuint (bytes, ==, 0);
  return n;
}

static void
test_unmaps_at_once (void)
{
  arena_mapping_unref (new_pin ()->mapping);
  g_assert_cmpuint (count (), ==, 0);
  g_assert_true (arena_cuda_retire_drain (NULL));
}

static void
test_noted_and_forgotten (void)
{
  ArenaCudaPin *pin = new_pin ();

  arena_cuda_retire_note (pin);
  arena_cuda_retire_note (pin);
  g_assert_cmpuint (count (), ==, 1);
  arena_cuda_retire_forget (pin);
  arena_cuda_retire_forget (pin);
  g_assert_cmpuint (count (), ==, 0);
  arena_mapping_unref (pin->mapping);
}

/* Whoever drains frees what was noted. */
static void
test_noted_and_retired (void)
{
  ArenaCudaPin *pin = new_pin ();

  arena_cuda_retire_note (pin);
  arena_mapping_unref (pin->mapping);
  g_assert_cmpuint (count (), ==, 1);
  g_assert_cmpuint (arena_test_count_mappings (), ==, 1);
  g_assert_true (arena_cuda_retire_drain (NULL));
  g_assert_cmpuint (count (), ==, 0);
  g_assert_cmpuint (arena_test_count_mappings (), ==, 0);
}

/* Drained while somebody still has it, it is as before. */
static void
test_noted_and_kept (void)
{
  ArenaCudaPin *pin = new_pin ();

  arena_cuda_retire_note (pin);
  g_assert_true (arena_cuda_retire_drain (NULL));
  g_assert_cmpuint (count (), ==, 0);
  g_assert_cmpuint (arena_test_count_mappings (), ==, 1);
  arena_mapping_unref (pin->mapping);
  g_assert_cmpuint (arena_test_count_mappings (), ==, 0);
}

static int
drop_in_child (gpointer data)
{
  ArenaCudaPin *pin = data;

  arena_mapping_unref (pin->mapping);
  g_assert_cmpuint (arena_test_count_mappings (), ==, 0);
  return 0;
}

/* Registered on behalf of the parent, and none of the child's business. */
static void
test_child (void)
{
  ArenaCudaPin *pin = new_pin ();

  pin->n_registered = 1;
  arena_test_assert_child (drop_in_child, pin);
  pin->n_registered = 0;
  arena_mapping_unref (pin->mapping);
}

int
main (int    argc,
      char **argv)
{
  arena_test_init (&argc, &argv);
  arena_test_add ("/arena/cuda-retire/unmaps-at-once", test_unmaps_at_once);
  arena_test_add ("/arena/cuda-retire/noted-and-forgotten", test_noted_and_forgotten);
  arena_test_add ("/arena/cuda-retire/noted-and-retired", test_noted_and_retired);
  arena_test_add ("/arena/cuda-retire/noted-and-kept", test_noted_and_kept);
  arena_test_add ("/arena/cuda-retire/a-child-unmaps", test_child);
  return g_test_run ();
}
