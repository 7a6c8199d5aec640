// SPDX-License-Identifier: LGPL-2.1-or-later
// The worker of the tests, in Vala: worker count N BYTES | fail N | hang N | torn N
void send (Arena.Producer producer, int i, int n_bytes) throws Error {
  var items = new float[n_bytes / 4];
  for (int k = 0; k < items.length; k++)
    items[k] = i;

  unowned var builder = producer.begin_unit ();
  unowned uint8[] data = (uint8[]) items;
  data.length = n_bytes;
  builder.append_bytes ("x", Arena.DType.FLOAT32, { items.length }, new Bytes (data));
  builder.commit ();
}

void send_small (Arena.Producer producer, int i) throws Error {
  unowned var builder = producer.begin_unit ();
  builder.append_bytes (null, Arena.DType.UINT8, { 1 }, new Bytes ({ (uint8) i }));
  builder.commit ();
}

// One iteration
void serve (Arena.Producer producer, string mode, int n, int n_bytes) throws Error {
  for (int i = 0; i < n; i++) {
    if (mode == "count")
      send (producer, i, n_bytes);
    else
      send_small (producer, i);
  }
  if (mode == "hang")
    Thread.usleep (1000 * 1000 * 1000);
  if (mode == "torn")
    producer.begin_unit ().reserve ("x", Arena.DType.UINT8, { 5000 });
  if (mode != "count")
    throw new IOError.FAILED ("lost ☃");
}

int main (string[] args) {
  int n = args.length > 2 ? int.parse (args[2]) : 0;
  int n_bytes = args.length > 3 ? int.parse (args[3]) : 0;

  try {
    var producer = new Arena.Producer.from_environment ();
    while (producer.wait_iteration ()) {
      try {
        serve (producer, args[1], n, n_bytes);
        producer.finish_iteration ();
      } catch (Arena.ArenaError.CLOSED error) {
        producer.finish_iteration ();
      } catch (IOError error) {
        producer.fail ("IOError", error.message, "worker.vala", n);
      }
    }
  } catch (Error error) {
    printerr ("%s\n", error.message);
    return 1;
  }

  return 0;
}
