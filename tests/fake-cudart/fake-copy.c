/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "fake-private.h"

#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Copies, and kernels of somebody else's. What is pinned is read when the copy runs, and its hash must still be that of
 * the enqueueing; what isn't is staged at once. The copying is done by system calls, for which a page that has vanished
 * is an error and not the end. */

static int
enqueue_from_host (FakeOp     *op,
                   const void *source,
                   size_t      size)
{
  FakeMemory *memory = fake_memory_covering (source, size);

  if (memory != NULL)
    {
      op->source = source;
      op->hash = fake_hash (source, size);
      return CUDA_SUCCESS;
    }
  if (fake_memory_touching (source, size) != NULL)
    return CUDA_INVALID_VALUE;

  op->staged = malloc (size);
  memcpy (op->staged, source, size);
  return CUDA_SUCCESS;
}

static bool
is_device (const void *pointer)
{
  FakeMemory *memory = fake_memory_covering (pointer, 1);

  return memory != NULL && memory->kind == FAKE_MEMORY_DEVICE;
}

static int
check_ranges (FakeOp     *op,
              const void *source,
              size_t      size,
              int         direction)
{
  bool from_device = direction == CUDA_DEVICE_TO_HOST || direction == CUDA_DEVICE_TO_DEVICE;
  bool to_device = direction == CUDA_HOST_TO_DEVICE || direction == CUDA_DEVICE_TO_DEVICE;
  FakeMemory *memory;

  if (to_device)
    {
      memory = fake_memory_device (op->destination, size, "destination of a copy");
      if (memory == NULL || memory->freeing)
        return CUDA_INVALID_VALUE;
    }

  if (!from_device)
    return is_device (source) ? CUDA_INVALID_VALUE : enqueue_from_host (op, source, size);

  memory = fake_memory_device (source, size, "source of a copy");
  op->source = source;
  return memory == NULL || memory->freeing ? CUDA_INVALID_VALUE : CUDA_SUCCESS;
}

static int
infer_direction (const void *destination,
                 const void *source,
                 int         direction)
{
  if (direction != CUDA_COPY_DEFAULT)
    return direction;
  if (!is_device (destination))
    return CUDA_DEVICE_TO_HOST;
  return is_device (source) ? CUDA_DEVICE_TO_DEVICE : CUDA_HOST_TO_DEVICE;
}

static void
enqueue (FakeCall   *call,
         bool        synchronous)
{
  FakeStream *stream = fake_stream_find (call->stream, &call->result);
  int direction = infer_direction (call->other, call->ptr, (int) call->flags);
  FakeOp *op;

  if (stream == NULL || call->len == 0)
    return;

  op = calloc (1, sizeof *op);
  op->kind = FAKE_OP_COPY;
  op->ungated = synchronous;
  op->destination = (void *) (uintptr_t) call->other;
  op->size = call->len;
  call->result = check_ranges (op, call->ptr, call->len, direction);
  if (call->result != CUDA_SUCCESS)
    {
      free (op);
      return;
    }

  fake_stream_push (stream, op);
  /* To pageable memory nothing is asynchronous. */
  if (synchronous || (direction == CUDA_DEVICE_TO_HOST && fake_memory_covering (call->other, call->len) == NULL))
    fake_stream_wait ((FakePoint) { stream, stream->enqueued });
}

int
cudaMemcpy (void       *destination,
            const void *source,
            size_t      size,
            int         direction)
{
  FakeCall call = { .function = __func__, .ptr = source, .other = destination, .len = size,
                    .flags = (unsigned) direction };

  if (fake_begin (&call))
    enqueue (&call, true);
  return fake_end (&call);
}

int
cudaMemcpyAsync (void       *destination,
                 const void *source,
                 size_t      size,
                 int         direction,
                 CudaStream  stream)
{
  FakeCall call = { .function = __func__, .stream = stream, .ptr = source, .other = destination, .len = size,
                    .flags = (unsigned) direction };

  if (fake_begin (&call))
    enqueue (&call, false);
  return fake_end (&call);
}

