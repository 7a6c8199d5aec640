/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "cuda/arena-cuda-pin-private.h"

#include "cuda/arena-cuda-retire-private.h"
#include "memory/arena-fork-private.h"
#include "memory/arena-pin-table-private.h"

/* A mapping is registered piece by piece, all or none, and from then on these hold:
 *
 * - A piece counts as registered from the success of cudaHostRegister() to the success of cudaHostUnregister(), or until
 *   CUDA says that it doesn't know it. An error of any kind changes nothing.
 * - The mapping isn't unmapped while a piece of it is registered: CUDA would go on using the addresses, and whatever is
 *   mapped there next would be taken for it.
 * - What is registered is in the table of pinned ranges, and nothing else of ours.
 *
 * `operation` is held across calls of CUDA, so a close waits for an opening of the same mapping on another thread; nothing
 * else ever waits for it. */

static char *
describe (const ArenaCudaPin *self,
          guint               i)
{
  return g_strdup_printf ("segment %u of %u, %" G_GSIZE_FORMAT " bytes at %p", i, self->n_pieces, self->piece,
                          (gpointer) (arena_mapping_get_data (self->mapping) + i * self->piece));
}

static guint8 *
get_piece (const ArenaCudaPin *self,
           guint               i)
{
  return arena_mapping_get_data (self->mapping) + i * self->piece;
}

static void
note_free (ArenaCudaPin *self,
           guint         i)
{
  arena_pin_table_remove (get_piece (self, i));
  self->pieces[i] = ARENA_CUDA_PIECE_FREE;
  atomic_fetch_sub_explicit (&self->n_registered, 1, memory_order_relaxed);
}

/* Somebody else has unregistered it, or reset the device: TRUE where CUDA says in so many words that it isn't registered. */
static gboolean
is_gone (ArenaCudaPin   *self,
         ArenaCudaScope *scope,
         guint           i,
         int             status)
{
  ArenaCudaPointerAttributes attributes = { .type = -1 };

  if (status != ARENA_CUDA_STATUS_NOT_REGISTERED && status != ARENA_CUDA_STATUS_CONTEXT_DESTROYED &&
      status != ARENA_CUDA_STATUS_INVALID_CONTEXT)
    return FALSE;

  return arena_cuda_call (scope, ARENA_CUDA_ERROR_UNREGISTER, NULL, "a segment", cudaPointerGetAttributes,
                          (&attributes, get_piece (self, i))) &&
         attributes.type == ARENA_CUDA_MEMORY_UNREGISTERED;
}

static gboolean
unregister_piece (ArenaCudaPin    *self,
                  ArenaCudaScope  *scope,
                  guint            i,
                  GError         **error)
{
  g_autofree char *what = describe (self, i);
  int status;

  if (arena_cuda_call (scope, ARENA_CUDA_ERROR_UNREGISTER, error, what, cudaHostUnregister, (get_piece (self, i))))
    {
      note_free (self, i);
      return TRUE;
    }

  status = scope->status;
  if (is_gone (self, scope, i, status))
    {
      note_free (self, i);
      g_clear_error (error);
      g_set_error (error, ARENA_CUDA_ERROR, ARENA_CUDA_ERROR_UNREGISTER,
                   "cudaHostUnregister: %s: %s (%d) on device %d: something else in this process has unregistered it or "
                   "reset the device; close again to unmap it",
                   what, scope->api->cudaGetErrorName (status), status, scope->device);
    }
  else if (status == ARENA_CUDA_STATUS_UNLOADING)
    self->fate = ARENA_CUDA_PIN_UNLOADED;
  else if (arena_cuda_error_is_sticky (status))
    self->fate = ARENA_CUDA_PIN_LOST;
  return FALSE;
}

/* In the reverse of the order in which they were registered. Goes on after a failure that concerns one of them only. */
static gboolean
unregister_all (ArenaCudaPin    *self,
                ArenaCudaScope  *scope,
                GError         **error)
{
  GError *first = NULL;
  guint n_failed = 0;

  for (guint i = self->n_pieces; i > 0 && self->fate == ARENA_CUDA_PIN_USABLE; i--)
    if (self->pieces[i - 1] == ARENA_CUDA_PIECE_REGISTERED)
      {
        GError *local_error = NULL;

        if (unregister_piece (self, scope, i - 1, &local_error))
          continue;

        n_failed++;
        if (first == NULL)
          first = local_error;
        else
          g_error_free (local_error);
      }

  if (n_failed == 0)
    return TRUE;

  if (n_failed > 1)
    {
      g_autoptr(GError) last = first;

      first = g_error_new (last->domain, last->code, "%s (and %u more)", last->message, n_failed - 1);
    }
  g_propagate_error (error, first);
  return FALSE;
}

