/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "backend/arena-pool-private.h"

#include "backend/arena-stats-private.h"
#include "base/arena-error-private.h"

/* Sizes and storage are set before anyone else can see the object, and constant from then on; what changes later is in
 * the storage, which any thread may use. */

/**
 * ArenaPool:
 *
 * An arena of equal segments, one for each unit, that a consumer reads without a copy.
 *
 * All of its memory is reserved when it is made, `count` times `segment_size` bytes rounded up to pages, so there is
 * none to run out of later. A unit takes one segment; each of its fields starts at a multiple of 64 bytes, so one field
 * of exactly `segment_size` bytes fits. Segments are used in turn, or with [property@Arena.Pool:reuse] whichever is
 * free. What the consumer reads are views of the segment, which is not used again while any of them lives, across
 * iterations and after the arena was closed.
 *
 * Make `count` at least as large as the number of units that are queued, plus those the consumer keeps, plus one for the
 * producer to work on.
 *
 * A pool may be made and used from any thread; it serves one writer and one reader in its life. Until it is opened it
 * may be carried through `fork()` and opened in either process.
 *
 * ```c
 * g_autoptr (ArenaPool) pool = arena_pool_new (4 << 20, 4, &error);
 *
 * if (pool == NULL)
 *   g_printerr ("%s\n", error->message);
 * ```
 *
 * Since: 0.1
 */
struct _ArenaPool
{
  GObject       parent_instance;
  guint64       segment_size; /* construct-only */
  guint         count; /* construct-only */
  ArenaReuse    reuse; /* construct-only */
  char         *label; /* construct-only, nullable */
  gboolean      read_only; /* construct-only */
  ArenaOversize oversize; /* construct-only */
  gboolean      pin_memory; /* construct-only */
  ArenaStorage *storage; /* NULL until initialised */
};

enum
{
  PROP_SEGMENT_SIZE = 1,
  PROP_COUNT,
  PROP_REUSE,
  PROP_LABEL,
  PROP_READ_ONLY,
  PROP_OVERSIZE,
  PROP_PIN_MEMORY,
  N_PROPERTIES,
};

static GParamSpec *properties[N_PROPERTIES];

static void arena_pool_initable_iface_init (GInitableIface *iface);
static void arena_pool_backend_iface_init (ArenaBackendInterface *iface);

G_DEFINE_FINAL_TYPE_WITH_CODE (ArenaPool, arena_pool, G_TYPE_OBJECT,
                               G_IMPLEMENT_INTERFACE (G_TYPE_INITABLE, arena_pool_initable_iface_init)
                               G_IMPLEMENT_INTERFACE (ARENA_TYPE_BACKEND, arena_pool_backend_iface_init))

static gboolean
arena_pool_initable_init (GInitable     *initable,
                          GCancellable  *cancellable,
                          GError       **error)
{
  ArenaPool *self = ARENA_POOL (initable);
  ArenaGeometry geometry;

  if (self->storage != NULL)
    return TRUE;

  if (!arena_geometry_init_pool (&geometry, self->segment_size, self->count, error))
    return FALSE;

  geometry.reuse = self->reuse;
  geometry.read_only = self->read_only;
  geometry.oversize = self->oversize;
  self->storage = arena_storage_new (&geometry, self->label, cancellable, error);
  if (self->storage == NULL)
    return FALSE;

  self->storage->pin_memory = self->pin_memory;
  return TRUE;
}

static gboolean
arena_pool_load (ArenaBackend *backend,
                 GVariant     *state,
                 GUnixFDList  *fds,
                 GError      **error)
{
  ArenaPool *self = ARENA_POOL (backend);
  const ArenaGeometry *geometry;

  if (self->storage != NULL)
    {
      g_set_error_literal (error, ARENA_ERROR, ARENA_ERROR_INVALID_STATE,
                           "This pool has storage already; load into a new object, without init()");
      return FALSE;
    }

  self->storage = arena_storage_load (ARENA_KIND_POOL, state, fds, error);
  if (self->storage == NULL)
    return FALSE;

  geometry = &self->storage->channel->geometry;
  self->segment_size = geometry->segment_size;
  self->count = (guint) geometry->n_segments;
  self->reuse = geometry->reuse;
  self->read_only = geometry->read_only;
  self->oversize = geometry->oversize;
  return TRUE;
}

