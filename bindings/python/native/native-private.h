/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Python's macros come first: its headers ask for that. */
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <arena.h>

/* What the module keeps of Python. */
typedef struct
{
  PyTypeObject *storage_type;
  PyTypeObject *object_type;   /* GObject.Object */
  PyObject     *make_error;    /* (message, domain, code) -> exception */
  PyObject     *content_type;  /* bytes, of every payload */
} NativeState;
