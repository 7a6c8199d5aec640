/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "memory/arena-memfd-private.h"

#include "base/arena-compat-private.h"
#include "base/arena-error-private.h"
#include "memory/arena-limits-private.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* A file leaves this place complete or not at all: every page reserved, and the size sealed before any other process
 * can hold the descriptor. So a touch can't raise SIGBUS, neither for lack of room nor because a peer cut the file. */

#ifndef MFD_NOEXEC_SEAL
#define MFD_NOEXEC_SEAL 0x0008U
#endif

#define SIZE_SEALS ((guint) (F_SEAL_SHRINK | F_SEAL_GROW))
#define SIZE_LIMIT (G_GUINT64_CONSTANT (1) << 62)
#define STEP_MAX   (G_GUINT64_CONSTANT (16) << 20)
#define STEP_MIN   (G_GUINT64_CONSTANT (64) << 10)
#define LABEL_MAX  64 /* the kernel takes 249 in all; maps should stay readable */

char *
arena_memfd_name (const char *label,
                  const char *fallback)
{
  GString *name = g_string_new ("arena-");

  if (label == NULL || label[0] == '\0')
    return g_string_free (g_string_append (name, fallback), FALSE);

  for (gsize i = 0; label[i] != '\0' && i < LABEL_MAX; i++)
    g_string_append_c (name, g_ascii_isalnum (label[i]) || strchr ("-_.", label[i]) != NULL ? label[i] : '_');

  return g_string_free (name, FALSE);
}

int
arena_memfd_new_empty (const char  *name,
                       GError     **error)
{
  const guint flags = MFD_CLOEXEC | MFD_ALLOW_SEALING;
  int fd = memfd_create (name, flags | MFD_NOEXEC_SEAL);
  int saved_errno;

  /* Before Linux 6.3 */
  if (fd < 0 && errno == EINVAL)
    fd = memfd_create (name, flags);

  if (fd < 0)
    {
      saved_errno = errno;
      arena_set_error_errno (error, ARENA_ERROR_NOT_SUPPORTED, saved_errno, "memfd_create", name);
    }

  return fd;
}

/* On older kernels any signal interrupts fallocate(), which then gives back what it had reserved of its step. Where
 * signals come faster than a step takes (a profiler), only shorter steps ever finish. */
gboolean
arena_memfd_reserve (int            fd,
                     const char    *name,
                     guint64        start,
                     guint64        end,
                     GCancellable  *cancellable,
                     GError       **error)
{
  guint64 step = STEP_MAX;
  guint64 done = start;
  int saved_errno;

  while (done < end)
    {
      guint64 length = MIN (step, end - done);

      if (g_cancellable_set_error_if_cancelled (cancellable, error))
        return FALSE;

      if (fallocate (fd, 0, (off_t) done, (off_t) length) == 0)
        {
          done += length;
          continue;
        }

      saved_errno = errno;
      if (saved_errno != EINTR)
        {
          g_autofree char *object = NULL;

          object = g_strdup_printf ("%s, %" G_GUINT64_FORMAT " of %" G_GUINT64_FORMAT " bytes", name, done, end);
          arena_set_error_errno (error, ARENA_ERROR_NO_SPACE, saved_errno, "fallocate", object);
          return FALSE;
        }
      step = MAX (step / 2, STEP_MIN);
    }

  return TRUE;
}

int
arena_memfd_new (const char    *name,
                 guint64        size,
                 GCancellable  *cancellable,
                 GError       **error)
{
  g_autofd int fd = -1;

  g_return_val_if_fail (name != NULL, -1);
  g_return_val_if_fail (error == NULL || *error == NULL, -1);

  if (size == 0 || size > SIZE_LIMIT)
    {
      g_set_error (error,
                   ARENA_ERROR,
                   ARENA_ERROR_INVALID_ARGUMENT,
                   "%s: %" G_GUINT64_FORMAT " bytes is outside 1 to %" G_GUINT64_FORMAT,
                   name,
                   size,
                   SIZE_LIMIT);
      return -1;
    }

  if (g_cancellable_set_error_if_cancelled (cancellable, error) || !arena_limits_check (size, NULL, error))
    return -1;

  fd = arena_memfd_new_empty (name, error);
  if (fd < 0)
    return -1;

  if (ftruncate (fd, (off_t) size) != 0)
    {
      int saved_errno = errno;

      arena_set_error_errno (error, ARENA_ERROR_NO_SPACE, saved_errno, "ftruncate", name);
      return -1;
    }

  if (!arena_memfd_reserve (fd, name, 0, size, cancellable, error) || !arena_memfd_seal (fd, SIZE_SEALS, error))
    return -1;

  return g_steal_fd (&fd);
}

gboolean
arena_memfd_seal (int      fd,
                  guint    seals,
                  GError **error)
{
  g_autofree char *object = NULL;
  int saved_errno;

  if (fcntl (fd, F_ADD_SEALS, seals) == 0)
    return TRUE;

  saved_errno = errno;
  object = g_strdup_printf ("seals 0x%x", seals);
  arena_set_error_errno (error, ARENA_ERROR_NOT_SUPPORTED, saved_errno, "fcntl(F_ADD_SEALS)", object);
  return FALSE;
}

gboolean
arena_memfd_check (int          fd,
                   guint64      size,
                   guint        seals,
                   const char  *what,
                   GError     **error)
{
  int have = fcntl (fd, F_GET_SEALS);
  guint want = seals | SIZE_SEALS;
  struct stat info;

  if (have < 0 || fstat (fd, &info) != 0)
    {
      g_set_error (error, ARENA_ERROR, ARENA_ERROR_PROTOCOL, "%s: not a memory file", what);
      return FALSE;
    }

  /* Before the size, which only the seals make final. */
  if (((guint) have & want) != want)
    {
      g_set_error (error,
                   ARENA_ERROR,
                   ARENA_ERROR_PROTOCOL,
                   "%s: seals 0x%x lack 0x%x",
                   what,
                   (guint) have,
                   want & ~(guint) have);
      return FALSE;
    }

  if ((guint64) info.st_size != size)
    {
      g_set_error (error,
                   ARENA_ERROR,
                   ARENA_ERROR_PROTOCOL,
                   "%s: %" G_GUINT64_FORMAT " bytes instead of %" G_GUINT64_FORMAT,
                   what,
                   (guint64) info.st_size,
                   size);
      return FALSE;
    }

  return TRUE;
}
