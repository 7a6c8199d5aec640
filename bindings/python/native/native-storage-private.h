/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "native-private.h"

/* A buffer over the memory of a GBytes, which it keeps. */

PyTypeObject *native_storage_type_new (PyObject *module);

/* Takes @bytes over, also where it fails. */
PyObject     *native_storage_new      (PyTypeObject *type,
                                       GBytes       *bytes,
                                       gboolean      readonly);
