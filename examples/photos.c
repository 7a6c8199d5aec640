/* SPDX-License-Identifier: LGPL-2.1-or-later
 * photos [FOLDER] [OUTPUT.png]: another process decodes the pictures of a folder, this one measures them and draws a
 * contact sheet. Both passes have the same worker, and the pixels are read where it has drawn them. */
#include <arena.h>
#include <gdk-pixbuf/gdk-pixbuf.h>
#include <locale.h>
#include <math.h>

#define TILE_WIDTH  384
#define TILE_HEIGHT 216
#define TILE_SIZE   (TILE_WIDTH * TILE_HEIGHT * 3)
#define BATCH_SIZE  8
#define N_BUFFERED  2
#define N_COLUMNS   6
#define GAP         8

typedef struct
{
  guint n_pictures;
  guint64 sum[3];
  guint64 sum_of_squares[3];
} Pass;

static void
measure_tile (Pass   *pass,
              GBytes *tile)
{
  const guint8 *pixels = g_bytes_get_data (tile, NULL);

  for (guint i = 0; i < TILE_SIZE; i++)
    {
      pass->sum[i % 3] += pixels[i];
      pass->sum_of_squares[i % 3] += pixels[i] * pixels[i];
    }
}

/* GdkPixbuf reads the shared memory through the bytes, and would keep it for as long as it keeps them. */
static void
draw_tile (GdkPixbuf  *sheet,
           guint       position,
           GBytes     *tile,
           const char *name)
{
  g_autoptr(GdkPixbuf) picture = gdk_pixbuf_new_from_bytes (tile, GDK_COLORSPACE_RGB, FALSE, 8,
                                                            TILE_WIDTH, TILE_HEIGHT, TILE_WIDTH * 3);

  gdk_pixbuf_copy_area (picture, 0, 0, TILE_WIDTH, TILE_HEIGHT, sheet,
                        GAP + (TILE_WIDTH + GAP) * (position % N_COLUMNS),
                        GAP + (TILE_HEIGHT + GAP) * (position / N_COLUMNS));
  g_print ("row %u, column %u: %s\n", position / N_COLUMNS + 1, position % N_COLUMNS + 1, name);
}

static gboolean
read_unit (ArenaUnit  *unit,
           Pass       *pass,
           GdkPixbuf  *sheet,
           GError    **error)
{
  g_autoptr(GBytes) tiles = arena_unit_dup_bytes (unit, 0, error);
  g_autoptr(GVariant) names = tiles != NULL ? arena_unit_dup_value (unit, error) : NULL;

  for (gsize i = 0; names != NULL && i < g_variant_n_children (names); i++)
    {
      g_autoptr(GBytes) tile = g_bytes_new_from_bytes (tiles, i * TILE_SIZE, TILE_SIZE);
      const char *name;

      g_variant_get_child (names, i, "&s", &name);
      measure_tile (pass, tile);
      if (sheet != NULL)
        draw_tile (sheet, pass->n_pictures, tile, name);
      pass->n_pictures++;
    }

  return names != NULL;
}

static gboolean
read_pictures (ArenaWorker  *worker,
               Pass         *pass,
               GdkPixbuf    *sheet,
               GError      **error)
{
  g_autoptr(ArenaUnit) unit = NULL;
  g_autoptr(GError) failure = NULL;
  gint64 start = g_get_monotonic_time ();
  guint n_units = 0;

  if (!arena_consumer_start (ARENA_CONSUMER (worker), error))
    return FALSE;

  while ((unit = arena_consumer_next (ARENA_CONSUMER (worker), -1, NULL, &failure)) != NULL &&
         read_unit (unit, pass, sheet, &failure))
    {
      double seconds = (double) (g_get_monotonic_time () - start) / G_USEC_PER_SEC;

      g_printerr ("%.1f units/s, %.1f MB/s\n", ++n_units / seconds, TILE_SIZE / 1e6 * pass->n_pictures / seconds);
      g_clear_object (&unit);
    }

  if (failure == NULL && pass->n_pictures == 0)
    g_set_error (&failure, G_IO_ERROR, G_IO_ERROR_NOT_FOUND, "no pictures in %s", arena_worker_get_argv (worker)[1]);
  if (failure != NULL)
    {
      g_propagate_error (error, g_steal_pointer (&failure));
      return FALSE;
    }

  g_print ("worker %" G_GINT64_FORMAT ": %u pictures", arena_worker_get_pid (worker), pass->n_pictures);
  for (guint i = 0; i < 3; i++)
    {
      double n = (double) pass->n_pictures * TILE_WIDTH * TILE_HEIGHT;
      double mean = pass->sum[i] / n;

      g_print (", %c %.2f +- %.2f", "RGB"[i], mean, sqrt (pass->sum_of_squares[i] / n - mean * mean));
    }
  g_print ("\n");
  return TRUE;
}

int
main (int    argc,
      char **argv)
{
  g_autofree char *program = g_file_read_link ("/proc/self/exe", NULL);
  g_autofree char *file = g_strconcat (program, "-worker", NULL);
  const char *command[] = { file, argc > 1 ? argv[1] : "/usr/share/backgrounds/mate", NULL };
  g_autoptr(GError) error = NULL;
  g_autoptr(ArenaPool) pool = arena_pool_new (BATCH_SIZE * TILE_SIZE, N_BUFFERED + 2, &error);
  g_autoptr(ArenaWorker) worker = NULL;
  Pass passes[2] = { 0 };

  setlocale (LC_CTYPE, "");
  if (pool != NULL)
    worker = arena_worker_new (ARENA_BACKEND (pool), command, N_BUFFERED, &error);
  if (worker != NULL && read_pictures (worker, &passes[0], NULL, &error))
    {
      guint n_rows = (passes[0].n_pictures + N_COLUMNS - 1) / N_COLUMNS;
      g_autoptr(GdkPixbuf) sheet = gdk_pixbuf_new (GDK_COLORSPACE_RGB, FALSE, 8, GAP + (TILE_WIDTH + GAP) * N_COLUMNS,
                                                   GAP + (TILE_HEIGHT + GAP) * n_rows);

      gdk_pixbuf_fill (sheet, 0x202020ff);
      if (read_pictures (worker, &passes[1], sheet, &error) &&
          arena_consumer_close (ARENA_CONSUMER (worker), -1, NULL, &error) &&
          gdk_pixbuf_save (sheet, argc > 2 ? argv[2] : "contact-sheet.png", "png", &error, NULL))
        return 0;
    }

  g_printerr ("photos: %s\n", error->message);
  return 1;
}
