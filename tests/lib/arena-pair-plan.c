/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "arena-pair.h"

#include "base/arena-error.h"

#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* What the two programs have in common. A unit's number tells how many fields it has, how large each is and what stands
 * in it, so a unit that is torn, stale or not the next one is noticed. */

#define ROOM          16384
#define TRY_PAUSE_US  150
#define SHORT_WAIT_US 1500
#define DAWDLE_US     250

char *
arena_test_plan_to_text (const ArenaTestPlan *plan)
{
  GString *text = g_string_new (NULL);

#define X(name) g_string_append_printf (text, #name "=%u ", plan->name);
  ARENA_TEST_PLAN (X)
#undef X
  return g_strchomp (g_string_free (text, FALSE));
}

static void
set_word (ArenaTestPlan *plan,
          const char    *name,
          guint          value)
{
#define X(word)                                                                                                        \
  if (strcmp (name, #word) == 0)                                                                                       \
    {                                                                                                                  \
      plan->word = value;                                                                                              \
      return;                                                                                                          \
    }
  ARENA_TEST_PLAN (X)
#undef X
  g_error ("no \"%s\" in a plan", name);
}

void
arena_test_plan_from_text (ArenaTestPlan *plan,
                           const char    *text)
{
  g_auto (GStrv) words = g_strsplit (text, " ", -1);

  *plan = (ArenaTestPlan) { 0 };
  for (guint i = 0; words[i] != NULL; i++)
    {
      char *equals = strchr (words[i], '=');
      guint64 value;

      g_assert_nonnull (equals);
      *equals = '\0';
      g_assert_true (g_ascii_string_to_unsigned (equals + 1, 10, 0, G_MAXUINT, &value, NULL));
      set_word (plan, words[i], (guint) value);
    }
}

gboolean
arena_test_plan_may_die (const ArenaTestPlan *plan,
                         ArenaTestSide        side)
{
  return plan->victim == side || plan->victim == ARENA_TEST_BOTH_SIDES;
}

gsize
arena_test_plan_unit_size (const ArenaTestPlan *plan)
{
  return ROOM + ((gsize) plan->megabytes << 20) / plan->room;
}

static gboolean
is_large (const ArenaTestPlan *plan,
          guint64              unit)
{
  return plan->sizes == ARENA_TEST_SIZES_LARGE || (plan->sizes == ARENA_TEST_SIZES_MIXED && unit % 2 == 0);
}

guint
arena_test_plan_n_fields (const ArenaTestPlan *plan,
                          guint64              unit)
{
  return is_large (plan, unit) ? 3 : 1;
}

static gsize
field_size (const ArenaTestPlan *plan,
            guint64              unit,
            guint                field)
{
  if (!is_large (plan, unit) || field == 2)
    return 40 + (gsize) (unit * 7 % 60);

  if (field == 0 && plan->spill)
    return arena_test_plan_unit_size (plan) * plan->room + 1 + (gsize) (unit * 977 % 3000);

  return field == 0 ? 5000 + (gsize) (unit * 977 % 3000) : 4096 + (gsize) (unit * 131 % 2000);
}

static guint64
field_seed (guint64 unit,
            guint   field)
{
  return unit * 4 + field;
}

/* The second field is written in place, the others are copied. */
gint
arena_test_plan_append (const ArenaTestPlan *plan,
                        guint64              unit,
                        guint                field,
                        ArenaUnitBuilder    *builder,
                        GError             **error)
{
  gsize size = field_size (plan, unit, field);
  const guint64 shape[] = { size };
  g_autofree guint8 *copy = NULL;
  guint index = 0;

  if (field == 1)
    {
      g_autoptr (GBytes) bytes =
        arena_unit_builder_reserve (builder, NULL, ARENA_DTYPE_UINT8, shape, 1, &index, error);

      if (bytes == NULL)
        return -1;
      arena_test_fill_pattern ((gpointer) g_bytes_get_data (bytes, NULL), size, field_seed (unit, field));
      return (gint) index;
    }

  copy = g_malloc (size);
  arena_test_fill_pattern (copy, size, field_seed (unit, field));
  return arena_unit_builder_append_address (builder, NULL, ARENA_DTYPE_UINT8, shape, 1, (guint64) (guintptr) copy, size,
                                            NULL, 0, error);
}

void
arena_test_plan_check_unit (const ArenaTestPlan *plan,
                            ArenaUnit           *unit)
{
  guint64 number = arena_unit_get_sequence (unit);
  guint n_fields = arena_test_plan_n_fields (plan, number);

  g_assert_cmpuint (arena_unit_get_n_fields (unit), ==, n_fields);
  for (guint i = 0; i < n_fields; i++)
    {
      g_autoptr (GError) error = NULL;
      g_autoptr (GBytes) bytes = arena_unit_dup_bytes (unit, i, &error);

      g_assert_no_error (error);
      g_assert_cmpuint (g_bytes_get_size (bytes), ==, field_size (plan, number, i));
      g_assert_true (arena_test_check_pattern (g_bytes_get_data (bytes, NULL), g_bytes_get_size (bytes),
                                               field_seed (number, i)));
    }
}

gint64
arena_test_plan_timeout (const ArenaTestPlan *plan)
{
  switch (plan->waits)
    {
    case ARENA_TEST_WAITS_TRY:
      return 0;
    case ARENA_TEST_WAITS_SHORT:
      return SHORT_WAIT_US;
    default:
      return -1;
    }
}

gboolean
arena_test_plan_again (const ArenaTestPlan *plan,
                       GError             **error)
{
  ArenaError code = plan->waits == ARENA_TEST_WAITS_TRY ? ARENA_ERROR_WOULD_BLOCK : ARENA_ERROR_TIMED_OUT;

  if (plan->waits == ARENA_TEST_WAITS_LONG || !g_error_matches (*error, ARENA_ERROR, (gint) code))
    return FALSE;

  g_clear_error (error);
  if (plan->waits == ARENA_TEST_WAITS_TRY)
    g_usleep (TRY_PAUSE_US);
  return TRUE;
}

void
arena_test_plan_dawdle (const ArenaTestPlan *plan,
                        ArenaTestSide        side)
{
  ArenaTestPace slow =
    side == ARENA_TEST_CONSUMER ? ARENA_TEST_PACE_SLOW_CONSUMER : ARENA_TEST_PACE_SLOW_PRODUCER;

  if (plan->pace == slow)
    g_usleep (DAWDLE_US);
}

ArenaTestProgress *
arena_test_progress_map (const char *dir)
{
  g_autofree char *path = g_build_filename (dir, "progress", NULL);
  int fd = open (path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  gpointer page;

  g_assert_no_errno (fd);
  g_assert_no_errno (ftruncate (fd, sizeof (ArenaTestProgress)));
  page = mmap (NULL, sizeof (ArenaTestProgress), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  g_assert_true (page != MAP_FAILED);
  close (fd);
  return page;
}

ArenaTestProgress *
arena_test_pair_enter (const ArenaTestPlan *plan,
                       ArenaTestSide        side)
{
  const char *dir = g_getenv ("ARENA_TEST_PAIR_DIR");
  g_autofree char *life = g_build_filename (dir, "life", NULL);
  ArenaTestProgress *progress = arena_test_progress_map (dir);

  /* Kept until the end of the process. */
  if (plan->victim == side)
    g_assert_no_errno (open (life, O_WRONLY | O_CLOEXEC));

  atomic_store (&progress->pid[side], (gint64) getpid ());
  return progress;
}
