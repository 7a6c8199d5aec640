// SPDX-License-Identifier: LGPL-2.1-or-later
// A consumer as an asynchronous iterable: test-await.js WORKER.js
import Arena from 'gi://Arena?version=1.0';
import GLib from 'gi://GLib';

import {assert, assertEqual, run} from '../lib/tap.js';

function start(...args) {
  const argv = ['gjs', '-m', ARGV[0], ...args.map(String)];
  return new Arena.Worker({backend: new Arena.Pool({segmentSize: 1 << 20, count: 4}), argv, bufferSize: 2});
}

await run({
  'a new worker': async () => {
    const backend = new Arena.Pool({segmentSize: 1 << 20, count: 4});
    const argv = ['gjs', '-m', ARGV[0], 'count', '3', '8192'];
    const worker = await Arena.Worker.new_async(backend, argv, 2, GLib.PRIORITY_DEFAULT, null);
    assertEqual([...worker].length, 3);
    await worker.close_async(-1, null);
  },

  'twice, while the loop turns': async () => {
    const worker = start('count', 50, 1 << 20);
    let turns = 0;
    const timer = GLib.timeout_add(GLib.PRIORITY_DEFAULT, 1, () => {
      turns++;
      return GLib.SOURCE_CONTINUE;
    });
    for (let pass = 0; pass < 2; pass++) {
      let n = 0;
      for await (const unit of worker)
        assertEqual(unit.array('x')[0], n++);
      assertEqual(n, 50);
    }
    GLib.source_remove(timer);
    assert(turns > 0, 'the loop did not turn');
    await worker.close_async(-1, null);
  },

  'units are released by the loop': async () => {
    const worker = start('count', 5, 8192);
    const units = [];
    for await (const unit of worker) {
      units.push(unit);
      if (units.length === 3)
        break;
    }
    assert(units.every(unit => unit.released), 'not released');
    await worker.close_async(-1, null);
  },

  'a failure': async () => {
    const worker = start('fail', 2);
    let n = 0;
    try {
      for await (const unit of worker)
        assertEqual(unit.array()[0], n++);
      throw new Error('no failure');
    } catch (error) {
      assert(error.matches?.(Arena.Error, Arena.Error.REMOTE), `${error}`);
    }
    assertEqual(n, 2);
    worker.close();
  },

  'what is dropped is collected': async () => {
    const worker = start('count', 50, 1 << 20);
    let n = 0;
    for await (const unit of worker)
      n += unit.array('x').length > 0;
    assertEqual(n, 50);
    worker.close();
  },
});
