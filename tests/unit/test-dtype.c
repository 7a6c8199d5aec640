/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "unit/arena-dtype.h"

#include "arena-test.h"

static void
test_sizes (void)
{
  const struct
  {
    ArenaDType dtype;
    const char *name;
    guint size;
  } table[] = {
    { ARENA_DTYPE_INT8, "int8", 1 },         { ARENA_DTYPE_INT16, "int16", 2 },
    { ARENA_DTYPE_INT32, "int32", 4 },       { ARENA_DTYPE_INT64, "int64", 8 },
    { ARENA_DTYPE_UINT8, "uint8", 1 },       { ARENA_DTYPE_UINT16, "uint16", 2 },
    { ARENA_DTYPE_UINT32, "uint32", 4 },     { ARENA_DTYPE_UINT64, "uint64", 8 },
    { ARENA_DTYPE_FLOAT16, "float16", 2 },   { ARENA_DTYPE_FLOAT32, "float32", 4 },
    { ARENA_DTYPE_FLOAT64, "float64", 8 },   { ARENA_DTYPE_BFLOAT16, "bfloat16", 2 },
    { ARENA_DTYPE_COMPLEX64, "complex64", 8 }, { ARENA_DTYPE_COMPLEX128, "complex128", 16 },
    { ARENA_DTYPE_BOOL, "bool", 1 },
  };

  for (guint i = 0; i < G_N_ELEMENTS (table); i++)
    {
      g_assert_cmpstr (arena_dtype_get_name (table[i].dtype), ==, table[i].name);
      g_assert_cmpuint (arena_dtype_get_item_size (table[i].dtype), ==, table[i].size);
    }
}

/* One list for get_name(), one for the type system: they agree. */
static void
test_same_as_class (void)
{
  GEnumClass *klass = g_type_class_ref (ARENA_TYPE_DTYPE);

  g_assert_cmpuint (klass->n_values, ==, 15);
  for (guint i = 0; i < klass->n_values; i++)
    g_assert_cmpstr (arena_dtype_get_name ((ArenaDType) klass->values[i].value), ==, klass->values[i].value_nick);

  g_type_class_unref (klass);
}

static void
test_dlpack (void)
{
  g_assert_cmpint (ARENA_DTYPE_INT64, ==, 0 << 16 | 64 << 8 | 1);
  g_assert_cmpint (ARENA_DTYPE_FLOAT32, ==, 2 << 16 | 32 << 8 | 1);
  g_assert_cmpint (ARENA_DTYPE_BFLOAT16, ==, 4 << 16 | 16 << 8 | 1);
  g_assert_cmpint (ARENA_DTYPE_BOOL, ==, 6 << 16 | 8 << 8 | 1);
}

static void
test_unknown (void)
{
  /* Shaped like a DLPack type, but not sent by anybody: four lanes, 128-bit floats, an opaque handle. */
  const guint unknown[] = { 0, 1, 0x000804, 0x028001, 0x034001, 0x070801, 0x000901, 0xffffffff };

  for (guint i = 0; i < G_N_ELEMENTS (unknown); i++)
    {
      g_assert_null (arena_dtype_get_name ((ArenaDType) unknown[i]));
      g_assert_cmpuint (arena_dtype_get_item_size ((ArenaDType) unknown[i]), ==, 0);
    }
}

int
main (int    argc,
      char **argv)
{
  arena_test_init (&argc, &argv);
  arena_test_add ("/arena/dtype/sizes", test_sizes);
  arena_test_add ("/arena/dtype/same-as-class", test_same_as_class);
  arena_test_add ("/arena/dtype/dlpack", test_dlpack);
  arena_test_add ("/arena/dtype/unknown", test_unknown);
  return g_test_run ();
}
