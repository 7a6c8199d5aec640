/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "cuda/arena-cuda-context-private.h"
#include "memory/arena-mapping-private.h"

#include <pthread.h>
#include <stdatomic.h>

G_BEGIN_DECLS

typedef enum
{
  ARENA_CUDA_PIECE_FREE,       /* not registered; or CUDA no longer knows of it */
  ARENA_CUDA_PIECE_REGISTERED,
} ArenaCudaPieceState;

typedef enum
{
  ARENA_CUDA_PIN_USABLE,
  ARENA_CUDA_PIN_LOST,     /* with its context: it stays registered and mapped until the process ends */
  ARENA_CUDA_PIN_UNLOADED, /* likewise, for the process is ending */
} ArenaCudaPinFate;

/* What registers one mapping, made with its first registration and freed with it. */
typedef struct
{
  pthread_mutex_t      operation; /* over everything that registers or unregisters, and the calls that do it */
  ArenaMapping        *mapping;   /* not a reference */
  ArenaCudaContext    *context;
  guint                generation; /* of the process whose registrations these are */
  gsize                piece;
  guint                n_pieces;
  guint8              *pieces;    /* ArenaCudaPieceState of each */
  _Atomic guint        n_registered;
  _Atomic gboolean     wanted;    /* registered on purpose; else what is registered is to be unregistered */
  ArenaCudaPinFate     fate;

  /* Guarded by the retire list's lock. */
  gboolean             listed;    /* it belongs to the list, which alone may free it */
  gboolean             retired;   /* nobody has a reference on the mapping */
} ArenaCudaPin;

static inline guint
arena_cuda_pin_count (const ArenaCudaPin *self)
{
  return atomic_load_explicit (&self->n_registered, memory_order_relaxed);
}

/* Of @mapping, which it retires from here on. */
ArenaCudaPin *arena_cuda_pin_new (ArenaMapping      *mapping,
                                  gsize              piece,
                                  ArenaCudaContext  *context) G_GNUC_WARN_UNUSED_RESULT;
/* Registers all pieces or none; again it does nothing. What an earlier try could not take back comes first. */
gboolean arena_cuda_pin_acquire (ArenaCudaPin  *self,
                                 GError       **error);
/* Unregisters what is registered and not wanted. FALSE, with the first error and how many more there were, where
 * something still is, or was found to have been unregistered by somebody else. */
gboolean arena_cuda_pin_release (ArenaCudaPin  *self,
                                 GError       **error);
/* Nothing is registered, and nobody has the mapping. */
void     arena_cuda_pin_free    (ArenaCudaPin  *self);

G_END_DECLS
