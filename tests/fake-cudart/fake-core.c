/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "fake-private.h"

#include <stdlib.h>
#include <unistd.h>

/* What surrounds each call: who may call at all, injected errors, the thread's last error, the log. */

FakeState fake = {
  .lock = PTHREAD_MUTEX_INITIALIZER,
  .changed = PTHREAD_COND_INITIALIZER,
};

int
fake_runtime_version (void)
{
  return FAKE_VERSION;
}

FakeThread *
fake_thread (void)
{
  static _Thread_local FakeThread *self;

  if (self == NULL)
    {
      self = calloc (1, sizeof *self);
      self->tid = gettid ();
      self->next = fake.threads;
      fake.threads = self;
    }

  return self;
}

static int
check_driver (void)
{
  if (fake.exiting)
    return CUDA_UNLOADING;
  if (fake.stub)
    return CUDA_STUB_LIBRARY;
  if (fake.driver / 1000 < FAKE_VERSION / 1000)
    return CUDA_INSUFFICIENT_DRIVER;
  return fake.devices == 0 ? CUDA_NO_DEVICE : CUDA_SUCCESS;
}

static int
check_capture (const FakeCall *call)
{
  if (!fake.capturing || !call->unsafe || call->thread->capture_mode == CUDA_CAPTURE_RELAXED)
    return CUDA_SUCCESS;

  fake.capture_broken = true;
  return CUDA_CAPTURE_UNSUPPORTED;
}

static int
check_call (const FakeCall *call)
{
  int result = call->quiet ? CUDA_SUCCESS : check_driver ();

  if (result != CUDA_SUCCESS || call->quiet || call->keeps_error)
    return result;

  if (fake.pid == 0)
    __atomic_store_n (&fake.pid, getpid (), __ATOMIC_RELAXED);
  if (fake.lost != CUDA_SUCCESS)
    return fake.lost;
  if (call->thread->in_host_function)
    return CUDA_NOT_PERMITTED;

  result = fake_inject_take (call->function);
  return result != CUDA_SUCCESS ? result : check_capture (call);
}

bool
fake_begin (FakeCall *call)
{
  pid_t pid = __atomic_load_n (&fake.pid, __ATOMIC_RELAXED);

  /* The lock may be held for ever in a child. */
  if (pid != 0 && pid != getpid ())
    {
      if (!call->quiet)
        fake_log_child (call->function);
      call->thread = NULL;
      call->result = call->quiet ? CUDA_SUCCESS : CUDA_INITIALIZATION_ERROR;
      return call->quiet;
    }

  pthread_mutex_lock (&fake.lock);
  call->thread = fake_thread ();
  call->result = check_call (call);
  return call->result == CUDA_SUCCESS;
}

int
fake_end (FakeCall *call)
{
  if (call->thread == NULL)
    return call->result;

  if (call->result != CUDA_SUCCESS && !call->quiet && !call->keeps_error)
    call->thread->last_error = call->result;
  fake_log_add (call);
  pthread_mutex_unlock (&fake.lock);
  return call->result;
}
