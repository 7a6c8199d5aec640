/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "arena-test.h"
#include "base/arena-error-private.h"

#include <errno.h>

static void
test_quark (void)
{
  g_assert_cmpstr (g_quark_to_string (ARENA_ERROR), ==, "arena-error-quark");
  g_assert_cmpuint (ARENA_ERROR, ==, arena_error_quark ());
}

/* Applications compiled before must still mean the same. */
static void
test_values (void)
{
  const ArenaError in_order[] = {
    ARENA_ERROR_INVALID_ARGUMENT, ARENA_ERROR_INVALID_STATE, ARENA_ERROR_TOO_LARGE, ARENA_ERROR_WOULD_BLOCK,
    ARENA_ERROR_TIMED_OUT, ARENA_ERROR_NO_SPACE, ARENA_ERROR_CLOSED, ARENA_ERROR_PEER_GONE, ARENA_ERROR_REMOTE,
    ARENA_ERROR_PROTOCOL, ARENA_ERROR_BUSY, ARENA_ERROR_NOT_SUPPORTED, ARENA_ERROR_UNSERIALIZABLE, ARENA_ERROR_FORKED,
    ARENA_ERROR_BACKEND,
  };

  for (guint i = 0; i < G_N_ELEMENTS (in_order); i++)
    g_assert_cmpuint (in_order[i], ==, i);
}

static void
test_errno (void)
{
  const struct { int saved_errno; ArenaError code; } rows[] = {
    { ENOMEM, ARENA_ERROR_NO_SPACE },
    { ENOSPC, ARENA_ERROR_NO_SPACE },
    { EMFILE, ARENA_ERROR_NO_SPACE },
    { ENFILE, ARENA_ERROR_NO_SPACE },
    { EDQUOT, ARENA_ERROR_NO_SPACE },
    { EINVAL, ARENA_ERROR_PROTOCOL },
    { EPERM, ARENA_ERROR_PROTOCOL },
    { EAGAIN, ARENA_ERROR_PROTOCOL },
    { 0, ARENA_ERROR_PROTOCOL },
  };

  for (gsize i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      g_autofree char *message = g_strdup_printf ("open: the thing: %s", g_strerror (rows[i].saved_errno));
      g_autoptr (GError) error = NULL;

      arena_set_error_errno (&error, ARENA_ERROR_PROTOCOL, rows[i].saved_errno, "open", "the thing");
      g_assert_error (error, ARENA_ERROR, (int) rows[i].code);
      g_assert_cmpstr (error->message, ==, message);
    }
}

/* What a peer or a file name contributes is text, never a format. */
static void
test_no_format (void)
{
  g_autoptr (GError) error = NULL;

  arena_set_error_errno (NULL, ARENA_ERROR_PROTOCOL, EINVAL, "open", "ignored");
  arena_set_error_errno (&error, ARENA_ERROR_PROTOCOL, EINVAL, "open", "%s%n");
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_PROTOCOL, "open: %s%n: ");
}

int
main (int    argc,
      char **argv)
{
  arena_test_init (&argc, &argv);
  arena_test_add ("/arena/error/quark", test_quark);
  arena_test_add ("/arena/error/values-are-stable", test_values);
  arena_test_add ("/arena/error/errno-becomes-a-code", test_errno);
  arena_test_add ("/arena/error/object-is-no-format", test_no_format);
  return g_test_run ();
}
