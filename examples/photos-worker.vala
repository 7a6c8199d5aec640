// SPDX-License-Identifier: LGPL-2.1-or-later
// photos-vala-worker FOLDER: the other process of photos-vala. Loads every JPEG and PNG file below the folder and draws
// it, scaled and cropped to a tile, in the memory from which the tile will be read.
const int WIDTH = 384;
const int HEIGHT = 216;
const int TILE_SIZE = WIDTH * HEIGHT * 3;
const int BATCH_SIZE = 8;

void find_pictures (string folder, GenericArray<string> paths) throws Error {
  var dir = Dir.open (folder);
  string? name;

  while ((name = dir.read_name ()) != null) {
    var path = Path.build_filename (folder, name);
    if (/\.(jpe?g|png)$/i.match (name))
      paths.add (path);
    else if (FileUtils.test (path, FileTest.IS_DIR))
      find_pictures (path, paths);
  }
}

// As small as covers a tile
Gdk.Pixbuf load_picture (string path) throws Error {
  int width, height;
  Gdk.Pixbuf.get_file_info (path, out width, out height);
  bool wide = width * HEIGHT > height * WIDTH;
  return new Gdk.Pixbuf.from_file_at_scale (path, wide ? -1 : WIDTH, wide ? HEIGHT : -1, true);
}

void draw_tile (Gdk.Pixbuf picture, uint8[] pixels) {
  var tile = new Gdk.Pixbuf.with_unowned_data (pixels, Gdk.Colorspace.RGB, false, 8, WIDTH, HEIGHT, WIDTH * 3);
  tile.fill (0x303030ff);
  picture.composite (tile, 0, 0, WIDTH, HEIGHT, (WIDTH - picture.width) / 2, (HEIGHT - picture.height) / 2, 1, 1,
                     Gdk.InterpType.NEAREST, 255);
}

void send_batch (Arena.Producer producer, GenericArray<Gdk.Pixbuf> pictures, Variant names) throws Error {
  unowned var unit = producer.begin_unit (pictures.length * TILE_SIZE);
  var tiles = unit.reserve ("tiles", Arena.DType.UINT8, { pictures.length, HEIGHT, WIDTH, 3 });

  // Ours to write until the commit
  for (int i = 0; i < pictures.length; i++)
    draw_tile (pictures[i], tiles.get_data ()[i * TILE_SIZE : (i + 1) * TILE_SIZE]);
  unit.set_value (names);
  unit.commit ();
}

void send_pictures (Arena.Producer producer, string folder) throws Error {
  var paths = new GenericArray<string> ();
  var pictures = new GenericArray<Gdk.Pixbuf> ();
  string[] names = {};

  find_pictures (folder, paths);
  paths.sort (strcmp);
  for (int i = 0; i < paths.length; i++) {
    try {
      pictures.add (load_picture (paths[i]));
      names += Filename.display_name (paths[i]);
    } catch (Error error) {
      printerr ("photos-worker: skipped %s: %s\n", paths[i], error.message);
    }
    if (pictures.length == BATCH_SIZE || i + 1 == paths.length && pictures.length > 0) {
      send_batch (producer, pictures, names);
      pictures.length = 0;
      names = {};
    }
  }
}

int main (string[] args) {
  Intl.setlocale (LocaleCategory.CTYPE, "");
  try {
    var producer = new Arena.Producer.from_environment ();
    while (producer.wait_iteration ()) {
      try {
        send_pictures (producer, args[1]);
        producer.finish_iteration ();
      } catch (Error error) {
        producer.fail (error.domain.to_string (), error.message);
      }
    }
    return 0;
  } catch (Error error) {
    printerr ("photos-worker: %s\n", error.message);
    return 1;
  }
}
