// SPDX-License-Identifier: LGPL-2.1-or-later
// batches-vala [--ring]: eight batches of a million floats that another process makes. A pool lends them where that
// process wrote them; a ring gives copies, which may be kept without holding anything up.
const int N_ELEMENTS = 1024 * 1024;

void send_batch (Arena.Producer producer, float value) throws Error {
  unowned var unit = producer.begin_unit (N_ELEMENTS * sizeof (float));
  var bytes = unit.reserve ("x", Arena.DType.FLOAT32, { N_ELEMENTS });
  // Ours to write until the commit
  unowned float[] x = (float[]) bytes.get_data ();

  for (int i = 0; i < N_ELEMENTS; i++)
    x[i] = value;
  unit.commit ();
}

void make_batches () throws Error {
  var producer = new Arena.Producer.from_environment ();

  while (producer.wait_iteration ()) {
    int i = 0;
    try {
      for (; i < 8; i++)
        send_batch (producer, i);
      producer.finish_iteration ();
    } catch (Error error) {
      producer.fail (error.domain.to_string (), error.message, null, i);
    }
  }
}

void print_batches (Arena.Backend arena) throws Error {
  var program = FileUtils.read_link ("/proc/self/exe");
  var batches = new Arena.Worker (arena, { program, "--worker" }, 2);

  foreach (var unit in batches) {
    var bytes = unit.dup_bytes (0);
    unowned float[] x = (float[]) bytes.get_data ();

    print ("(%" + uint64.FORMAT + ",) %g\n", unit.dup_field (0).get_shape ()[0], x[0]);
  }
  batches.close ();
}

int main (string[] args) {
  try {
    if (args[1] == "--worker")
      make_batches ();
    else if (args[1] == "--ring")
      print_batches (new Arena.Ring (16 << 20));
    else
      print_batches (new Arena.Pool (4 << 20, 4));
    return 0;
  } catch (Error error) {
    printerr ("batches: %s\n", error.message);
    return 1;
  }
}
