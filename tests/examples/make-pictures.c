/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * make-pictures FOLDER: fills the folder with pictures of one colour each and with files that are none. Prints the
 * path, red, green and blue of every picture, in the order of their paths. */
#include <gdk-pixbuf/gdk-pixbuf.h>

typedef struct
{
  const char *path;
  int width;
  int height;
  guint32 rgba;
} Picture;

/* More than one batch of photos; wide, high, tiny, large, transparent, and some letters of both cases. */
static const Picture pictures[] = {
  { "a/01.png", 384, 216, 0xff0000ff },
  { "a/02.png", 768, 432, 0x00ff00ff },
  { "a/03.JPG", 900, 200, 0x808080ff },
  { "a/b/04.jpeg", 200, 900, 0x404040ff },
  { "a/b/05.png", 1, 1, 0x0000ffff },
  { "a/b/06.Png", 2000, 1000, 0x123456ff },
  { "c d/07.jpg", 640, 480, 0xc0c0c0ff },
  { "c d/08.png", 480, 640, 0xfedcbaff },
  { "c d/09.png", 100, 100, 0x00000000 },
  { "e/10.png", 385, 217, 0x010203ff },
  { "e/11.png", 384, 216, 0xffffffff },
};

static void
save_picture (const char    *path,
              const Picture *picture)
{
  g_autoptr(GdkPixbuf) pixbuf = gdk_pixbuf_new (GDK_COLORSPACE_RGB, TRUE, 8, picture->width, picture->height);
  g_autofree char *lower = g_ascii_strdown (path, -1);
  g_autoptr(GError) error = NULL;

  gdk_pixbuf_fill (pixbuf, picture->rgba);
  gdk_pixbuf_save (pixbuf, path, g_str_has_suffix (lower, ".png") ? "png" : "jpeg", &error, NULL);
  g_assert_no_error (error);
}

/* What a crash or a full disk leaves of a picture, and pictures only by their names. */
static void
save_broken (const char *folder)
{
  g_autofree char *whole = g_build_filename (folder, "a", "b", "06.Png", NULL);
  g_autofree char *part = g_build_filename (folder, "a", "b", "05-truncated.png", NULL);
  g_autofree char *text = g_build_filename (folder, "a", "00-broken.jpg", NULL);
  g_autofree char *notes = g_build_filename (folder, "a", "notes.txt", NULL);
  g_autofree char *contents = NULL;
  g_autoptr(GError) error = NULL;

  if (!g_file_get_contents (whole, &contents, NULL, &error) ||
      !g_file_set_contents (part, contents, 40, &error) ||
      !g_file_set_contents (text, "no picture", -1, &error) ||
      !g_file_set_contents (notes, "no picture", -1, &error))
    g_error ("%s", error->message);
}

int
main (int    argc,
      char **argv)
{
  g_assert_cmpint (argc, ==, 2);

  for (guint i = 0; i < G_N_ELEMENTS (pictures); i++)
    {
      g_autofree char *path = g_build_filename (argv[1], pictures[i].path, NULL);
      g_autofree char *folder = g_path_get_dirname (path);
      guint32 rgba = pictures[i].rgba;

      g_assert_cmpint (g_mkdir_with_parents (folder, 0700), ==, 0);
      save_picture (path, &pictures[i]);
      /* The worker's background shows through. */
      if ((rgba & 0xff) == 0)
        rgba = 0x303030ff;
      g_print ("%s\t%u\t%u\t%u\n", path, rgba >> 24, rgba >> 16 & 0xff, rgba >> 8 & 0xff);
    }

  save_broken (argv[1]);
  return 0;
}
