/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "cuda/arena-pinned-allocator.h"

#include "base/arena-error.h"
#include "cuda/arena-pinned-cache-private.h"
#include "cuda/arena-pinned-stats-private.h"

#include <stdatomic.h>

/* A cache with its two limits; everything that can go wrong is there. An object that was made without initialising it, as
 * a script may, has none, and every call says so. */

/**
 * ArenaPinnedAllocator:
 *
 * Gives out host memory that is pinned for CUDA, and uses it again.
 *
 * CUDA takes long to pin and unpin memory, and stops what else goes on meanwhile. So buffers that are dropped are kept for
 * the next request of about the same size, up to `max-cached-bytes`: powers of two up to 1 MiB, above that eight sizes to a
 * doubling, above 256 MiB whole pages.
 *
 * A transfer keeps what it reads by itself. Where a stream of other code reads or writes a buffer, name it with
 * [method@Arena.PinnedAllocator.record_stream] before the buffer is dropped; then it is used again when that stream has
 * done what it was given until the drop.
 *
 * Dropping the allocator frees what is cached; buffers in use live on. It may be used, and its buffers dropped, on any
 * thread. In a forked child it is of no use.
 *
 * ```c
 * g_autoptr (ArenaPinnedAllocator) allocator = arena_pinned_allocator_new (context, &error);
 * g_autoptr (GBytes) bytes = arena_pinned_allocator_alloc (allocator, 1 << 20, &error);
 * ```
 *
 * Since: 0.1
 */
struct _ArenaPinnedAllocator
{
  GObject           parent_instance;
  ArenaCudaContext *context; /* construct-only */
  ArenaPinnedCache *cache;   /* NULL until initialised */
  _Atomic guint64   max_cached_bytes;
  _Atomic guint64   limit_bytes;
};

#define DEFAULT_MAX_CACHED_BYTES (G_GUINT64_CONSTANT (256) << 20)

enum
{
  PROP_CONTEXT = 1,
  PROP_MAX_CACHED_BYTES,
  PROP_LIMIT_BYTES,
  N_PROPERTIES,
};

static GParamSpec *properties[N_PROPERTIES];

static void arena_pinned_allocator_initable_iface_init (GInitableIface *iface);

G_DEFINE_FINAL_TYPE_WITH_CODE (ArenaPinnedAllocator, arena_pinned_allocator, G_TYPE_OBJECT,
                               G_IMPLEMENT_INTERFACE (G_TYPE_INITABLE, arena_pinned_allocator_initable_iface_init))

static gboolean
arena_pinned_allocator_initable_init (GInitable     *initable,
                                      GCancellable  *cancellable,
                                      GError       **error)
{
  ArenaPinnedAllocator *self = ARENA_PINNED_ALLOCATOR (initable);
  ArenaCudaDevice *device;

  if (self->cache != NULL)
    return TRUE;

  if (self->context == NULL)
    {
      g_set_error_literal (error, ARENA_ERROR, ARENA_ERROR_INVALID_ARGUMENT, "A pinned allocator needs a context");
      return FALSE;
    }

  device = arena_cuda_device_get (self->context, error);
  if (device == NULL)
    return FALSE;

  self->cache = arena_pinned_cache_new (device, self->max_cached_bytes);
  arena_pinned_cache_set_limit (self->cache, self->limit_bytes);
  return TRUE;
}

static void
arena_pinned_allocator_get_property (GObject    *object,
                                     guint       property_id,
                                     GValue     *value,
                                     GParamSpec *pspec)
{
  ArenaPinnedAllocator *self = ARENA_PINNED_ALLOCATOR (object);

  switch (property_id)
    {
    case PROP_CONTEXT:
      g_value_set_object (value, self->context);
      break;
    case PROP_MAX_CACHED_BYTES:
      g_value_set_uint64 (value, arena_pinned_allocator_get_max_cached_bytes (self));
      break;
    case PROP_LIMIT_BYTES:
      g_value_set_uint64 (value, arena_pinned_allocator_get_limit_bytes (self));
      break;
    default:
      G_OBJECT_WARN_INVALID_PROPERTY_ID (object, property_id, pspec);
    }
}

