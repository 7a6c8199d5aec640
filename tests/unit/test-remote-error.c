/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "arena-test.h"

#include <string.h>

#include "base/arena-error.h"
#include "boundary/arena-remote-error-private.h"

#define CAPACITY 256

static ArenaRemoteError *
round_trip (const char *type_name,
            const char *message,
            const char *traceback,
            gint64      item)
{
  g_autoptr(GError) error = NULL;
  guint8 envelope[CAPACITY];
  const ArenaRemoteFailure failure = {
    .type_name = type_name,
    .message = message,
    .traceback = traceback,
    .item = item,
  };
  gsize size = arena_remote_error_encode (envelope, sizeof envelope, &failure);
  ArenaRemoteError *remote;

  g_assert_cmpuint (size, <=, sizeof envelope);
  remote = arena_remote_error_decode (envelope, size, &error);
  g_assert_no_error (error);
  return remote;
}

static void
test_round_trip (void)
{
  g_autoptr(ArenaRemoteError) remote = round_trip ("ValueError", "bad “pixel”", "line 1\nline 2", 7);

  g_assert_cmpstr (arena_remote_error_get_type_name (remote), ==, "ValueError");
  g_assert_cmpstr (arena_remote_error_get_message (remote), ==, "bad “pixel”");
  g_assert_cmpstr (arena_remote_error_get_traceback (remote), ==, "line 1\nline 2");
  g_assert_cmpint (arena_remote_error_get_item (remote), ==, 7);
}

static void
test_absent_traceback (void)
{
  g_autoptr(ArenaRemoteError) none = round_trip ("E", "", NULL, -1);
  g_autoptr(ArenaRemoteError) empty = round_trip ("", "", "", 0);

  g_assert_null (arena_remote_error_get_traceback (none));
  g_assert_cmpint (arena_remote_error_get_item (none), ==, -1);
  g_assert_cmpstr (arena_remote_error_get_traceback (empty), ==, "");
}

/* An error must never fail for being long: what doesn't fit is cut between characters and marked. */
static void
test_long_texts_are_cut (void)
{
  for (guint shift = 0; shift < 4; shift++)
    {
      g_autoptr(GString) text = g_string_new (NULL);
      g_autoptr(ArenaRemoteError) remote = NULL;

      for (guint i = 0; i < shift; i++)
        g_string_append_c (text, 'x');
      for (guint i = 0; i < 1000; i++)
        g_string_append (text, "€");

      remote = round_trip (text->str, text->str, text->str, 1);
      g_assert_true (g_str_has_suffix (arena_remote_error_get_type_name (remote), "€ [cut]"));
      g_assert_true (g_str_has_suffix (arena_remote_error_get_message (remote), "€ [cut]"));
      g_assert_true (g_str_has_suffix (arena_remote_error_get_traceback (remote), "€ [cut]"));
    }
}

/* Every length around the room there is. */
static void
test_every_length (void)
{
  for (guint length = 0; length < 2 * CAPACITY; length++)
    {
      g_autofree char *text = g_strnfill (length, 'y');
      g_autoptr(ArenaRemoteError) remote = round_trip ("T", text, text, 0);
      const char *message = arena_remote_error_get_message (remote);

      g_assert_true (strcmp (message, text) == 0 || g_str_has_suffix (message, " [cut]"));
    }
}

static void
test_invalid_utf8_is_replaced (void)
{
  g_autoptr(ArenaRemoteError) remote = round_trip ("T", "a\xff" "b", NULL, 0);

  g_assert_cmpstr (arena_remote_error_get_message (remote), ==, "a\xef\xbf\xbd" "b");
}

static void
assert_refused (const void *envelope,
                gsize       size)
{
  g_autoptr(GError) error = NULL;
  /* Exactly as long as told, for the address sanitizer. */
  g_autofree guint8 *copy = g_memdup2 (envelope, size);

  g_assert_null (arena_remote_error_decode (copy, size, &error));
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_PROTOCOL, "can't be read");
}

