/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <gio/gio.h>
#include <sys/types.h>

G_BEGIN_DECLS

/* What every test program shares. A program is
 *
 *   int
 *   main (int argc, char **argv)
 *   {
 *     arena_test_init (&argc, &argv);
 *     arena_test_add ("/arena/mapping/twice-is-one-memory", test_twice);
 *     return g_test_run ();
 *   }
 *
 * Everything here asserts by itself: a helper that returns has succeeded. */

/* g_test_init (), and opens what GLib keeps open for ever, so that descriptor counts are stable. */
void     arena_test_init               (int              *argc,
                                        char           ***argv);

/* Registers @func wrapped in a resource check: it must leave as many descriptors and arena mappings as it found. */
void     arena_test_add                (const char       *path,
                                        void            (*func) (void));

/* Starts GLib's helper thread and its descriptors, which GSubprocess and signal sources use. Call it in main() after
 * arena_test_init(), and only where needed: a program that forks is easier to check with one thread. */
void     arena_test_warm_up_subprocess (void);

typedef struct
{
  guint n_fds;
  guint n_mappings;
} ArenaTestResources;

/* Open descriptors of this process, and lines of /proc/self/maps that show a memory file named "arena...". */
guint    arena_test_count_fds          (void);
guint    arena_test_count_mappings     (void);

/* For a check inside a test (or in a child). end() waits up to 2 s: another thread may still be closing. */
void     arena_test_resources_begin    (ArenaTestResources       *self);
void     arena_test_resources_end      (const ArenaTestResources *self);

/* Runs in a forked child, whose exit status is what it returns. A failed g_assert_* there is SIGABRT. */
typedef int (*ArenaTestChildFunc) (gpointer data);

/* wait_child() returns waitpid()'s status; a child still there after 30 s is killed and fails the test.
 * run_child() is both in one; assert_child() also asserts a plain exit with status 0. */
pid_t    arena_test_start_child        (ArenaTestChildFunc func,
                                        gpointer           data) G_GNUC_WARN_UNUSED_RESULT;
int      arena_test_wait_child         (pid_t              pid);
int      arena_test_run_child          (ArenaTestChildFunc func,
                                        gpointer           data) G_GNUC_WARN_UNUSED_RESULT;
void     arena_test_assert_child       (ArenaTestChildFunc func,
                                        gpointer           data);

/* From here to the end of the calling process, system call @number fails with @error wherever bits @mask of its
 * argument @argument (0 to 5, low 32 bits) are @value; mask 0 means always. For children and
 * g_test_trap_subprocess(): it can't be taken back. */
void     arena_test_refuse_syscall     (int      number,
                                        guint    argument,
                                        guint32  mask,
                                        guint32  value,
                                        int      error);

/* While @refuse, this process gets no new descriptors (RLIMIT_NOFILE); what it has it keeps. */
void     arena_test_refuse_fds         (gboolean refuse);

/* A fresh tmpfs over @path for the calling (forked) process alone; FALSE where a user may not do that. */
gboolean arena_test_cover_folder       (const char *path,
                                        const char *options) G_GNUC_WARN_UNUSED_RESULT;

/* Whether this runs under valgrind, which emulates limits and knows only some system calls. */
gboolean arena_test_on_valgrind        (void);

/* A fresh folder; free removes it with all that is in it. */
char    *arena_test_temp_dir_new       (void) G_GNUC_WARN_UNUSED_RESULT;
void     arena_test_temp_dir_free      (char       *path);

/* Payload that depends on the seed and on the position: a shifted, torn, stale or foreign byte is noticed.
 * check_pattern() says at which offset it failed. */
void     arena_test_fill_pattern       (void       *data,
                                        gsize       size,
                                        guint64     seed);
gboolean arena_test_check_pattern      (const void *data,
                                        gsize       size,
                                        guint64     seed) G_GNUC_WARN_UNUSED_RESULT;

/* Polls @predicate every millisecond; FALSE when it never held. */
gboolean arena_test_wait_until         (gboolean (*predicate) (gpointer data),
                                        gpointer   data,
                                        guint      timeout_ms) G_GNUC_WARN_UNUSED_RESULT;

/* Whether @error (cleared) has this domain, code, and every one of the texts (up to a NULL) in its message. */
#define  arena_test_assert_error(error, domain, code, ...) \
  arena_test_assert_error_ (&(error), (domain), (code), #code, \
                            (const char *const[]) { __VA_ARGS__ __VA_OPT__ (,) NULL })
void     arena_test_assert_error_      (GError           **error,
                                        GQuark             domain,
                                        int                code,
                                        const char        *code_name,
                                        const char *const *texts);

G_END_DECLS
