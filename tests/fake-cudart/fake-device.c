/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "fake-private.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Device memory is a memory file that is mapped twice: the pointer handed out can't be accessed, and copies go through
 * the alias. Freed memory stays reserved, so that no later allocation takes its address. */

static int
allocate (FakeCall *call,
          void    **pointer,
          size_t    size,
          int       device)
{
  int fd = memfd_create ("fake-device", MFD_CLOEXEC);
  void *base = MAP_FAILED, *alias = MAP_FAILED;
  FakeMemory *memory;

  *pointer = NULL;
  if (fd >= 0 && ftruncate (fd, (off_t) size) == 0)
    base = fake_map (fd, NULL, size, PROT_NONE);
  if (base != MAP_FAILED)
    alias = fake_map (fd, NULL, size, PROT_READ | PROT_WRITE);
  if (alias == MAP_FAILED)
    {
      if (base != MAP_FAILED)
        syscall (SYS_munmap, base, size);
      if (fd >= 0)
        close (fd);
      return CUDA_MEMORY_ALLOCATION;
    }

  memset (alias, FAKE_POISON_NEW, size);
  memory = fake_memory_add (FAKE_MEMORY_DEVICE, base, size);
  memory->device = device;
  memory->fd = fd;
  memory->alias = alias;
  *pointer = base;
  call->ptr = base;
  return CUDA_SUCCESS;
}

void
fake_release_device (FakeMemory *memory)
{
  memset (memory->alias, FAKE_POISON_OLD, memory->size);
  syscall (SYS_munmap, memory->alias, memory->size);
  fake_map (-1, memory->base, memory->size, PROT_NONE);
  close (memory->fd);
  memory->fd = -1;
  fake_memory_end (memory);
}

static FakeMemory *
find_allocation (void *pointer)
{
  FakeMemory *memory = fake_memory_covering (pointer, 1);

  if (memory == NULL || memory->kind != FAKE_MEMORY_DEVICE || memory->base != pointer || memory->freeing)
    return NULL;

  return memory;
}

int
cudaMalloc (void **pointer,
            size_t size)
{
  FakeCall call = { .function = __func__, .unsafe = true, .len = size };

  if (fake_begin (&call) && size > 0)
    call.result = allocate (&call, pointer, size, call.thread->device);
  return fake_end (&call);
}

int
cudaFree (void *pointer)
{
  FakeCall call = { .function = __func__, .unsafe = true, .ptr = pointer };

  if (fake_begin (&call) && pointer != NULL)
    {
      FakeMemory *memory = find_allocation (pointer);

      if (memory == NULL)
        call.result = CUDA_INVALID_VALUE;
      else
        {
          if (fake_user_of (memory->base, memory->size) != NULL)
            fake_violation ("cudaFree: %p of %zu bytes is used by an operation", pointer, memory->size);
          fake_release_device (memory);
        }
    }
  return fake_end (&call);
}

#if FAKE_VERSION >= 11020
int
cudaMallocAsync (void     **pointer,
                 size_t     size,
                 CudaStream handle)
{
  FakeCall call = { .function = __func__, .stream = handle, .len = size };

  if (fake_begin (&call))
    {
      FakeStream *stream = fake_stream_find (handle, &call.result);

      if (stream != NULL && fake.attributes[stream->device][CUDA_ATTRIBUTE_MEMORY_POOLS] == 0)
        call.result = CUDA_NOT_SUPPORTED;
      else if (stream != NULL && size > 0)
        call.result = allocate (&call, pointer, size, stream->device);
    }
  return fake_end (&call);
}

int
cudaFreeAsync (void      *pointer,
               CudaStream handle)
{
  FakeCall call = { .function = __func__, .stream = handle, .ptr = pointer };

  if (fake_begin (&call))
    {
      FakeStream *stream = fake_stream_find (handle, &call.result);
      FakeMemory *memory = find_allocation (pointer);

      if (stream != NULL && memory == NULL)
        call.result = CUDA_INVALID_VALUE;
      else if (stream != NULL)
        {
          FakeOp *op = calloc (1, sizeof *op);

          op->kind = FAKE_OP_FREE;
          op->memory = memory;
          memory->freeing = true;
          fake_stream_push (stream, op);
        }
    }
  return fake_end (&call);
}
#endif