static void
arena_pinned_allocator_set_property (GObject      *object,
                                     guint         property_id,
                                     const GValue *value,
                                     GParamSpec   *pspec)
{
  ArenaPinnedAllocator *self = ARENA_PINNED_ALLOCATOR (object);

  switch (property_id)
    {
    case PROP_CONTEXT:
      self->context = g_value_dup_object (value);
      break;
    case PROP_MAX_CACHED_BYTES:
      arena_pinned_allocator_set_max_cached_bytes (self, g_value_get_uint64 (value));
      break;
    case PROP_LIMIT_BYTES:
      arena_pinned_allocator_set_limit_bytes (self, g_value_get_uint64 (value));
      break;
    default:
      G_OBJECT_WARN_INVALID_PROPERTY_ID (object, property_id, pspec);
    }
}

static void
arena_pinned_allocator_finalize (GObject *object)
{
  ArenaPinnedAllocator *self = ARENA_PINNED_ALLOCATOR (object);

  g_clear_pointer (&self->cache, arena_pinned_cache_unref);
  g_clear_object (&self->context);

  G_OBJECT_CLASS (arena_pinned_allocator_parent_class)->finalize (object);
}

static void
arena_pinned_allocator_class_init (ArenaPinnedAllocatorClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);

  object_class->get_property = arena_pinned_allocator_get_property;
  object_class->set_property = arena_pinned_allocator_set_property;
  object_class->finalize = arena_pinned_allocator_finalize;

  /**
   * ArenaPinnedAllocator:context: (getter get_context)
   *
   * The device whose runtime pins the memory. Every device of the process can copy from it.
   *
   * Since: 0.1
   */
  properties[PROP_CONTEXT] =
    g_param_spec_object ("context", NULL, NULL, ARENA_TYPE_CUDA_CONTEXT,
                         G_PARAM_READWRITE | G_PARAM_CONSTRUCT_ONLY | G_PARAM_STATIC_STRINGS);

  /**
   * ArenaPinnedAllocator:max-cached-bytes: (getter get_max_cached_bytes) (setter set_max_cached_bytes)
   *
   * How many bytes may wait to be used again; what is over is freed, the oldest first. 256 MiB unless set. It is not
   * notified.
   *
   * Since: 0.1
   */
  properties[PROP_MAX_CACHED_BYTES] =
    g_param_spec_uint64 ("max-cached-bytes", NULL, NULL, 0, G_MAXUINT64, DEFAULT_MAX_CACHED_BYTES,
                         G_PARAM_READWRITE | G_PARAM_CONSTRUCT | G_PARAM_EXPLICIT_NOTIFY | G_PARAM_STATIC_STRINGS);

  /**
   * ArenaPinnedAllocator:limit-bytes: (getter get_limit_bytes) (setter set_limit_bytes)
   *
   * How many bytes may be pinned at a time, in use or not; 0 for any number. It is not notified.
   *
   * Since: 0.1
   */
  properties[PROP_LIMIT_BYTES] =
    g_param_spec_uint64 ("limit-bytes", NULL, NULL, 0, G_MAXUINT64, 0,
                         G_PARAM_READWRITE | G_PARAM_CONSTRUCT | G_PARAM_EXPLICIT_NOTIFY | G_PARAM_STATIC_STRINGS);

  g_object_class_install_properties (object_class, N_PROPERTIES, properties);
}

static void
arena_pinned_allocator_initable_iface_init (GInitableIface *iface)
{
  iface->init = arena_pinned_allocator_initable_init;
}

static void
arena_pinned_allocator_init (ArenaPinnedAllocator *self)
{
}

/**
 * arena_pinned_allocator_new:
 * @context: a context
 * @error: return location for an error, or `NULL`
 *
 * Creates an allocator, which has nothing yet.
 *
 * May be called from any thread. Errors: `ARENA_ERROR_INVALID_STATE` for a context that was constructed by hand,
 * `ARENA_CUDA_ERROR_FORKED`, `ARENA_CUDA_ERROR_CONTEXT_LOST`.
 *
 * Returns: (transfer full): the allocator, or `NULL` with @error set
 *
 * Since: 0.1
 */
