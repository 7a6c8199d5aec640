// SPDX-License-Identifier: LGPL-2.1-or-later
// Loops over a consumer, and what may be left out in Vala: test-foreach BATCHES-WORKER
string worker_path;

Arena.Worker new_worker () throws Error {
  return new Arena.Worker (new Arena.Pool (4 << 20, 4), { worker_path }, 2);
}

float read_first (Arena.Unit unit) throws Error {
  var bytes = unit.dup_bytes (0);
  return ((float[]) bytes.get_data ())[0];
}

void test_twice () {
  try {
    var worker = new_worker ();
    for (int pass = 0; pass < 2; pass++) {
      int n = 0;
      foreach (var unit in worker)
        assert_true (read_first (unit) == n++);
      assert_cmpint (n, CompareOperator.EQ, 8);
    }
    worker.close ();
  } catch (Error error) {
    assert_no_error (error);
  }
}

void test_break () {
  try {
    var worker = new_worker ();
    foreach (var unit in worker) {
      if (read_first (unit) == 2)
        break;
    }
    int n = 0;
    foreach (var unit in worker)
      assert_true (read_first (unit) == n++);
    assert_cmpint (n, CompareOperator.EQ, 8);
  } catch (Error error) {
    assert_no_error (error);
  }
}

void test_error () {
  int n = 0;
  try {
    var worker = new_worker ();
    foreach (var unit in worker) {
      n++;
      Posix.kill ((Posix.pid_t) worker.pid, Posix.Signal.KILL);
      // What it had sent before is still delivered.
      assert_true (read_first (unit) < 8);
    }
    assert_not_reached ();
  } catch (Error error) {
    assert_true (error is Arena.ArenaError.PEER_GONE);
    assert_cmpint (n, CompareOperator.GE, 1);
  }
}

void test_busy () {
  try {
    var worker = new_worker ();
    worker.starve_timeout = 0;
    var kept = new GenericArray<Bytes> ();
    try {
      foreach (var unit in worker)
        kept.add (unit.dup_bytes (0));
      assert_not_reached ();
    } catch (Arena.ArenaError.BUSY error) {
      assert_cmpint (kept.length, CompareOperator.EQ, 4);
    }
    for (int i = 0; i < kept.length; i++)
      assert_true (((float[]) kept[i].get_data ())[0] == i);
  } catch (Error error) {
    assert_no_error (error);
  }
}

void test_closed () {
  try {
    var worker = new_worker ();
    worker.close ();
    foreach (var unit in worker)
      unit.release ();
    assert_not_reached ();
  } catch (Error error) {
    assert_true (error is Arena.ArenaError.CLOSED);
  }
}

// Both ends in one process
void test_producer () {
  try {
    var consumer = new Arena.Consumer (new Arena.Pool (65536, 2), 2);
    consumer.start ();
    var producer = new Arena.Producer.from_fd (consumer.dup_worker_fd ());
    assert_true (producer.wait_iteration ());
    unowned var builder = producer.begin_unit ();
    builder.append_bytes ("x", Arena.DType.UINT8, { 3 }, new Bytes ({ 1, 2, 3 }));
    builder.set_value (new Variant.handle (0));
    builder.commit ();
    producer.fail ("Sad", "over");

    var unit = consumer.next ();
    assert_cmpint (unit.dup_value ().get_handle (), CompareOperator.EQ, 0);
    assert_true (unit.dup_bytes (unit.find_field ("x")).compare (new Bytes ({ 1, 2, 3 })) == 0);
    consumer.next ();
    assert_not_reached ();
  } catch (Error error) {
    assert_true (error is Arena.ArenaError.REMOTE);
  }
}

int main (string[] args) {
  Test.init (ref args);
  worker_path = args[1];
  Test.add_func ("/arena/foreach/twice", test_twice);
  Test.add_func ("/arena/foreach/break", test_break);
  Test.add_func ("/arena/foreach/error", test_error);
  Test.add_func ("/arena/foreach/busy", test_busy);
  Test.add_func ("/arena/foreach/closed", test_closed);
  Test.add_func ("/arena/foreach/producer", test_producer);

  return Test.run ();
}
