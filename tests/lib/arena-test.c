/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "arena-test.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <glib-unix.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

/* A forked child here never returns into the test runner: it leaves by _exit(), so that no atexit handler, leak check
 * or TAP line of the parent runs twice. */

#define CHILD_TIMEOUT_MS    30000
#define RESOURCE_TIMEOUT_MS 2000

void
arena_test_init (int    *argc,
                 char ***argv)
{
  g_test_init (argc, argv, NULL);
  g_main_context_default ();
}

void
arena_test_warm_up_subprocess (void)
{
  g_source_unref (g_unix_signal_source_new (SIGUSR2));
}

static void
run_checked (gconstpointer data)
{
  void (*const *func) (void) = data;
  ArenaTestResources resources;

  arena_test_resources_begin (&resources);
  (*func) ();
  arena_test_resources_end (&resources);
}

void
arena_test_add (const char *path,
                void      (*func) (void))
{
  /* A function pointer doesn't fit in a data pointer by the letter of C, so it travels in a box. */
  void (**box) (void) = g_new (typeof (func), 1);

  *box = func;
  g_test_add_data_func_full (path, box, run_checked, g_free);
}

guint
arena_test_count_fds (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GDir) dir = g_dir_open ("/proc/self/fd", 0, &error);
  guint n = 0;

  g_assert_no_error (error);
  while (g_dir_read_name (dir) != NULL)
    n++;

  return n - 1; /* the one that lists them */
}

guint
arena_test_count_mappings (void)
{
  g_autofree char *maps = NULL;
  g_autoptr (GError) error = NULL;
  guint n = 0;

  g_file_get_contents ("/proc/self/maps", &maps, NULL, &error);
  g_assert_no_error (error);
  for (const char *at = maps; (at = strstr (at, "/memfd:arena")) != NULL; at++)
    n++;

  return n;
}

void
arena_test_resources_begin (ArenaTestResources *self)
{
  self->n_fds = arena_test_count_fds ();
  self->n_mappings = arena_test_count_mappings ();
}

static gboolean
resources_unchanged (gpointer data)
{
  const ArenaTestResources *self = data;

  return arena_test_count_fds () == self->n_fds && arena_test_count_mappings () == self->n_mappings;
}

void
arena_test_resources_end (const ArenaTestResources *self)
{
  if (arena_test_wait_until (resources_unchanged, (gpointer) self, RESOURCE_TIMEOUT_MS))
    return;

  g_assert_cmpuint (arena_test_count_fds (), ==, self->n_fds);
  g_assert_cmpuint (arena_test_count_mappings (), ==, self->n_mappings);
}

pid_t
arena_test_start_child (ArenaTestChildFunc func,
                        gpointer           data)
{
  pid_t pid;

  /* What is still buffered would be printed by both. */
  fflush (NULL);
  pid = fork ();
  g_assert_cmpint (pid, >=, 0);
  if (pid == 0)
    _exit (func (data));

  return pid;
}

typedef struct
{
  pid_t pid;
  int   status;
} WaitData;

static gboolean
child_ended (gpointer data)
{
  WaitData *wait = data;
  pid_t pid = waitpid (wait->pid, &wait->status, WNOHANG);

  g_assert_true (pid >= 0 || errno == EINTR);
  return pid == wait->pid;
}

int
arena_test_wait_child (pid_t pid)
{
  WaitData wait = { .pid = pid };

  if (arena_test_wait_until (child_ended, &wait, CHILD_TIMEOUT_MS))
    return wait.status;

  kill (pid, SIGKILL);
  waitpid (pid, NULL, 0);
  g_error ("child %d was still there after %d ms", (int) pid, CHILD_TIMEOUT_MS);
}

int
arena_test_run_child (ArenaTestChildFunc func,
                      gpointer           data)
{
  return arena_test_wait_child (arena_test_start_child (func, data));
}

void
arena_test_assert_child (ArenaTestChildFunc func,
                         gpointer           data)
{
  int status = arena_test_run_child (func, data);

  g_assert_cmpint (status, ==, 0);
}

