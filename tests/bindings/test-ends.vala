// SPDX-License-Identifier: LGPL-2.1-or-later
// Vala's calls on what is over: a released unit, a committed or aborted one, a closed or failed boundary.
delegate void Act () throws Error;

Arena.Consumer consumer;
Arena.Producer producer;

void open () throws Error {
  consumer = new Arena.Consumer (new Arena.Pool (8192, 3), 2);
  consumer.start ();
  producer = new Arena.Producer.from_fd (consumer.dup_worker_fd ());
  producer.wait_iteration ();
}

void send () throws Error {
  unowned var builder = producer.begin_unit ();
  builder.append_bytes ("x", Arena.DType.UINT8, { 5000 }, new Bytes (new uint8[5000]));
  builder.set_value (new Variant.handle (0));
  builder.commit ();
}

void assert_fails (Arena.ArenaError expected, Act act) {
  try {
    act ();
    assert_not_reached ();
  } catch (Error error) {
    assert_error (error, expected.domain, expected.code);
  }
}

void test_released () throws Error {
  open ();
  send ();
  var unit = consumer.next ();
  var bytes = unit.dup_bytes (0);
  var field = unit.dup_field (0);
  unit.release ();
  unit.release ();
  var invalid = new Arena.ArenaError.INVALID_STATE ("");
  assert_fails (invalid, () => { unit.dup_bytes (0); });
  assert_fails (invalid, () => { unit.dup_field (0); });
  assert_fails (invalid, () => { unit.dup_value (); });
  assert_fails (invalid, () => { unit.dup_storage (); });
  assert_fails (invalid, () => { unit.take_packed (null); });
  assert_true (unit.released && unit.n_fields == 1 && unit.find_field ("x") == 0);
  assert_cmpstr (field.get_name (), CompareOperator.EQ, "x");

  // The view has its memory to itself, and then nobody has.
  assert_true (consumer.dup_stats ().get_held_units () == 1);
  foreach (var item in bytes.get_data ())
    assert_true (item == 0);
  bytes = null;
  assert_true (consumer.dup_stats ().get_held_units () == 0);
}

void test_no_such_field () throws Error {
  open ();
  send ();
  var unit = consumer.next ();
  var wrong = new Arena.ArenaError.INVALID_ARGUMENT ("");
  assert_fails (wrong, () => { unit.dup_bytes (1); });
  assert_fails (wrong, () => { unit.dup_field (uint.MAX); });
  assert_cmpint (unit.find_field ("y"), CompareOperator.EQ, -1);
}

void test_no_unit_is_open () throws Error {
  open ();
  unowned var builder = producer.begin_unit ();
  builder.append_bytes (null, Arena.DType.UINT8, null, new Bytes ({ 1 }));
  assert_fails (new Arena.ArenaError.INVALID_STATE (""), () => { producer.begin_unit (); });
  builder.abort ();
  builder.abort ();
  var invalid = new Arena.ArenaError.INVALID_STATE ("");
  assert_fails (invalid, () => { builder.append_bytes (null, Arena.DType.UINT8, { 1 }, new Bytes ({ 1 })); });
  assert_fails (invalid, () => { builder.set_value (new Variant.string ("")); });
  assert_fails (invalid, () => { builder.set_payload ("", { 1 }); });
  assert_fails (invalid, () => { builder.commit (); });
  send ();
  assert_nonnull (consumer.next ());
}

void test_closed () throws Error {
  open ();
  send ();
  var unit = consumer.next ();
  consumer.close ();
  consumer.close ();
  var closed = new Arena.ArenaError.CLOSED ("");
  assert_fails (closed, () => { consumer.start (); });
  assert_fails (closed, () => { consumer.next (); });
  assert_fails (closed, () => { consumer.next_packed (-1, null, null); });
  assert_fails (closed, () => { consumer.stop (); });
  assert_fails (closed, () => { consumer.dup_worker_fd (); });
  assert_fails (closed, () => { producer.begin_unit (); });
  assert_true (unit.dup_bytes (0).length == 5000);
}

void test_dropped () throws Error {
  open ();
  send ();
  var unit = consumer.next ();
  producer = null;
  assert_fails (new Arena.ArenaError.PEER_GONE (""), () => { consumer.next (); });
  assert_true (unit.dup_bytes (0).length == 5000);
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
  }
}

void add (string name, owned Act act) {
  var test = new Case ((owned) act);
  Test.add_data_func (@"/arena/ends/$name", () => test.run ());
}

int main (string[] args) {
  Test.init (ref args);
  add ("released", () => test_released ());
  add ("no-such-field", () => test_no_such_field ());
  add ("no-unit-is-open", () => test_no_unit_is_open ());
  add ("closed", () => test_closed ());
  add ("dropped", () => test_dropped ());

  return Test.run ();
}
