/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "backend/arena-ring-private.h"

#include "backend/arena-stats-private.h"
#include "base/arena-error-private.h"

/* Sizes and storage are set before anyone else can see the object, and constant from then on; what changes later is in
 * the storage, which any thread may use. */

/**
 * ArenaRing:
 *
 * An arena of first-in-first-out bytes, that a consumer reads as copies of its own.
 *
 * All of its memory is reserved when it is made, so there is none to run out of later. Units take as many bytes as they
 * need, each rounded up to a multiple of 64, and never more than `capacity` are in use; each field starts at a multiple
 * of 64 bytes from its unit's start, so one field of exactly `capacity` bytes fits, wherever the ring stands. What the
 * consumer reads are copies, so keeping them occupies ordinary memory and not the ring.
 *
 * A ring may be made and used from any thread; it serves one writer and one reader in its life. Until it is opened it
 * may be carried through `fork()` and opened in either process.
 *
 * ```c
 * g_autoptr (ArenaRing) ring = arena_ring_new (16 << 20, &error);
 *
 * if (ring == NULL)
 *   g_printerr ("%s\n", error->message);
 * ```
 *
 * Since: 0.1
 */
struct _ArenaRing
{
  GObject       parent_instance;
  guint64       capacity; /* construct-only */
  char         *label; /* construct-only, nullable */
  ArenaOversize oversize; /* construct-only */
  gboolean      pin_memory; /* construct-only */
  ArenaStorage *storage; /* NULL until initialised */
};

enum
{
  PROP_CAPACITY = 1,
  PROP_LABEL,
  PROP_OVERSIZE,
  PROP_PIN_MEMORY,
  N_PROPERTIES,
};

static GParamSpec *properties[N_PROPERTIES];

static void arena_ring_initable_iface_init (GInitableIface *iface);
static void arena_ring_backend_iface_init (ArenaBackendInterface *iface);

G_DEFINE_FINAL_TYPE_WITH_CODE (ArenaRing, arena_ring, G_TYPE_OBJECT,
                               G_IMPLEMENT_INTERFACE (G_TYPE_INITABLE, arena_ring_initable_iface_init)
                               G_IMPLEMENT_INTERFACE (ARENA_TYPE_BACKEND, arena_ring_backend_iface_init))

static gboolean
arena_ring_initable_init (GInitable     *initable,
                          GCancellable  *cancellable,
                          GError       **error)
{
  ArenaRing *self = ARENA_RING (initable);
  ArenaGeometry geometry;

  if (self->storage != NULL)
    return TRUE;

  if (!arena_geometry_init_ring (&geometry, self->capacity, error))
    return FALSE;

  geometry.oversize = self->oversize;
  self->storage = arena_storage_new (&geometry, self->label, cancellable, error);
  if (self->storage == NULL)
    return FALSE;

  self->storage->pin_memory = self->pin_memory;
  return TRUE;
}

static gboolean
arena_ring_load (ArenaBackend *backend,
                 GVariant     *state,
                 GUnixFDList  *fds,
                 GError      **error)
{
  ArenaRing *self = ARENA_RING (backend);

  if (self->storage != NULL)
    {
      g_set_error_literal (error, ARENA_ERROR, ARENA_ERROR_INVALID_STATE,
                           "This ring has storage already; load into a new object, without init()");
      return FALSE;
    }

  self->storage = arena_storage_load (ARENA_KIND_RING, state, fds, error);
  if (self->storage == NULL)
    return FALSE;

  self->capacity = self->storage->channel->geometry.capacity;
  self->oversize = self->storage->channel->geometry.oversize;
  return TRUE;
}

static void
arena_ring_get_property (GObject    *object,
                         guint       property_id,
                         GValue     *value,
                         GParamSpec *pspec)
{
  ArenaRing *self = ARENA_RING (object);

  switch (property_id)
    {
    case PROP_CAPACITY:
      g_value_set_uint64 (value, self->capacity);
      break;
    case PROP_LABEL:
      g_value_set_string (value, self->label);
      break;
    case PROP_OVERSIZE:
      g_value_set_enum (value, (gint) self->oversize);
      break;
    case PROP_PIN_MEMORY:
      g_value_set_boolean (value, self->pin_memory);
      break;
    default:
      G_OBJECT_WARN_INVALID_PROPERTY_ID (object, property_id, pspec);
    }
}