static void
set_fate_error (const ArenaCudaPin *self,
                GError            **error)
{
  ArenaCudaError code = self->fate == ARENA_CUDA_PIN_LOST ? ARENA_CUDA_ERROR_CONTEXT_LOST : ARENA_CUDA_ERROR_UNLOADING;

  g_set_error (error, ARENA_CUDA_ERROR, (int) code,
               "%u segments of %" G_GSIZE_FORMAT " bytes stay registered on device %d and mapped; %s",
               arena_cuda_pin_count (self), self->piece, self->context->device, arena_cuda_error_get_advice (code));
}

/* Locked. */
static gboolean
release_locked (ArenaCudaPin  *self,
                GError       **error)
{
  ArenaCudaScope scope;
  gboolean success;

  if (arena_cuda_pin_count (self) == 0)
    return TRUE;

  if (self->fate != ARENA_CUDA_PIN_USABLE)
    {
      set_fate_error (self, error);
      return FALSE;
    }

  if (!arena_cuda_context_enter (self->context, &scope, error))
    return FALSE;

  success = unregister_all (self, &scope, error);
  arena_cuda_scope_leave (&scope);
  return success;
}

gboolean
arena_cuda_pin_release (ArenaCudaPin  *self,
                        GError       **error)
{
  gboolean success;

  pthread_mutex_lock (&self->operation);
  success = atomic_load_explicit (&self->wanted, memory_order_relaxed) || release_locked (self, error);
  pthread_mutex_unlock (&self->operation);
  return success;
}

void
arena_cuda_pin_free (ArenaCudaPin *self)
{
  arena_mapping_free (self->mapping);
  pthread_mutex_destroy (&self->operation);
  g_free (self->pieces);
  g_free (self);
}

static gboolean
register_piece (ArenaCudaPin    *self,
                ArenaCudaScope  *scope,
                guint            i,
                GError         **error)
{
  guint flags = ARENA_CUDA_HOST_REGISTER_PORTABLE;
  g_autofree char *what = describe (self, i);

  if (!arena_mapping_is_writable (self->mapping))
    flags |= ARENA_CUDA_HOST_REGISTER_READ_ONLY;

  if (!arena_cuda_call (scope, ARENA_CUDA_ERROR_REGISTER, error, what, cudaHostRegister,
                        (get_piece (self, i), self->piece, flags)))
    return FALSE;

  self->pieces[i] = ARENA_CUDA_PIECE_REGISTERED;
  atomic_fetch_add_explicit (&self->n_registered, 1, memory_order_relaxed);
  arena_pin_table_add (get_piece (self, i), self->piece);
  return TRUE;
}

static gboolean
register_all (ArenaCudaPin    *self,
              ArenaCudaScope  *scope,
              GError         **error)
{
  GError *local_error = NULL;

  for (guint i = 0; i < self->n_pieces; i++)
    if (!register_piece (self, scope, i, &local_error))
      {
        GError *second = NULL;

        unregister_all (self, scope, &second);
        arena_cuda_error_append (&local_error, second);
        g_propagate_error (error, local_error);
        return FALSE;
      }

  return TRUE;
}

/* Locked. */
static gboolean
acquire_locked (ArenaCudaPin  *self,
                GError       **error)
{
  ArenaCudaScope scope;
  gboolean success;

  if (arena_cuda_pin_count (self) == self->n_pieces)
    return TRUE;

  /* What an earlier try could not take back. */
  if (!release_locked (self, error) || !arena_cuda_context_enter (self->context, &scope, error))
    return FALSE;

  success = register_all (self, &scope, error);
  arena_cuda_scope_leave (&scope);
  atomic_store_explicit (&self->wanted, success, memory_order_relaxed);
  return success;
}

gboolean
arena_cuda_pin_acquire (ArenaCudaPin  *self,
                        GError       **error)
{
  gboolean success;

  pthread_mutex_lock (&self->operation);
  success = acquire_locked (self, error);
  pthread_mutex_unlock (&self->operation);
  return success;
}

ArenaCudaPin *
arena_cuda_pin_new (ArenaMapping     *mapping,
                    gsize             piece,
                    ArenaCudaContext *context)
{
  ArenaCudaPin *self = g_new0 (ArenaCudaPin, 1);

  pthread_mutex_init (&self->operation, NULL);
  self->mapping = mapping;
  self->context = context;
  self->generation = arena_fork_generation ();
  self->piece = piece;
  self->n_pieces = (guint) (arena_mapping_get_size (mapping) / piece);
  self->pieces = g_new0 (guint8, self->n_pieces);
  arena_mapping_set_retire (mapping, arena_cuda_retire, self);
  return self;
}
