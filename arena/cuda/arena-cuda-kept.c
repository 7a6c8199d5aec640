/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "cuda/arena-cuda-kept-private.h"

#include "cuda/arena-quarantine-private.h"

/* Anyone adds to the list; only who sweeps takes from it, so an entry can be asked without the list's lock. Giving one up
 * may add others. A forked child gives nothing up: what is in the list is its parent's. */

typedef struct
{
  ArenaCudaFence  *fence;  /* NULL: proven, or nothing to prove */
  gsize            bytes;
  gint64           since;  /* monotonic, in microseconds */
  ArenaCudaRelease release;
  gpointer         data;
  GError          *reason; /* in quarantine; guarded by the list's lock */
} Entry;

static Entry *
create_entry (ArenaCudaFence   *fence,
              gsize             bytes,
              ArenaCudaRelease  release,
              gpointer          data,
              GError           *reason)
{
  Entry *entry = g_new (Entry, 1);

  *entry = (Entry) { fence, bytes, g_get_monotonic_time (), release, data, reason };
  return entry;
}

static void
free_entry (Entry *entry)
{
  g_clear_error (&entry->reason);
  g_free (entry);
}

static void
add_entry (ArenaCudaDevice *self,
           Entry           *entry)
{
  pthread_mutex_lock (&self->mutex);
  g_queue_push_tail (&self->kept, entry);
  pthread_mutex_unlock (&self->mutex);
}

/* Tells what went wrong through @error, which is not NULL. */
static gboolean
try_entry (Entry           *entry,
           ArenaCudaScope  *scope,
           GError         **error)
{
  if (entry->fence != NULL && !arena_cuda_fence_poll (entry->fence, scope, error))
    return FALSE;

  g_clear_pointer (&entry->fence, arena_cuda_fence_free);
  return entry->release (entry->data, scope, error);
}

void
arena_cuda_device_retire (ArenaCudaDevice  *self,
                          ArenaCudaScope   *scope,
                          ArenaCudaFence   *fence,
                          gsize             bytes,
                          ArenaCudaRelease  release,
                          gpointer          data,
                          GError           *reason)
{
  Entry *entry = create_entry (fence, bytes, release, data, reason);

  if (reason == NULL && try_entry (entry, scope, &entry->reason))
    free_entry (entry);
  else
    add_entry (self, entry);
}

void
arena_cuda_device_keep (ArenaCudaDevice  *self,
                        const guint64    *streams,
                        gsize             n_streams,
                        gsize             bytes,
                        ArenaCudaRelease  release,
                        gpointer          data,
                        GError           *reason)
{
  ArenaCudaFence *fence = n_streams > 0 ? arena_cuda_fence_new (self, NULL, streams, n_streams) : NULL;

  add_entry (self, create_entry (fence, bytes, release, data, reason));
}

static void
remove_entry (ArenaCudaDevice *self,
              Entry           *entry)
{
  pthread_mutex_lock (&self->mutex);
  g_queue_remove (&self->kept, entry);
  pthread_mutex_unlock (&self->mutex);
  free_entry (entry);
}

static void
condemn_entry (ArenaCudaDevice *self,
               Entry           *entry,
               GError          *reason)
{
  pthread_mutex_lock (&self->mutex);
  if (entry->reason == NULL)
    entry->reason = g_steal_pointer (&reason);
  pthread_mutex_unlock (&self->mutex);
  g_clear_error (&reason);
}

static GPtrArray *
list_entries (ArenaCudaDevice *self)
{
  GPtrArray *entries = g_ptr_array_new ();

  pthread_mutex_lock (&self->mutex);
  for (GList *link = self->kept.head; link != NULL; link = link->next)
    g_ptr_array_add (entries, link->data);
  pthread_mutex_unlock (&self->mutex);
  return entries;
}

