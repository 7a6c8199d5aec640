// SPDX-License-Identifier: LGPL-2.1-or-later
// Workers of every language under a consumer in JavaScript: test-workers.js LANGUAGE PROGRAM... [-- LANGUAGE PROGRAM...]...
import Arena from 'gi://Arena?version=1.0';
import GLib from 'gi://GLib';
import System from 'system';

import {assert, assertEqual, assertThrows, run, Skip} from '../lib/tap.js';

const all = Object.fromEntries(ARGV.join(' ').split(' -- ').map(words => {
  const [language, ...argv] = words.split(' ');
  return [language, argv];
}));
const {c: _counting, ...languages} = all; // the one in C is an example, which does nothing but count
const KINDS = {gjs: 'RangeError', python: 'LookupError', vala: 'IOError'};

function start(argv, ...args) {
  const backend = new Arena.Pool({segmentSize: 4 << 20, count: 4});
  return new Arena.Worker({backend, argv: [...argv, ...args.map(String)], bufferSize: 2});
}

const tests = {};
for (const [language, argv] of Object.entries(languages)) {
  tests[`a failure in ${language}`] = () => {
    const worker = start(argv, 'fail', 3);
    for (let pass = 0; pass < 2; pass++) {
      let n = 0;
      assertThrows(() => {
        for (const unit of worker)
          assertEqual(unit.array()[0], n++);
      }, Arena.Error, Arena.Error.REMOTE);
      const report = worker.dup_remote_error();
      assertEqual(n, 3);
      assertEqual(report.get_type_name(), KINDS[language]);
      assertEqual(report.get_message(), 'lost ☃');
      assertEqual(report.get_item(), 3);
      assert(report.get_traceback().includes('worker.'), report.get_traceback());
    }
    worker.close();
  };

  // Nobody sees what there was of it, and it keeps no storage.
  tests[`a failure within a unit in ${language}`] = () => {
    const worker = start(argv, 'torn', 2);
    for (let pass = 0; pass < 6; pass++) {
      let n = 0;
      const error = assertThrows(() => {
        for (const unit of worker)
          assertEqual(unit.array()[0], n++);
      }, Arena.Error, Arena.Error.REMOTE);
      assert(error.message.includes(`item 2: ${KINDS[language]}: lost`), error.message);
      assertEqual(n, 2);
      assertEqual(worker.next(), null);
    }
    System.gc();
    assertEqual(worker.dup_stats().get_held_units(), 0);
    worker.close();
  };

  tests[`${language} is killed in a wait`] = () => {
    const worker = start(argv, 'hang', 1);
    worker.next();
    GLib.spawn_command_line_async(`sh -c "sleep 0.3; kill -KILL ${worker.pid}"`);
    assertThrows(() => worker.next(), Arena.Error, Arena.Error.PEER_GONE);
  };
}

for (const [language, argv] of Object.entries(all)) {
  tests[`${language} is killed`] = () => {
    const worker = start(argv, 'count', 1000, 1 << 20);
    const kept = worker.next().array();
    GLib.spawn_command_line_sync(`kill -KILL ${worker.pid}`);
    const error = assertThrows(() => {
      for (let unit; (unit = worker.next()) !== null;)
        unit.release();
    }, Arena.Error, Arena.Error.PEER_GONE);
    assert(error.message.includes('9'), error.message);
    assert(kept.every(item => item === 0), 'the view changed');
  };
}

tests['GJS takes the arrays of Python'] = () => {
  if (!languages.python)
    throw new Skip('no Python with gi');
  const worker = start(languages.python, 'types');
  const [types, , handles] = [worker.next(), worker.next(), worker.next()];
  assertEqual(types.array(9).constructor.name, 'Float32Array');
  assertEqual(types.array(9)[5999], 5999);
  assertEqual(types.fields[9].get_shape().join(), '60,100');
  assertEqual(handles.value.array[5999], 5999);
  worker.close();
};

await run(tests);
