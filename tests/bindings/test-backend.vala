// SPDX-License-Identifier: LGPL-2.1-or-later
// F31: an arena of one's own in Vala, called as the library calls it.

// Bytes of this process: one object is all three. Nothing is a subclass of the library's.
class Heap : Object, Arena.Backend, Arena.Writer, Arena.Reader {
  public ByteArray memory = new ByteArray ();
  public uint64 last_ended;
  uint unit;

  public bool zero_copy {
    get {
      return false;
    }
  }

  public Arena.Writer open_writer () throws Error {
    return this;
  }

  public Arena.Reader open_reader () throws Error {
    return this;
  }

  public bool shutdown () throws Error {
    return true;
  }

  public bool close () throws Error {
    throw new Arena.ArenaError.BUSY ("held");
  }

  public bool unlink () throws Error {
    throw new IOError.NOT_FOUND ("no name");
  }

  public Variant save (UnixFDList fds) throws Error {
    return new Variant.string ("heap");
  }

  public bool load (Variant state, UnixFDList fds) throws Error {
    return state.get_string () == "heap";
  }

  public bool start_epoch (uint64 epoch) throws Error {
    return true;
  }

  public bool begin_unit (size_t expected_size, int64 timeout, Cancellable? cancellable) throws Error {
    unit = memory.len;
    return true;
  }

  public bool write (Bytes data, out uint64 offset) throws Error {
    offset = memory.len;
    memory.append (data.get_data ());
    return true;
  }

  public Bytes reserve (size_t size, size_t alignment, out uint64 offset) throws Error {
    throw new Arena.ArenaError.NOT_SUPPORTED ("no place");
  }

  public bool commit_unit (out uint64 span) throws Error {
    span = memory.len;
    return true;
  }

  public bool abort_unit () throws Error {
    memory.set_size (unit);
    return true;
  }

  public bool enter_epoch (uint64 epoch) throws Error {
    return true;
  }

  public Bytes read (uint64 span, uint64 offset, size_t size) throws Error {
    return new Bytes (memory.data[(int) offset:(int) (offset + size)]);
  }

  public bool end_unit (uint64 span) throws Error {
    last_ended = span;
    return true;
  }
}

void round_trip () throws Error {
  var heap = new Heap ();
  // The library's calls, not the object's own
  Arena.Backend backend = heap;
  var writer = backend.open_writer ();
  var reader = backend.open_reader ();
  writer.start_epoch (1);
  reader.enter_epoch (1);
  foreach (var text in new string[] { "one", "another" }) {
    uint64 offset, span;
    writer.begin_unit (8, -1);
    writer.write (new Bytes (text.data), out offset);
    writer.commit_unit (out span);
    assert_true (reader.read (span, offset, text.length).compare (new Bytes (text.data)) == 0);
    reader.end_unit (span);
    assert_true (heap.last_ended == span);
  }
  writer.begin_unit (8, -1);
  writer.write (new Bytes ({ 1, 2, 3 }), null);
  writer.abort_unit ();
  assert_cmpuint (heap.memory.len, CompareOperator.EQ, 10);
  assert_true (backend.load (backend.save (new UnixFDList ()), new UnixFDList ()));
}

void test_round_trip () {
  try {
    round_trip ();
  } catch (Error error) {
    assert_no_error (error);
  }
}

void test_errors () {
  Arena.Backend backend = new Heap ();
  try {
    assert_true (backend.shutdown ());
    backend.close ();
    assert_not_reached ();
  } catch (Error error) {
    assert_true (error is Arena.ArenaError.BUSY);
  }
  try {
    backend.unlink ();
    assert_not_reached ();
  } catch (Error error) {
    assert_true (error is IOError.NOT_FOUND);
  }
}

int main (string[] args) {
  Test.init (ref args);
  Test.add_func ("/arena/own-backend/round-trip", test_round_trip);
  Test.add_func ("/arena/own-backend/errors", test_errors);

  return Test.run ();
}
