/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "fake-private.h"

#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* Page-locked host memory: registered or allocated. Allocated memory that was freed stays reserved and can't be
 * accessed. The double maps by bare system calls, which the guard doesn't see. */

#define LARGEST_REGISTRATION (UINT64_C (512) << 30)
#define LARGEST_POISON       ((size_t) 1 << 20) /* tests may ask for more memory than there is */

void *
fake_map (int    fd,
          void  *at,
          size_t size,
          int    protection)
{
  int flags = (fd >= 0 ? MAP_SHARED : MAP_PRIVATE | MAP_ANONYMOUS) | MAP_NORESERVE | (at != NULL ? MAP_FIXED : 0);
  off_t offset = 0; /* as wide as the call reads it */

  return (void *) syscall (SYS_mmap, at, size, protection, flags, fd, offset);
}

static bool
is_over_limit (size_t size)
{
  uint64_t count;

  return fake.pin_limit != 0 && fake_memory_total (FAKE_MEMORY_REGISTERED, &count) +
                                fake_memory_total (FAKE_MEMORY_HOST, &count) + size > fake.pin_limit;
}

static int
register_range (FakeCall *call,
                uint8_t  *base,
                size_t    size,
                unsigned  flags)
{
  FakeMemory *memory;
  char file[sizeof memory->file];
  bool writable;

  if (size == 0 || base == NULL || !fake_find_file (base, file, sizeof file, &writable))
    return CUDA_INVALID_VALUE;
  if (fake_memory_touching (base, size) != NULL)
    return CUDA_ALREADY_REGISTERED;
  if ((flags & CUDA_HOST_READ_ONLY) != 0 &&
      fake.attributes[call->thread->device][CUDA_ATTRIBUTE_READ_ONLY_REGISTER] == 0)
    return CUDA_NOT_SUPPORTED;
  if (!writable && (flags & CUDA_HOST_READ_ONLY) == 0)
    return CUDA_INVALID_VALUE;
  if (size >= LARGEST_REGISTRATION || is_over_limit (size))
    return CUDA_MEMORY_ALLOCATION;

  memory = fake_memory_add (FAKE_MEMORY_REGISTERED, base, size);
  memory->device = call->thread->device;
  memory->flags = flags;
  memcpy (memory->file, file, sizeof file);
  return CUDA_SUCCESS;
}

int
cudaHostRegister (void    *pointer,
                  size_t   size,
                  unsigned flags)
{
  FakeCall call = { .function = __func__, .unsafe = true, .ptr = pointer, .len = size, .flags = flags };

  if (fake_begin (&call))
    call.result = register_range (&call, pointer, size, flags);
  return fake_end (&call);
}

static int
unregister_range (void *pointer)
{
  FakeMemory *memory = fake_memory_covering (pointer, 1);

  fake_audit ();
  if (memory == NULL)
    return CUDA_NOT_REGISTERED;
  if (memory->kind != FAKE_MEMORY_REGISTERED || pointer != memory->base)
    return CUDA_INVALID_VALUE;

  if (fake_user_of (memory->base, memory->size) != NULL)
    fake_violation ("cudaHostUnregister: %p of %zu bytes is used by a copy", pointer, memory->size);
  fake_memory_end (memory);
  return CUDA_SUCCESS;
}

int
cudaHostUnregister (void *pointer)
{
  FakeCall call = { .function = __func__, .unsafe = true, .ptr = pointer };

  if (fake_begin (&call))
    call.result = unregister_range (pointer);
  return fake_end (&call);
}

