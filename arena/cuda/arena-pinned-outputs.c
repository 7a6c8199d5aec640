/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "cuda/arena-pinned-cache-private.h"
#include "memory/arena-pin-private.h"

/* A ring's copies in pinned memory: each goes straight into a buffer of a cache, so it keeps nothing of the ring. */

typedef struct
{
  ArenaOutputs      outputs;
  ArenaPinnedCache *cache;
} PinnedOutputs;

G_STATIC_ASSERT (G_STRUCT_OFFSET (PinnedOutputs, outputs) == 0);

static gpointer
take (ArenaOutputs  *outputs,
      gsize          size,
      GError       **error)
{
  return arena_pinned_cache_take (((PinnedOutputs *) outputs)->cache, size, error);
}

static GBytes *
finish (ArenaOutputs *outputs,
        gpointer      buffer,
        gsize         size)
{
  return arena_pinned_cache_finish (((PinnedOutputs *) outputs)->cache, buffer, size);
}

static gsize
get_bytes (ArenaOutputs *outputs)
{
  ArenaPinnedFigures figures;

  arena_pinned_cache_get_figures (((PinnedOutputs *) outputs)->cache, &figures);
  return (gsize) figures.allocated_bytes;
}

static void
unref (ArenaOutputs *outputs)
{
  PinnedOutputs *self = (PinnedOutputs *) outputs;

  arena_pinned_cache_unref (self->cache);
  g_free (self);
}

ArenaOutputs *
arena_pin_outputs_new (gsize    keep_bytes,
                       GError **error)
{
  ArenaCudaContext *context = arena_cuda_context_get_default (error);
  ArenaCudaDevice *device = context != NULL ? arena_cuda_device_get (context, error) : NULL;
  PinnedOutputs *self;

  if (device == NULL)
    return NULL;

  self = g_new (PinnedOutputs, 1);
  self->outputs = (ArenaOutputs) { take, finish, get_bytes, unref };
  self->cache = arena_pinned_cache_new (device, keep_bytes);
  return &self->outputs;
}
