// SPDX-License-Identifier: LGPL-2.1-or-later
// Asynchronous calls that are cancelled before, during and after, or whose main loop leaves amid them: test-cancel.js
import Arena from 'gi://Arena?version=1.0';
import Gio from 'gi://Gio';
import GLib from 'gi://GLib';

import {assert, assertEqual, run} from '../lib/tap.js';

const [SHORT, LONG] = [20, 10_000]; // milliseconds

function open() {
  const consumer = new Arena.Consumer({backend: new Arena.Pool({segmentSize: 4096, count: 4}), bufferSize: 1});
  return [consumer, Arena.Producer.new_from_fd(consumer.dup_worker_fd())];
}

function openStarted() {
  const [consumer, producer] = open();
  consumer.start();
  producer.wait_iteration(-1, null);
  return [consumer, producer];
}

// A main loop of its own, for so long or until something is done.
function turn(milliseconds, until = () => false) {
  const loop = new GLib.MainLoop(null, false);
  const end = GLib.get_monotonic_time() + 1000 * milliseconds;
  GLib.timeout_add(GLib.PRIORITY_DEFAULT, 1, () => {
    if (!until() && GLib.get_monotonic_time() < end)
      return GLib.SOURCE_CONTINUE;
    loop.quit();
    return GLib.SOURCE_REMOVE;
  });
  loop.run();
}

// Where the result, or the error, will be.
function begin([call, finish], cancellable) {
  const results = [];
  call(cancellable, (_source, result) => {
    try {
      results.push(finish(result));
    } catch (error) {
      results.push(error);
    }
  });
  return results;
}

function settle(results) {
  turn(LONG, () => results.length > 0);
  assertEqual(results.length, 1);
  return results[0];
}

function newCancelled() {
  const cancellable = new Gio.Cancellable();
  cancellable.cancel();
  return cancellable;
}

function assertCancelled(result) {
  assert(result.matches?.(Gio.IOErrorEnum, Gio.IOErrorEnum.CANCELLED), `${result}`);
}

// What complete() makes end; returns its result.
function check(call, complete) {
  assertCancelled(settle(begin(call, newCancelled())));

  const during = new Gio.Cancellable();
  let results = begin(call, during);
  turn(SHORT);
  assertEqual(results.length, 0);
  during.cancel();
  assertCancelled(settle(results));

  const after = new Gio.Cancellable();
  results = begin(call, after);
  turn(SHORT); // this loop quits in the middle
  assertEqual(results.length, 0);
  complete();
  const result = settle(results);
  after.cancel();
  turn(SHORT);
  assertEqual(results.length, 1);
  assert(!(result instanceof GLib.Error), `${result}`);
  return result;
}

const text = unit => new TextDecoder().decode(unit.array());
const bytes = data => new TextEncoder().encode(data);

await run({
  'next': () => {
    const [consumer, producer] = openStarted();
    const call = [(...rest) => consumer.next_async(-1, ...rest), result => consumer.next_finish(result)];
    assertEqual(text(check(call, () => producer.send(bytes('one')))), 'one');
    producer.send(bytes('two'));
    assertEqual(text(consumer.next()), 'two');
  },

  'stop': () => {
    const [consumer, producer] = openStarted();
    const call = [(...rest) => consumer.stop_async(-1, ...rest), result => consumer.stop_finish(result)];
    assertEqual(check(call, () => producer.finish_iteration()), true);
    assertEqual(consumer.next(), null);
  },

  'wait_iteration': () => {
    const [consumer, producer] = open();
    const call = [(...rest) => producer.wait_iteration_async(-1, ...rest),
      result => producer.wait_iteration_finish(result)];
    assertEqual(check(call, () => consumer.start()).join(), 'true,1');
  },

  'begin_unit': () => {
    const [consumer, producer] = openStarted();
    producer.send(bytes('one'));
    const call = [(...rest) => producer.begin_unit_async(0, -1, ...rest), result => producer.begin_unit_finish(result)];
    const builder = check(call, () => consumer.next());
    builder.append(bytes('two'));
    builder.commit();
    assertEqual(text(consumer.next()), 'two');
  },

  'close': () => {
    const backend = new Arena.Pool({segmentSize: 4096, count: 2});
    const worker = new Arena.Worker({backend, argv: ['sleep', '60'], bufferSize: 1});
    const call = [(...rest) => worker.close_async(-1, ...rest), result => worker.close_finish(result)];
    assertEqual(check(call, () => GLib.spawn_command_line_sync(`kill -KILL ${worker.pid}`)), true);
    assertEqual(worker.state, Arena.ConsumerState.CLOSED);
  },

  // It waits for nobody: what was cancelled too late is handed over, and what was cancelled leaves the arena.
  'new Worker': () => {
    const backend = new Arena.Pool({segmentSize: 4096, count: 2});
    const call = [(...rest) => Arena.Worker.new_async(backend, ['sleep', '60'], 1, GLib.PRIORITY_DEFAULT, ...rest),
      result => Arena.Worker.new_finish(result)];
    assertCancelled(settle(begin(call, newCancelled())));

    const cancellable = new Gio.Cancellable();
    const results = begin(call, cancellable);
    assertEqual(results.length, 0);
    cancellable.cancel();
    const worker = settle(results);
    GLib.spawn_command_line_sync(`kill -KILL ${worker.pid}`);
    worker.close();
  },
});