ArenaPinnedAllocator *
arena_pinned_allocator_new (ArenaCudaContext *context,
                            GError          **error)
{
  g_return_val_if_fail (ARENA_IS_CUDA_CONTEXT (context), NULL);
  g_return_val_if_fail (error == NULL || *error == NULL, NULL);

  return g_initable_new (ARENA_TYPE_PINNED_ALLOCATOR, NULL, error, "context", context, NULL);
}

/**
 * arena_pinned_allocator_get_context: (get-property context)
 * @self: an allocator
 *
 * Gets the context that was given.
 *
 * Returns: (transfer none) (nullable): the context
 *
 * Since: 0.1
 */
ArenaCudaContext *
arena_pinned_allocator_get_context (ArenaPinnedAllocator *self)
{
  g_return_val_if_fail (ARENA_IS_PINNED_ALLOCATOR (self), NULL);

  return self->context;
}

/**
 * arena_pinned_allocator_get_max_cached_bytes: (get-property max-cached-bytes)
 * @self: an allocator
 *
 * Gets how many bytes may wait to be used again.
 *
 * Returns: the number
 *
 * Since: 0.1
 */
guint64
arena_pinned_allocator_get_max_cached_bytes (ArenaPinnedAllocator *self)
{
  g_return_val_if_fail (ARENA_IS_PINNED_ALLOCATOR (self), 0);

  return self->max_cached_bytes;
}

/**
 * arena_pinned_allocator_set_max_cached_bytes: (set-property max-cached-bytes)
 * @self: an allocator
 * @max_cached_bytes: a number of bytes
 *
 * Sets how many bytes may wait to be used again, and frees what is over.
 *
 * May be called from any thread.
 *
 * Since: 0.1
 */
void
arena_pinned_allocator_set_max_cached_bytes (ArenaPinnedAllocator *self,
                                             guint64               max_cached_bytes)
{
  g_return_if_fail (ARENA_IS_PINNED_ALLOCATOR (self));

  self->max_cached_bytes = max_cached_bytes;
  if (self->cache != NULL)
    arena_pinned_cache_set_max (self->cache, max_cached_bytes);
}

/**
 * arena_pinned_allocator_get_limit_bytes: (get-property limit-bytes)
 * @self: an allocator
 *
 * Gets how many bytes may be pinned at a time.
 *
 * Returns: the number; 0 for any
 *
 * Since: 0.1
 */
guint64
arena_pinned_allocator_get_limit_bytes (ArenaPinnedAllocator *self)
{
  g_return_val_if_fail (ARENA_IS_PINNED_ALLOCATOR (self), 0);

  return self->limit_bytes;
}

/**
 * arena_pinned_allocator_set_limit_bytes: (set-property limit-bytes)
 * @self: an allocator
 * @limit_bytes: a number of bytes; 0 for any
 *
 * Sets how many bytes may be pinned at a time.
 *
 * What is over stays; it matters to requests from here on. May be called from any thread.
 *
 * Since: 0.1
 */
void
arena_pinned_allocator_set_limit_bytes (ArenaPinnedAllocator *self,
                                        guint64               limit_bytes)
{
  g_return_if_fail (ARENA_IS_PINNED_ALLOCATOR (self));

  self->limit_bytes = limit_bytes;
  if (self->cache != NULL)
    arena_pinned_cache_set_limit (self->cache, limit_bytes);
}

static gboolean
check_initialised (ArenaPinnedAllocator  *self,
                   GError               **error)
{
  if (G_LIKELY (self->cache != NULL))
    return TRUE;

  g_set_error_literal (error, ARENA_ERROR, ARENA_ERROR_INVALID_STATE,
                       "The allocator was not initialised: create it by its constructor, or call init()");
  return FALSE;
}

/**
 * arena_pinned_allocator_alloc:
 * @self: an allocator
 * @size: a number of bytes
 * @error: return location for an error, or `NULL`
 *
 * Gets a buffer of pinned memory.
 *
 * Its content is undefined, and whoever asked for it may write to it. It starts at a page. It goes back to the allocator
 * when the last reference is dropped, on any thread.
 *
 * Where CUDA has no memory, what is cached is freed, and CUDA asked once more.
 *
 * May be called from any thread. Errors: `ARENA_CUDA_ERROR_NO_MEMORY` (with both numbers where it is `limit-bytes`),
 * `ARENA_CUDA_ERROR_CONTEXT_LOST`, `ARENA_CUDA_ERROR_FORKED`, `ARENA_ERROR_INVALID_STATE`.
 *
 * Returns: (transfer full): the buffer, or `NULL` with @error set
 *
 * Since: 0.1
 */
