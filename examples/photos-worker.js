// SPDX-License-Identifier: LGPL-2.1-or-later
// gjs -m photos-worker.js FOLDER: the other process of photos.js. Loads every JPEG and PNG file below the folder and
// draws it, scaled and cropped to a tile.
import Arena from 'gi://Arena?version=1.0';
import GdkPixbuf from 'gi://GdkPixbuf?version=2.0';
import Gio from 'gi://Gio';
import GLib from 'gi://GLib';
import System from 'system';

const [WIDTH, HEIGHT, BATCH_SIZE] = [384, 216, 8];
const {Colorspace, InterpType, Pixbuf} = GdkPixbuf;

function* findPictures(folder) {
  const files = Gio.File.new_for_path(folder).enumerate_children('standard::name', Gio.FileQueryInfoFlags.NONE, null);
  for (let info; (info = files.next_file(null)) !== null;) {
    const path = GLib.build_filenamev([folder, info.get_name()]);
    if (/\.(jpe?g|png)$/i.test(path))
      yield path;
    else if (GLib.file_test(path, GLib.FileTest.IS_DIR))
      yield* findPictures(path);
  }
}

// The middle of the picture, which is made as small as covers a tile.
function loadTile(path) {
  const [, width, height] = Pixbuf.get_file_info(path);
  const size = width * HEIGHT > height * WIDTH ? [-1, HEIGHT] : [WIDTH, -1];
  const picture = Pixbuf.new_from_file_at_scale(path, ...size, true);
  const left = Math.trunc((WIDTH - picture.get_width()) / 2);
  const top = Math.trunc((HEIGHT - picture.get_height()) / 2);
  const tile = Pixbuf.new(Colorspace.RGB, false, 8, WIDTH, HEIGHT);
  tile.fill(0x303030ff);
  picture.composite(tile, 0, 0, WIDTH, HEIGHT, left, top, 1, 1, InterpType.NEAREST, 255);
  return tile.get_pixels();
}

function* makeBatches() {
  const paths = [...findPictures(ARGV[0])].sort();
  while (paths.length > 0) {
    const [tiles, names] = [[], []];
    while (paths.length > 0 && tiles.length < BATCH_SIZE) {
      const path = paths.shift();
      try {
        tiles.push(loadTile(path));
        names.push(GLib.filename_display_name(path));
      } catch (error) {
        printerr(`photos-worker: skipped ${path}: ${error.message}`);
      }
    }
    const pixels = new Uint8Array(tiles.length * WIDTH * HEIGHT * 3);
    tiles.forEach((tile, i) => pixels.set(tile, i * tile.length));
    if (tiles.length > 0)
      yield {tiles: pixels, names: new GLib.Variant('as', names)};
  }
}

try {
  Arena.produce(makeBatches);
} catch (error) {
  printerr(`photos-worker: ${error.message}`);
  System.exit(1);
}
