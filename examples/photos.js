// SPDX-License-Identifier: LGPL-2.1-or-later
// gjs -m photos.js [FOLDER] [OUTPUT.png]: another process decodes the pictures of a folder, this one measures them and
// draws a contact sheet. Both passes have the same worker, and GdkPixbuf reads the pixels where the arena has them.
import Arena from 'gi://Arena?version=1.0';
import GdkPixbuf from 'gi://GdkPixbuf?version=2.0';
import GLib from 'gi://GLib';
import System from 'system';

const [WIDTH, HEIGHT, GAP, COLUMNS] = [384, 216, 8, 6];
const [TILE_SIZE, BATCH_SIZE, BUFFERED] = [WIDTH * HEIGHT * 3, 8, 2];
const {Colorspace, Pixbuf} = GdkPixbuf;

function drawTile(sheet, position, tile, name) {
  const [row, column] = [Math.floor(position / COLUMNS), position % COLUMNS];
  const picture = Pixbuf.new_from_bytes(tile, Colorspace.RGB, false, 8, WIDTH, HEIGHT, WIDTH * 3);
  picture.copy_area(0, 0, WIDTH, HEIGHT, sheet, GAP + (WIDTH + GAP) * column, GAP + (HEIGHT + GAP) * row);
  print(`row ${row + 1}, column ${column + 1}: ${name}`);
}

function readPictures(worker, sheet = null) {
  const [start, sums, squares] = [GLib.get_monotonic_time(), [0, 0, 0], [0, 0, 0]];
  let [nUnits, n] = [0, 0];
  for (const unit of worker) {
    const [pixels, tiles, names] = [unit.array('tiles'), unit.dup_bytes(0), unit.value];
    for (let i = 0; i < pixels.length; i++) {
      sums[i % 3] += pixels[i];
      squares[i % 3] += pixels[i] * pixels[i];
    }
    for (let i = 0; sheet && i < names.length; i++)
      drawTile(sheet, n + i, tiles.new_from_bytes(i * TILE_SIZE, TILE_SIZE), names[i]);
    n += names.length;
    const seconds = (GLib.get_monotonic_time() - start) / 1e6;
    printerr(`${(++nUnits / seconds).toFixed(1)} units/s, ${(TILE_SIZE / 1e6 * n / seconds).toFixed(1)} MB/s`);
  }
  if (n === 0)
    throw new Error(`no pictures in ${worker.argv.at(-1)}`);

  const means = sums.map(sum => sum / (n * WIDTH * HEIGHT));
  const deviations = squares.map((sum, i) => Math.sqrt(sum / (n * WIDTH * HEIGHT) - means[i] * means[i]));
  const colours = means.map((mean, i) => `, ${'RGB'[i]} ${mean.toFixed(2)} +- ${deviations[i].toFixed(2)}`);
  print(`worker ${worker.pid}: ${n} pictures${colours.join('')}`);
  return n;
}

function main(folder = '/usr/share/backgrounds/mate', output = 'contact-sheet.png') {
  const program = GLib.filename_from_uri(import.meta.url)[0].replace(/\.js$/, '-worker.js');
  const backend = new Arena.Pool({segmentSize: BATCH_SIZE * TILE_SIZE, count: BUFFERED + 2});
  const worker = new Arena.Worker({backend, argv: ['gjs', '-m', program, folder], bufferSize: BUFFERED});
  const rows = Math.ceil(readPictures(worker) / COLUMNS);
  const sheet = Pixbuf.new(Colorspace.RGB, false, 8, GAP + (WIDTH + GAP) * COLUMNS, GAP + (HEIGHT + GAP) * rows);
  sheet.fill(0x202020ff);
  readPictures(worker, sheet);
  worker.close();
  sheet.savev(output, 'png', [], []);
}

try {
  main(...ARGV);
} catch (error) {
  printerr(`photos: ${error.message}`);
  System.exit(1);
}
