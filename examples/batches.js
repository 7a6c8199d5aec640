// SPDX-License-Identifier: LGPL-2.1-or-later
// gjs -m batches.js [--ring]: eight batches of a million floats that another process makes. A pool lends them where
// that process wrote them; a ring gives copies, which may be kept without holding anything up.
import Arena from 'gi://Arena?version=1.0';
import GLib from 'gi://GLib';
import System from 'system';

function createArena() {
  return ARGV.includes('--ring') ? new Arena.Ring({capacity: 16 << 20}) : new Arena.Pool({segmentSize: 4 << 20, count: 4});
}

function* makeBatches() {
  for (let i = 0; i < 8; i++)
    yield {x: new Float32Array(1024 * 1024).fill(i)};
}

function printBatches(backend) {
  const [program] = GLib.filename_from_uri(import.meta.url);
  const batches = new Arena.Worker({backend, argv: ['gjs', '-m', program, '--worker'], bufferSize: 2});

  // The loop gives each unit back when it goes on.
  for (const unit of batches) {
    const x = unit.array('x');
    print(`(${x.length},) ${x[0]}`);
  }
  batches.close();
}

try {
  if (ARGV.includes('--worker'))
    Arena.produce(makeBatches);
  else
    printBatches(createArena());
} catch (error) {
  printerr(`batches: ${error.message}`);
  System.exit(1);
}
