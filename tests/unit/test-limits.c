/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "arena-test.h"
#include "base/arena-error.h"
#include "memory/arena-limits-private.h"

#include <sys/resource.h>
#include <unistd.h>

#define MIB (G_GUINT64_CONSTANT (1) << 20)

static void
test_parse (void)
{
  const struct { const char *text; guint64 value; } rows[] = {
    { "0", 0 },
    { "67108864\n", 67108864 },
    { "  12 rest", 12 },
    { "4611686018427387903", G_GUINT64_CONSTANT (4611686018427387903) },
    { "4611686018427387904", ARENA_LIMITS_NONE },
    { "9223372036854771712\n", ARENA_LIMITS_NONE },
    { "18446744073709551615", ARENA_LIMITS_NONE },
    { "18446744073709551616", ARENA_LIMITS_NONE },
    { "999999999999999999999999999999999999", ARENA_LIMITS_NONE },
    { "max\n", ARENA_LIMITS_NONE },
    { "", ARENA_LIMITS_NONE },
    { " \n", ARENA_LIMITS_NONE },
    { "-1", ARENA_LIMITS_NONE },
    { "+1", ARENA_LIMITS_NONE },
    { "0x10", ARENA_LIMITS_NONE },
    { "12k", ARENA_LIMITS_NONE },
    { "\xff\xfe", ARENA_LIMITS_NONE },
  };

  for (gsize i = 0; i < G_N_ELEMENTS (rows); i++)
    g_assert_cmpuint (arena_limits_parse (rows[i].text), ==, rows[i].value);
}

static void
test_parse_key (void)
{
  const char *text = "anon 1\nactive_file_x 2\nxactive_file 3\nactive_file 4\ninactive_file\t5\nlast x\nMem:   6 kB";
  const struct { const char *key; guint64 value; } rows[] = {
    { "anon", 1 },
    { "active_file", 4 },
    { "inactive_file", 5 },
    { "last", ARENA_LIMITS_NONE },
    { "Mem:", 6 },
    { "Me", ARENA_LIMITS_NONE },
    { "absent", ARENA_LIMITS_NONE },
  };

  for (gsize i = 0; i < G_N_ELEMENTS (rows); i++)
    g_assert_cmpuint (arena_limits_parse_key (text, rows[i].key), ==, rows[i].value);

  g_assert_cmpuint (arena_limits_parse_key ("", "anon"), ==, ARENA_LIMITS_NONE);
  g_assert_cmpuint (arena_limits_parse_key ("\n\n\n", "anon"), ==, ARENA_LIMITS_NONE);
  g_assert_cmpuint (arena_limits_parse_key ("anon", "anon"), ==, ARENA_LIMITS_NONE);
}

static void
test_compare (void)
{
  const struct { guint64 need, limit, used; const char *text; } rows[] = {
    { 10, 10, 0, NULL },
    { 11, 10, 0, "needs 11 bytes, this allows 10 (limit) and has 10 left" },
    { 5, 10, 5, NULL },
    { 6, 10, 5, "has 5 left" },
    { 1, 10, 10, "has 0 left" },
    { 1, 10, 11, "has 0 left" },
    { 1, 10, G_MAXUINT64, "has 0 left" },
    { G_MAXUINT64, ARENA_LIMITS_NONE, 5, NULL },
    { 1, 0, 0, "allows 0" },
  };

  for (gsize i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      g_autoptr (GError) error = NULL;
      gboolean passed = arena_limits_compare (rows[i].need, "this", rows[i].limit, rows[i].used, &error);

      g_assert_cmpint (passed, ==, rows[i].text == NULL);
      if (rows[i].text != NULL)
        arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_NO_SPACE, rows[i].text);
    }
}

/* Runs arena_limits_check() with a /proc of its own, whose meminfo is @meminfo (NULL: there is none). */
static void
check_meminfo (const char *meminfo,
               guint64     need,
               const char *text)
{
  char *folder = arena_test_temp_dir_new ();
  g_autofree char *path = g_build_filename (folder, "meminfo", NULL);
  const ArenaLimitsRoots roots = { .proc = folder, .cgroup = folder };
  g_autoptr (GError) error = NULL;
  gboolean passed;

  if (meminfo != NULL)
    g_assert_true (g_file_set_contents_full (path, meminfo, -1, G_FILE_SET_CONTENTS_NONE, 0600, NULL));
  passed = arena_limits_check (need, &roots, &error);
  if (text != NULL)
    arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_NO_SPACE, text);
  else
    g_assert_no_error (error);
  g_assert_cmpint (passed, ==, text == NULL);
  arena_test_temp_dir_free (folder);
}

