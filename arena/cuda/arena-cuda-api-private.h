/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* The part of the CUDA runtime's interface that is used here, in our own words, because the library is opened when it is
 * needed and no toolkit is there at build time. What is the same in versions 11 to 13 and nothing else: handles are
 * opaque and enumerations are ints. tests/cuda/abi.c compares it with the real headers where there are any. */

typedef gpointer ArenaCudaStream;
typedef gpointer ArenaCudaEvent;

/* With what version 13 added at the end; zero it before a call, which may leave it as it is. */
typedef struct
{
  int      type;
  int      device;
  gpointer device_pointer;
  gpointer host_pointer;
  long     reserved[8];
} ArenaCudaPointerAttributes;

enum
{
  ARENA_CUDA_STATUS_SUCCESS              = 0,
  ARENA_CUDA_STATUS_INVALID_VALUE        = 1,
  ARENA_CUDA_STATUS_MEMORY_ALLOCATION    = 2,
  ARENA_CUDA_STATUS_INITIALIZATION_ERROR = 3,
  ARENA_CUDA_STATUS_UNLOADING            = 4,
  ARENA_CUDA_STATUS_STUB_LIBRARY         = 34,
  ARENA_CUDA_STATUS_INSUFFICIENT_DRIVER  = 35,
  ARENA_CUDA_STATUS_DEVICES_UNAVAILABLE  = 46,
  ARENA_CUDA_STATUS_NO_DEVICE            = 100,
  ARENA_CUDA_STATUS_INVALID_DEVICE       = 101,
  ARENA_CUDA_STATUS_INVALID_CONTEXT      = 201,
  ARENA_CUDA_STATUS_NOT_READY            = 600,
  ARENA_CUDA_STATUS_CONTEXT_DESTROYED    = 709,
  ARENA_CUDA_STATUS_ALREADY_REGISTERED   = 712,
  ARENA_CUDA_STATUS_NOT_REGISTERED       = 713,
  ARENA_CUDA_STATUS_NOT_SUPPORTED        = 801,
};

enum
{
  ARENA_CUDA_MEMCPY_HOST_TO_DEVICE = 1,
  ARENA_CUDA_MEMCPY_DEVICE_TO_HOST = 2,
};

enum
{
  ARENA_CUDA_MEMORY_UNREGISTERED = 0,
  ARENA_CUDA_MEMORY_HOST         = 1,
  ARENA_CUDA_MEMORY_DEVICE       = 2,
};

enum
{
  ARENA_CUDA_ATTRIBUTE_HOST_REGISTER           = 99,
  ARENA_CUDA_ATTRIBUTE_HOST_PAGE_TABLES        = 100, /* then registering locks no page */
  ARENA_CUDA_ATTRIBUTE_READ_ONLY_HOST_REGISTER = 113,
  ARENA_CUDA_ATTRIBUTE_MEMORY_POOLS            = 115,
};

enum
{
  ARENA_CUDA_HOST_REGISTER_PORTABLE  = 1,
  ARENA_CUDA_HOST_REGISTER_READ_ONLY = 8,
  ARENA_CUDA_HOST_ALLOC_PORTABLE     = 1,
  ARENA_CUDA_STREAM_NON_BLOCKING     = 1,
  ARENA_CUDA_EVENT_BLOCKING_SYNC     = 1,
  ARENA_CUDA_EVENT_DISABLE_TIMING    = 2,
  ARENA_CUDA_CAPTURE_RELAXED         = 2,
};

/* X (function, result, parameters) */
#define ARENA_CUDA_MANDATORY(X) \
  X (cudaRuntimeGetVersion, int, (int *version)) \
  X (cudaDriverGetVersion, int, (int *version)) \
  X (cudaGetErrorName, const char *, (int status)) \
  X (cudaGetErrorString, const char *, (int status)) \
  X (cudaGetLastError, int, (void)) \
  X (cudaPeekAtLastError, int, (void)) \
  X (cudaGetDeviceCount, int, (int *count)) \
  X (cudaGetDevice, int, (int *device)) \
  X (cudaSetDevice, int, (int device)) \
  X (cudaDeviceGetAttribute, int, (int *value, int attribute, int device)) \
  X (cudaThreadExchangeStreamCaptureMode, int, (int *mode)) \
  X (cudaHostRegister, int, (gpointer pointer, gsize size, guint flags)) \
  X (cudaHostUnregister, int, (gpointer pointer)) \
  X (cudaHostAlloc, int, (gpointer *pointer, gsize size, guint flags)) \
  X (cudaFreeHost, int, (gpointer pointer)) \
  X (cudaPointerGetAttributes, int, (ArenaCudaPointerAttributes *attributes, gconstpointer pointer)) \
  X (cudaMalloc, int, (gpointer *pointer, gsize size)) \
  X (cudaFree, int, (gpointer pointer)) \
  X (cudaMemcpyAsync, int, (gpointer to, gconstpointer from, gsize size, int direction, ArenaCudaStream stream)) \
  X (cudaStreamCreateWithFlags, int, (ArenaCudaStream *stream, guint flags)) \
  X (cudaStreamSynchronize, int, (ArenaCudaStream stream)) \
  X (cudaStreamQuery, int, (ArenaCudaStream stream)) \
  X (cudaStreamWaitEvent, int, (ArenaCudaStream stream, ArenaCudaEvent event, guint flags)) \
  X (cudaEventCreateWithFlags, int, (ArenaCudaEvent *event, guint flags)) \
  X (cudaEventRecord, int, (ArenaCudaEvent event, ArenaCudaStream stream)) \
  X (cudaEventQuery, int, (ArenaCudaEvent event)) \
  X (cudaEventSynchronize, int, (ArenaCudaEvent event))

/* Since 11.2; NULL where the runtime has none. */
#define ARENA_CUDA_OPTIONAL(X) \
  X (cudaMallocAsync, int, (gpointer *pointer, gsize size, ArenaCudaStream stream)) \
  X (cudaFreeAsync, int, (gpointer pointer, ArenaCudaStream stream))

#define ARENA_CUDA_MEMBER(name, result, parameters) result (*name) parameters;
typedef struct
{
  ARENA_CUDA_MANDATORY (ARENA_CUDA_MEMBER)
  ARENA_CUDA_OPTIONAL (ARENA_CUDA_MEMBER)
} ArenaCudaApi;
#undef ARENA_CUDA_MEMBER

G_END_DECLS
