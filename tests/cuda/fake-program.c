/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "fake-cudart.h"

/* What fake-processes starts, with a script that lets the first allocation fail. It frees memory that is in use. */
int
main (void)
{
  CudaStream stream;
  void *pointer;

  if (cudaMalloc (&pointer, 100) != CUDA_MEMORY_ALLOCATION || cudaMalloc (&pointer, 100) != 0 ||
      cudaStreamCreateWithFlags (&stream, CUDA_STREAM_NON_BLOCKING) != 0)
    return 1;

  arena_fake_set_mode (ARENA_FAKE_GATED, 0);
  return arena_fake_launch (stream, pointer, 100) != 0 || cudaFree (pointer) != 0;
}
