// SPDX-License-Identifier: LGPL-2.1-or-later
// Units of a C worker seen from Vala: test-smoke BATCHES-WORKER
const int64 PATIENCE = 10 * TimeSpan.SECOND;

string worker_path;

void read_epoch (Arena.Backend arena) {
  try {
    var worker = new Arena.Worker (arena, { worker_path }, 2);
    Arena.Unit? unit;
    int n_units = 0;

    while ((unit = worker.next (PATIENCE)) != null) {
      var bytes = unit.dup_bytes (0);
      unowned float[] x = (float[]) bytes.get_data ();

      assert_true (x[0] == n_units && x[1024 * 1024 - 1] == n_units);
      n_units++;
    }
    assert_cmpint (n_units, CompareOperator.EQ, 8);
    worker.close (PATIENCE);
  } catch (Error error) {
    assert_no_error (error);
  }
}

void test_pool () {
  try {
    read_epoch (new Arena.Pool (4 << 20, 4));
  } catch (Error error) {
    assert_no_error (error);
  }
}

void test_ring () {
  try {
    read_epoch (new Arena.Ring (16 << 20));
  } catch (Error error) {
    assert_no_error (error);
  }
}

// C35, C36
void test_view_outlives () {
  try {
    var worker = new Arena.Worker (new Arena.Pool (4 << 20, 4), { worker_path }, 2);
    var bytes = worker.next (PATIENCE).dup_bytes (0);

    worker.close (PATIENCE);
    worker = null;
    foreach (var x in (float[]) bytes.get_data ())
      assert_true (x == 0);
  } catch (Error error) {
    assert_no_error (error);
  }
}

void test_error () {
  try {
    new Arena.Pool (0, 1);
    assert_not_reached ();
  } catch (Error error) {
    assert_true (error is Arena.ArenaError.INVALID_ARGUMENT);
  }
}

void test_oversize () {
  try {
    Arena.Pool pool = (Arena.Pool) Initable.new (typeof (Arena.Pool), null, "segment-size", (uint64) (1 << 20),
                                                 "count", 4u, "oversize", Arena.Oversize.SPILL);

    assert_true (pool.oversize == Arena.Oversize.SPILL);
    read_epoch (pool);
    assert_true (pool.dup_stats ().get_spilled_bytes () == 8 * (4 << 20));
    read_epoch ((Arena.Ring) Initable.new (typeof (Arena.Ring), null, "capacity", (uint64) (1 << 20),
                                           "oversize", Arena.Oversize.SPILL));
  } catch (Error error) {
    assert_no_error (error);
  }
}

int main (string[] args) {
  Test.init (ref args);
  worker_path = args[1];
  Test.add_func ("/arena/smoke/pool", test_pool);
  Test.add_func ("/arena/smoke/ring", test_ring);
  Test.add_func ("/arena/smoke/view-outlives", test_view_outlives);
  Test.add_func ("/arena/smoke/error", test_error);
  Test.add_func ("/arena/smoke/oversize", test_oversize);

  return Test.run ();
}