void
arena_test_refuse_syscall (int     number,
                           guint   argument,
                           guint32 mask,
                           guint32 value,
                           int     error)
{
  guint32 high_first = G_BYTE_ORDER == G_BIG_ENDIAN ? 4 : 0;
  guint32 offset = (guint32) offsetof (struct seccomp_data, args) + argument * 8 + high_first;
  struct sock_filter code[] = {
    BPF_STMT (BPF_LD | BPF_W | BPF_ABS, offsetof (struct seccomp_data, nr)),
    BPF_JUMP (BPF_JMP | BPF_JEQ | BPF_K, (guint32) number, 0, 4),
    BPF_STMT (BPF_LD | BPF_W | BPF_ABS, offset),
    BPF_STMT (BPF_ALU | BPF_AND | BPF_K, mask),
    BPF_JUMP (BPF_JMP | BPF_JEQ | BPF_K, value & mask, 0, 1),
    BPF_STMT (BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ((guint32) error & SECCOMP_RET_DATA)),
    BPF_STMT (BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  struct sock_fprog program = { .len = G_N_ELEMENTS (code), .filter = code };

  g_assert_no_errno (prctl (PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0));
  g_assert_no_errno (prctl (PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program));
}

void
arena_test_refuse_fds (gboolean refuse)
{
  static rlim_t usual;
  struct rlimit limit;
  int first_free = dup (STDERR_FILENO);

  g_assert_no_errno (getrlimit (RLIMIT_NOFILE, &limit));
  if (refuse)
    {
      g_assert_no_errno (close (first_free));
      usual = limit.rlim_cur;
      limit.rlim_cur = (rlim_t) first_free;
    }
  else
    {
      g_assert_cmpint (first_free, ==, -1);
      limit.rlim_cur = usual;
    }
  g_assert_no_errno (setrlimit (RLIMIT_NOFILE, &limit));
}

gboolean
arena_test_cover_folder (const char *path,
                         const char *options)
{
  g_autofree char *map = g_strdup_printf ("0 %u 1", getuid ());

  if (unshare (CLONE_NEWNS) != 0)
    {
      if (unshare (CLONE_NEWUSER | CLONE_NEWNS) != 0)
        return FALSE;
      g_assert_true (g_file_set_contents_full ("/proc/self/uid_map", map, -1, G_FILE_SET_CONTENTS_NONE, 0, NULL));
    }

  /* valgrind reads every string, used or not. */
  return mount ("none", "/", "none", MS_REC | MS_PRIVATE, NULL) == 0 &&
         mount ("tmpfs", path, "tmpfs", 0, options) == 0;
}

gboolean
arena_test_on_valgrind (void)
{
  return g_getenv ("ARENA_TEST_VALGRIND") != NULL;
}

char *
arena_test_temp_dir_new (void)
{
  g_autoptr (GError) error = NULL;
  char *path = g_dir_make_tmp ("arena-test-XXXXXX", &error);

  g_assert_no_error (error);
  return path;
}

static int
remove_one (const char        *path,
            const struct stat *info,
            int                type,
            struct FTW        *where)
{
  return remove (path);
}

void
arena_test_temp_dir_free (char *path)
{
  g_assert_no_errno (nftw (path, remove_one, 8, FTW_DEPTH | FTW_PHYS));
  g_free (path);
}

/* One step of splitmix64: neighbouring positions and neighbouring seeds share no visible structure. */
static guint8
pattern_byte (guint64 seed,
              gsize   position)
{
  guint64 x = (position / 8 + 1) * G_GUINT64_CONSTANT (0x9e3779b97f4a7c15);

  x += seed * G_GUINT64_CONSTANT (0xd1342543de82ef95);
  x = (x ^ (x >> 30)) * G_GUINT64_CONSTANT (0xbf58476d1ce4e5b9);
  x = (x ^ (x >> 27)) * G_GUINT64_CONSTANT (0x94d049bb133111eb);
  x ^= x >> 31;
  return (guint8) (x >> (position % 8 * 8));
}

void
arena_test_fill_pattern (void   *data,
                         gsize   size,
                         guint64 seed)
{
  guint8 *bytes = data;

  for (gsize i = 0; i < size; i++)
    bytes[i] = pattern_byte (seed, i);
}

gboolean
arena_test_check_pattern (const void *data,
                          gsize       size,
                          guint64     seed)
{
  const guint8 *bytes = data;

  for (gsize i = 0; i < size; i++)
    if (bytes[i] != pattern_byte (seed, i))
      {
        g_test_message ("pattern %" G_GUINT64_FORMAT " broken at byte %" G_GSIZE_FORMAT " of %" G_GSIZE_FORMAT,
                        seed,
                        i,
                        size);
        return FALSE;
      }

  return TRUE;
}

gboolean
arena_test_wait_until (gboolean (*predicate) (gpointer data),
                       gpointer   data,
                       guint      timeout_ms)
{
  gint64 deadline = g_get_monotonic_time () + (gint64) timeout_ms * 1000;

  while (!predicate (data))
    {
      if (g_get_monotonic_time () >= deadline)
        return FALSE;
      g_usleep (1000);
    }

  return TRUE;
}

void
arena_test_assert_error_ (GError           **error,
                          GQuark             domain,
                          int                code,
                          const char        *code_name,
                          const char *const *texts)
{
  if (!g_error_matches (*error, domain, code))
    g_error ("expected %s %s, got %s",
             g_quark_to_string (domain),
             code_name,
             *error != NULL ? (*error)->message : "no error");

  for (; *texts != NULL; texts++)
    if (strstr ((*error)->message, *texts) == NULL)
      g_error ("no \"%s\" in the error \"%s\"", *texts, (*error)->message);

  g_clear_error (error);
}