/* The last thing that went wrong goes to @error, which may be NULL. */
static void
sweep (ArenaCudaDevice  *self,
       ArenaCudaScope   *scope,
       GError          **error)
{
  g_autoptr(GPtrArray) entries = list_entries (self);

  for (guint i = 0; i < entries->len; i++)
    {
      Entry *entry = g_ptr_array_index (entries, i);
      GError *reason = NULL;

      if (try_entry (entry, scope, &reason))
        {
          remove_entry (self, entry);
          continue;
        }
      if (reason == NULL)
        continue;

      if (error != NULL)
        {
          g_clear_error (error);
          *error = g_error_copy (reason);
        }
      condemn_entry (self, entry, reason);
    }
}

static gboolean
is_empty (ArenaCudaDevice *self)
{
  gboolean empty;

  pthread_mutex_lock (&self->mutex);
  empty = g_queue_is_empty (&self->kept);
  pthread_mutex_unlock (&self->mutex);
  return empty;
}

void
arena_cuda_device_sweep (ArenaCudaDevice *self,
                         ArenaCudaScope  *scope)
{
  if (is_empty (self) || pthread_mutex_trylock (&self->sweeping) != 0)
    return;

  sweep (self, scope, NULL);
  pthread_mutex_unlock (&self->sweeping);
}

static void
set_kept_error (ArenaCudaDevice     *self,
                const ArenaCudaKept *kept,
                GError              *cause,
                GError             **error)
{
  g_set_error (error, ARENA_CUDA_ERROR, ARENA_CUDA_ERROR_QUARANTINED,
               "%u uses of %" G_GUINT64_FORMAT " bytes are in quarantine on device %d%s%s; %s",
               kept->n_entries, kept->bytes, self->number, cause != NULL ? ": " : "",
               cause != NULL ? cause->message : "", arena_cuda_error_get_advice (ARENA_CUDA_ERROR_QUARANTINED));
}

gboolean
arena_cuda_device_retry (ArenaCudaDevice  *self,
                         GError          **error)
{
  g_autoptr(GError) cause = NULL;
  ArenaCudaKept kept;
  ArenaCudaScope scope;

  if (!arena_cuda_device_enter (self, &scope, error))
    return FALSE;

  pthread_mutex_lock (&self->sweeping);
  sweep (self, &scope, &cause);
  pthread_mutex_unlock (&self->sweeping);
  arena_cuda_scope_leave (&scope);

  arena_cuda_device_count (self, NULL, &kept);
  if (kept.n_entries == 0)
    return TRUE;

  if (cause != NULL && cause->code != ARENA_CUDA_ERROR_QUARANTINED)
    g_propagate_error (error, g_steal_pointer (&cause));
  else
    set_kept_error (self, &kept, cause, error);
  return FALSE;
}

static void
add_kept (ArenaCudaKept *kept,
          const Entry   *entry)
{
  if (kept == NULL)
    return;

  kept->n_entries++;
  kept->bytes += entry->bytes;
}

void
arena_cuda_device_count (ArenaCudaDevice *self,
                         ArenaCudaKept   *waiting,
                         ArenaCudaKept   *quarantined)
{
  if (waiting != NULL)
    *waiting = (ArenaCudaKept) { 0 };
  if (quarantined != NULL)
    *quarantined = (ArenaCudaKept) { 0 };
  if (self == NULL || !arena_cuda_runtime_check_fork (NULL))
    return;

  pthread_mutex_lock (&self->mutex);
  for (GList *link = self->kept.head; link != NULL; link = link->next)
    {
      const Entry *entry = link->data;

      add_kept (entry->reason == NULL ? waiting : quarantined, entry);
    }
  pthread_mutex_unlock (&self->mutex);
}

GPtrArray *
arena_cuda_device_list (ArenaCudaDevice *self)
{
  GPtrArray *list = g_ptr_array_new_with_free_func ((GDestroyNotify) arena_quarantine_free);
  gint64 now = g_get_monotonic_time ();

  if (self == NULL || !arena_cuda_runtime_check_fork (NULL))
    return list;

  pthread_mutex_lock (&self->mutex);
  for (GList *link = self->kept.head; link != NULL; link = link->next)
    {
      const Entry *entry = link->data;

      if (entry->reason != NULL)
        g_ptr_array_add (list, arena_quarantine_new (entry->reason->message, entry->bytes, now - entry->since));
    }
  pthread_mutex_unlock (&self->mutex);
  return list;
}
