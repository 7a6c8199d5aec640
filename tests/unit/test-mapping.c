/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "arena-test.h"
#include "base/arena-compat-private.h"
#include "base/arena-error.h"
#include "memory/arena-mapping-private.h"
#include "memory/arena-memfd-private.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#define PAGE ((gsize) sysconf (_SC_PAGESIZE))

static int
new_memfd (guint64 size)
{
  g_autoptr (GError) error = NULL;
  int fd = arena_memfd_new ("arena-test", size, NULL, &error);

  g_assert_no_error (error);
  return fd;
}

static ArenaMapping *
new_mapping (int               fd,
             gsize             size,
             ArenaMappingFlags flags)
{
  g_autoptr (GError) error = NULL;
  ArenaMapping *mapping = arena_mapping_new (fd, size, flags, &error);

  g_assert_no_error (error);
  g_assert_nonnull (mapping);
  g_assert_cmpuint (arena_mapping_get_size (mapping), ==, size);
  return mapping;
}

/* The kernel writes there or says EFAULT: no signal to handle. */
static gboolean
is_writable (const void *address)
{
  if (syscall (SYS_getrandom, address, 1, 0) == 1)
    return TRUE;

  g_assert_cmpint (errno, ==, EFAULT);
  return FALSE;
}

static gboolean
is_mapped (const void *address)
{
  unsigned char state;

  return mincore ((void *) address, PAGE, &state) == 0;
}

static void
test_arguments (void)
{
  const struct { gsize size; ArenaMappingFlags flags; } rows[] = {
    { 0, ARENA_MAPPING_READ_ONLY },
    { 0, ARENA_MAPPING_TWICE },
    { (gsize) G_MAXSSIZE + 1, ARENA_MAPPING_READ_ONLY },
    { G_MAXSIZE, ARENA_MAPPING_WRITABLE },
    { 1, ARENA_MAPPING_TWICE },
    { PAGE - 1, ARENA_MAPPING_TWICE },
    { PAGE + 1, ARENA_MAPPING_TWICE | ARENA_MAPPING_WRITABLE },
    { G_MAXSIZE / 2 + 1, ARENA_MAPPING_TWICE },
    { G_MAXSIZE - PAGE + 1, ARENA_MAPPING_TWICE },
  };
  g_autofd int fd = new_memfd (PAGE);

  for (gsize i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      g_autoptr (GError) error = NULL;

      g_assert_null (arena_mapping_new (fd, rows[i].size, rows[i].flags, &error));
      arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_INVALID_ARGUMENT, "bytes can't be mapped");
    }
}

static void
test_outlives_descriptor (void)
{
  g_autofd int fd = new_memfd (3 * PAGE + 5);
  g_autoptr (ArenaMapping) mapping = new_mapping (fd, 3 * PAGE + 5, ARENA_MAPPING_WRITABLE);

  g_clear_fd (&fd, NULL);
  arena_test_fill_pattern (arena_mapping_get_data (mapping), 3 * PAGE + 5, 1);
  g_assert_true (arena_test_check_pattern (arena_mapping_get_data (mapping), 3 * PAGE + 5, 1));
}

static void
test_two_see_the_same (void)
{
  g_autofd int fd = new_memfd (PAGE);
  g_autoptr (ArenaMapping) writer = new_mapping (fd, PAGE, ARENA_MAPPING_WRITABLE);
  g_autoptr (ArenaMapping) reader = new_mapping (fd, PAGE, ARENA_MAPPING_READ_ONLY);

  arena_test_fill_pattern (arena_mapping_get_data (writer), PAGE, 2);
  g_assert_true (arena_test_check_pattern (arena_mapping_get_data (reader), PAGE, 2));
#if ARENA_THREAD_SANITIZER
  /* One address, so that a race between the two is seen. */
  g_assert_true (writer == reader);
  g_assert_cmpuint (arena_test_count_mappings (), ==, 1);
#else
  g_assert_true (arena_mapping_get_data (writer) != arena_mapping_get_data (reader));
  g_assert_true (is_writable (arena_mapping_get_data (writer)));
  g_assert_false (is_writable (arena_mapping_get_data (reader)));
#endif
}

