/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "arena-test.h"
#include "base/arena-compat-private.h"
#include "base/arena-error.h"
#include "memory/arena-mapping-private.h"
#include "memory/arena-memfd-private.h"

#include <errno.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#define PAGE ((gsize) sysconf (_SC_PAGESIZE))

#ifndef MADV_POPULATE_READ
#define MADV_POPULATE_READ  22
#define MADV_POPULATE_WRITE 23
#endif

static ArenaMapping *
new_mapping (gsize             size,
             ArenaMappingFlags flags)
{
  g_autoptr (GError) error = NULL;
  g_autofd int fd = arena_memfd_new ("arena-test", size, NULL, &error);
  ArenaMapping *mapping;

  g_assert_no_error (error);
  mapping = arena_mapping_new (fd, size, flags, &error);
  g_assert_no_error (error);
  return mapping;
}

static glong
count_faults (void)
{
  struct rusage usage;

  g_assert_no_errno (getrusage (RUSAGE_THREAD, &usage));
  return usage.ru_minflt + usage.ru_majflt;
}

static void
populate (ArenaMapping *mapping)
{
  g_autoptr (GError) error = NULL;

  g_assert_true (arena_mapping_populate (mapping, &error));
  g_assert_no_error (error);
}

/* Without a sanitizer's own accesses, which fault in its shadow. */
__attribute__ ((noinline, no_sanitize ("address", "thread")))
static void
use_pages (volatile guint8 *data,
           gsize            n_pages,
           gboolean         writing)
{
  for (gsize page = 0; page < n_pages; page++)
    if (writing)
      data[page * 4096 + 1] = 1;
    else
      (void) data[page * 4096 + 1];
}

/* Faults that remain when every page of every view is used as the mapping allows. */
static glong
faults_of_use (ArenaMappingFlags flags)
{
  const gsize size = 4 << 20;
  g_autoptr (ArenaMapping) mapping = new_mapping (size, flags);
  gsize n_views = flags & ARENA_MAPPING_TWICE ? 2 : 1;
  glong before;

  populate (mapping);
  before = count_faults ();
  use_pages (arena_mapping_get_data (mapping), n_views * size / 4096, flags & ARENA_MAPPING_WRITABLE);
  return count_faults () - before;
}

static int
check_no_faults (gpointer data)
{
  const ArenaMappingFlags flags[] = {
    ARENA_MAPPING_READ_ONLY,
    ARENA_MAPPING_WRITABLE,
    ARENA_MAPPING_WRITABLE | ARENA_MAPPING_CONTROL,
    ARENA_MAPPING_WRITABLE | ARENA_MAPPING_TWICE,
    ARENA_MAPPING_TWICE,
  };

  /* Of 1024 pages or more; a fault of the stack or of the code may come in between. */
  for (gsize i = 0; i < G_N_ELEMENTS (flags); i++)
    g_assert_cmpint (faults_of_use (flags[i]), <, 16);

  return 0;
}

static void
test_no_faults (void)
{
  check_no_faults (NULL);
}

/* Before Linux 5.14 */
static int
without_advice (gpointer data)
{
  arena_test_refuse_syscall (SYS_madvise, 2, G_MAXUINT32, MADV_POPULATE_WRITE, EINVAL);
  arena_test_refuse_syscall (SYS_madvise, 2, G_MAXUINT32, MADV_POPULATE_READ, EINVAL);
  return check_no_faults (NULL);
}

static void
test_no_faults_without_advice (void)
{
  arena_test_assert_child (without_advice, NULL);
}

#define N_COUNTED 3000000

static gpointer
count_up (gpointer data)
{
  _Atomic guint32 *counter = data;

  for (guint i = 0; i < N_COUNTED; i++)
    atomic_fetch_add_explicit (counter, 1, memory_order_relaxed);

  return NULL;
}

