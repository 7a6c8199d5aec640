// SPDX-License-Identifier: LGPL-2.1-or-later
// Runs each function in the JavaScript of the guides once, with a worker of its own: guides-run.js SOURCE WORKER
import Arena from 'gi://Arena?version=1.0';
import Gio from 'gi://Gio';
import GLib from 'gi://GLib';

import {assert, run} from '../lib/tap.js';

const [SOURCE, WORKER] = ARGV;
const AsyncFunction = (async () => {}).constructor;
const tests = {};

function addTest(name, callback) {
  tests[name] = async () => {
    const backend = new Arena.Pool({segmentSize: 1 << 16, count: 4});
    const argv = ['gjs', '-m', WORKER, 'count', '8', `${1 << 16}`];
    const worker = new Arena.Worker({backend, argv, bufferSize: 2});
    await callback(worker);
    assert(worker.state !== Arena.ConsumerState.FAILED);
    worker.close();
  };
}

const folder = Gio.File.new_for_path(`${SOURCE}/doc`);
for (const info of folder.enumerate_children('standard::name', Gio.FileQueryInfoFlags.NONE, null)) {
  const name = info.get_name();
  if (!name.endsWith('.md'))
    continue;

  const text = new TextDecoder().decode(folder.get_child(name).load_contents(null)[1]);
  for (const [, code] of text.matchAll(/^```js\n(.*?)^```$/gms)) {
    const names = [...code.matchAll(/^(?:async )?function (\w+)\(worker\)/gm)].map(match => match[1]);
    assert(names.length > 0, `no function in ${name}: ${code}`);
    const functions = await new AsyncFunction('Arena', 'Gio', 'GLib', `${code}; return {${names}};`)(Arena, Gio, GLib);
    for (const [key, callback] of Object.entries(functions))
      addTest(`${name} ${key}`, callback);
  }
}

assert(Object.keys(tests).length > 0, 'no JavaScript in the guides');
await run(tests);
