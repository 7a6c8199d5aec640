/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "unit/arena-unit-contents-private.h"

#include "memory/arena-fork-private.h"

/* A unit is numbers and a box; everything that can go wrong between threads is in arena-unit-box.c. What a peer wrote
 * was checked whole before a unit exists, so nothing here checks an envelope. */

/**
 * ArenaUnit:
 *
 * Holds what one iteration of a producer yielded: fields, perhaps a value and a payload.
 *
 * The bytes of a field are where the producer wrote them. [method@Arena.Unit.dup_bytes] gives out a view, and the place
 * in the arena is used again only when the unit was released and the last view of a large field is gone. A view owns
 * that storage, not the unit: it may outlive the unit and the arena's end.
 *
 * Languages with a garbage collector should call [method@Arena.Unit.release] as soon as they can, for a collector knows
 * nothing of the arena that waits for it.
 *
 * A unit never changes, and may be used from any thread. In a forked child every call that can fail is
 * `ARENA_ERROR_FORKED`.
 *
 * ```c
 * while ((unit = arena_consumer_next (consumer, -1, NULL, &error)) != NULL)
 *   {
 *     g_autoptr (GBytes) image = arena_unit_dup_bytes (unit, 0, &error);
 *
 *     use_image (image);
 *     g_object_unref (unit);
 *   }
 * ```
 *
 * Since: 0.1
 */
G_DEFINE_FINAL_TYPE (ArenaUnit, arena_unit, G_TYPE_OBJECT)

enum
{
  PROP_SEQUENCE = 1,
  PROP_EPOCH,
  PROP_N_FIELDS,
  PROP_N_EXPORTS,
  PROP_READ_ONLY,
  PROP_RELEASED,
  N_PROPS,
};

#define PROP_FLAGS (G_PARAM_READABLE | G_PARAM_STATIC_STRINGS)

static GParamSpec *props[N_PROPS];

static void
arena_unit_dispose (GObject *object)
{
  arena_unit_release (ARENA_UNIT (object));

  G_OBJECT_CLASS (arena_unit_parent_class)->dispose (object);
}

static void
arena_unit_finalize (GObject *object)
{
  ArenaUnit *self = ARENA_UNIT (object);

  g_clear_pointer (&self->box, arena_unit_box_unref);

  G_OBJECT_CLASS (arena_unit_parent_class)->finalize (object);
}

static void
arena_unit_get_property (GObject    *object,
                         guint       prop_id,
                         GValue     *value,
                         GParamSpec *pspec)
{
  ArenaUnit *self = ARENA_UNIT (object);

  switch (prop_id)
    {
    case PROP_SEQUENCE:
      g_value_set_uint64 (value, arena_unit_get_sequence (self));
      break;
    case PROP_EPOCH:
      g_value_set_uint64 (value, arena_unit_get_epoch (self));
      break;
    case PROP_N_FIELDS:
      g_value_set_uint (value, arena_unit_get_n_fields (self));
      break;
    case PROP_N_EXPORTS:
      g_value_set_uint (value, arena_unit_get_n_exports (self));
      break;
    case PROP_READ_ONLY:
      g_value_set_boolean (value, arena_unit_get_read_only (self));
      break;
    case PROP_RELEASED:
      g_value_set_boolean (value, arena_unit_get_released (self));
      break;
    default:
      G_OBJECT_WARN_INVALID_PROPERTY_ID (object, prop_id, pspec);
    }
}

static void
install_properties (GObjectClass *object_class)
{
  /**
   * ArenaUnit:sequence:
   *
   * Counts the units of a boundary, from 0 and below 2^53; it goes on through its epochs.
   *
   * Since: 0.1
   */
  props[PROP_SEQUENCE] = g_param_spec_uint64 ("sequence", NULL, NULL, 0, G_MAXUINT64, 0, PROP_FLAGS);

  /**
   * ArenaUnit:epoch:
   *
   * Says which iteration the unit belongs to, from 1.
   *
   * Since: 0.1
   */
  props[PROP_EPOCH] = g_param_spec_uint64 ("epoch", NULL, NULL, 0, G_MAXUINT64, 0, PROP_FLAGS);

  /**
   * ArenaUnit:n-fields:
   *
   * Counts the fields.
   *
   * Since: 0.1
   */
  props[PROP_N_FIELDS] = g_param_spec_uint ("n-fields", NULL, NULL, 0, G_MAXUINT, 0, PROP_FLAGS);

  /**
   * ArenaUnit:n-exports:
   *
   * Counts the views of the unit's fields that are alive. It is not notified.
   *
   * Since: 0.1
   */
  props[PROP_N_EXPORTS] = g_param_spec_uint ("n-exports", NULL, NULL, 0, G_MAXUINT, 0, PROP_FLAGS);

  /**
   * ArenaUnit:read-only:
   *
   * Says whether the unit came through a read-only pool: see [method@Arena.Unit.get_read_only].
   *
   * Since: 0.1
   */
  props[PROP_READ_ONLY] = g_param_spec_boolean ("read-only", NULL, NULL, FALSE, PROP_FLAGS);

  /**
   * ArenaUnit:released:
   *
   * Says whether [method@Arena.Unit.release] was called. It is not notified.
   *
   * Since: 0.1
   */
  props[PROP_RELEASED] = g_param_spec_boolean ("released", NULL, NULL, FALSE, PROP_FLAGS);

  g_object_class_install_properties (object_class, N_PROPS, props);
}

