/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "fake-private.h"

#include <signal.h>
#include <stdlib.h>
#include <time.h>

/* A stream is a queue of operations and a thread that carries them out, one after the other. A position is a number of
 * completed operations, so it is all an event needs to remember. Streams are never freed: an old handle is known. */

bool
fake_point_reached (FakePoint point)
{
  return point.stream == NULL || point.stream->completed >= point.position;
}

void
fake_stream_wait (FakePoint point)
{
  fake.waiting++;
  while (!fake_point_reached (point))
    pthread_cond_wait (&fake.changed, &fake.lock);
  fake.waiting--;
}

static bool
take_permit (int *permits)
{
  if (*permits == 0)
    return false;

  if (*permits > 0)
    --*permits;
  return true;
}

static void
sleep_unlocked (int milliseconds)
{
  struct timespec time = { milliseconds / 1000, milliseconds % 1000 * 1000000L };

  pthread_mutex_unlock (&fake.lock);
  nanosleep (&time, NULL);
  pthread_mutex_lock (&fake.lock);
}

static void
wait_for_turn (FakeStream *stream,
               FakeOp     *op)
{
  for (size_t i = 0; i < op->n_points; i++)
    fake_stream_wait (op->points[i]);

  if (op->ungated || (op->kind != FAKE_OP_COPY && op->kind != FAKE_OP_KERNEL))
    return;

  if (fake.mode == ARENA_FAKE_DELAY)
    sleep_unlocked (fake.milliseconds);
  while (fake.mode == ARENA_FAKE_GATED && !take_permit (&stream->permits) && !take_permit (&fake.permits))
    pthread_cond_wait (&fake.changed, &fake.lock);
}

static void
finish_op (FakeStream *stream)
{
  FakeOp *op = stream->first;

  stream->first = op->next;
  if (stream->first == NULL)
    stream->last = NULL;
  stream->completed++;
  free (op->staged);
  free (op->points);
  free (op);
  pthread_cond_broadcast (&fake.changed);
}

static void *
work (void *data)
{
  FakeStream *stream = data;

  pthread_mutex_lock (&fake.lock);
  while (stream->first != NULL || !stream->destroyed)
    if (stream->first == NULL)
      pthread_cond_wait (&fake.changed, &fake.lock);
    else
      {
        wait_for_turn (stream, stream->first);
        fake_run_op (stream->first);
        finish_op (stream);
      }
  pthread_mutex_unlock (&fake.lock);
  return NULL;
}

static FakeStream *
create_stream (int  device,
               bool blocking)
{
  FakeStream *stream = calloc (1, sizeof *stream);
  pthread_attr_t attributes;
  sigset_t all, before;
  pthread_t thread;

  stream->device = device;
  stream->blocking = blocking;
  stream->next = fake.streams;
  fake.streams = stream;

  pthread_attr_init (&attributes);
  pthread_attr_setdetachstate (&attributes, PTHREAD_CREATE_DETACHED);
  sigfillset (&all);
  pthread_sigmask (SIG_SETMASK, &all, &before);
  if (pthread_create (&thread, &attributes, work, stream) != 0)
    abort ();
  pthread_sigmask (SIG_SETMASK, &before, NULL);
  pthread_attr_destroy (&attributes);
  return stream;
}

static FakeStream *
find_implicit (FakeStream **place,
               bool         legacy)
{
  if (*place == NULL)
    {
      *place = create_stream (fake_thread ()->device, true);
      (*place)->implicit = true;
      (*place)->legacy = legacy;
    }

  return *place;
}

FakeStream *
fake_stream_find (CudaStream handle,
                  int       *result)
{
  FakeThread *thread = fake_thread ();

  if (handle == NULL || handle == CUDA_STREAM_LEGACY)
    return find_implicit (&fake.legacy[thread->device], true);
  if (handle == CUDA_STREAM_PER_THREAD)
    return find_implicit (&thread->stream[thread->device], false);

  for (FakeStream *stream = fake.streams; stream != NULL; stream = stream->next)
    if (stream == handle && !stream->destroyed)
      return stream;

  fake_violation ("stream %p is not one, or not any more", handle);
  *result = CUDA_INVALID_RESOURCE_HANDLE;
  return NULL;
}

static void
add_point (FakeOp     *op,
           FakeStream *stream)
{
  if (stream == NULL || stream->completed == stream->enqueued)
    return;

  op->points = realloc (op->points, (op->n_points + 1) * sizeof *op->points);
  op->points[op->n_points++] = (FakePoint) { stream, stream->enqueued };
}

void
fake_stream_push (FakeStream *stream,
                  FakeOp     *op)
{
  if (stream->legacy)
    {
      for (FakeStream *other = fake.streams; other != NULL; other = other->next)
        if (other != stream && other->blocking && other->device == stream->device)
          add_point (op, other);
    }
  else if (stream->blocking)
    add_point (op, fake.legacy[stream->device]);

  if (stream->last != NULL)
    stream->last->next = op;
  else
    stream->first = op;
  stream->last = op;
  stream->enqueued++;
  pthread_cond_broadcast (&fake.changed);
}

int
fake_take_async_error (FakeStream *stream)
{
  int *place = stream != NULL && stream->async_error != CUDA_SUCCESS ? &stream->async_error : &fake.async_error;
  int error = *place;

  *place = CUDA_SUCCESS;
  return error;
}

static bool
uses (const void *start,
      size_t      length,
      const void *pointer,
      size_t      size)
{
  return start != NULL && (uintptr_t) start < (uintptr_t) pointer + size &&
         (uintptr_t) pointer < (uintptr_t) start + length;
}

FakeOp *
fake_user_of (const void *pointer,
              size_t      size)
{
  for (FakeStream *stream = fake.streams; stream != NULL; stream = stream->next)
    for (FakeOp *op = stream->first; op != NULL; op = op->next)
      if (uses (op->source, op->size, pointer, size) || uses (op->destination, op->size, pointer, size))
        return op;

  return NULL;
}

void
fake_drain_all (void)
{
  for (FakeStream *stream = fake.streams; stream != NULL; stream = stream->next)
    fake_stream_wait ((FakePoint) { stream, stream->enqueued });
}

int
cudaStreamCreateWithFlags (CudaStream *stream,
                           unsigned    flags)
{
  FakeCall call = { .function = __func__, .flags = flags };

  if (fake_begin (&call))
    {
      *stream = create_stream (call.thread->device, (flags & CUDA_STREAM_NON_BLOCKING) == 0);
      call.stream = *stream;
    }
  return fake_end (&call);
}

int
cudaStreamDestroy (CudaStream handle)
{
  FakeCall call = { .function = __func__, .stream = handle };

  if (fake_begin (&call))
    {
      FakeStream *stream = fake_stream_find (handle, &call.result);

      if (stream != NULL && stream->implicit)
        call.result = CUDA_INVALID_RESOURCE_HANDLE;
      else if (stream != NULL)
        {
          if (stream->first != NULL)
            fake_violation ("cudaStreamDestroy: stream %p has work", handle);
          stream->destroyed = true;
          pthread_cond_broadcast (&fake.changed);
        }
    }
  return fake_end (&call);
}
