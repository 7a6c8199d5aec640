/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "arena-test.h"
#include "base/arena-compat-private.h"
#include "base/arena-error.h"
#include "memory/arena-memfd-private.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

#define MIB             (G_GUINT64_CONSTANT (1) << 20)
#define SIZE_SEALS      (F_SEAL_SHRINK | F_SEAL_GROW)
#define MFD_NOEXEC_SEAL_ 0x0008U

static int
new_memfd (guint64 size)
{
  g_autoptr (GError) error = NULL;
  int fd = arena_memfd_new ("arena-test", size, NULL, &error);

  g_assert_no_error (error);
  g_assert_cmpint (fd, >=, 0);
  return fd;
}

static void
assert_refused (guint64     size,
                ArenaError  code,
                const char *text)
{
  g_autoptr (GError) error = NULL;

  g_assert_cmpint (arena_memfd_new ("arena-test", size, NULL, &error), ==, -1);
  arena_test_assert_error (error, ARENA_ERROR, (int) code, text);
}

/* More than one step of the reservation, and sizes that are no number of pages. */
static void
test_size (void)
{
  const guint64 sizes[] = { 1, 4095, 4096, 4097, 3 * MIB, 16 * MIB - 1, 16 * MIB, 16 * MIB + 1, 40 * MIB + 4096 };

  for (gsize i = 0; i < G_N_ELEMENTS (sizes); i++)
    {
      g_autofd int fd = new_memfd (sizes[i]);
      struct stat info;

      g_assert_no_errno (fstat (fd, &info));
      g_assert_cmpuint ((guint64) info.st_size, ==, sizes[i]);
      /* Every page is there before anybody touches one. */
      g_assert_cmpuint ((guint64) info.st_blocks * 512, >=, sizes[i]);
    }
}

static void
test_bad_size (void)
{
  const guint64 limit = G_GUINT64_CONSTANT (1) << 62;

  assert_refused (0, ARENA_ERROR_INVALID_ARGUMENT, "arena-test: 0 bytes is outside 1 to 4611686018427387904");
  assert_refused (limit + 1, ARENA_ERROR_INVALID_ARGUMENT, "4611686018427387905");
  assert_refused (G_MAXUINT64, ARENA_ERROR_INVALID_ARGUMENT, "18446744073709551615");
  assert_refused (limit, ARENA_ERROR_NO_SPACE, "needs 4611686018427387904 bytes");
}

static void
test_bad_name (void)
{
  g_autofree char *name = g_strnfill (250, 'a');
  g_autoptr (GError) error = NULL;

  g_assert_cmpint (arena_memfd_new (name, 1, NULL, &error), ==, -1);
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_NOT_SUPPORTED, "memfd_create: ", g_strerror (EINVAL));
}

static void
test_label (void)
{
  const struct
  {
    const char *label, *name;
  } table[] = {
    { NULL, "arena-pool" },
    { "", "arena-pool" },
    { "train-1.a_B", "arena-train-1.a_B" },
    { "a b\n/\t%", "arena-a_b____" },
    { "\xc3\xa4\xff", "arena-___" },
  };
  g_autofree char *long_label = g_strnfill (1000, 'x');
  g_autofree char *longest = arena_memfd_name (long_label, "pool");
  g_autofd int fd = arena_memfd_new (longest, 1, NULL, NULL);

  for (guint i = 0; i < G_N_ELEMENTS (table); i++)
    {
      g_autofree char *name = arena_memfd_name (table[i].label, "pool");

      g_assert_cmpstr (name, ==, table[i].name);
    }

  g_assert_cmpuint (strlen (longest), ==, strlen ("arena-") + 64);
  g_assert_cmpint (fd, >=, 0);
}

static void
test_private (void)
{
  g_autofd int fd = new_memfd (4096);
  g_autofree char *path = g_strdup_printf ("/proc/self/fd/%d", fd);
  g_autofree char *target = g_file_read_link (path, NULL);

  g_assert_cmpint (fcntl (fd, F_GETFD), ==, FD_CLOEXEC);
  g_assert_cmpstr (target, ==, "/memfd:arena-test (deleted)");
}

static void
test_size_is_sealed (void)
{
  g_autofd int fd = new_memfd (2 * MIB);

  g_assert_cmpint (fcntl (fd, F_GET_SEALS) & SIZE_SEALS, ==, SIZE_SEALS);
  g_assert_cmpint (ftruncate (fd, MIB), ==, -1);
  g_assert_cmpint (errno, ==, EPERM);
  g_assert_cmpint (ftruncate (fd, 3 * MIB), ==, -1);
  g_assert_cmpint (errno, ==, EPERM);
  g_assert_cmpint (fallocate (fd, 0, 2 * MIB, 4096), ==, -1);
  g_assert_cmpint (errno, ==, EPERM);
  g_assert_cmpint ((int) pwrite (fd, "x", 1, 2 * MIB), ==, -1);
  g_assert_cmpint (errno, ==, EPERM);
  /* Not against being written, and more seals may follow. */
  g_assert_cmpint ((int) pwrite (fd, "x", 1, 2 * MIB - 1), ==, 1);
}

