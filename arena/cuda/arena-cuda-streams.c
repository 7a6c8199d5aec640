/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "cuda/arena-cuda-streams-private.h"

/* Creating either is slow and takes locks of the driver, so both are kept for the next user. An event that is recorded
 * anew forgets what it marked before, so it may be given back at any time. */

typedef struct _Slot Slot;

struct _Slot
{
  ArenaCudaDevice *device;
  ArenaCudaStream  stream;
  Slot            *next;
};

static void
free_slots (gpointer data)
{
  /* The lock may be held for ever in a child. */
  gboolean forked = !arena_cuda_runtime_check_fork (NULL);

  for (Slot *slot = data, *next; slot != NULL; slot = next)
    {
      next = slot->next;
      if (!forked)
        arena_cuda_stream_give_back (slot->device, slot->stream);
      g_free (slot);
    }
}

static GPrivate thread_slots = G_PRIVATE_INIT (free_slots);

static gpointer
take_idle (ArenaCudaDevice *device,
           GPtrArray       *idle)
{
  gpointer handle = NULL;

  pthread_mutex_lock (&device->mutex);
  if (idle->len > 0)
    handle = g_ptr_array_steal_index_fast (idle, idle->len - 1);
  pthread_mutex_unlock (&device->mutex);
  return handle;
}

static void
add_idle (ArenaCudaDevice *device,
          GPtrArray       *idle,
          gpointer         handle)
{
  pthread_mutex_lock (&device->mutex);
  g_ptr_array_add (idle, handle);
  pthread_mutex_unlock (&device->mutex);
}

static Slot **
find_slot (ArenaCudaDevice *device,
           Slot           **place)
{
  while (*place != NULL && (*place)->device != device)
    place = &(*place)->next;
  return place;
}

ArenaCudaStream
arena_cuda_stream_get (ArenaCudaDevice  *device,
                       ArenaCudaScope   *scope,
                       GError          **error)
{
  Slot *slots = g_private_get (&thread_slots), *slot = *find_slot (device, &slots);
  ArenaCudaStream stream;

  if (slot != NULL)
    return slot->stream;

  stream = take_idle (device, device->idle_streams);
  if (stream == NULL && !arena_cuda_call (scope, ARENA_CUDA_ERROR_COPY, error, "a stream of this thread",
                                          cudaStreamCreateWithFlags, (&stream, ARENA_CUDA_STREAM_NON_BLOCKING)))
    return NULL;

  slot = g_new (Slot, 1);
  *slot = (Slot) { device, stream, slots };
  g_private_set (&thread_slots, slot);
  return stream;
}

void
arena_cuda_stream_drop (ArenaCudaDevice *device)
{
  Slot *slots = g_private_get (&thread_slots);
  Slot **place = find_slot (device, &slots), *slot = *place;

  if (slot == NULL)
    return;

  *place = slot->next;
  g_free (slot);
  g_private_set (&thread_slots, slots);
}

void
arena_cuda_stream_give_back (ArenaCudaDevice *device,
                             ArenaCudaStream  stream)
{
  add_idle (device, device->idle_streams, stream);
}

gboolean
arena_cuda_stream_drain (ArenaCudaScope   *scope,
                         ArenaCudaStream   stream,
                         GError          **error)
{
  const char *what = "the end of what was enqueued";
  int status = scope->api->cudaStreamSynchronize (stream);
  gboolean proven = status == ARENA_CUDA_STATUS_SUCCESS ||
                    arena_cuda_call (scope, ARENA_CUDA_ERROR_COPY, NULL, what, cudaStreamQuery, (stream));

  arena_cuda_scope_check (scope, status, "cudaStreamSynchronize",
                          proven ? ARENA_CUDA_ERROR_COPY : ARENA_CUDA_ERROR_QUARANTINED, what, error);
  return proven;
}

ArenaCudaEvent
arena_cuda_event_record (ArenaCudaDevice  *device,
                         ArenaCudaScope   *scope,
                         ArenaCudaStream   stream,
                         GError          **error)
{
  ArenaCudaEvent event = take_idle (device, device->idle_events);

  if (event == NULL &&
      !arena_cuda_call (scope, ARENA_CUDA_ERROR_COPY, error, "an event", cudaEventCreateWithFlags,
                        (&event, ARENA_CUDA_EVENT_BLOCKING_SYNC | ARENA_CUDA_EVENT_DISABLE_TIMING)))
    return NULL;

  if (arena_cuda_call (scope, ARENA_CUDA_ERROR_COPY, error, "an event", cudaEventRecord, (event, stream)))
    return event;

  arena_cuda_event_give_back (device, event);
  return NULL;
}

void
arena_cuda_event_give_back (ArenaCudaDevice *device,
                            ArenaCudaEvent   event)
{
  add_idle (device, device->idle_events, event);
}

gboolean
arena_cuda_stream_order (ArenaCudaDevice  *device,
                         ArenaCudaScope   *scope,
                         ArenaCudaStream   stream,
                         const guint64    *others,
                         gsize             n_others,
                         GError          **error)
{
  for (gsize i = 0; i < n_others; i++)
    {
      ArenaCudaEvent event = arena_cuda_event_record (device, scope, GSIZE_TO_POINTER (others[i]), error);
      gboolean success;

      if (event == NULL)
        return FALSE;

      success = arena_cuda_call (scope, ARENA_CUDA_ERROR_COPY, error, "an event of another stream",
                                 cudaStreamWaitEvent, (stream, event, 0));
      arena_cuda_event_give_back (device, event);
      if (!success)
        return FALSE;
    }

  return TRUE;
}
