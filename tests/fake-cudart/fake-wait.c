/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "fake-private.h"

#include <stdlib.h>

/* Waiting for streams and asking them. */

static void
wait_for_stream (FakeCall  *call,
                 CudaStream handle)
{
  FakeStream *stream = fake_stream_find (handle, &call->result);

  if (stream == NULL)
    return;

  fake_stream_wait ((FakePoint) { stream, stream->enqueued });
  call->result = fake_take_async_error (stream);
}

int
cudaStreamSynchronize (CudaStream handle)
{
  FakeCall call = { .function = __func__, .stream = handle };

  if (fake_begin (&call))
    wait_for_stream (&call, handle);
  return fake_end (&call);
}

int
cudaStreamQuery (CudaStream handle)
{
  FakeCall call = { .function = __func__, .stream = handle };

  if (fake_begin (&call))
    {
      FakeStream *stream = fake_stream_find (handle, &call.result);

      if (stream != NULL)
        call.result = fake_take_async_error (stream);
      if (call.result == CUDA_SUCCESS && stream != NULL && stream->first != NULL)
        call.result = CUDA_NOT_READY;
    }
  return fake_end (&call);
}

int
cudaDeviceSynchronize (void)
{
  FakeCall call = { .function = __func__ };

  if (fake_begin (&call))
    {
      for (FakeStream *stream = fake.streams; stream != NULL; stream = stream->next)
        if (stream->device == call.thread->device)
          {
            fake_stream_wait ((FakePoint) { stream, stream->enqueued });
            if (call.result == CUDA_SUCCESS)
              call.result = fake_take_async_error (stream);
          }
      fake_audit ();
    }
  return fake_end (&call);
}

int
cudaLaunchHostFunc (CudaStream       handle,
                    CudaHostFunction function,
                    void            *data)
{
  FakeCall call = { .function = __func__, .stream = handle };

  if (fake_begin (&call))
    {
      FakeStream *stream = fake_stream_find (handle, &call.result);

      if (stream != NULL)
        {
          FakeOp *op = calloc (1, sizeof *op);

          op->kind = FAKE_OP_HOST_FUNCTION;
          op->function = function;
          op->data = data;
          fake_stream_push (stream, op);
        }
    }
  return fake_end (&call);
}