static void
arena_unit_class_init (ArenaUnitClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);

  object_class->dispose = arena_unit_dispose;
  object_class->finalize = arena_unit_finalize;
  object_class->get_property = arena_unit_get_property;
  install_properties (object_class);
}

static void
arena_unit_init (ArenaUnit *self)
{
}

ArenaUnit *
arena_unit_new (guint64   sequence,
                guint64   epoch,
                guint8   *envelope,
                gsize     envelope_size,
                GBytes   *storage,
                GBytes   *spill,
                GError  **error)
{
  ArenaUnitBox *box = arena_unit_box_new (envelope, envelope_size, storage, spill, error);
  ArenaUnit *self;

  if (box == NULL)
    return NULL;

  self = g_object_new (ARENA_TYPE_UNIT, NULL);
  self->sequence = sequence;
  self->epoch = epoch;
  self->generation = arena_fork_generation ();
  self->box = box;
  return self;
}

void
arena_unit_set_read_only (ArenaUnit *self)
{
  self->read_only = TRUE;
}

/**
 * arena_unit_get_sequence:
 * @self: a unit
 *
 * Gets the unit's number.
 *
 * Returns: the number; it counts the units of a boundary, from 0
 *
 * Since: 0.1
 */
guint64
arena_unit_get_sequence (ArenaUnit *self)
{
  g_return_val_if_fail (ARENA_IS_UNIT (self), 0);

  return self->sequence;
}

/**
 * arena_unit_get_epoch:
 * @self: a unit
 *
 * Gets the iteration that the unit belongs to.
 *
 * Returns: the epoch, from 1
 *
 * Since: 0.1
 */
guint64
arena_unit_get_epoch (ArenaUnit *self)
{
  g_return_val_if_fail (ARENA_IS_UNIT (self), 0);

  return self->epoch;
}

/**
 * arena_unit_get_n_fields:
 * @self: a unit
 *
 * Gets how many fields the unit has.
 *
 * Returns: the number of fields, at most 4096
 *
 * Since: 0.1
 */
guint
arena_unit_get_n_fields (ArenaUnit *self)
{
  g_return_val_if_fail (ARENA_IS_UNIT (self), 0);

  return self->box != NULL ? self->box->envelope.header->n_fields : 0;
}

/**
 * arena_unit_get_n_exports:
 * @self: a unit
 *
 * Gets how many views of the unit's fields are alive.
 *
 * Each [struct@GLib.Bytes] from [method@Arena.Unit.dup_bytes] counts as one, until its last reference is dropped.
 * Another thread may change the number at any time.
 *
 * Returns: the number of views
 *
 * Since: 0.1
 */
guint
arena_unit_get_n_exports (ArenaUnit *self)
{
  g_return_val_if_fail (ARENA_IS_UNIT (self), 0);

  return self->box != NULL ? arena_unit_box_get_n_views (self->box) : 0;
}

/**
 * arena_unit_get_read_only:
 * @self: a unit
 *
 * Gets whether the unit came through an [class@Arena.Pool] that is [property@Arena.Pool:read-only].
 *
 * Writing to its fields then ends the process. A small field is a copy, but should be left alone as well.
 *
 * Returns: `TRUE` where nobody may write to its fields
 *
 * Since: 0.1
 */
gboolean
arena_unit_get_read_only (ArenaUnit *self)
{
  g_return_val_if_fail (ARENA_IS_UNIT (self), FALSE);

  return self->read_only;
}

/**
 * arena_unit_get_released:
 * @self: a unit
 *
 * Gets whether the unit was released.
 *
 * Returns: `TRUE` after [method@Arena.Unit.release]
 *
 * Since: 0.1
 */
gboolean
arena_unit_get_released (ArenaUnit *self)
{
  g_return_val_if_fail (ARENA_IS_UNIT (self), TRUE);

  return self->box == NULL || arena_unit_box_is_released (self->box);
}

/**
 * arena_unit_release:
 * @self: a unit
 *
 * Gives the unit's place in the arena back, as soon as no view needs it.
 *
 * Views stay valid; the place is free when the last one is dropped. Afterwards the unit has only its numbers and names,
 * and other calls are `ARENA_ERROR_INVALID_STATE`. A second call does nothing. This takes no lock and may be called
 * from any thread; dropping the last reference does the same.
 *
 * Since: 0.1
 */
void
arena_unit_release (ArenaUnit *self)
{
  g_return_if_fail (ARENA_IS_UNIT (self));

  if (self->box != NULL)
    arena_unit_box_release (self->box);
}
