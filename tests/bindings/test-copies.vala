// SPDX-License-Identifier: LGPL-2.1-or-later
// Copies to a device from Vala, with a CUDA runtime that has no device.

Bytes make () {
  var data = new uint8[96];

  for (int i = 0; i < data.length; i++)
    data[i] = (uint8) i;
  return new Bytes (data);
}

Arena.Transfer make_transfer () throws Error {
  var transfer = new Arena.Transfer (Arena.CudaContext.get_default ());

  transfer.add (make ());
  return transfer;
}

void test_round_trip () {
  try {
    var buffers = make_transfer ().run ();

    assert_cmpint (buffers.length, CompareOperator.EQ, 1);
    assert_true (buffers[0].size == 96);
    assert_true (buffers[0].download ().compare (make ()) == 0);
  } catch (Error error) {
    assert_no_error (error);
  }
}

async void copy () {
  try {
    var buffers = yield make_transfer ().run_async ();

    assert_true (buffers[0].download ().compare (make ()) == 0);
  } catch (Error error) {
    assert_no_error (error);
  }
}

void test_async () {
  var loop = new MainLoop ();

  copy.begin ((object, result) => {
    copy.end (result);
    loop.quit ();
  });
  loop.run ();
}

void test_errors () {
  try {
    var allocator = new Arena.PinnedAllocator (Arena.CudaContext.get_default ());

    allocator.limit_bytes = 4096;
    allocator.alloc (5000);
    assert_not_reached ();
  } catch (Arena.CudaError error) {
    assert_true (error is Arena.CudaError.NO_MEMORY);
  } catch (Error error) {
    assert_no_error (error);
  }
}

int main (string[] args) {
  Test.init (ref args);
  Test.add_func ("/vala/copies/scenario-71-round-trip", test_round_trip);
  Test.add_func ("/vala/copies/async", test_async);
  Test.add_func ("/vala/copies/errors", test_errors);
  return Test.run ();
}