static void
arena_pool_get_property (GObject    *object,
                         guint       property_id,
                         GValue     *value,
                         GParamSpec *pspec)
{
  ArenaPool *self = ARENA_POOL (object);

  switch (property_id)
    {
    case PROP_SEGMENT_SIZE:
      g_value_set_uint64 (value, self->segment_size);
      break;
    case PROP_COUNT:
      g_value_set_uint (value, self->count);
      break;
    case PROP_REUSE:
      g_value_set_enum (value, (gint) self->reuse);
      break;
    case PROP_LABEL:
      g_value_set_string (value, self->label);
      break;
    case PROP_PIN_MEMORY:
      g_value_set_boolean (value, self->pin_memory);
      break;
    case PROP_READ_ONLY:
      g_value_set_boolean (value, self->read_only);
      break;
    case PROP_OVERSIZE:
      g_value_set_enum (value, (gint) self->oversize);
      break;
    default:
      G_OBJECT_WARN_INVALID_PROPERTY_ID (object, property_id, pspec);
    }
}

static void
arena_pool_set_property (GObject      *object,
                         guint         property_id,
                         const GValue *value,
                         GParamSpec   *pspec)
{
  ArenaPool *self = ARENA_POOL (object);

  switch (property_id)
    {
    case PROP_SEGMENT_SIZE:
      self->segment_size = g_value_get_uint64 (value);
      break;
    case PROP_COUNT:
      self->count = g_value_get_uint (value);
      break;
    case PROP_REUSE:
      self->reuse = (ArenaReuse) g_value_get_enum (value);
      break;
    case PROP_LABEL:
      self->label = g_value_dup_string (value);
      break;
    case PROP_PIN_MEMORY:
      self->pin_memory = g_value_get_boolean (value);
      break;
    case PROP_READ_ONLY:
      self->read_only = g_value_get_boolean (value);
      break;
    case PROP_OVERSIZE:
      self->oversize = (ArenaOversize) g_value_get_enum (value);
      break;
    default:
      G_OBJECT_WARN_INVALID_PROPERTY_ID (object, property_id, pspec);
    }
}

static void
arena_pool_finalize (GObject *object)
{
  ArenaPool *self = ARENA_POOL (object);

  g_clear_pointer (&self->storage, arena_storage_unref);
  g_free (self->label);

  G_OBJECT_CLASS (arena_pool_parent_class)->finalize (object);
}

