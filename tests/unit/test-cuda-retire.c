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
  ArenaCudaPin *pin = g_new0 (ArenaCudaPin, 1);

  g_assert_no_error (error);
  pthread_mutex_init (&pin->operation, NULL);
  pin->mapping = arena_mapping_new (fd, 4096, ARENA_MAPPING_WRITABLE, &error);
  pin->piece = 4096;
  pin->n_pieces = 1;
  pin->pieces = g_new0 (guint8, 1);
  arena_mapping_set_retire (pin->mapping, arena_cuda_retire, pin);
  close (fd);
  return pin;
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

int
main (int    argc,
      char **argv)
{
  arena_test_init (&argc, &argv);
  arena_test_add ("/arena/cuda-retire/unmaps-at-once", test_unmaps_at_once);
  arena_test_add ("/arena/cuda-retire/noted-and-forgotten", test_noted_and_forgotten);
  arena_test_add ("/arena/cuda-retire/noted-and-retired", test_noted_and_retired);
  arena_test_add ("/arena/cuda-retire/noted-and-kept", test_noted_and_kept);
  return g_test_run ();
}