static int
keeps_content (gpointer data)
{
  g_autoptr (ArenaMapping) mapping = new_mapping (8 * PAGE, ARENA_MAPPING_WRITABLE);
  guint8 *bytes = arena_mapping_get_data (mapping);
  _Atomic guint32 *counter = (_Atomic guint32 *) (void *) bytes;
  GThread *thread;

  if (GPOINTER_TO_INT (data))
    arena_test_refuse_syscall (SYS_madvise, 2, G_MAXUINT32, MADV_POPULATE_WRITE, EINVAL);

  /* A first byte of a page changes all the time: that of the number at the start. */
  arena_test_fill_pattern (bytes + 4, 8 * PAGE - 4, 6);
  thread = g_thread_new ("count", count_up, counter);
  while (atomic_load_explicit (counter, memory_order_relaxed) < N_COUNTED / 10 * 9)
    populate (mapping);
  g_thread_join (thread);

  g_assert_cmpuint (*counter, ==, N_COUNTED);
  g_assert_true (arena_test_check_pattern (bytes + 4, 8 * PAGE - 4, 6));
  return 0;
}

static void
test_keeps_content (void)
{
  arena_test_assert_child (keeps_content, GINT_TO_POINTER (FALSE));
  arena_test_assert_child (keeps_content, GINT_TO_POINTER (TRUE));
}

static int
refused (gpointer data)
{
  g_autoptr (ArenaMapping) mapping = new_mapping (8 * PAGE, ARENA_MAPPING_WRITABLE);
  g_autoptr (GError) error = NULL;

  arena_test_refuse_syscall (SYS_madvise, 2, G_MAXUINT32, MADV_POPULATE_WRITE, GPOINTER_TO_INT (data));
  g_assert_false (arena_mapping_populate (mapping, &error));
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_NO_SPACE, "madvise(MADV_POPULATE): 32768 bytes: ");
  return 0;
}

static void
test_refused (void)
{
  arena_test_assert_child (refused, GINT_TO_POINTER (ENOMEM));
  arena_test_assert_child (refused, GINT_TO_POINTER (EFAULT));
}

/* A file of which only some pages exist. */
static void
test_resident (void)
{
  const gsize size = 3000 * PAGE + 1;
  const gsize touched[] = { 0, 1023, 1024, 2999 };
  g_autofd int fd = memfd_create ("arena-test", MFD_CLOEXEC);
  g_autoptr (GError) error = NULL;
  g_autoptr (ArenaMapping) mapping = NULL;

  g_assert_no_errno (ftruncate (fd, (off_t) size));
  mapping = arena_mapping_new (fd, size, ARENA_MAPPING_WRITABLE, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (arena_mapping_get_resident (mapping), ==, 0);

  for (gsize i = 0; i < G_N_ELEMENTS (touched); i++)
    {
      arena_mapping_get_data (mapping)[touched[i] * PAGE] = 1;
      g_assert_cmpuint (arena_mapping_get_resident (mapping), ==, (i + 1) * PAGE);
    }
}

/* The kernel counts a reserved page from its first use on. */
static void
test_populated_is_resident (void)
{
  const gsize sizes[] = { 1, PAGE, 5 * PAGE + 1, 1024 * PAGE, 1025 * PAGE };

  for (gsize i = 0; i < G_N_ELEMENTS (sizes); i++)
    {
      g_autoptr (ArenaMapping) mapping = new_mapping (sizes[i], ARENA_MAPPING_READ_ONLY);

      g_assert_cmpuint (arena_mapping_get_resident (mapping), ==, 0);
      populate (mapping);
      g_assert_cmpuint (arena_mapping_get_resident (mapping), ==, sizes[i]);
    }
}

int
main (int    argc,
      char **argv)
{
  arena_test_init (&argc, &argv);
  arena_test_add ("/arena/mapping-populate/no-faults-follow", test_no_faults);
  arena_test_add ("/arena/mapping-populate/no-faults-follow-without-advice", test_no_faults_without_advice);
  arena_test_add ("/arena/mapping-populate/keeps-content", test_keeps_content);
  arena_test_add ("/arena/mapping-populate/refusal-is-an-error", test_refused);
  arena_test_add ("/arena/mapping-populate/resident-counts-pages", test_resident);
  arena_test_add ("/arena/mapping-populate/populated-is-resident", test_populated_is_resident);
  return g_test_run ();
}
