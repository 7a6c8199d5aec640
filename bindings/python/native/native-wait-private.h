/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "native-private.h"

/* Python handles signals between two calls of C only, so waits are cut into slices. Times are in microseconds. */

typedef struct
{
  gint64 timeout;   /* as the caller gave it */
  gint64 end;       /* of the whole wait */
  gint64 longest;   /* slice */
  gint64 slice;     /* the timeout of the next call */
} NativeWait;

/* @more: by how much slices are to be longer than they need be for Ctrl-C to work. */
void     native_wait_init    (NativeWait  *self,
                              gint64       timeout,
                              gint64       more);
/* Whether a call that failed with @error, which is cleared then, is to be made again. If not, @error is left, or cleared
 * and an exception set. */
gboolean native_wait_goes_on (NativeWait  *self,
                              GError     **error);
