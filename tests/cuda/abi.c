/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "cuda/arena-cuda-api-private.h"

#include <cuda_runtime_api.h>

/* Compiled where the toolkit's headers are: what we say about the runtime in our own words is what they say. */

#define SAME_NUMBER(ours, theirs) G_STATIC_ASSERT ((int) (ours) == (int) (theirs))

SAME_NUMBER (ARENA_CUDA_STATUS_SUCCESS, cudaSuccess);
SAME_NUMBER (ARENA_CUDA_STATUS_INVALID_VALUE, cudaErrorInvalidValue);
SAME_NUMBER (ARENA_CUDA_STATUS_MEMORY_ALLOCATION, cudaErrorMemoryAllocation);
SAME_NUMBER (ARENA_CUDA_STATUS_INITIALIZATION_ERROR, cudaErrorInitializationError);
SAME_NUMBER (ARENA_CUDA_STATUS_UNLOADING, cudaErrorCudartUnloading);
SAME_NUMBER (ARENA_CUDA_STATUS_STUB_LIBRARY, cudaErrorStubLibrary);
SAME_NUMBER (ARENA_CUDA_STATUS_INSUFFICIENT_DRIVER, cudaErrorInsufficientDriver);
SAME_NUMBER (ARENA_CUDA_STATUS_DEVICES_UNAVAILABLE, cudaErrorDevicesUnavailable);
SAME_NUMBER (ARENA_CUDA_STATUS_NO_DEVICE, cudaErrorNoDevice);
SAME_NUMBER (ARENA_CUDA_STATUS_INVALID_DEVICE, cudaErrorInvalidDevice);
SAME_NUMBER (ARENA_CUDA_STATUS_INVALID_CONTEXT, cudaErrorDeviceUninitialized);
SAME_NUMBER (ARENA_CUDA_STATUS_NOT_READY, cudaErrorNotReady);
SAME_NUMBER (ARENA_CUDA_STATUS_CONTEXT_DESTROYED, cudaErrorContextIsDestroyed);
SAME_NUMBER (ARENA_CUDA_STATUS_ALREADY_REGISTERED, cudaErrorHostMemoryAlreadyRegistered);
SAME_NUMBER (ARENA_CUDA_STATUS_NOT_REGISTERED, cudaErrorHostMemoryNotRegistered);
SAME_NUMBER (ARENA_CUDA_STATUS_NOT_SUPPORTED, cudaErrorNotSupported);
SAME_NUMBER (214, cudaErrorECCUncorrectable);
SAME_NUMBER (700, cudaErrorIllegalAddress);
SAME_NUMBER (702, cudaErrorLaunchTimeout);
SAME_NUMBER (710, cudaErrorAssert);
SAME_NUMBER (714, cudaErrorHardwareStackError);
SAME_NUMBER (715, cudaErrorIllegalInstruction);
SAME_NUMBER (716, cudaErrorMisalignedAddress);
SAME_NUMBER (717, cudaErrorInvalidAddressSpace);
SAME_NUMBER (718, cudaErrorInvalidPc);
SAME_NUMBER (719, cudaErrorLaunchFailure);
SAME_NUMBER (720, cudaErrorCooperativeLaunchTooLarge);
SAME_NUMBER (999, cudaErrorUnknown);

SAME_NUMBER (ARENA_CUDA_MEMCPY_HOST_TO_DEVICE, cudaMemcpyHostToDevice);
SAME_NUMBER (ARENA_CUDA_MEMCPY_DEVICE_TO_HOST, cudaMemcpyDeviceToHost);
SAME_NUMBER (ARENA_CUDA_MEMORY_UNREGISTERED, cudaMemoryTypeUnregistered);
SAME_NUMBER (ARENA_CUDA_MEMORY_HOST, cudaMemoryTypeHost);
SAME_NUMBER (ARENA_CUDA_MEMORY_DEVICE, cudaMemoryTypeDevice);
SAME_NUMBER (ARENA_CUDA_ATTRIBUTE_HOST_REGISTER, cudaDevAttrHostRegisterSupported);
SAME_NUMBER (ARENA_CUDA_ATTRIBUTE_HOST_PAGE_TABLES, cudaDevAttrPageableMemoryAccessUsesHostPageTables);
SAME_NUMBER (ARENA_CUDA_ATTRIBUTE_READ_ONLY_HOST_REGISTER, cudaDevAttrHostRegisterReadOnlySupported);
SAME_NUMBER (ARENA_CUDA_ATTRIBUTE_MEMORY_POOLS, cudaDevAttrMemoryPoolsSupported);
SAME_NUMBER (ARENA_CUDA_HOST_REGISTER_PORTABLE, cudaHostRegisterPortable);
SAME_NUMBER (ARENA_CUDA_HOST_REGISTER_READ_ONLY, cudaHostRegisterReadOnly);
SAME_NUMBER (ARENA_CUDA_HOST_ALLOC_PORTABLE, cudaHostAllocPortable);
SAME_NUMBER (ARENA_CUDA_STREAM_NON_BLOCKING, cudaStreamNonBlocking);
SAME_NUMBER (ARENA_CUDA_EVENT_BLOCKING_SYNC, cudaEventBlockingSync);
SAME_NUMBER (ARENA_CUDA_EVENT_DISABLE_TIMING, cudaEventDisableTiming);
SAME_NUMBER (ARENA_CUDA_CAPTURE_RELAXED, cudaStreamCaptureModeRelaxed);

