// SPDX-License-Identifier: LGPL-2.1-or-later
// photos-vala [FOLDER] [OUTPUT.png]: another process decodes the pictures of a folder, this one measures them and draws
// a contact sheet. Both passes have the same worker, and the pixels are read where it has drawn them.
const int WIDTH = 384;
const int HEIGHT = 216;
const int TILE_SIZE = WIDTH * HEIGHT * 3;
const int BATCH_SIZE = 8;
const int N_BUFFERED = 2;
const int N_COLUMNS = 6;
const int GAP = 8;

void draw_tile (Gdk.Pixbuf sheet, int position, Bytes tile, string name) {
  int row = position / N_COLUMNS, column = position % N_COLUMNS;
  var picture = new Gdk.Pixbuf.from_bytes (tile, Gdk.Colorspace.RGB, false, 8, WIDTH, HEIGHT, WIDTH * 3);

  picture.copy_area (0, 0, WIDTH, HEIGHT, sheet, GAP + (WIDTH + GAP) * column, GAP + (HEIGHT + GAP) * row);
  print ("row %d, column %d: %s\n", row + 1, column + 1, name);
}

int read_pictures (Arena.Worker worker, Gdk.Pixbuf? sheet = null) throws Error {
  uint64 sums[3] = {}, squares[3] = {};
  int n_units = 0, n = 0;
  var timer = new Timer ();

  foreach (var unit in worker) {
    var tiles = unit.dup_bytes (0);
    unowned uint8[] pixels = tiles.get_data ();
    for (int i = 0; i < pixels.length; i++) {
      sums[i % 3] += pixels[i];
      squares[i % 3] += pixels[i] * pixels[i];
    }
    foreach (unowned var name in unit.dup_value ().get_strv ()) {
      int start = n % BATCH_SIZE * TILE_SIZE;
      if (sheet != null)
        draw_tile (sheet, n, tiles[start : start + TILE_SIZE], name);
      n++;
    }
    var seconds = timer.elapsed ();
    printerr ("%.1f units/s, %.1f MB/s\n", ++n_units / seconds, TILE_SIZE / 1e6 * n / seconds);
  }
  if (n == 0)
    throw new IOError.NOT_FOUND ("no pictures in %s", worker.argv[1]);

  print ("worker %" + int64.FORMAT + ": %d pictures", worker.pid, n);
  for (int i = 0; i < 3; i++) {
    var mean = (double) sums[i] / n / (WIDTH * HEIGHT);
    var deviation = Math.sqrt ((double) squares[i] / n / (WIDTH * HEIGHT) - mean * mean);
    print (", %c %.2f +- %.2f", "RGB"[i], mean, deviation);
  }
  print ("\n");
  return n;
}

int main (string[] args) {
  Intl.setlocale (LocaleCategory.CTYPE, "");
  try {
    string[] command = { FileUtils.read_link ("/proc/self/exe") + "-worker", args[1] ?? "/usr/share/backgrounds/mate" };
    var pool = new Arena.Pool (BATCH_SIZE * TILE_SIZE, N_BUFFERED + 2);
    var worker = new Arena.Worker (pool, command, N_BUFFERED);
    int n_rows = (read_pictures (worker) + N_COLUMNS - 1) / N_COLUMNS;
    var sheet = new Gdk.Pixbuf (Gdk.Colorspace.RGB, false, 8, GAP + (WIDTH + GAP) * N_COLUMNS,
                                GAP + (HEIGHT + GAP) * n_rows);

    sheet.fill (0x202020ff);
    read_pictures (worker, sheet);
    worker.close ();
    sheet.save (args.length > 2 ? args[2] : "contact-sheet.png", "png");
    return 0;
  } catch (Error error) {
    printerr ("photos: %s\n", error.message);
    return 1;
  }
}