static int
allocate (FakeCall *call,
          void    **pointer,
          size_t    size,
          unsigned  flags)
{
  size_t page = (size_t) sysconf (_SC_PAGESIZE);
  size_t length = (size + page - 1) & ~(page - 1);
  FakeMemory *memory;
  void *base;

  *pointer = NULL;
  if (size == 0)
    return CUDA_SUCCESS;
  if (length < size || is_over_limit (length))
    return CUDA_MEMORY_ALLOCATION;

  base = fake_map (-1, NULL, length, PROT_READ | PROT_WRITE);
  if (base == MAP_FAILED)
    return CUDA_MEMORY_ALLOCATION;

  memset (base, FAKE_POISON_NEW, length < LARGEST_POISON ? length : LARGEST_POISON);
  memory = fake_memory_add (FAKE_MEMORY_HOST, base, length);
  memory->device = call->thread->device;
  memory->flags = flags;
  *pointer = base;
  call->ptr = base;
  return CUDA_SUCCESS;
}

int
cudaHostAlloc (void   **pointer,
               size_t   size,
               unsigned flags)
{
  FakeCall call = { .function = __func__, .unsafe = true, .len = size, .flags = flags };

  if (fake_begin (&call))
    call.result = allocate (&call, pointer, size, flags);
  return fake_end (&call);
}

static int
free_host (void *pointer)
{
  FakeMemory *memory = fake_memory_covering (pointer, 1);

  if (pointer == NULL)
    return CUDA_SUCCESS;
  if (memory == NULL || memory->kind != FAKE_MEMORY_HOST || memory->base != pointer)
    return CUDA_INVALID_VALUE;

  if (fake_user_of (memory->base, memory->size) != NULL)
    fake_violation ("cudaFreeHost: %p of %zu bytes is used by a copy", pointer, memory->size);
  fake_map (-1, memory->base, memory->size, PROT_NONE);
  fake_memory_end (memory);
  return CUDA_SUCCESS;
}

int
cudaFreeHost (void *pointer)
{
  FakeCall call = { .function = __func__, .unsafe = true, .ptr = pointer };

  if (fake_begin (&call))
    call.result = free_host (pointer);
  return fake_end (&call);
}

int
cudaPointerGetAttributes (CudaPointerAttributes *attributes,
                          const void            *pointer)
{
  FakeCall call = { .function = __func__, .ptr = pointer };

  if (fake_begin (&call))
    {
      FakeMemory *memory = fake_memory_covering (pointer, 1);
      bool device = memory != NULL && memory->kind == FAKE_MEMORY_DEVICE;

      memset (attributes, 0, offsetof (CudaPointerAttributes, reserved) +
                             (FAKE_VERSION >= 13000 ? sizeof attributes->reserved : 0));
      attributes->device = memory != NULL ? memory->device : -2;
      attributes->device_pointer = memory != NULL ? (void *) (uintptr_t) pointer : NULL;
      attributes->host_pointer = memory != NULL && !device ? (void *) (uintptr_t) pointer : NULL;
      attributes->type = memory == NULL ? CUDA_MEMORY_UNREGISTERED : device ? CUDA_MEMORY_DEVICE : CUDA_MEMORY_HOST;
    }
  return fake_end (&call);
}

void
arena_fake_vm_event (const char *operation,
                     const void *pointer,
                     uint64_t    size)
{
  pid_t pid = __atomic_load_n (&fake.pid, __ATOMIC_RELAXED);
  struct timespec deadline;
  FakeMemory *memory;

  /* A child's mappings are its own. */
  if (pid != getpid ())
    return;

  /* A sanitizer unmaps memory of its own while it holds up every thread that creates another. */
  clock_gettime (CLOCK_REALTIME, &deadline);
  deadline.tv_sec++;
  if (pthread_mutex_timedlock (&fake.lock, &deadline) != 0)
    return;
  memory = fake_memory_touching (pointer, size);
  if (memory != NULL && memory->kind != FAKE_MEMORY_DEVICE)
    fake_violation ("%s: %p of %lu bytes is page-locked", operation, pointer, (unsigned long) size);
  if (fake_user_of (pointer, size) != NULL)
    fake_violation ("%s: %p of %lu bytes is used by a copy", operation, pointer, (unsigned long) size);
  if (memory != NULL || fake_memory_was_pinned (pointer, size))
    fake_log_vm_event (operation, pointer, size);
  pthread_mutex_unlock (&fake.lock);
}
