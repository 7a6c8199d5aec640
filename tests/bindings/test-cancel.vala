// SPDX-License-Identifier: LGPL-2.1-or-later
// Asynchronous calls that are cancelled before, during and after, or whose main loop leaves amid them.
const uint SHORT = 20; // milliseconds
const uint LONG = 10000;

delegate void Begin (Cancellable cancellable, owned AsyncReadyCallback done);
delegate void Finish (AsyncResult result) throws Error;
delegate void Act () throws Error;

Arena.Consumer consumer;
Arena.Producer producer;
Arena.Unit? unit;

void open () throws Error {
  consumer = new Arena.Consumer (new Arena.Pool (4096, 4), 1);
  producer = new Arena.Producer.from_fd (consumer.dup_worker_fd ());
}

void open_started () throws Error {
  open ();
  consumer.start ();
  producer.wait_iteration ();
}

void send (uint8 byte) throws Error {
  unowned var builder = producer.begin_unit ();
  builder.append_bytes (null, Arena.DType.UINT8, { 1 }, new Bytes ({ byte }));
  builder.commit ();
}

void assert_unit (Arena.Unit? unit, uint8 byte) throws Error {
  assert_true (unit.dup_bytes (0).get (0) == byte);
}

// One call, and how it ended.
class Pending {
  public bool done;
  public Error? error;

  // A main loop of its own, for so long or until the call is done.
  public void turn (uint milliseconds, bool until_done) {
    var loop = new MainLoop ();
    int64 end = get_monotonic_time () + 1000 * milliseconds;
    Timeout.add (1, () => {
      if (!(until_done && done) && get_monotonic_time () < end)
        return Source.CONTINUE;
      loop.quit ();
      return Source.REMOVE;
    });
    loop.run ();
  }

  public void settle () {
    turn (LONG, true);
    assert_true (done);
  }
}

Pending begin (Begin call, Finish finish, Cancellable cancellable) {
  var pending = new Pending ();
  call (cancellable, (source, result) => {
    assert_false (pending.done);
    pending.done = true;
    try {
      finish (result);
    } catch (Error error) {
      pending.error = error;
    }
  });
  return pending;
}

void assert_cancelled (Pending pending) {
  pending.settle ();
  assert_true (pending.error is IOError.CANCELLED);
}

Cancellable new_cancelled () {
  var cancellable = new Cancellable ();
  cancellable.cancel ();
  return cancellable;
}

// What complete() makes end.
void check (Begin call, Finish finish, Act complete) throws Error {
  assert_cancelled (begin (call, finish, new_cancelled ()));

  var during = new Cancellable ();
  var pending = begin (call, finish, during);
  pending.turn (SHORT, false);
  assert_false (pending.done);
  during.cancel ();
  assert_cancelled (pending);

  var after = new Cancellable ();
  pending = begin (call, finish, after);
  pending.turn (SHORT, false); // this loop quits in the middle
  assert_false (pending.done);
  complete ();
  pending.settle ();
  after.cancel ();
  pending.turn (SHORT, false);
  assert_no_error (pending.error);
}

void check_next () throws Error {
  open_started ();
  check ((cancellable, done) => consumer.next_async.begin (-1, cancellable, (owned) done),
         result => { unit = consumer.next_async.end (result); }, () => send (1));
  assert_unit (unit, 1);
  send (2);
  assert_unit (consumer.next (), 2);
}

void check_stop () throws Error {
  open_started ();
  check ((cancellable, done) => consumer.stop_async.begin (-1, cancellable, (owned) done),
         result => { assert_true (consumer.stop_async.end (result)); }, () => { producer.finish_iteration (); });
  assert_null (consumer.next ());
}

void check_wait_iteration () throws Error {
  open ();
  check ((cancellable, done) => producer.wait_iteration_async.begin (-1, cancellable, (owned) done),
         result => {
           uint64 epoch;
           assert_true (producer.wait_iteration_async.end (result, out epoch));
           assert_true (epoch == 1);
         }, () => { consumer.start (); });
}

void check_begin_unit () throws Error {
  open_started ();
  send (1);
  check ((cancellable, done) => producer.begin_unit_async.begin (0, -1, cancellable, (owned) done),
         result => {
           unowned var builder = producer.begin_unit_async.end (result);
           builder.append_bytes (null, Arena.DType.UINT8, { 1 }, new Bytes ({ 2 }));
           builder.commit ();
         }, () => { consumer.next (); });
  assert_unit (consumer.next (), 2);
}

void check_close () throws Error {
  var worker = new Arena.Worker (new Arena.Pool (4096, 2), { "sleep", "60" }, 1);
  check ((cancellable, done) => worker.close_async.begin (-1, cancellable, (owned) done),
         result => { assert_true (worker.close_async.end (result)); },
         () => { Posix.kill ((Posix.pid_t) worker.pid, Posix.Signal.KILL); });
  assert_true (worker.state == Arena.ConsumerState.CLOSED);
}

// It waits for nobody: what was cancelled too late is handed over, and what was cancelled leaves the arena.
void check_new_worker () throws Error {
  var backend = new Arena.Pool (4096, 2);
  Arena.Worker? worker = null;
  Begin call = (cancellable, done) =>
    Arena.Worker.create.begin (backend, { "sleep", "60" }, 1, Priority.DEFAULT, cancellable, (owned) done);
  Finish finish = result => { worker = Arena.Worker.create.end (result); };
  assert_cancelled (begin (call, finish, new_cancelled ()));

  var cancellable = new Cancellable ();
  var pending = begin (call, finish, cancellable);
  assert_false (pending.done);
  cancellable.cancel ();
  pending.settle ();
  Posix.kill ((Posix.pid_t) worker.pid, Posix.Signal.KILL);
  worker.close ();
}

class Case {
  Act act;

  public Case (owned Act act) {
    this.act = (owned) act;
  }

  public void run () {
    try {
      act ();
    } catch (Error error) {
      assert_no_error (error);
    }
    producer = null;
    consumer = null;
    unit = null;
  }
}

void add (string name, owned Act act) {
  var test = new Case ((owned) act);
  Test.add_data_func (@"/arena/cancel/$name", () => test.run ());
}

int main (string[] args) {
  Test.init (ref args);
  add ("next", () => check_next ());
  add ("stop", () => check_stop ());
  add ("wait-iteration", () => check_wait_iteration ());
  add ("begin-unit", () => check_begin_unit ());
  add ("close", () => check_close ());
  add ("new-worker", () => check_new_worker ());

  return Test.run ();
}