/* C72 */
static void
test_malformed (void)
{
  guint8 envelope[CAPACITY + 1] = { 0 };
  const ArenaRemoteFailure failure = {
    .type_name = "Type",
    .domain = "domain",
    .code = 9,
    .message = "message",
    .traceback = "trace",
    .item = 3,
  };
  gsize size = arena_remote_error_encode (envelope, CAPACITY, &failure);
  ArenaRemoteErrorHead good, bad;

  memcpy (&good, envelope, sizeof good);
  for (gsize n = 0; n < size; n++)
    assert_refused (envelope, n);
  assert_refused (envelope, size + 1);

  for (guint k = 0; k < 8; k++)
    {
      bad = good;
      bad.item = k == 0 ? -2 : bad.item;
      bad.type_length = k == 1 ? G_MAXUINT32 : k == 2 ? good.type_length + 1 : good.type_length;
      bad.message_length = k == 3 ? G_MAXUINT32 - 1 : good.message_length;
      bad.traceback_length = k == 4 ? ARENA_REMOTE_ABSENT : good.traceback_length;
      bad.domain_length = k == 5 ? ARENA_REMOTE_ABSENT : k == 6 ? G_MAXUINT32 - 1 : good.domain_length;
      bad.reserved = k == 7;
      memcpy (envelope, &bad, sizeof bad);
      assert_refused (envelope, size);
    }

  memcpy (envelope, &good, sizeof good);
  envelope[sizeof good] = 0xff;
  assert_refused (envelope, size);
}

static void
test_domain_and_code (void)
{
  const ArenaRemoteFailure failure = { .type_name = "T", .domain = "a-quark", .code = -7, .message = "m", .item = -1 };
  g_autoptr(ArenaRemoteError) remote = NULL;
  g_autoptr(ArenaRemoteError) copy = NULL;
  g_autoptr(ArenaRemoteError) without = round_trip ("T", "m", NULL, 0);
  guint8 envelope[CAPACITY];
  gsize size = arena_remote_error_encode (envelope, sizeof envelope, &failure);
  ArenaRemoteErrorHead head;

  remote = arena_remote_error_decode (envelope, size, NULL);
  copy = arena_remote_error_copy (remote);
  g_assert_cmpstr (arena_remote_error_get_domain (copy), ==, "a-quark");
  g_assert_cmpint (arena_remote_error_get_code (copy), ==, -7);
  g_assert_null (arena_remote_error_get_domain (without));
  g_assert_cmpint (arena_remote_error_get_code (without), ==, 0);

  /* A code belongs to a domain. */
  memcpy (&head, envelope, sizeof head);
  head.domain_length = ARENA_REMOTE_ABSENT;
  head.message_length += (guint32) strlen ("a-quark");
  memcpy (envelope, &head, sizeof head);
  assert_refused (envelope, size);
}

static void
test_copy (void)
{
  g_autoptr(ArenaRemoteError) remote = round_trip ("T", "m", "t", 2);
  g_autoptr(ArenaRemoteError) copy = g_boxed_copy (ARENA_TYPE_REMOTE_ERROR, remote);

  g_assert_true (copy != remote);
  g_assert_cmpstr (arena_remote_error_get_type_name (copy), ==, "T");
  g_assert_cmpstr (arena_remote_error_get_message (copy), ==, "m");
  g_assert_cmpstr (arena_remote_error_get_traceback (copy), ==, "t");
  g_assert_cmpint (arena_remote_error_get_item (copy), ==, 2);
  arena_remote_error_free (NULL);
}

int
main (int    argc,
      char **argv)
{
  arena_test_init (&argc, &argv);
  arena_test_add ("/arena/remote-error/round-trip", test_round_trip);
  arena_test_add ("/arena/remote-error/absent-traceback", test_absent_traceback);
  arena_test_add ("/arena/remote-error/long-texts-are-cut", test_long_texts_are_cut);
  arena_test_add ("/arena/remote-error/every-length", test_every_length);
  arena_test_add ("/arena/remote-error/invalid-utf8-is-replaced", test_invalid_utf8_is_replaced);
  arena_test_add ("/arena/remote-error/malformed", test_malformed);
  arena_test_add ("/arena/remote-error/domain-and-code", test_domain_and_code);
  arena_test_add ("/arena/remote-error/copy", test_copy);
  return g_test_run ();
}