static void
arena_pool_class_init (ArenaPoolClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);

  object_class->get_property = arena_pool_get_property;
  object_class->set_property = arena_pool_set_property;
  object_class->finalize = arena_pool_finalize;

  /**
   * ArenaPool:segment-size: (getter get_segment_size)
   *
   * How many bytes of a unit a segment can hold, from 1; together the segments have at most 2^46 bytes.
   *
   * Since: 0.1
   */
  properties[PROP_SEGMENT_SIZE] =
    g_param_spec_uint64 ("segment-size", NULL, NULL, 0, G_MAXUINT64, 0,
                         G_PARAM_READWRITE | G_PARAM_CONSTRUCT_ONLY | G_PARAM_STATIC_STRINGS);

  /**
   * ArenaPool:count: (getter get_count)
   *
   * How many segments there are, from 1 to 65536.
   *
   * Since: 0.1
   */
  properties[PROP_COUNT] =
    g_param_spec_uint ("count", NULL, NULL, 0, G_MAXUINT, 0,
                       G_PARAM_READWRITE | G_PARAM_CONSTRUCT_ONLY | G_PARAM_STATIC_STRINGS);

  /**
   * ArenaPool:reuse: (getter get_reuse)
   *
   * Which segment the producer takes next.
   *
   * In order, memory is used evenly and the unit that stops the producer is always the oldest one. A consumer that keeps
   * single units for long, out of many, wants `ARENA_REUSE_ANY`.
   *
   * Since: 0.1
   */
  properties[PROP_REUSE] =
    g_param_spec_enum ("reuse", NULL, NULL, ARENA_TYPE_REUSE, ARENA_REUSE_IN_ORDER,
                       G_PARAM_READWRITE | G_PARAM_CONSTRUCT_ONLY | G_PARAM_STATIC_STRINGS);

  /**
   * ArenaPool:label: (getter get_label)
   *
   * What the memory is called in `/proc/PID/maps` of both processes, as `memfd:arena-LABEL`; `NULL` for `pool`.
   *
   * It tells people and their tools which pool takes what, and is nothing that could be opened. There, characters other
   * than ASCII letters, digits, `-`, `_` and `.` are shown as `_`, and what is longer than 64 bytes is cut.
   *
   * Since: 0.1
   */
  properties[PROP_LABEL] =
    g_param_spec_string ("label", NULL, NULL, NULL,
                         G_PARAM_READWRITE | G_PARAM_CONSTRUCT_ONLY | G_PARAM_STATIC_STRINGS);

  /**
   * ArenaPool:read-only: (getter get_read_only)
   *
   * Whether the consumer can't write to what it reads.
   *
   * By default both processes map the memory writable, and a consumer may change what it has received in place. In a
   * read-only pool the consumer never has the memory mapped writable and nobody but the producer's process ever can: a
   * write through a view ends the process with a segmentation fault. Its writer has to be another process's producer;
   * [method@Arena.Backend.open_writer] says `ARENA_ERROR_NOT_SUPPORTED`.
   *
   * Since: 0.1
   */
  properties[PROP_READ_ONLY] =
    g_param_spec_boolean ("read-only", NULL, NULL, FALSE,
                          G_PARAM_READWRITE | G_PARAM_CONSTRUCT_ONLY | G_PARAM_STATIC_STRINGS);

  /**
   * ArenaPool:oversize: (getter get_oversize)
   *
   * What becomes of a field for which its unit's segment has no room left.
   *
   * With `ARENA_OVERSIZE_SPILL` it travels in memory of its own: a memory file made for this one unit, whose descriptor
   * the producer sends to its consumer, and which goes with the last view of it. That saves the unit that is larger than
   * all that were planned for; but it costs system calls and fresh memory, which the pool's size doesn't bound. Where
   * it happens often, larger segments are better; [method@Arena.Stats.get_spilled_bytes] tells. The consumer may change
   * such bytes where it may change those in the pool.
   *
   * It takes a [class@Arena.Producer] and its consumer. For a writer that was opened without them such a field is
   * `ARENA_ERROR_NOT_SUPPORTED`: an application's own queue carries no descriptors.
   *
   * Since: 0.1
   */
  properties[PROP_OVERSIZE] =
    g_param_spec_enum ("oversize", NULL, NULL, ARENA_TYPE_OVERSIZE, ARENA_OVERSIZE_ERROR,
                       G_PARAM_READWRITE | G_PARAM_CONSTRUCT_ONLY | G_PARAM_STATIC_STRINGS);

  /**
   * ArenaPool:pin-memory: (getter get_pin_memory)
   *
   * Whether the consumer pins the pool for a CUDA device, which can then copy from its views without another copy in
   * between.
   *
   * The consumer opens CUDA when it is constructed, with the device that `LOCAL_RANK` names, brings all segments into
   * memory and registers each once; that fails as a whole with an [error@Arena.CudaError]. A read-only pool is
   * registered when its first unit arrives. Making the pool, forking before there is a consumer, and the producer don't
   * touch CUDA.
   *
   * Closing unregisters the memory, where no view is kept; if that fails, it stays pinned and mapped, and closing again
   * tries again. Views that are kept stay pinned. What is still pinned when the last view and the last object are gone is
   * unregistered by the next use of pinned memory in this process, because finalizers don't call CUDA.
   *
   * Since: 0.1
   */
  properties[PROP_PIN_MEMORY] =
    g_param_spec_boolean ("pin-memory", NULL, NULL, FALSE,
                          G_PARAM_READWRITE | G_PARAM_CONSTRUCT_ONLY | G_PARAM_STATIC_STRINGS);

  g_object_class_install_properties (object_class, N_PROPERTIES, properties);
}

static void
arena_pool_initable_iface_init (GInitableIface *iface)
{
  iface->init = arena_pool_initable_init;
}

static void
arena_pool_backend_iface_init (ArenaBackendInterface *iface)
{
  arena_storage_implement_backend (iface);
  iface->load = arena_pool_load;
}

static void
arena_pool_init (ArenaPool *self)
{
}

/**
 * arena_pool_new:
 * @segment_size: how many bytes of a unit a segment can hold
 * @count: how many segments there are, up to 65536
 * @error: return location for an error, or `NULL`
 *
 * Creates a pool and reserves its memory.
 *
 * The memory is reserved at once, which takes about a second for 4 GiB; `g_initable_new()` lets you cancel that.
 *
 * May be called from any thread. Errors: `ARENA_ERROR_INVALID_ARGUMENT` for a size or count of 0 or above its limit,
 * `ARENA_ERROR_NO_SPACE` where a limit of the system leaves no room (the message names it, with both numbers),
 * `ARENA_ERROR_NOT_SUPPORTED`.
 *
 * Returns: (transfer full): the pool, or `NULL` with @error set
 *
 * Since: 0.1
 */
