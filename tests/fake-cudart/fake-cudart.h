/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "cuda-api.h"

#include <stdbool.h>
#include <stdint.h>

/* What tests tell the double and ask it. The library is a CUDA runtime that has no device: copies run on a thread per
 * stream, when they are let, and everything that a real one would answer with damaged data is a violation here.
 *
 * All calls are thread-safe. In C a test links with the library; other languages find these functions by name. */

typedef enum
{
  ARENA_FAKE_IMMEDIATE,
  ARENA_FAKE_DELAY, /* each copy and kernel takes that many milliseconds */
  ARENA_FAKE_GATED, /* each copy and kernel waits for a step */
} ArenaFakeMode;

typedef struct
{
  uint64_t    seq;
  int         pid;
  int         tid;
  const char *function; /* of the runtime, or "munmap", "mremap", "mmap" of a range that was ever registered */
  int         device;
  uint64_t    stream;
  uint64_t    ptr;      /* the source of a copy */
  uint64_t    other;    /* the destination of a copy; the event of a wait */
  uint64_t    len;
  unsigned    flags;    /* the direction of a copy */
  int         result;
} ArenaFakeEntry;

typedef struct
{
  uint64_t pins, pinned_bytes;
  uint64_t host_allocs, host_bytes;
  uint64_t device_allocs, device_bytes;
  uint64_t streams, events;
  uint64_t pending; /* operations that have not finished */
  uint64_t waiting; /* threads that wait for one */
} ArenaFakeLive;

/* Lets everything pending run, and forgets injections, settings, log and violations. Objects stay. */
void        arena_fake_reset           (void);
void        arena_fake_set_devices     (int count);
/* 0: no driver. */
void        arena_fake_set_driver      (int version);
/* The toolkit's stub took the driver's place. */
void        arena_fake_set_stub        (bool stub);
void        arena_fake_set_attr        (int device, int attribute, int value);
void        arena_fake_set_mode        (ArenaFakeMode mode, int milliseconds);
/* Lets the next @n copies or kernels of a stream run, of any if it is NULL; all of them from now on if @n < 0. */
void        arena_fake_step            (CudaStream stream, int n);
/* From its @nth call on (from 1), @function, or every one for "*", fails @times times, for ever if @times < 0. With
 * @sticky the context is lost with it. A call that fails does nothing. */
void        arena_fake_inject          (const char *function, int nth, int times, int error, bool sticky);
/* The next synchronisation or query of a stream, of any if it is NULL, returns an error of somebody else's launch. */
void        arena_fake_inject_async    (CudaStream stream, int error);
/* The @nth copy to the host from now on (from 1) delivers a wrong byte in its middle; 0: none does. */
void        arena_fake_damage          (int nth);
/* Registered and allocated bytes together; 0: no limit. */
void        arena_fake_pin_limit       (uint64_t bytes);
/* While another thread captures a graph, unsafe calls fail with 900 and break the capture, except in relaxed mode. */
void        arena_fake_set_capture     (bool capturing);
bool        arena_fake_capture_broken  (void);
/* A kernel of somebody else's that reads device memory; checked when it runs. */
int         arena_fake_launch          (CudaStream stream, const void *pointer, uint64_t size);

/* How many entries there are; the @n-th is copied out if there is one and @entry isn't NULL. */
uint64_t    arena_fake_log             (uint64_t n, ArenaFakeEntry *entry);
void        arena_fake_log_clear       (void);
/* How many calls of @function the log has. */
uint64_t    arena_fake_count           (const char *function);
/* Looks for more, then says how many there were since the last reset. @text stays valid until then. */
uint64_t    arena_fake_violations      (const char **text);
void        arena_fake_live            (ArenaFakeLive *live);
bool        arena_fake_is_pinned       (const void *pointer, uint64_t size);
int         arena_fake_last_error_of   (int tid);
/* Calls that forked children made into a runtime their parent had initialised. */
uint64_t    arena_fake_child_calls     (void);
/* The guard reports here what is about to be unmapped ("munmap", "mremap", "mmap"). */
void        arena_fake_vm_event        (const char *operation, const void *pointer, uint64_t size);
/* Runs commands, separated by newlines or semicolons, named as the functions above: "set_devices 2; inject
 * cudaHostRegister 3 1 2 0". Returns how many were not understood. At start the same is done with ARENA_FAKE_SCRIPT;
 * at exit the log is appended to the file ARENA_FAKE_LOG. */
int         arena_fake_script          (const char *commands);