static void
test_more_seals (void)
{
  g_autofd int fd = new_memfd (4096);
  g_autoptr (GError) error = NULL;

  g_assert_true (arena_memfd_seal (fd, F_SEAL_FUTURE_WRITE | F_SEAL_SEAL, &error));
  g_assert_no_error (error);
  g_assert_true (mmap (NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0) == MAP_FAILED);
  g_assert_cmpint ((int) pwrite (fd, "x", 1, 0), ==, -1);

  /* SEAL was the last one. */
  g_assert_false (arena_memfd_seal (fd, F_SEAL_WRITE, &error));
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_NOT_SUPPORTED, "F_ADD_SEALS", g_strerror (EPERM));
}

static void
test_seal_refused (void)
{
  g_autofd int fd = new_memfd (4096);
  g_autoptr (GError) error = NULL;
  void *writable = mmap (NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

  g_assert_true (writable != MAP_FAILED);
  g_assert_false (arena_memfd_seal (fd, F_SEAL_WRITE, &error));
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_NOT_SUPPORTED, "seals 0x8", g_strerror (EBUSY));
  g_assert_false (arena_memfd_seal (-1, F_SEAL_WRITE, &error));
  arena_test_assert_error (error, ARENA_ERROR, ARENA_ERROR_NOT_SUPPORTED, g_strerror (EBADF));
  munmap (writable, 4096);
}

static int
without_noexec (gpointer data)
{
  g_autofd int fd = -1;

  arena_test_refuse_syscall (SYS_memfd_create, 1, MFD_NOEXEC_SEAL_, MFD_NOEXEC_SEAL_, EINVAL);
  fd = new_memfd (4096);
  g_assert_cmpint (fcntl (fd, F_GET_SEALS), ==, SIZE_SEALS);
  g_assert_cmpint (fcntl (fd, F_GETFD), ==, FD_CLOEXEC);
  return 0;
}

/* Before Linux 6.3; the second try must still be sealable. */
static void
test_without_noexec (void)
{
  arena_test_assert_child (without_noexec, NULL);
}

typedef struct
{
  int         number;
  guint       argument;
  guint32     mask;
  guint32     value;
  int         error;
  ArenaError  code;
  const char *text;
} Failure;

static int
fail_one (gpointer data)
{
  const Failure *failure = data;
  ArenaTestResources resources;

  arena_test_resources_begin (&resources);
  arena_test_refuse_syscall (failure->number, failure->argument, failure->mask, failure->value, failure->error);
  assert_refused (64 * 1024, failure->code, failure->text);
  arena_test_resources_end (&resources);
  return 0;
}

