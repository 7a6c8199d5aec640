/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "fake-private.h"

#include <stdlib.h>

/* An event is a point in a stream. One that was never recorded counts as reached. */

static FakeEvent *
find_event (CudaEvent handle,
            int      *result)
{
  for (FakeEvent *event = fake.events; event != NULL; event = event->next)
    if (event == handle && !event->destroyed)
      return event;

  fake_violation ("event %p is not one, or not any more", handle);
  *result = CUDA_INVALID_RESOURCE_HANDLE;
  return NULL;
}

int
cudaEventCreateWithFlags (CudaEvent *handle,
                          unsigned   flags)
{
  FakeCall call = { .function = __func__, .flags = flags };

  if (fake_begin (&call))
    {
      FakeEvent *event = calloc (1, sizeof *event);

      event->device = call.thread->device;
      event->next = fake.events;
      fake.events = event;
      *handle = event;
      call.other = event;
    }
  return fake_end (&call);
}

int
cudaEventDestroy (CudaEvent handle)
{
  FakeCall call = { .function = __func__, .other = handle };

  if (fake_begin (&call))
    {
      FakeEvent *event = find_event (handle, &call.result);

      if (event != NULL)
        event->destroyed = true;
    }
  return fake_end (&call);
}

static int
record (FakeEvent  *event,
        FakeStream *stream)
{
  if (event->device != stream->device)
    {
      fake_violation ("cudaEventRecord: an event of device %d in a stream of device %d", event->device,
                      stream->device);
      return CUDA_INVALID_RESOURCE_HANDLE;
    }

  event->recorded = true;
  event->point = (FakePoint) { stream, stream->enqueued };
  return CUDA_SUCCESS;
}

int
cudaEventRecord (CudaEvent  handle,
                 CudaStream stream_handle)
{
  FakeCall call = { .function = __func__, .stream = stream_handle, .other = handle };

  if (fake_begin (&call))
    {
      FakeEvent *event = find_event (handle, &call.result);
      FakeStream *stream = fake_stream_find (stream_handle, &call.result);

      if (event != NULL && stream != NULL)
        call.result = record (event, stream);
    }
  return fake_end (&call);
}

int
cudaEventQuery (CudaEvent handle)
{
  FakeCall call = { .function = __func__, .unsafe = true, .other = handle };

  if (fake_begin (&call))
    {
      FakeEvent *event = find_event (handle, &call.result);

      if (event != NULL)
        call.result = fake_take_async_error (event->point.stream);
      if (call.result == CUDA_SUCCESS && event != NULL && !fake_point_reached (event->point))
        call.result = CUDA_NOT_READY;
    }
  return fake_end (&call);
}

int
cudaEventSynchronize (CudaEvent handle)
{
  FakeCall call = { .function = __func__, .unsafe = true, .other = handle };

  if (fake_begin (&call))
    {
      FakeEvent *event = find_event (handle, &call.result);

      if (event != NULL)
        {
          fake_stream_wait (event->point);
          call.result = fake_take_async_error (event->point.stream);
        }
    }
  return fake_end (&call);
}

int
cudaStreamWaitEvent (CudaStream stream_handle,
                     CudaEvent  handle,
                     unsigned   flags)
{
  FakeCall call = { .function = __func__, .stream = stream_handle, .other = handle, .flags = flags };

  if (fake_begin (&call))
    {
      FakeEvent *event = find_event (handle, &call.result);
      FakeStream *stream = fake_stream_find (stream_handle, &call.result);

      if (event != NULL && stream != NULL)
        {
          FakeOp *op = calloc (1, sizeof *op);

          op->kind = FAKE_OP_WAIT;
          op->points = malloc (sizeof *op->points);
          op->points[op->n_points++] = event->point;
          fake_stream_push (stream, op);
        }
    }
  return fake_end (&call);
}
