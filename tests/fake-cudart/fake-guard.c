/* SPDX-License-Identifier: LGPL-2.1-or-later */
#undef _FILE_OFFSET_BITS /* mmap and mmap64 are two symbols, of which each library uses its own */
#include <dlfcn.h>
#include <stdarg.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

/* Tells the double what is about to be unmapped, moved or mapped over. Linked into test programs, or preloaded into an
 * interpreter; calls from shared libraries come here as well, but for the C library's own. The double announces itself
 * when it is loaded. */

typedef void (*Report) (const char *operation, const void *pointer, uint64_t size);

/* One for each double, of which several may be loaded; none is ever unloaded. */
static Report reports[4];
static int (*next_munmap) (void *, size_t);
static void *(*next_mmap) (void *, size_t, int, int, int, off_t);
static void *(*next_mremap) (void *, size_t, size_t, int, ...);

void arena_fake_guard_add (Report report);

/* Called while the dynamic loader holds its lock. */
__attribute__ ((visibility ("default"))) void
arena_fake_guard_add (Report report)
{
  size_t i = 0;

  while (i < sizeof reports / sizeof *reports - 1 && reports[i] != NULL)
    i++;
  __atomic_store_n (&reports[i], report, __ATOMIC_RELEASE);
}

__attribute__ ((constructor)) static void
find_next (void)
{
  *(void **) &next_munmap = dlsym (RTLD_NEXT, "munmap");
  *(void **) &next_mmap = dlsym (RTLD_NEXT, "mmap");
  *(void **) &next_mremap = dlsym (RTLD_NEXT, "mremap");
}

static void
report (const char *operation,
        const void *pointer,
        size_t      size)
{
  for (size_t i = 0; i < sizeof reports / sizeof *reports; i++)
    {
      Report function = __atomic_load_n (&reports[i], __ATOMIC_ACQUIRE);

      if (function != NULL)
        function (operation, pointer, size);
    }
}

__attribute__ ((visibility ("default"))) int
munmap (void  *pointer,
        size_t size)
{
  report ("munmap", pointer, size);
  return next_munmap != NULL ? next_munmap (pointer, size) : (int) syscall (SYS_munmap, pointer, size);
}

__attribute__ ((visibility ("default"))) void *
mremap (void  *pointer,
        size_t size,
        size_t new_size,
        int    flags,
        ...)
{
  void *target = NULL;
  va_list arguments;

  va_start (arguments, flags);
  if ((flags & MREMAP_FIXED) != 0)
    target = va_arg (arguments, void *);
  va_end (arguments);

  report ("mremap", pointer, size);
  return next_mremap != NULL ? next_mremap (pointer, size, new_size, flags, target)
                             : (void *) syscall (SYS_mremap, pointer, size, new_size, flags, target);
}

__attribute__ ((visibility ("default"))) void *
mmap (void  *pointer,
      size_t size,
      int    protection,
      int    flags,
      int    fd,
      off_t  offset)
{
  if ((flags & MAP_FIXED) != 0)
    report ("mmap", pointer, size);
  return next_mmap != NULL ? next_mmap (pointer, size, protection, flags, fd, offset)
                           : (void *) syscall (SYS_mmap, pointer, size, protection, flags, fd, offset);
}

__attribute__ ((visibility ("default"))) void *
mmap64 (void  *pointer,
        size_t size,
        int    protection,
        int    flags,
        int    fd,
        off_t  offset)
{
  return mmap (pointer, size, protection, flags, fd, offset);
}
