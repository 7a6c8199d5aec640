/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stddef.h>

/* The part of the CUDA runtime's interface that the double has, in our own words: no toolkit is needed. Handles are
 * opaque, enums are ints, and the numbers are those of CUDA 11 to 13. */

typedef void *CudaStream;
typedef void *CudaEvent;
typedef void (*CudaHostFunction) (void *data);

typedef struct
{
  int   type;
  int   device;
  void *device_pointer;
  void *host_pointer;
  long  reserved[8]; /* since 13 */
} CudaPointerAttributes;

enum
{
  CUDA_SUCCESS = 0,
  CUDA_INVALID_VALUE = 1,
  CUDA_MEMORY_ALLOCATION = 2,
  CUDA_INITIALIZATION_ERROR = 3,
  CUDA_UNLOADING = 4,
  CUDA_STUB_LIBRARY = 34,
  CUDA_INSUFFICIENT_DRIVER = 35,
  CUDA_NO_DEVICE = 100,
  CUDA_INVALID_DEVICE = 101,
  CUDA_INVALID_RESOURCE_HANDLE = 400,
  CUDA_NOT_READY = 600,
  CUDA_ILLEGAL_ADDRESS = 700,
  CUDA_ALREADY_REGISTERED = 712,
  CUDA_NOT_REGISTERED = 713,
  CUDA_NOT_PERMITTED = 800,
  CUDA_NOT_SUPPORTED = 801,
  CUDA_CAPTURE_UNSUPPORTED = 900,
};

enum
{
  CUDA_HOST_TO_DEVICE = 1,
  CUDA_DEVICE_TO_HOST = 2,
  CUDA_DEVICE_TO_DEVICE = 3,
  CUDA_COPY_DEFAULT = 4,
};

enum
{
  CUDA_MEMORY_UNREGISTERED = 0,
  CUDA_MEMORY_HOST = 1,
  CUDA_MEMORY_DEVICE = 2,
};

enum
{
  CUDA_ATTRIBUTE_HOST_REGISTER = 99,
  CUDA_ATTRIBUTE_HOST_PAGE_TABLES = 100,
  CUDA_ATTRIBUTE_READ_ONLY_REGISTER = 113,
  CUDA_ATTRIBUTE_MEMORY_POOLS = 115,
};

enum
{
  CUDA_HOST_PORTABLE = 1,
  CUDA_HOST_READ_ONLY = 8,
  CUDA_STREAM_NON_BLOCKING = 1,
  CUDA_CAPTURE_GLOBAL = 0,
  CUDA_CAPTURE_RELAXED = 2,
};

#define CUDA_STREAM_LEGACY     ((CudaStream) 1)
#define CUDA_STREAM_PER_THREAD ((CudaStream) 2)

int         cudaRuntimeGetVersion               (int *version);
int         cudaDriverGetVersion                (int *version);
const char *cudaGetErrorName                    (int error);
const char *cudaGetErrorString                  (int error);
int         cudaGetLastError                    (void);
int         cudaPeekAtLastError                 (void);

int         cudaGetDeviceCount                  (int *count);
int         cudaGetDevice                       (int *device);
int         cudaSetDevice                       (int device);
int         cudaInitDevice                      (int device, unsigned device_flags, unsigned flags);
int         cudaDeviceGetAttribute              (int *value, int attribute, int device);
int         cudaDeviceSynchronize               (void);
int         cudaThreadExchangeStreamCaptureMode (int *mode);

int         cudaHostRegister                    (void *pointer, size_t size, unsigned flags);
int         cudaHostUnregister                  (void *pointer);
int         cudaHostAlloc                       (void **pointer, size_t size, unsigned flags);
int         cudaFreeHost                        (void *pointer);
int         cudaPointerGetAttributes            (CudaPointerAttributes *attributes, const void *pointer);

int         cudaMalloc                          (void **pointer, size_t size);
int         cudaFree                            (void *pointer);
int         cudaMallocAsync                     (void **pointer, size_t size, CudaStream stream);
int         cudaFreeAsync                       (void *pointer, CudaStream stream);
int         cudaMemcpy                          (void *destination, const void *source, size_t size, int direction);
int         cudaMemcpyAsync                     (void *destination, const void *source, size_t size, int direction,
                                                 CudaStream stream);

int         cudaStreamCreateWithFlags           (CudaStream *stream, unsigned flags);
int         cudaStreamDestroy                   (CudaStream stream);
int         cudaStreamSynchronize               (CudaStream stream);
int         cudaStreamQuery                     (CudaStream stream);
int         cudaStreamWaitEvent                 (CudaStream stream, CudaEvent event, unsigned flags);
int         cudaLaunchHostFunc                  (CudaStream stream, CudaHostFunction function, void *data);

int         cudaEventCreateWithFlags            (CudaEvent *event, unsigned flags);
int         cudaEventDestroy                    (CudaEvent event);
int         cudaEventRecord                     (CudaEvent event, CudaStream stream);
int         cudaEventQuery                      (CudaEvent event);
int         cudaEventSynchronize                (CudaEvent event);
