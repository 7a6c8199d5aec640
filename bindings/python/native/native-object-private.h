/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "native-private.h"

/* The instance of @type that a Python object wraps, borrowed from it; NULL with a TypeError. */
gpointer native_object_get   (const NativeState *state,
                              PyObject          *object,
                              GType              type);

/* Takes @error over and raises it as the overrides do: a GLib.Error, of the class of its code. */
void     native_object_raise (const NativeState *state,
                              PyObject          *object,
                              GError            *error);
