/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "arena-custom.h"
#include "arena-test.h"
#include "backend/arena-lease-private.h"

#include <stdatomic.h>

static _Atomic guint n_ended;
static ArenaReader *watched; /* weak */
static gboolean seen_alive;

static gboolean
end (ArenaReader  *reader,
     guint64       span,
     GError      **error)
{
  if (watched == reader)
    seen_alive = TRUE;
  atomic_fetch_add (&n_ended, 1);
  if (span != 13)
    return TRUE;

  g_set_error_literal (error, G_IO_ERROR, G_IO_ERROR_FAILED, "13");
  return FALSE;
}

static ArenaReader *
new_reader (void)
{
  atomic_store (&n_ended, 0);
  return ARENA_READER (arena_custom_new (ARENA_CUSTOM_WORKS));
}

static void
test_close_without_views (void)
{
  g_autoptr (ArenaReader) reader = new_reader ();
  g_autoptr (GError) error = NULL;

  g_assert_true (arena_lease_close (arena_lease_new (reader, 1, end, NULL), &error));
  g_assert_no_error (error);
  g_assert_cmpuint (n_ended, ==, 1);

  g_assert_false (arena_lease_close (arena_lease_new (reader, 13, end, NULL), &error));
  arena_test_assert_error (error, G_IO_ERROR, G_IO_ERROR_FAILED, "13");
  g_assert_cmpuint (n_ended, ==, 2);
}

static void
test_views_hold_the_reader (void)
{
  ArenaReader *reader = new_reader ();
  ArenaLease *lease = arena_lease_new (reader, 1, end, NULL);

  /* An open lease alone is no reference: else a reader dropped within a unit would stay for ever. */
  g_assert_cmpuint (G_OBJECT (reader)->ref_count, ==, 1);
  arena_lease_ref (lease);
  g_assert_cmpuint (G_OBJECT (reader)->ref_count, ==, 2);
  arena_lease_ref (lease);
  g_assert_cmpuint (G_OBJECT (reader)->ref_count, ==, 2);
  arena_lease_unref (lease);
  arena_lease_unref (lease);
  g_assert_cmpuint (G_OBJECT (reader)->ref_count, ==, 1);
  g_assert_cmpuint (n_ended, ==, 0);

  arena_lease_ref (lease);
  g_assert_true (arena_lease_close (lease, NULL));
  g_assert_cmpuint (n_ended, ==, 0);
  watched = reader;
  g_object_add_weak_pointer (G_OBJECT (reader), (gpointer *) &watched);
  g_object_unref (reader);
  g_assert_nonnull (watched);

  /* The end sees the reader alive; it goes right after (H12). */
  arena_lease_unref (lease);
  g_assert_cmpuint (n_ended, ==, 1);
  g_assert_true (seen_alive);
  g_assert_null (watched);
}

static void
free_inner (gpointer data)
{
  /* The wrapped bytes are part of the unit, so they go before its end. */
  g_assert_cmpuint (n_ended, ==, 0);
  *(gboolean *) data = TRUE;
}

static void
test_wrap (void)
{
  g_autoptr (ArenaReader) reader = new_reader ();
  ArenaLease *lease = arena_lease_new (reader, 1, end, NULL);
  gboolean freed = FALSE;
  guint8 data[4] = { 1, 2, 3, 4 };
  GBytes *inner = g_bytes_new_with_free_func (data, sizeof data, free_inner, &freed);
  GBytes *view = arena_lease_wrap (lease, inner);
  GBytes *direct = arena_lease_view (lease, data, 2);

  g_assert_true (g_bytes_get_data (view, NULL) == data);
  g_assert_cmpuint (g_bytes_get_size (view), ==, 4);
  g_assert_true (g_bytes_get_data (direct, NULL) == data);
  arena_lease_close (lease, NULL);
  g_bytes_unref (direct);
  g_assert_false (freed);
  g_bytes_unref (view);
  g_assert_true (freed);
  g_assert_cmpuint (n_ended, ==, 1);
}

static gpointer
unref_lease (gpointer lease)
{
  arena_lease_unref (lease);
  return NULL;
}

static void
test_home (void)
{
  g_autoptr (ArenaReader) reader = new_reader ();
  ArenaLeaseHome home = { NULL };

  for (guint64 span = 0; span < 3; span++)
    {
      ArenaLease *lease = arena_lease_ref (arena_lease_new (reader, span, end, &home));

      arena_lease_close (lease, NULL);
      if (span == 1)
        arena_lease_unref (lease);
      else
        g_thread_join (g_thread_new ("unref", unref_lease, lease));
    }

  g_assert_cmpuint (n_ended, ==, 1);
  g_assert_cmpuint (G_OBJECT (reader)->ref_count, ==, 1);
  arena_lease_home_run (&home);
  g_assert_cmpuint (n_ended, ==, 3);
  arena_lease_home_run (&home);
  g_assert_cmpuint (n_ended, ==, 3);
}

static void
test_forgotten (void)
{
  g_autoptr (ArenaReader) reader = new_reader ();
  ArenaLeaseHome home = { NULL };
  ArenaLease *lease = arena_lease_ref (arena_lease_new (reader, 1, end, &home));

  arena_lease_close (lease, NULL);
  g_thread_join (g_thread_new ("unref", unref_lease, lease));
  arena_lease_home_drop (&home);
  arena_lease_forget (arena_lease_new (reader, 2, end, NULL));
  g_assert_cmpuint (n_ended, ==, 0);
}

static gpointer
drop_many (gpointer data)
{
  ArenaLease **leases = data;

  for (guint i = 0; leases[i] != NULL; i++)
    arena_lease_unref (leases[i]);

  return NULL;
}

/* Whatever the interleaving: one end per lease. */
static void
test_race (void)
{
  enum { N = 20000 };
  g_autoptr (ArenaReader) reader = new_reader ();
  g_autofree ArenaLease **leases = g_new0 (ArenaLease *, N + 1);
  GThread *threads[2];

  for (guint i = 0; i < N; i++)
    leases[i] = arena_lease_ref (arena_lease_ref (arena_lease_new (reader, i == 13 ? 0 : i, end, NULL)));

  for (guint i = 0; i < 2; i++)
    threads[i] = g_thread_new ("drop", drop_many, leases);
  for (guint i = 0; i < N; i++)
    arena_lease_close (leases[i], NULL);
  for (guint i = 0; i < 2; i++)
    g_thread_join (threads[i]);

  g_assert_cmpuint (n_ended, ==, N);
  g_assert_cmpuint (G_OBJECT (reader)->ref_count, ==, 1);
}

int
main (int argc, char **argv)
{
  arena_test_init (&argc, &argv);
  arena_test_add ("/arena/lease/close-without-views-ends", test_close_without_views);
  arena_test_add ("/arena/lease/views-hold-the-reader", test_views_hold_the_reader);
  arena_test_add ("/arena/lease/wrap-holds-both", test_wrap);
  arena_test_add ("/arena/lease/home-ends-on-its-thread", test_home);
  arena_test_add ("/arena/lease/forgotten-is-not-ended", test_forgotten);
  arena_test_add ("/arena/lease/one-end-in-any-interleaving", test_race);
  return g_test_run ();
}