/* An older one is shorter. */
G_STATIC_ASSERT (sizeof (ArenaCudaPointerAttributes) >= sizeof (struct cudaPointerAttributes));
G_STATIC_ASSERT (G_STRUCT_OFFSET (ArenaCudaPointerAttributes, type) ==
                 G_STRUCT_OFFSET (struct cudaPointerAttributes, type));
G_STATIC_ASSERT (G_STRUCT_OFFSET (ArenaCudaPointerAttributes, device) ==
                 G_STRUCT_OFFSET (struct cudaPointerAttributes, device));
G_STATIC_ASSERT (G_STRUCT_OFFSET (ArenaCudaPointerAttributes, host_pointer) ==
                 G_STRUCT_OFFSET (struct cudaPointerAttributes, hostPointer));
G_STATIC_ASSERT (sizeof (enum cudaError) == sizeof (int));
G_STATIC_ASSERT (sizeof (enum cudaDeviceAttr) == sizeof (int));
G_STATIC_ASSERT (sizeof (cudaStream_t) == sizeof (ArenaCudaStream));
G_STATIC_ASSERT (sizeof (cudaEvent_t) == sizeof (ArenaCudaEvent));

/* Each of our functions takes and returns what theirs does, but for the names of the types. */
#define SAME_SIGNATURE(name, ...) \
  G_STATIC_ASSERT (__builtin_types_compatible_p (__typeof__ (&name), __VA_ARGS__))

SAME_SIGNATURE (cudaRuntimeGetVersion, cudaError_t (*) (int *));
SAME_SIGNATURE (cudaDriverGetVersion, cudaError_t (*) (int *));
SAME_SIGNATURE (cudaGetErrorName, const char *(*) (cudaError_t));
SAME_SIGNATURE (cudaGetErrorString, const char *(*) (cudaError_t));
SAME_SIGNATURE (cudaGetLastError, cudaError_t (*) (void));
SAME_SIGNATURE (cudaPeekAtLastError, cudaError_t (*) (void));
SAME_SIGNATURE (cudaGetDeviceCount, cudaError_t (*) (int *));
SAME_SIGNATURE (cudaGetDevice, cudaError_t (*) (int *));
SAME_SIGNATURE (cudaSetDevice, cudaError_t (*) (int));
SAME_SIGNATURE (cudaDeviceGetAttribute, cudaError_t (*) (int *, enum cudaDeviceAttr, int));
SAME_SIGNATURE (cudaThreadExchangeStreamCaptureMode, cudaError_t (*) (enum cudaStreamCaptureMode *));
SAME_SIGNATURE (cudaHostRegister, cudaError_t (*) (void *, size_t, unsigned));
SAME_SIGNATURE (cudaHostUnregister, cudaError_t (*) (void *));
SAME_SIGNATURE (cudaHostAlloc, cudaError_t (*) (void **, size_t, unsigned));
SAME_SIGNATURE (cudaFreeHost, cudaError_t (*) (void *));
SAME_SIGNATURE (cudaPointerGetAttributes, cudaError_t (*) (struct cudaPointerAttributes *, const void *));
SAME_SIGNATURE (cudaMalloc, cudaError_t (*) (void **, size_t));
SAME_SIGNATURE (cudaFree, cudaError_t (*) (void *));
SAME_SIGNATURE (cudaMemcpyAsync, cudaError_t (*) (void *, const void *, size_t, enum cudaMemcpyKind, cudaStream_t));
SAME_SIGNATURE (cudaStreamCreateWithFlags, cudaError_t (*) (cudaStream_t *, unsigned));
SAME_SIGNATURE (cudaStreamSynchronize, cudaError_t (*) (cudaStream_t));
SAME_SIGNATURE (cudaStreamQuery, cudaError_t (*) (cudaStream_t));
SAME_SIGNATURE (cudaStreamWaitEvent, cudaError_t (*) (cudaStream_t, cudaEvent_t, unsigned));
SAME_SIGNATURE (cudaEventCreateWithFlags, cudaError_t (*) (cudaEvent_t *, unsigned));
SAME_SIGNATURE (cudaEventRecord, cudaError_t (*) (cudaEvent_t, cudaStream_t));
SAME_SIGNATURE (cudaEventQuery, cudaError_t (*) (cudaEvent_t));
SAME_SIGNATURE (cudaEventSynchronize, cudaError_t (*) (cudaEvent_t));
SAME_SIGNATURE (cudaMallocAsync, cudaError_t (*) (void **, size_t, cudaStream_t));
SAME_SIGNATURE (cudaFreeAsync, cudaError_t (*) (void *, cudaStream_t));