static void
arena_ring_set_property (GObject      *object,
                         guint         property_id,
                         const GValue *value,
                         GParamSpec   *pspec)
{
  ArenaRing *self = ARENA_RING (object);

  switch (property_id)
    {
    case PROP_CAPACITY:
      self->capacity = g_value_get_uint64 (value);
      break;
    case PROP_LABEL:
      self->label = g_value_dup_string (value);
      break;
    case PROP_OVERSIZE:
      self->oversize = (ArenaOversize) g_value_get_enum (value);
      break;
    case PROP_PIN_MEMORY:
      self->pin_memory = g_value_get_boolean (value);
      break;
    default:
      G_OBJECT_WARN_INVALID_PROPERTY_ID (object, property_id, pspec);
    }
}

static void
arena_ring_finalize (GObject *object)
{
  ArenaRing *self = ARENA_RING (object);

  g_clear_pointer (&self->storage, arena_storage_unref);
  g_free (self->label);

  G_OBJECT_CLASS (arena_ring_parent_class)->finalize (object);
}

static void
arena_ring_class_init (ArenaRingClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);

  object_class->get_property = arena_ring_get_property;
  object_class->set_property = arena_ring_set_property;
  object_class->finalize = arena_ring_finalize;

  /**
   * ArenaRing:capacity: (getter get_capacity)
   *
   * How many bytes of units may be in use at a time, from 1 to 2^46.
   *
   * Since: 0.1
   */
  properties[PROP_CAPACITY] =
    g_param_spec_uint64 ("capacity", NULL, NULL, 0, G_MAXUINT64, 0,
                         G_PARAM_READWRITE | G_PARAM_CONSTRUCT_ONLY | G_PARAM_STATIC_STRINGS);

  /**
   * ArenaRing:label: (getter get_label)
   *
   * What the memory is called in `/proc/PID/maps` of both processes, as `memfd:arena-LABEL`; `NULL` for `ring`.
   *
   * It tells people and their tools which ring takes what, and is nothing that could be opened. There, characters other
   * than ASCII letters, digits, `-`, `_` and `.` are shown as `_`, and what is longer than 64 bytes is cut.
   *
   * Since: 0.1
   */
  properties[PROP_LABEL] =
    g_param_spec_string ("label", NULL, NULL, NULL,
                         G_PARAM_READWRITE | G_PARAM_CONSTRUCT_ONLY | G_PARAM_STATIC_STRINGS);

  /**
   * ArenaRing:oversize: (getter get_oversize)
   *
   * What becomes of a field with which its unit would be larger than the capacity.
   *
   * With `ARENA_OVERSIZE_SPILL` it travels in memory of its own: a memory file made for this one unit, whose descriptor
   * the producer sends to its consumer, and which goes with the last view of it; it is not copied out. That saves the
   * unit that is larger than all that were planned for; but it costs system calls and fresh memory, which the capacity
   * doesn't bound. Where it happens often, a larger ring is better, and [method@Arena.Stats.get_spilled_bytes] tells.
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
   * ArenaRing:pin-memory: (getter get_pin_memory)
   *
   * Whether the copies that the consumer gets are in memory that is pinned for a CUDA device, which can then copy from them
   * without another copy in between.
   *
   * The consumer opens CUDA when it is constructed, with the device that `LOCAL_RANK` names, or fails with an
   * [error@Arena.CudaError]. The ring itself isn't pinned. Copies that are kept may take more pinned memory than the ring's
   * capacity.
   *
   * Since: 0.1
   */
  properties[PROP_PIN_MEMORY] =
    g_param_spec_boolean ("pin-memory", NULL, NULL, FALSE,
                          G_PARAM_READWRITE | G_PARAM_CONSTRUCT_ONLY | G_PARAM_STATIC_STRINGS);

  g_object_class_install_properties (object_class, N_PROPERTIES, properties);
}