int
arena_fake_launch (CudaStream  handle,
                   const void *pointer,
                   uint64_t    size)
{
  FakeCall call = { .function = "launch", .stream = handle, .ptr = pointer, .len = size };

  if (fake_begin (&call))
    {
      FakeStream *stream = fake_stream_find (handle, &call.result);

      if (stream != NULL)
        {
          FakeOp *op = calloc (1, sizeof *op);

          op->kind = FAKE_OP_KERNEL;
          op->source = pointer;
          op->size = size;
          fake_stream_push (stream, op);
        }
    }
  return fake_end (&call);
}

/* All of it, or false. */
static bool
transfer (long        number,
          int         fd,
          uint8_t    *data,
          size_t      size,
          off_t       offset)
{
  while (size > 0)
    {
      long n = syscall (number, fd, data, size, offset);

      if (n <= 0)
        return false;
      data += n;
      offset += n;
      size -= (size_t) n;
    }

  return true;
}

static void
copy_to_device (FakeOp     *op,
                FakeMemory *memory)
{
  off_t offset = (uint8_t *) op->destination - memory->base;
  const void *source = op->staged != NULL ? op->staged : op->source;
  bool there = op->staged != NULL || fake_memory_covering (source, op->size) != NULL;

  if (!there || !transfer (SYS_pwrite64, memory->fd, (uint8_t *) (uintptr_t) source, op->size, offset))
    fake_violation ("copy: its source %p of %zu bytes is gone", op->source, op->size);
  else if (op->staged == NULL && fake_hash (memory->alias + offset, op->size) != op->hash)
    fake_violation ("copy: its source %p of %zu bytes changed in flight", op->source, op->size);
}

static void
copy_to_host (FakeOp     *op,
              FakeMemory *memory)
{
  uint8_t *middle = memory->alias + ((const uint8_t *) op->source - memory->base) + op->size / 2;
  uint8_t damage = fake.damage > 0 && --fake.damage == 0;

  *middle ^= damage;
  if (!transfer (SYS_pread64, memory->fd, op->destination, op->size, (const uint8_t *) op->source - memory->base))
    fake_violation ("copy: its destination %p of %zu bytes is gone", op->destination, op->size);
  *middle ^= damage;
}

static void
run_copy (FakeOp *op)
{
  bool from_device = op->staged == NULL && is_device (op->source);
  FakeMemory *source = from_device ? fake_memory_device (op->source, op->size, "running copy from") : NULL;
  FakeMemory *destination;

  if (from_device && !is_device (op->destination))
    {
      if (source != NULL)
        copy_to_host (op, source);
      return;
    }

  destination = fake_memory_device (op->destination, op->size, "running copy to");
  if (destination == NULL || (from_device && source == NULL))
    return;

  if (from_device)
    memcpy (destination->alias + ((uint8_t *) op->destination - destination->base),
            source->alias + ((const uint8_t *) op->source - source->base), op->size);
  else
    copy_to_device (op, destination);
}

static void
run_host_function (FakeOp *op)
{
  FakeThread *thread = fake_thread ();

  thread->in_host_function = true;
  pthread_mutex_unlock (&fake.lock);
  op->function (op->data);
  pthread_mutex_lock (&fake.lock);
  thread->in_host_function = false;
}

void
fake_run_op (FakeOp *op)
{
  switch (op->kind)
    {
    case FAKE_OP_COPY:
      run_copy (op);
      break;
    case FAKE_OP_KERNEL:
      fake_memory_device (op->source, op->size, "running kernel");
      break;
    case FAKE_OP_FREE:
      if (fake_user_of (op->memory->base, op->memory->size) != NULL)
        fake_violation ("cudaFreeAsync: %p of %zu bytes is used by an operation", (void *) op->memory->base,
                        op->memory->size);
      fake_release_device (op->memory);
      break;
    case FAKE_OP_HOST_FUNCTION:
      run_host_function (op);
      break;
    case FAKE_OP_WAIT:
      break;
    }
}