static void
test_each_step_may_fail (void)
{
  const Failure rows[] = {
    { SYS_memfd_create, 0, 0, 0, ENOSYS, ARENA_ERROR_NOT_SUPPORTED, "memfd_create: arena-test: " },
    { SYS_memfd_create, 0, 0, 0, EMFILE, ARENA_ERROR_NO_SPACE, "memfd_create: arena-test: " },
    { SYS_memfd_create, 0, 0, 0, ENOMEM, ARENA_ERROR_NO_SPACE, "memfd_create: arena-test: " },
    { SYS_ftruncate, 0, 0, 0, EFBIG, ARENA_ERROR_NO_SPACE, "ftruncate: arena-test: " },
    { SYS_fallocate, 0, 0, 0, ENOSPC, ARENA_ERROR_NO_SPACE, "fallocate: arena-test, 0 of 65536 bytes: " },
    { SYS_fallocate, 0, 0, 0, EFBIG, ARENA_ERROR_NO_SPACE, "fallocate: arena-test, 0 of 65536 bytes: " },
    { SYS_fcntl, 1, G_MAXUINT32, F_ADD_SEALS, EPERM, ARENA_ERROR_NOT_SUPPORTED, "F_ADD_SEALS" },
  };

  for (gsize i = 0; i < G_N_ELEMENTS (rows); i++)
    arena_test_assert_child (fail_one, (gpointer) &rows[i]);
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
file_size_limit (gpointer data)
{
  g_autofd int fd = -1;

  set_limit (RLIMIT_FSIZE, MIB);
  assert_refused (MIB + 1, ARENA_ERROR_NO_SPACE, "needs 1048577 bytes, RLIMIT_FSIZE allows 1048576");
  fd = new_memfd (MIB);
  return 0;
}

/* Not by SIGXFSZ. */
static void
test_file_size_limit (void)
{
  arena_test_assert_child (file_size_limit, NULL);
}

static int
descriptor_limit (gpointer data)
{
  set_limit (RLIMIT_NOFILE, 3);
  assert_refused (4096, ARENA_ERROR_NO_SPACE, g_strerror (EMFILE));
  return 0;
}

static void
test_descriptor_limit (void)
{
  arena_test_assert_child (descriptor_limit, NULL);
}

static void
test_cancelled_before (void)
{
  g_autoptr (GCancellable) cancellable = g_cancellable_new ();
  g_autoptr (GError) error = NULL;

  g_cancellable_cancel (cancellable);
  g_assert_cmpint (arena_memfd_new ("arena-test", 4096, cancellable, &error), ==, -1);
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
}

static gboolean
reservation_has_begun (gpointer data)
{
  const int *fd = data;
  struct stat info;

  /* Not fstat(): ThreadSanitizer would call it a race with the close(). */
  return fstatat (*fd, "", &info, AT_EMPTY_PATH) == 0 && info.st_blocks > 0;
}

typedef struct
{
  int           fd;
  GCancellable *cancellable;
} Cancel;

static gpointer
cancel_in_the_middle (gpointer data)
{
  Cancel *cancel = data;

  g_assert_true (arena_test_wait_until (reservation_has_begun, &cancel->fd, 10000));
  g_cancellable_cancel (cancel->cancellable);
  return NULL;
}

/* A reservation of 1 GiB takes 64 steps; the cancellation comes after the first has begun. */
static void
test_cancelled_in_the_middle (void)
{
  g_autoptr (GCancellable) cancellable = g_cancellable_new ();
  g_autoptr (GError) error = NULL;
  Cancel cancel = { .cancellable = cancellable };
  GThread *thread;

  /* The number that the next descriptor gets. */
  cancel.fd = dup (0);
  g_assert_cmpint (cancel.fd, >=, 0);
  close (cancel.fd);

  thread = g_thread_new ("cancel", cancel_in_the_middle, &cancel);
  g_assert_cmpint (arena_memfd_new ("arena-test", 1024 * MIB, cancellable, &error), ==, -1);
  g_thread_join (thread);
  g_assert_error (error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
}

static volatile sig_atomic_t n_alarms;

static void
count_alarm (int number)
{
  n_alarms++;
}

static int
under_fire (gpointer data)
{
  const struct sigaction action = { .sa_handler = count_alarm };
  const struct itimerval every = { .it_interval = { .tv_usec = 500 }, .it_value = { .tv_usec = 500 } };
  g_autofd int fd = -1;

  g_assert_no_errno (sigaction (SIGALRM, &action, NULL));
  g_assert_no_errno (setitimer (ITIMER_REAL, &every, NULL));
  fd = new_memfd (64 * MIB);
  g_assert_no_errno (setitimer (ITIMER_REAL, &(struct itimerval) { 0 }, NULL));
  g_assert_cmpint (n_alarms, >, 0);
  return 0;
}

/* Signals that come faster than a step of the reservation takes. */
static void
test_interrupted (void)
{
  arena_test_assert_child (under_fire, NULL);
}

static int
long_steps_fail (gpointer data)
{
  g_autofd int fd = -1;
  struct stat info;

  /* 16 MiB, and 8 MiB */
  arena_test_refuse_syscall (SYS_fallocate, 3, 1 << 24, 1 << 24, EINTR);
  arena_test_refuse_syscall (SYS_fallocate, 3, 1 << 23, 1 << 23, EINTR);
  fd = new_memfd (40 * MIB + 1);
  g_assert_no_errno (fstat (fd, &info));
  g_assert_cmpuint ((guint64) info.st_blocks * 512, >, 40 * MIB);
  return 0;
}

static void
test_always_interrupted (void)
{
  arena_test_assert_child (long_steps_fail, NULL);
}

int
main (int    argc,
      char **argv)
{
  arena_test_init (&argc, &argv);
  arena_test_add ("/arena/memfd/every-page-is-reserved", test_size);
  arena_test_add ("/arena/memfd/size-is-bounded", test_bad_size);
  arena_test_add ("/arena/memfd/name-is-bounded", test_bad_name);
  arena_test_add ("/arena/memfd/label-is-harmless", test_label);
  arena_test_add ("/arena/memfd/has-no-name-and-ends-at-exec", test_private);
  arena_test_add ("/arena/memfd/size-is-sealed", test_size_is_sealed);
  arena_test_add ("/arena/memfd/more-seals", test_more_seals);
  arena_test_add ("/arena/memfd/refused-seal-is-an-error", test_seal_refused);
  arena_test_add ("/arena/memfd/works-without-noexec", test_without_noexec);
  arena_test_add ("/arena/memfd/each-step-may-fail", test_each_step_may_fail);
  arena_test_add ("/arena/memfd/file-size-limit-is-an-error", test_file_size_limit);
  arena_test_add ("/arena/memfd/descriptor-limit-is-an-error", test_descriptor_limit);
  arena_test_add ("/arena/memfd/cancelled-before", test_cancelled_before);
  arena_test_add ("/arena/memfd/cancelled-in-the-middle", test_cancelled_in_the_middle);
  arena_test_add ("/arena/memfd/interrupted-by-signals", test_interrupted);
  arena_test_add ("/arena/memfd/steps-get-shorter-when-interrupted", test_always_interrupted);
  return g_test_run ();
}
