// SPDX-License-Identifier: LGPL-2.1-or-later
// The asynchronous calls seen from Vala: test-async BATCHES-WORKER
const int64 PATIENCE = 10 * TimeSpan.SECOND;

string worker_path;

async int read_epoch (Arena.Worker worker) throws Error {
  Arena.Unit? unit;
  int n_units = 0;

  while ((unit = yield worker.next_async (PATIENCE, null)) != null) {
    var bytes = unit.dup_bytes (0);
    unowned float[] x = (float[]) bytes.get_data ();

    assert_true (x[0] == n_units);
    n_units++;
  }

  return n_units;
}

async void use_worker () {
  try {
    var worker = yield Arena.Worker.create (new Arena.Pool (4 << 20, 4), { worker_path }, 2);

    for (int epoch = 0; epoch < 2; epoch++) {
      worker.start ();
      assert_cmpint (yield read_epoch (worker), CompareOperator.EQ, 8);
    }
    yield worker.close_async (PATIENCE, null);
    assert_true (worker.state == Arena.ConsumerState.CLOSED);
  } catch (Error error) {
    assert_no_error (error);
  }
}

async void fail () {
  try {
    yield Arena.Worker.create (new Arena.Pool (4096, 2), { "/nonexistent/worker" }, 2);
    assert_not_reached ();
  } catch (Error error) {
    assert_true (error is Arena.ArenaError.INVALID_ARGUMENT);
  }
}

void test_worker () {
  var loop = new MainLoop ();

  use_worker.begin (() => loop.quit ());
  loop.run ();
}

void test_error () {
  var loop = new MainLoop ();

  fail.begin (() => loop.quit ());
  loop.run ();
}

int main (string[] args) {
  Test.init (ref args);
  worker_path = args[1];
  Test.add_func ("/arena/async/worker", test_worker);
  Test.add_func ("/arena/async/error", test_error);

  return Test.run ();
}