static void
arena_ring_initable_iface_init (GInitableIface *iface)
{
  iface->init = arena_ring_initable_init;
}

static void
arena_ring_backend_iface_init (ArenaBackendInterface *iface)
{
  arena_storage_implement_backend (iface);
  iface->load = arena_ring_load;
}

static void
arena_ring_init (ArenaRing *self)
{
}

/**
 * arena_ring_new:
 * @capacity: how many bytes of units may be in use at a time
 * @error: return location for an error, or `NULL`
 *
 * Creates a ring and reserves its memory.
 *
 * The memory is reserved at once, which takes about a second for 4 GiB; `g_initable_new()` lets you cancel that. The
 * ring takes twice its size of address space.
 *
 * May be called from any thread. Errors: `ARENA_ERROR_INVALID_ARGUMENT` for a capacity of 0 or above its limit,
 * `ARENA_ERROR_NO_SPACE` where a limit of the system leaves no room (the message names it, with both numbers),
 * `ARENA_ERROR_NOT_SUPPORTED`.
 *
 * Returns: (transfer full): the ring, or `NULL` with @error set
 *
 * Since: 0.1
 */
ArenaRing *
arena_ring_new (gsize    capacity,
                GError **error)
{
  g_return_val_if_fail (error == NULL || *error == NULL, NULL);

  return g_initable_new (ARENA_TYPE_RING, NULL, error,
                         "capacity", (guint64) capacity,
                         NULL);
}

/**
 * arena_ring_get_capacity: (get-property capacity)
 * @self: a ring
 *
 * Gets how many bytes of units may be in use at a time.
 *
 * May be called from any thread.
 *
 * Returns: the size in bytes
 *
 * Since: 0.1
 */
gsize
arena_ring_get_capacity (ArenaRing *self)
{
  g_return_val_if_fail (ARENA_IS_RING (self), 0);

  return (gsize) self->capacity;
}

/**
 * arena_ring_get_label: (get-property label)
 * @self: a ring
 *
 * Gets what the ring's memory is called, as it was given.
 *
 * May be called from any thread.
 *
 * Returns: (transfer none) (nullable): the label
 *
 * Since: 0.1
 */
const char *
arena_ring_get_label (ArenaRing *self)
{
  g_return_val_if_fail (ARENA_IS_RING (self), NULL);

  return self->label;
}

/**
 * arena_ring_get_oversize: (get-property oversize)
 * @self: a ring
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
arena_ring_get_oversize (ArenaRing *self)
{
  g_return_val_if_fail (ARENA_IS_RING (self), ARENA_OVERSIZE_ERROR);

  return self->oversize;
}

/**
 * arena_ring_get_pin_memory: (get-property pin-memory)
 * @self: a ring
 *
 * Gets whether the consumer's copies are pinned for a CUDA device.
 *
 * May be called from any thread.
 *
 * Returns: `TRUE` if it was asked for
 *
 * Since: 0.1
 */
gboolean
arena_ring_get_pin_memory (ArenaRing *self)
{
  g_return_val_if_fail (ARENA_IS_RING (self), FALSE);

  return self->pin_memory;
}

/**
 * arena_ring_dup_stats:
 * @self: a ring
 *
 * Takes a snapshot of what the ring has done and what it occupies.
 *
 * May be called from any thread at any time, also after the arena was closed. In a forked child, and before the object
 * was initialised, all numbers are 0.
 *
 * Returns: (transfer full): the statistics
 *
 * Since: 0.1
 */
ArenaStats *
arena_ring_dup_stats (ArenaRing *self)
{
  g_return_val_if_fail (ARENA_IS_RING (self), NULL);

  return self->storage != NULL ? arena_storage_dup_stats (self->storage) : arena_stats_new ();
}

ArenaStorage *
arena_ring_peek_storage (ArenaRing *self)
{
  return self->storage;
}
