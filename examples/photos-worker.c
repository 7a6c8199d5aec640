/* SPDX-License-Identifier: LGPL-2.1-or-later
 * photos-worker FOLDER: the other process of photos. Loads every JPEG and PNG file below the folder and draws it,
 * scaled and cropped to a tile, in the memory from which the tile will be read. */
#include <arena.h>
#include <gdk-pixbuf/gdk-pixbuf.h>
#include <locale.h>

#define TILE_WIDTH  384
#define TILE_HEIGHT 216
#define TILE_SIZE   (TILE_WIDTH * TILE_HEIGHT * 3)
#define BATCH_SIZE  8

static gboolean
find_pictures (const char  *folder,
               GPtrArray   *paths,
               GError     **error)
{
  g_autoptr(GDir) dir = g_dir_open (folder, 0, error);
  const char *name;

  while (dir != NULL && (name = g_dir_read_name (dir)) != NULL)
    {
      g_autofree char *path = g_build_filename (folder, name, NULL);

      if (g_regex_match_simple ("\\.(jpe?g|png)$", name, G_REGEX_CASELESS | G_REGEX_RAW, 0))
        g_ptr_array_add (paths, g_steal_pointer (&path));
      else if (g_file_test (path, G_FILE_TEST_IS_DIR) && !find_pictures (path, paths, error))
        return FALSE;
    }

  return dir != NULL;
}

static int
compare_paths (gconstpointer a,
               gconstpointer b)
{
  return strcmp (*(const char * const *) a, *(const char * const *) b);
}

/* As small as covers a tile. NULL, after a warning, where the file is broken. */
static GdkPixbuf *
load_picture (const char *path)
{
  g_autoptr(GError) error = NULL;
  int width = 0, height = 0;
  gboolean wide = gdk_pixbuf_get_file_info (path, &width, &height) && width * TILE_HEIGHT > height * TILE_WIDTH;
  GdkPixbuf *picture = gdk_pixbuf_new_from_file_at_scale (path, wide ? -1 : TILE_WIDTH, wide ? TILE_HEIGHT : -1,
                                                          TRUE, &error);

  if (picture == NULL)
    g_printerr ("photos-worker: skipped %s: %s\n", path, error->message);

  return picture;
}

static void
draw_tile (GdkPixbuf *picture,
           guint8    *pixels)
{
  g_autoptr(GdkPixbuf) tile = gdk_pixbuf_new_from_data (pixels, GDK_COLORSPACE_RGB, FALSE, 8,
                                                        TILE_WIDTH, TILE_HEIGHT, TILE_WIDTH * 3, NULL, NULL);

  gdk_pixbuf_fill (tile, 0x303030ff);
  gdk_pixbuf_composite (picture, tile, 0, 0, TILE_WIDTH, TILE_HEIGHT,
                        (TILE_WIDTH - gdk_pixbuf_get_width (picture)) / 2,
                        (TILE_HEIGHT - gdk_pixbuf_get_height (picture)) / 2, 1, 1, GDK_INTERP_NEAREST, 255);
}

static gboolean
send_batch (ArenaProducer    *producer,
            GPtrArray        *pictures,
            GVariantBuilder  *names,
            GError          **error)
{
  const guint64 shape[] = { pictures->len, TILE_HEIGHT, TILE_WIDTH, 3 };
  ArenaUnitBuilder *unit = arena_producer_begin_unit (producer, shape[0] * TILE_SIZE, -1, NULL, error);
  g_autoptr(GBytes) tiles = NULL;
  guint8 *pixels;

  if (unit != NULL)
    tiles = arena_unit_builder_reserve (unit, "tiles", ARENA_DTYPE_UINT8, shape, G_N_ELEMENTS (shape), NULL, error);
  if (tiles == NULL)
    return FALSE;

  /* Ours to write until the commit */
  pixels = (guint8 *) g_bytes_get_data (tiles, NULL);
  for (guint i = 0; i < pictures->len; i++)
    draw_tile (pictures->pdata[i], pixels + i * TILE_SIZE);

  return arena_unit_builder_set_value (unit, g_variant_builder_end (names), error) &&
         arena_unit_builder_commit (unit, error);
}

static gboolean
send_pictures (ArenaProducer  *producer,
               const char     *folder,
               GError        **error)
{
  g_autoptr(GPtrArray) paths = g_ptr_array_new_with_free_func (g_free);
  gboolean ok = find_pictures (folder, paths, error);

  g_ptr_array_sort (paths, compare_paths);
  for (guint next = 0; ok && next < paths->len;)
    {
      g_autoptr(GPtrArray) pictures = g_ptr_array_new_with_free_func (g_object_unref);
      g_auto(GVariantBuilder) names = G_VARIANT_BUILDER_INIT (G_VARIANT_TYPE_STRING_ARRAY);

      for (; next < paths->len && pictures->len < BATCH_SIZE; next++)
        {
          const char *path = paths->pdata[next];
          GdkPixbuf *picture = load_picture (path);

          if (picture == NULL)
            continue;
          g_ptr_array_add (pictures, picture);
          g_variant_builder_add_value (&names, g_variant_new_take_string (g_filename_display_name (path)));
        }

      if (pictures->len > 0)
        ok = send_batch (producer, pictures, &names, error);
    }

  return ok;
}

int
main (int    argc,
      char **argv)
{
  g_autoptr(GError) error = NULL;
  g_autoptr(ArenaProducer) producer = arena_producer_new_from_environment (&error);

  setlocale (LC_CTYPE, "");
  while (producer != NULL && arena_producer_wait_iteration (producer, -1, NULL, NULL, &error))
    {
      g_autoptr(GError) failure = NULL;

      /* A consumer that has stopped, or is gone, takes no notice of either. */
      if (send_pictures (producer, argv[argc - 1], &failure))
        arena_producer_finish_iteration (producer, NULL);
      else
        arena_producer_fail_with_error (producer, failure, -1, NULL);
    }

  if (error != NULL)
    g_printerr ("photos-worker: %s\n", error->message);

  return error != NULL;
}
