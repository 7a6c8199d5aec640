/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "fake-private.h"

#include <string.h>

/* Settings and counts. */

static void
set_defaults (void)
{
  fake.devices = 1;
  fake.driver = 13000;
  fake.lost = CUDA_SUCCESS;
  fake.stub = false;
  fake.capturing = false;
  fake.capture_broken = false;
  fake.mode = ARENA_FAKE_IMMEDIATE;
  fake.permits = 0;
  fake.async_error = CUDA_SUCCESS;
  fake.damage = 0;
  fake.pin_limit = 0;
  memset (fake.attributes, 0, sizeof fake.attributes);
  for (int i = 0; i < FAKE_MAX_DEVICES; i++)
    {
      fake.attributes[i][CUDA_ATTRIBUTE_HOST_REGISTER] = 1;
      fake.attributes[i][CUDA_ATTRIBUTE_READ_ONLY_REGISTER] = 1;
      fake.attributes[i][CUDA_ATTRIBUTE_MEMORY_POOLS] = 1;
    }
}

/* Before fake-script.c's. */
__attribute__ ((constructor (102))) static void
start (void)
{
  set_defaults ();
}

void
arena_fake_reset (void)
{
  pthread_mutex_lock (&fake.lock);
  set_defaults ();
  pthread_cond_broadcast (&fake.changed);
  fake_drain_all ();
  for (FakeStream *stream = fake.streams; stream != NULL; stream = stream->next)
    {
      stream->permits = 0;
      stream->async_error = CUDA_SUCCESS;
    }
  for (FakeThread *thread = fake.threads; thread != NULL; thread = thread->next)
    thread->last_error = CUDA_SUCCESS;
  fake_inject_clear ();
  fake_log_reset ();
  pthread_mutex_unlock (&fake.lock);
}

static void
set_int (int *place,
         int  value)
{
  pthread_mutex_lock (&fake.lock);
  *place = value;
  pthread_cond_broadcast (&fake.changed);
  pthread_mutex_unlock (&fake.lock);
}

void
arena_fake_set_devices (int count)
{
  set_int (&fake.devices, count < FAKE_MAX_DEVICES ? count : FAKE_MAX_DEVICES);
}

void
arena_fake_set_driver (int version)
{
  set_int (&fake.driver, version);
}

void
arena_fake_set_stub (bool stub)
{
  pthread_mutex_lock (&fake.lock);
  fake.stub = stub;
  pthread_mutex_unlock (&fake.lock);
}

void
arena_fake_set_attr (int device,
                     int attribute,
                     int value)
{
  if (device >= 0 && device < FAKE_MAX_DEVICES && attribute >= 0 && attribute < 256)
    set_int (&fake.attributes[device][attribute], value);
}

void
arena_fake_set_mode (ArenaFakeMode mode,
                     int           milliseconds)
{
  pthread_mutex_lock (&fake.lock);
  fake.mode = mode;
  fake.milliseconds = milliseconds;
  fake.permits = 0;
  for (FakeStream *stream = fake.streams; stream != NULL; stream = stream->next)
    stream->permits = 0;
  pthread_cond_broadcast (&fake.changed);
  pthread_mutex_unlock (&fake.lock);
}

void
arena_fake_step (CudaStream handle,
                 int        n)
{
  int *permits, result;

  pthread_mutex_lock (&fake.lock);
  permits = &fake.permits;
  if (handle != NULL)
    {
      FakeStream *stream = fake_stream_find (handle, &result);

      permits = stream != NULL ? &stream->permits : NULL;
    }
  if (permits != NULL)
    *permits = n < 0 || *permits < 0 ? -1 : *permits + n;
  pthread_cond_broadcast (&fake.changed);
  pthread_mutex_unlock (&fake.lock);
}

void
arena_fake_inject_async (CudaStream handle,
                         int        error)
{
  int result;

  pthread_mutex_lock (&fake.lock);
  if (handle == NULL)
    fake.async_error = error;
  else
    {
      FakeStream *stream = fake_stream_find (handle, &result);

      if (stream != NULL)
        stream->async_error = error;
    }
  pthread_mutex_unlock (&fake.lock);
}

void
arena_fake_damage (int nth)
{
  set_int (&fake.damage, nth);
}

void
arena_fake_pin_limit (uint64_t bytes)
{
  pthread_mutex_lock (&fake.lock);
  fake.pin_limit = bytes;
  pthread_mutex_unlock (&fake.lock);
}

void
arena_fake_set_capture (bool capturing)
{
  pthread_mutex_lock (&fake.lock);
  fake.capturing = capturing;
  fake.capture_broken = false;
  pthread_mutex_unlock (&fake.lock);
}

bool
arena_fake_capture_broken (void)
{
  bool broken;

  pthread_mutex_lock (&fake.lock);
  broken = fake.capture_broken;
  pthread_mutex_unlock (&fake.lock);
  return broken;
}

int
arena_fake_last_error_of (int tid)
{
  int error = -1;

  pthread_mutex_lock (&fake.lock);
  for (FakeThread *thread = fake.threads; thread != NULL; thread = thread->next)
    if (thread->tid == tid)
      error = thread->last_error;
  pthread_mutex_unlock (&fake.lock);
  return error;
}

void
arena_fake_live (ArenaFakeLive *live)
{
  memset (live, 0, sizeof *live);
  pthread_mutex_lock (&fake.lock);
  live->pinned_bytes = fake_memory_total (FAKE_MEMORY_REGISTERED, &live->pins);
  live->host_bytes = fake_memory_total (FAKE_MEMORY_HOST, &live->host_allocs);
  live->device_bytes = fake_memory_total (FAKE_MEMORY_DEVICE, &live->device_allocs);
  live->waiting = fake.waiting;
  for (FakeEvent *event = fake.events; event != NULL; event = event->next)
    live->events += !event->destroyed;
  for (FakeStream *stream = fake.streams; stream != NULL; stream = stream->next)
    {
      live->streams += !stream->destroyed && !stream->implicit;
      live->pending += stream->enqueued - stream->completed;
    }
  pthread_mutex_unlock (&fake.lock);
}
