/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "fake-private.h"

/* Versions, names of errors, the last error, devices and their attributes. */

static const struct
{
  int         error;
  const char *name;
  const char *text;
} errors[] = {
  { CUDA_SUCCESS, "cudaSuccess", "no error" },
  { CUDA_INVALID_VALUE, "cudaErrorInvalidValue", "invalid argument" },
  { CUDA_MEMORY_ALLOCATION, "cudaErrorMemoryAllocation", "out of memory" },
  { CUDA_INITIALIZATION_ERROR, "cudaErrorInitializationError", "initialization error" },
  { CUDA_UNLOADING, "cudaErrorCudartUnloading", "driver shutting down" },
  { CUDA_STUB_LIBRARY, "cudaErrorStubLibrary", "the stub library was loaded" },
  { CUDA_INSUFFICIENT_DRIVER, "cudaErrorInsufficientDriver", "the driver is older than the runtime" },
  { CUDA_NO_DEVICE, "cudaErrorNoDevice", "no device" },
  { CUDA_INVALID_DEVICE, "cudaErrorInvalidDevice", "invalid device ordinal" },
  { CUDA_INVALID_RESOURCE_HANDLE, "cudaErrorInvalidResourceHandle", "invalid resource handle" },
  { CUDA_NOT_READY, "cudaErrorNotReady", "not ready" },
  { CUDA_ILLEGAL_ADDRESS, "cudaErrorIllegalAddress", "an illegal address was accessed" },
  { CUDA_ALREADY_REGISTERED, "cudaErrorHostMemoryAlreadyRegistered", "the memory is registered already" },
  { CUDA_NOT_REGISTERED, "cudaErrorHostMemoryNotRegistered", "the memory is not registered" },
  { CUDA_NOT_PERMITTED, "cudaErrorNotPermitted", "not permitted" },
  { CUDA_NOT_SUPPORTED, "cudaErrorNotSupported", "not supported" },
  { CUDA_CAPTURE_UNSUPPORTED, "cudaErrorStreamCaptureUnsupported", "not permitted while a stream is captured" },
};

int
cudaRuntimeGetVersion (int *version)
{
  FakeCall call = { .function = __func__, .quiet = true };

  if (fake_begin (&call))
    *version = fake_runtime_version ();
  return fake_end (&call);
}

int
cudaDriverGetVersion (int *version)
{
  FakeCall call = { .function = __func__, .quiet = true };

  if (fake_begin (&call))
    *version = fake.driver;
  return fake_end (&call);
}

const char *
cudaGetErrorName (int error)
{
  for (size_t i = 0; i < sizeof errors / sizeof *errors; i++)
    if (errors[i].error == error)
      return errors[i].name;

  return "cudaErrorUnknown";
}

const char *
cudaGetErrorString (int error)
{
  for (size_t i = 0; i < sizeof errors / sizeof *errors; i++)
    if (errors[i].error == error)
      return errors[i].text;

  return "unknown error";
}

static int
last_error (const char *function,
            bool        clear)
{
  FakeCall call = { .function = function, .keeps_error = true };

  if (fake_begin (&call))
    {
      call.result = fake.lost != CUDA_SUCCESS ? fake.lost : call.thread->last_error;
      if (clear)
        call.thread->last_error = CUDA_SUCCESS;
    }
  return fake_end (&call);
}

int
cudaGetLastError (void)
{
  return last_error (__func__, true);
}

int
cudaPeekAtLastError (void)
{
  return last_error (__func__, false);
}

int
cudaGetDeviceCount (int *count)
{
  FakeCall call = { .function = __func__ };

  if (fake_begin (&call))
    *count = fake.devices;
  return fake_end (&call);
}

int
cudaGetDevice (int *device)
{
  FakeCall call = { .function = __func__ };

  if (fake_begin (&call))
    *device = call.thread->device;
  return fake_end (&call);
}

static int
use_device (const char *function,
            int         device,
            bool        set)
{
  FakeCall call = { .function = function, .flags = (unsigned) device };

  if (fake_begin (&call))
    {
      if (device < 0 || device >= fake.devices)
        call.result = CUDA_INVALID_DEVICE;
      else if (set)
        call.thread->device = device;
    }
  return fake_end (&call);
}

int
cudaSetDevice (int device)
{
  return use_device (__func__, device, true);
}

int
cudaDeviceGetAttribute (int *value,
                        int  attribute,
                        int  device)
{
  FakeCall call = { .function = __func__, .flags = (unsigned) attribute };

  if (fake_begin (&call))
    {
      if (device < 0 || device >= fake.devices)
        call.result = CUDA_INVALID_DEVICE;
      else if (attribute < 0 || attribute > 255)
        call.result = CUDA_INVALID_VALUE;
      else
        *value = fake.attributes[device][attribute];
    }
  return fake_end (&call);
}

int
cudaThreadExchangeStreamCaptureMode (int *mode)
{
  FakeCall call = { .function = __func__, .flags = (unsigned) *mode };

  if (fake_begin (&call))
    {
      int before = call.thread->capture_mode;

      call.thread->capture_mode = *mode;
      *mode = before;
    }
  return fake_end (&call);
}

#if FAKE_VERSION >= 12000
int
cudaInitDevice (int      device,
                unsigned device_flags,
                unsigned flags)
{
  return use_device (__func__, device, false);
}
#endif