/* One that is sealed against writing is readable, by whatever build. */
static void
test_sealed (void)
{
  g_autofd int fd = new_memfd (PAGE);
  g_autoptr (GError) error = NULL;
  g_autoptr (ArenaMapping) mapping = NULL;

  g_assert_true (arena_memfd_seal (fd, F_SEAL_FUTURE_WRITE, &error));
  g_assert_null (arena_mapping_new (fd, PAGE, ARENA_MAPPING_WRITABLE, &error));
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_INVALID_ARGUMENT, "mmap: ", g_strerror (EPERM));
  mapping = new_mapping (fd, PAGE, ARENA_MAPPING_READ_ONLY);
  g_assert_false (is_writable (arena_mapping_get_data (mapping)));
  g_assert_cmpint (mprotect (arena_mapping_get_data (mapping), PAGE, PROT_READ | PROT_WRITE), ==, -1);
}

static void
test_twice (void)
{
  const gsize sizes[] = { PAGE, 3 * PAGE, 1 << 20 };

  for (gsize i = 0; i < G_N_ELEMENTS (sizes); i++)
    {
      gsize size = sizes[i];
      g_autofd int fd = new_memfd (size);
      g_autoptr (ArenaMapping) mapping = new_mapping (fd, size, ARENA_MAPPING_TWICE | ARENA_MAPPING_WRITABLE);
      guint8 *data = arena_mapping_get_data (mapping);

      /* Written over the seam, found at both ends of one view. */
      arena_test_fill_pattern (data + size - 100, 200, i);
      g_assert_true (arena_test_check_pattern (data + size - 100, 200, i));
      g_assert_cmpmem (data, 100, data + size, 100);
      g_assert_cmpmem (data + 2 * size - 100, 100, data + size - 100, 100);
      /* A whole unit at the last offset. */
      arena_test_fill_pattern (data + size - 1, size, i + 10);
      g_assert_true (arena_test_check_pattern (data + size - 1, size, i + 10));
      g_assert_cmpuint (arena_test_count_mappings (), ==, 2);
    }
}

static void
test_bad_descriptor (void)
{
  const ArenaMappingFlags flags[] = { ARENA_MAPPING_READ_ONLY, ARENA_MAPPING_TWICE | ARENA_MAPPING_WRITABLE };
  g_autofd int read_only = open ("/proc/self/maps", O_RDONLY | O_CLOEXEC);
  const int fds[] = { -1, read_only };

  for (gsize i = 0; i < G_N_ELEMENTS (flags); i++)
    for (gsize j = 0; j < G_N_ELEMENTS (fds); j++)
      {
        g_autoptr (GError) error = NULL;

        g_assert_null (arena_mapping_new (fds[j], PAGE, flags[i], &error));
        g_assert_nonnull (strstr (error->message, "mmap: "));
        arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_INVALID_ARGUMENT);
      }
}

typedef struct
{
  int               number;
  guint             argument;
  guint32           mask;
  int               error;
  ArenaMappingFlags flags;
  ArenaError        code;
  const char       *text;
} Failure;

static int
fail_one (gpointer data)
{
  const Failure *failure = data;
  g_autofd int fd = new_memfd (PAGE);
  g_autoptr (GError) error = NULL;

  arena_test_refuse_syscall (failure->number, failure->argument, failure->mask, failure->mask, failure->error);
  g_assert_null (arena_mapping_new (fd, PAGE, failure->flags, &error));
  arena_test_assert_error (error, ARENA_ERROR, (int) failure->code, failure->text);
  g_assert_cmpuint (arena_test_count_mappings (), ==, 0);
  return 0;
}

static void
test_each_step_may_fail (void)
{
  const Failure rows[] = {
    { SYS_mmap, 3, MAP_SHARED, ENOMEM, ARENA_MAPPING_READ_ONLY, ARENA_ERROR_NO_SPACE, "mmap: 4096 bytes: " },
    { SYS_mmap, 3, MAP_SHARED, ENOMEM, ARENA_MAPPING_TWICE, ARENA_ERROR_NO_SPACE, "mmap: 8192 bytes: " },
    { SYS_mmap, 3, MAP_SHARED, EAGAIN, ARENA_MAPPING_WRITABLE, ARENA_ERROR_NO_SPACE, "mmap: 4096 bytes: " },
    { SYS_mmap, 3, MAP_SHARED, EACCES, ARENA_MAPPING_WRITABLE, ARENA_ERROR_INVALID_ARGUMENT, "mmap: 4096 bytes: " },
    { SYS_mmap, 3, MAP_NORESERVE, ENOMEM, ARENA_MAPPING_TWICE, ARENA_ERROR_NO_SPACE, "mmap: 8192 bytes: " },
    { SYS_madvise, 2, MADV_DONTFORK, EINVAL, ARENA_MAPPING_CONTROL, ARENA_ERROR_NOT_SUPPORTED, "MADV_DONTFORK" },
  };

  for (gsize i = 0; i < G_N_ELEMENTS (rows); i++)
    arena_test_assert_child (fail_one, (gpointer) &rows[i]);
}