static void
test_memory (void)
{
  const char *both = "MemTotal: 4000 kB\nMemAvailable:    1000 kB\nSwapFree:        24 kB\n";

  check_meminfo (both, MIB, NULL);
  check_meminfo (both, MIB + 1, "needs 1048577 bytes, the machine has 1048576 left (MemAvailable + SwapFree)");
  check_meminfo ("MemAvailable: 0 kB\nSwapFree: 0 kB\n", 1, "has 0 left");
}

static void
test_unknown_memory (void)
{
  const char *texts[] = {
    NULL,
    "",
    "MemAvailable: 10 kB\n",
    "SwapFree: 10 kB\n",
    "MemAvailable: garbage\nSwapFree: 0 kB\n",
    "MemAvailable: -5 kB\nSwapFree: 0 kB\n",
    "MemAvailable: 4611686018427387903 kB\nSwapFree: 0 kB\n",
    "MemAvailable: 4611686018427387903 kB\nSwapFree: 4611686018427387903 kB\n",
    "MemAvailable:",
  };

  for (gsize i = 0; i < G_N_ELEMENTS (texts); i++)
    check_meminfo (texts[i], G_MAXUINT64, NULL);
}

static void
set_limit (int     resource,
           guint64 value)
{
  struct rlimit limit;

  g_assert_no_errno (getrlimit (resource, &limit));
  limit.rlim_cur = value;
  g_assert_no_errno (setrlimit (resource, &limit));
}

static int
file_size (gpointer data)
{
  set_limit (RLIMIT_FSIZE, MIB);
  check_meminfo (NULL, MIB, NULL);
  check_meminfo (NULL, MIB + 1, "needs 1048577 bytes, RLIMIT_FSIZE allows 1048576 (limit)");
  g_assert_true (arena_limits_check_file_size (MIB, NULL));
  g_assert_false (arena_limits_check_file_size (MIB + 1, NULL));
  /* It comes first: it would kill. */
  check_meminfo ("MemAvailable: 0 kB\nSwapFree: 0 kB\n", MIB + 1, "RLIMIT_FSIZE");
  return 0;
}

static void
test_file_size (void)
{
  arena_test_assert_child (file_size, NULL);
}

/* What is mapped already is taken off, as far as it is known. */
static int
address_space (gpointer data)
{
  g_autofree char *statm = NULL;
  g_autoptr (GError) error = NULL;
  const ArenaLimitsRoots roots = { .proc = "/nonexistent", .cgroup = "/nonexistent" };
  guint64 limit;

  g_assert_true (g_file_get_contents ("/proc/self/statm", &statm, NULL, NULL));
  limit = g_ascii_strtoull (statm, NULL, 10) * (guint64) sysconf (_SC_PAGESIZE) + 64 * MIB;
  set_limit (RLIMIT_AS, limit);

  g_assert_true (arena_limits_check_address_space (MIB, NULL, &error));
  g_assert_no_error (error);
  g_assert_false (arena_limits_check_address_space (65 * MIB, NULL, &error));
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_NO_SPACE, "needs 68157440 bytes, RLIMIT_AS allows ");
  g_assert_true (arena_limits_check_address_space (limit, &roots, &error));
  g_assert_false (arena_limits_check (limit + 1, &roots, &error));
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_NO_SPACE, "RLIMIT_AS");
  return 0;
}

static void
test_address_space (void)
{
  arena_test_assert_child (address_space, NULL);
}

/* The real folders of whatever machine this is. */
static void
test_real (void)
{
  g_autoptr (GError) error = NULL;

  g_assert_true (arena_limits_check (4096, NULL, &error));
  g_assert_no_error (error);
  g_assert_false (arena_limits_check (G_GUINT64_CONSTANT (1) << 62, NULL, &error));
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_NO_SPACE, "needs 4611686018427387904 bytes");
}

int
main (int    argc,
      char **argv)
{
  arena_test_init (&argc, &argv);
  arena_test_add ("/arena/limits/parse", test_parse);
  arena_test_add ("/arena/limits/parse-key", test_parse_key);
  arena_test_add ("/arena/limits/compare-saturates", test_compare);
  arena_test_add ("/arena/limits/memory", test_memory);
  arena_test_add ("/arena/limits/unknown-memory-never-refuses", test_unknown_memory);
  arena_test_add ("/arena/limits/file-size-comes-first", test_file_size);
  arena_test_add ("/arena/limits/address-space", test_address_space);
  arena_test_add ("/arena/limits/real-machine", test_real);
  return g_test_run ();
}