GBytes *
arena_pinned_allocator_alloc (ArenaPinnedAllocator *self,
                              gsize                 size,
                              GError              **error)
{
  gpointer buffer;

  g_return_val_if_fail (ARENA_IS_PINNED_ALLOCATOR (self), NULL);
  g_return_val_if_fail (error == NULL || *error == NULL, NULL);

  if (!check_initialised (self, error))
    return NULL;
  if (size == 0)
    return g_bytes_new (NULL, 0);

  buffer = arena_pinned_cache_take (self->cache, size, error);
  return buffer != NULL ? arena_pinned_cache_finish (self->cache, buffer, size) : NULL;
}

/**
 * arena_pinned_allocator_record_stream:
 * @self: an allocator
 * @bytes: a buffer of this allocator, or a part of one
 * @stream: a CUDA stream, as a number; 1 is the legacy default stream, 2 that of each thread
 * @error: return location for an error, or `NULL`
 *
 * Notes that a stream uses a buffer.
 *
 * The buffer is not used again before @stream has done what it was given until the last reference on the buffer is dropped.
 * The stream must exist until then.
 *
 * May be called from any thread. Errors: `ARENA_ERROR_INVALID_ARGUMENT` where @bytes is not this allocator's,
 * `ARENA_CUDA_ERROR_FORKED`, `ARENA_ERROR_INVALID_STATE`.
 *
 * Returns: `TRUE` on success, or `FALSE` with @error set
 *
 * Since: 0.1
 */
gboolean
arena_pinned_allocator_record_stream (ArenaPinnedAllocator *self,
                                      GBytes               *bytes,
                                      guint64               stream,
                                      GError              **error)
{
  gconstpointer data;
  gsize size;

  g_return_val_if_fail (ARENA_IS_PINNED_ALLOCATOR (self), FALSE);
  g_return_val_if_fail (bytes != NULL, FALSE);
  g_return_val_if_fail (error == NULL || *error == NULL, FALSE);

  data = g_bytes_get_data (bytes, &size);
  if (!arena_cuda_runtime_check_fork (error) || !check_initialised (self, error))
    return FALSE;
  if (size == 0 || arena_pinned_cache_record_stream (self->cache, data, stream))
    return TRUE;

  g_set_error (error, ARENA_ERROR, ARENA_ERROR_INVALID_ARGUMENT,
               "The %" G_GSIZE_FORMAT " bytes are not from this allocator", size);
  return FALSE;
}

/**
 * arena_pinned_allocator_trim:
 * @self: an allocator
 *
 * Frees all that waits to be used again.
 *
 * What CUDA doesn't free is kept, and tried again later. May be called from any thread.
 *
 * Since: 0.1
 */
void
arena_pinned_allocator_trim (ArenaPinnedAllocator *self)
{
  g_return_if_fail (ARENA_IS_PINNED_ALLOCATOR (self));

  if (self->cache != NULL && arena_cuda_runtime_check_fork (NULL))
    arena_pinned_cache_trim (self->cache);
}

/**
 * arena_pinned_allocator_dup_stats:
 * @self: an allocator
 *
 * Takes a snapshot of what the allocator has done and what it has.
 *
 * May be called from any thread. In a forked child, and before the object was initialised, all numbers are 0.
 *
 * Returns: (transfer full): the statistics
 *
 * Since: 0.1
 */
ArenaPinnedStats *
arena_pinned_allocator_dup_stats (ArenaPinnedAllocator *self)
{
  ArenaPinnedFigures figures = { 0 };

  g_return_val_if_fail (ARENA_IS_PINNED_ALLOCATOR (self), NULL);

  if (self->cache != NULL)
    arena_pinned_cache_get_figures (self->cache, &figures);
  return arena_pinned_stats_new (&figures);
}
