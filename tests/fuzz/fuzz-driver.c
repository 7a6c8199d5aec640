/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "fuzz.h"

#include "arena-test.h"

#include <signal.h>
#include <string.h>
#include <unistd.h>

/* The same inputs in every run, so that a failure can be repeated: ARENA_FUZZ_SEED starts another sequence,
 * ARENA_FUZZ_RUNS makes it longer, and an abort or a crash prints the input in hexadecimal. Each input gets memory of
 * exactly its size, so that the address sanitizer sees the first byte too much. */

#define DEFAULT_RUNS 200000
#define MAX_GROWTH   256

static const guint64 interesting[] = {
  0, 1, 2, 7, 8, 63, 64, 65, 127, 128, 255, 256, 4095, 4096, 4097, 65535, 65536, 65537,
  G_MAXINT32, G_GUINT64_CONSTANT (0x80000000), G_MAXUINT32, G_GUINT64_CONSTANT (0x100000000),
  G_GUINT64_CONSTANT (1) << 46, (G_GUINT64_CONSTANT (1) << 53) - 1, G_MAXINT64,
  G_GUINT64_CONSTANT (1) << 63, G_MAXUINT64 - 63, G_MAXUINT64 - 8, G_MAXUINT64 - 1, G_MAXUINT64,
};

static GByteArray *current;

static guint64
from_environment (const char *name,
                  guint64     fallback)
{
  const char *text = g_getenv (name);

  return text != NULL ? g_ascii_strtoull (text, NULL, 10) : fallback;
}

/* In a signal handler, so by hand. */
static void
show_current (int number)
{
  const char *digits = "0123456789abcdef";

  (void) !write (STDERR_FILENO, "# input: ", 9);
  for (guint i = 0; i < current->len; i++)
    {
      const char pair[] = { digits[current->data[i] >> 4], digits[current->data[i] & 15] };

      (void) !write (STDERR_FILENO, pair, sizeof pair);
    }
  (void) !write (STDERR_FILENO, "\n", 1);
  raise (number);
}

static void
show_input_on (int number)
{
  const struct sigaction action = { .sa_handler = show_current, .sa_flags = (int) (SA_RESETHAND | SA_NODEFER) };

  g_assert_no_errno (sigaction (number, &action, NULL));
}

static void
run_current (void)
{
  g_autofree guint8 *exact = g_memdup2 (current->data, current->len);

  g_assert_cmpint (LLVMFuzzerTestOneInput (exact, current->len), ==, 0);
}

static void
set_current (GBytes *seed)
{
  gsize size;
  const guint8 *data = g_bytes_get_data (seed, &size);

  g_byte_array_set_size (current, 0);
  g_byte_array_append (current, data, (guint) size);
}

static guint
pick (GRand *rand,
      guint  below)
{
  return (guint) g_rand_int_range (rand, 0, (gint32) MAX (below, 1));
}

/* Overwrites 1, 2, 4 or 8 bytes, most often where a field would stand. */
static void
put_number (GRand  *rand,
            guint64 value)
{
  guint width = 1u << pick (rand, 4);
  guint at;

  if (current->len < width)
    return;

  at = pick (rand, current->len - width + 1);
  if (pick (rand, 4) > 0)
    at -= at % width;
  memcpy (current->data + at, &value, width);
}

static void
resize (GRand *rand)
{
  guint before = current->len;
  guint after = pick (rand, 2) == 0 ? pick (rand, before + 1) : before + pick (rand, MAX_GROWTH);

  g_byte_array_set_size (current, after);
  for (guint i = before; i < after; i++)
    current->data[i] = (guint8) g_rand_int (rand);
}

static void
splice (GRand  *rand,
        GBytes *other)
{
  gsize size;
  const guint8 *data = g_bytes_get_data (other, &size);
  guint from;
  guint length;

  if (size == 0 || current->len == 0)
    return;

  from = pick (rand, (guint) MIN (size, current->len));
  length = pick (rand, (guint) MIN (size, current->len) - from) + 1;
  memcpy (current->data + from, data + from, length);
}

static void
mutate (GRand     *rand,
        GPtrArray *seeds)
{
  guint64 number = (guint64) g_rand_int (rand) << 32 | g_rand_int (rand);

  switch (pick (rand, 6))
    {
    case 0:
      if (current->len > 0)
        current->data[pick (rand, current->len)] ^= (guint8) (1u << pick (rand, 8));
      break;
    case 1:
      put_number (rand, number);
      break;
    case 2:
      resize (rand);
      break;
    case 3:
      splice (rand, g_ptr_array_index (seeds, pick (rand, seeds->len)));
      break;
    default:
      put_number (rand, interesting[pick (rand, G_N_ELEMENTS (interesting))]);
      break;
    }
}

static void
test_seeds (void)
{
  g_autoptr (GPtrArray) seeds = fuzz_seeds ();

  g_assert_cmpuint (seeds->len, >, 0);
  for (guint i = 0; i < seeds->len; i++)
    {
      set_current (g_ptr_array_index (seeds, i));
      run_current ();
    }
}

static void
test_every_length (void)
{
  g_autoptr (GPtrArray) seeds = fuzz_seeds ();

  for (guint i = 0; i < seeds->len; i++)
    for (gsize size = 0; size <= g_bytes_get_size (g_ptr_array_index (seeds, i)); size++)
      {
        set_current (g_ptr_array_index (seeds, i));
        g_byte_array_set_size (current, (guint) size);
        run_current ();
      }
}

static void
test_every_byte (void)
{
  const guint8 values[] = { 0x00, 0x01, 0x7f, 0x80, 0xff };
  g_autoptr (GPtrArray) seeds = fuzz_seeds ();

  for (guint i = 0; i < seeds->len; i++)
    for (gsize at = 0; at < g_bytes_get_size (g_ptr_array_index (seeds, i)); at++)
      for (guint v = 0; v < G_N_ELEMENTS (values); v++)
        {
          set_current (g_ptr_array_index (seeds, i));
          current->data[at] = values[v];
          run_current ();
        }
}

static void
test_mutations (void)
{
  g_autoptr (GPtrArray) seeds = fuzz_seeds ();
  guint64 n_runs = from_environment ("ARENA_FUZZ_RUNS", DEFAULT_RUNS);
  guint32 seed = (guint32) from_environment ("ARENA_FUZZ_SEED", 1);
  GRand *rand = g_rand_new_with_seed (seed);

  g_test_message ("ARENA_FUZZ_SEED=%u ARENA_FUZZ_RUNS=%" G_GUINT64_FORMAT, seed, n_runs);
  for (guint64 run = 0; run < n_runs; run++)
    {
      guint n_steps = 1 + pick (rand, 4);

      set_current (g_ptr_array_index (seeds, pick (rand, seeds->len)));
      for (guint step = 0; step < n_steps; step++)
        mutate (rand, seeds);
      run_current ();
    }

  g_rand_free (rand);
}

static void
add (const char *promise,
     void      (*func) (void))
{
  g_autofree char *path = g_strdup_printf ("/arena/fuzz-%s/%s", fuzz_name, promise);

  arena_test_add (path, func);
}

int
main (int    argc,
      char **argv)
{
  int result;

  arena_test_init (&argc, &argv);
  current = g_byte_array_new ();
  show_input_on (SIGABRT);
  show_input_on (SIGSEGV);
  add ("seeds", test_seeds);
  add ("every-length", test_every_length);
  add ("every-byte", test_every_byte);
  add ("mutations", test_mutations);
  result = g_test_run ();
  g_byte_array_unref (current);
  return result;
}