static int
address_space_limit (gpointer data)
{
  const gsize size = 256 << 20;
  g_autofd int fd = memfd_create ("arena-test", MFD_CLOEXEC);
  g_autofree char *statm = NULL;
  g_autoptr (GError) error = NULL;
  struct rlimit limit;

  g_assert_no_errno (ftruncate (fd, size));
  g_assert_true (g_file_get_contents ("/proc/self/statm", &statm, NULL, NULL));
  g_assert_no_errno (getrlimit (RLIMIT_AS, &limit));
  limit.rlim_cur = g_ascii_strtoull (statm, NULL, 10) * PAGE + size + (64 << 20);
  g_assert_no_errno (setrlimit (RLIMIT_AS, &limit));

  /* Once is possible, twice is not. */
  g_assert_null (arena_mapping_new (fd, size, ARENA_MAPPING_TWICE, &error));
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_NO_SPACE, "needs 536870912 bytes, RLIMIT_AS allows ");
  arena_mapping_unref (new_mapping (fd, size, ARENA_MAPPING_READ_ONLY));
  return 0;
}

static void
test_address_space_limit (void)
{
  arena_test_assert_child (address_space_limit, NULL);
}

static gpointer
use_and_drop (gpointer data)
{
  ArenaMapping *mapping = data;

  for (guint i = 0; i < 1000; i++)
    arena_mapping_unref (arena_mapping_ref (mapping));
  g_assert_cmpuint (arena_mapping_get_data (mapping)[0], ==, 77);
  arena_mapping_unref (mapping);
  return NULL;
}

static void
test_last_reference_unmaps (void)
{
  g_autofd int fd = new_memfd (PAGE);
  ArenaMapping *mapping = new_mapping (fd, PAGE, ARENA_MAPPING_WRITABLE);
  GThread *threads[8];

  arena_mapping_get_data (mapping)[0] = 77;
  for (gsize i = 0; i < G_N_ELEMENTS (threads); i++)
    threads[i] = g_thread_new ("drop", use_and_drop, arena_mapping_ref (mapping));
  arena_mapping_unref (mapping);
  for (gsize i = 0; i < G_N_ELEMENTS (threads); i++)
    g_thread_join (threads[i]);
  g_assert_cmpuint (arena_test_count_mappings (), ==, 0);
}

