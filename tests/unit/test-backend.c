/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "arena-custom.h"
#include "arena-test.h"

/* F31: whatever implements the interface is a backend: nothing of the library's is inherited or registered. */

typedef gboolean (*Call) (ArenaBackend  *backend,
                          GError       **error);

static gboolean
call_open_writer (ArenaBackend  *backend,
                  GError       **error)
{
  g_autoptr (ArenaWriter) writer = arena_backend_open_writer (backend, error);

  return writer != NULL;
}

static gboolean
call_open_reader (ArenaBackend  *backend,
                  GError       **error)
{
  g_autoptr (ArenaReader) reader = arena_backend_open_reader (backend, error);

  return reader != NULL;
}

static gboolean
call_save (ArenaBackend  *backend,
           GError       **error)
{
  g_autoptr (GUnixFDList) fds = g_unix_fd_list_new ();
  g_autoptr (GVariant) state = arena_backend_save (backend, fds, error);

  g_assert_true (state == NULL || (!g_variant_is_floating (state) && g_variant_get_uint32 (state) == 7));
  return state != NULL;
}

static gboolean
call_load (ArenaBackend  *backend,
           GError       **error)
{
  g_autoptr (GUnixFDList) fds = g_unix_fd_list_new ();
  g_autoptr (GVariant) state = g_variant_ref_sink (g_variant_new_uint32 (7));

  return arena_backend_load (backend, state, fds, error);
}

static const struct
{
  const char *name;
  Call        call;
  gboolean    opens;
} calls[] = {
  { "open_writer", call_open_writer, TRUE },
  { "open_reader", call_open_reader, TRUE },
  { "shutdown", arena_backend_shutdown, FALSE },
  { "close", arena_backend_close, FALSE },
  { "unlink", arena_backend_unlink, FALSE },
  { "save", call_save, FALSE },
  { "load", call_load, FALSE },
};

static void
test_works (void)
{
  g_autoptr (ArenaCustom) custom = arena_custom_new (ARENA_CUSTOM_WORKS);

  for (guint i = 0; i < G_N_ELEMENTS (calls); i++)
    {
      g_autoptr (GError) error = NULL;

      g_assert_true (calls[i].call (ARENA_BACKEND (custom), &error));
      g_assert_no_error (error);
    }
}

static void
test_fails (void)
{
  const ArenaCustomMode modes[] = { ARENA_CUSTOM_FAILS, ARENA_CUSTOM_CONTRADICTS };

  for (guint m = 0; m < G_N_ELEMENTS (modes); m++)
    for (guint i = 0; i < G_N_ELEMENTS (calls); i++)
      {
        g_autoptr (ArenaCustom) custom = arena_custom_new (modes[m]);
        g_autoptr (GError) error = NULL;

        g_assert_false (calls[i].call (ARENA_BACKEND (custom), &error));
        arena_test_assert_error (error, G_IO_ERROR, G_IO_ERROR_FAILED, "custom");
        g_assert_false (calls[i].call (ARENA_BACKEND (custom), NULL));
      }
}

static void
test_says_nothing (void)
{
  g_autoptr (ArenaCustom) custom = arena_custom_new (ARENA_CUSTOM_SAYS_NOTHING);

  for (guint i = 0; i < G_N_ELEMENTS (calls); i++)
    {
      g_autoptr (GError) error = NULL;

      g_assert_false (calls[i].call (ARENA_BACKEND (custom), &error));
      arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_BACKEND, "ArenaCustom", calls[i].name);
    }
}

static void
test_wrong_type (void)
{
  g_autoptr (ArenaCustom) custom = arena_custom_new (ARENA_CUSTOM_LIES);

  for (guint i = 0; i < G_N_ELEMENTS (calls); i++)
    {
      g_autoptr (GError) error = NULL;

      if (!calls[i].opens)
        continue;
      g_assert_false (calls[i].call (ARENA_BACKEND (custom), &error));
      arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_BACKEND, "wrong type");
    }
}

static void
test_missing (void)
{
  g_autoptr (ArenaBare) bare = g_object_new (ARENA_TYPE_BARE, NULL);

  for (guint i = 0; i < G_N_ELEMENTS (calls); i++)
    {
      g_autoptr (GError) error = NULL;

      g_assert_false (calls[i].call (ARENA_BACKEND (bare), &error));
      arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_NOT_SUPPORTED, "ArenaBare", calls[i].name);
    }
}

int
main (int argc, char **argv)
{
  arena_test_init (&argc, &argv);
  arena_test_add ("/arena/backend/custom-works", test_works);
  arena_test_add ("/arena/backend/error-is-passed-on", test_fails);
  arena_test_add ("/arena/backend/silent-failure-is-an-error", test_says_nothing);
  arena_test_add ("/arena/backend/wrong-type-is-an-error", test_wrong_type);
  arena_test_add ("/arena/backend/missing-slot-is-not-supported", test_missing);
  return g_test_run ();
}