ArenaPool *
arena_pool_new (gsize    segment_size,
                guint    count,
                GError **error)
{
  g_return_val_if_fail (error == NULL || *error == NULL, NULL);

  return g_initable_new (ARENA_TYPE_POOL, NULL, error,
                         "segment-size", (guint64) segment_size,
                         "count", count,
                         NULL);
}

/**
 * arena_pool_get_segment_size: (get-property segment-size)
 * @self: a pool
 *
 * Gets how many bytes of a unit a segment can hold.
 *
 * May be called from any thread.
 *
 * Returns: the size in bytes
 *
 * Since: 0.1
 */
gsize
arena_pool_get_segment_size (ArenaPool *self)
{
  g_return_val_if_fail (ARENA_IS_POOL (self), 0);

  return (gsize) self->segment_size;
}

/**
 * arena_pool_get_count: (get-property count)
 * @self: a pool
 *
 * Gets how many segments there are.
 *
 * May be called from any thread.
 *
 * Returns: the number
 *
 * Since: 0.1
 */
guint
arena_pool_get_count (ArenaPool *self)
{
  g_return_val_if_fail (ARENA_IS_POOL (self), 0);

  return self->count;
}

/**
 * arena_pool_get_reuse: (get-property reuse)
 * @self: a pool
 *
 * Gets which segment the producer takes next.
 *
 * May be called from any thread.
 *
 * Returns: the policy
 *
 * Since: 0.1
 */
ArenaReuse
arena_pool_get_reuse (ArenaPool *self)
{
  g_return_val_if_fail (ARENA_IS_POOL (self), ARENA_REUSE_IN_ORDER);

  return self->reuse;
}

/**
 * arena_pool_get_label: (get-property label)
 * @self: a pool
 *
 * Gets what the pool's memory is called, as it was given.
 *
 * May be called from any thread.
 *
 * Returns: (transfer none) (nullable): the label
 *
 * Since: 0.1
 */
const char *
arena_pool_get_label (ArenaPool *self)
{
  g_return_val_if_fail (ARENA_IS_POOL (self), NULL);

  return self->label;
}

/**
 * arena_pool_get_read_only: (get-property read-only)
 * @self: a pool
 *
 * Gets whether the consumer can't write to what it reads.
 *
 * May be called from any thread.
 *
 * Returns: `TRUE` for a read-only pool
 *
 * Since: 0.1
 */
gboolean
arena_pool_get_read_only (ArenaPool *self)
{
  g_return_val_if_fail (ARENA_IS_POOL (self), FALSE);

  return self->read_only;
}

/**
 * arena_pool_get_oversize: (get-property oversize)
 * @self: a pool
 *
 * Gets what becomes of a field that doesn't fit.
 *
 * May be called from any thread.
 *
 * Returns: the policy
 *
 * Since: 0.1
 */
ArenaOversize
arena_pool_get_oversize (ArenaPool *self)
{
  g_return_val_if_fail (ARENA_IS_POOL (self), ARENA_OVERSIZE_ERROR);

  return self->oversize;
}

/**
 * arena_pool_get_pin_memory: (get-property pin-memory)
 * @self: a pool
 *
 * Gets whether the consumer pins the pool for a CUDA device.
 *
 * May be called from any thread.
 *
 * Returns: `TRUE` if it was asked for
 *
 * Since: 0.1
 */
gboolean
arena_pool_get_pin_memory (ArenaPool *self)
{
  g_return_val_if_fail (ARENA_IS_POOL (self), FALSE);

  return self->pin_memory;
}

/**
 * arena_pool_dup_stats:
 * @self: a pool
 *
 * Takes a snapshot of what the pool has done and what it occupies.
 *
 * May be called from any thread at any time, also after the arena was closed. In a forked child, and before the object
 * was initialised, all numbers are 0.
 *
 * Returns: (transfer full): the statistics
 *
 * Since: 0.1
 */
ArenaStats *
arena_pool_dup_stats (ArenaPool *self)
{
  g_return_val_if_fail (ARENA_IS_POOL (self), NULL);

  return self->storage != NULL ? arena_storage_dup_stats (self->storage) : arena_stats_new ();
}

ArenaStorage *
arena_pool_peek_storage (ArenaPool *self)
{
  return self->storage;
}