static int
control_in_child (gpointer data)
{
  ArenaMapping *mapping = data;
  guint8 *address = arena_mapping_get_data (mapping);
  guint8 *other;

  g_assert_false (is_mapped (address));

  /* The address is free, so anything may come to lie there. */
  other = mmap (address, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
  g_assert_true (other == address);
  other[0] = 5;
  arena_mapping_unref (mapping);
  g_assert_true (is_mapped (other));
  g_assert_cmpuint (other[0], ==, 5);
  return 0;
}

static void
test_control_in_child (void)
{
  g_autofd int fd = new_memfd (PAGE);
  g_autoptr (ArenaMapping) mapping = new_mapping (fd, PAGE, ARENA_MAPPING_WRITABLE | ARENA_MAPPING_CONTROL);

  arena_mapping_get_data (mapping)[0] = 9;
  arena_test_assert_child (control_in_child, mapping);
  g_assert_cmpuint (arena_mapping_get_data (mapping)[0], ==, 9);
}

/* Views of data stay readable in a child, and its last reference gives them back. */
static int
data_in_child (gpointer data)
{
  ArenaMapping *mapping = data;
  guint8 *address = arena_mapping_get_data (mapping);

  g_assert_true (arena_test_check_pattern (address, PAGE, 4));
  arena_mapping_unref (mapping);
  g_assert_false (is_mapped (address));
  return 0;
}

static void
test_data_in_child (void)
{
  g_autofd int fd = new_memfd (PAGE);
  g_autoptr (ArenaMapping) mapping = new_mapping (fd, PAGE, ARENA_MAPPING_WRITABLE);

  arena_test_fill_pattern (arena_mapping_get_data (mapping), PAGE, 4);
  arena_test_assert_child (data_in_child, mapping);
  g_assert_true (arena_test_check_pattern (arena_mapping_get_data (mapping), PAGE, 4));
}

/* The one way to map a file sealed against writing on every kernel: a write stays in this mapping. */
static void
test_private (void)
{
  g_autofd int fd = arena_memfd_new_empty ("arena-test", NULL);
  g_autoptr (ArenaMapping) mapping = NULL;
  g_autoptr (ArenaMapping) read_only = NULL;
  char byte = 0;

  g_assert_cmpint (write (fd, "abc", 3), ==, 3);
  g_assert_true (arena_memfd_seal (fd, F_SEAL_WRITE | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL, NULL));
  mapping = new_mapping (fd, 3, ARENA_MAPPING_WRITABLE | ARENA_MAPPING_PRIVATE);
  g_assert_cmpmem (arena_mapping_get_data (mapping), 3, "abc", 3);
  arena_mapping_get_data (mapping)[1] = 'x';
  g_assert_cmpint (pread (fd, &byte, 1, 1), ==, 1);
  g_assert_cmpint (byte, ==, 'b');
  read_only = new_mapping (fd, 3, ARENA_MAPPING_READ_ONLY | ARENA_MAPPING_PRIVATE);
  g_assert_false (is_writable (arena_mapping_get_data (read_only)));
}

static ArenaMapping *retired;

static void
retire (ArenaMapping *mapping)
{
  retired = mapping;
}

static int
drop_in_child (gpointer data)
{
  guint8 *address = arena_mapping_get_data (data);

  arena_mapping_unref (data);
  g_assert_true (retired == data);
  arena_mapping_free (retired);
  g_assert_false (is_mapped (address));
  return 0;
}

/* Whoever is told decides when the memory goes, in a child for its own copy. */
static void
test_retire (void)
{
  g_autofd int fd = new_memfd (PAGE);
  ArenaMapping *mapping = new_mapping (fd, PAGE, ARENA_MAPPING_WRITABLE);
  guint8 *address = arena_mapping_get_data (mapping);
  int data;

  g_assert_null (arena_mapping_get_retire_data (mapping));
  arena_mapping_set_retire (mapping, retire, &data);
  g_assert_true (arena_mapping_get_retire_data (mapping) == &data);
  arena_test_assert_child (drop_in_child, mapping);
  g_assert_null (retired);

  arena_mapping_unref (arena_mapping_ref (mapping));
  g_assert_null (retired);
  arena_mapping_unref (mapping);
  g_assert_true (retired == mapping);
  g_assert_true (is_mapped (address));
  arena_mapping_free (g_steal_pointer (&retired));
  g_assert_false (is_mapped (address));
}

int
main (int    argc,
      char **argv)
{
  arena_test_init (&argc, &argv);
  arena_test_add ("/arena/mapping/arguments-are-checked", test_arguments);
  arena_test_add ("/arena/mapping/outlives-its-descriptor", test_outlives_descriptor);
  arena_test_add ("/arena/mapping/two-see-the-same", test_two_see_the_same);
  arena_test_add ("/arena/mapping/sealed-is-read-only", test_sealed);
  arena_test_add ("/arena/mapping/twice-is-one-memory", test_twice);
  arena_test_add ("/arena/mapping/bad-descriptor", test_bad_descriptor);
  arena_test_add ("/arena/mapping/each-step-may-fail", test_each_step_may_fail);
  arena_test_add ("/arena/mapping/address-space-limit-is-named", test_address_space_limit);
  arena_test_add ("/arena/mapping/last-reference-unmaps", test_last_reference_unmaps);
  arena_test_add ("/arena/mapping/retired-instead-of-unmapped", test_retire);
  arena_test_add ("/arena/mapping/control-is-not-in-a-child", test_control_in_child);
  arena_test_add ("/arena/mapping/data-is-in-a-child", test_data_in_child);
  arena_test_add ("/arena/mapping/private-writes-stay-there", test_private);
  return g_test_run ();
}
