/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "native-private.h"

/* The functions of the module, as arena/_plain.py has them. */

PyObject *native_send       (PyObject         *module,
                             PyObject *const  *arguments,
                             Py_ssize_t        n_arguments);
PyObject *native_receive    (PyObject         *module,
                             PyObject *const  *arguments,
                             Py_ssize_t        n_arguments);
PyObject *native_address_of (PyObject         *module,
                             PyObject         *data);
