/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "unit/arena-unit-box-private.h"
#include "unit/arena-unit-private.h"

G_BEGIN_DECLS

/* Inside of a unit, shared by its two files. */
struct _ArenaUnit
{
  GObject parent_instance;

  guint64 sequence;
  guint64 epoch;
  guint generation; /* of the process that received it */
  gboolean read_only;
  ArenaUnitBox *box;
};

G_END_DECLS
