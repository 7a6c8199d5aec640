// SPDX-License-Identifier: LGPL-2.1-or-later
// What every-call.py calls functions with. C98: an error is an answer; a crash, a critical or a warning is none.
delegate void Call (World world) throws Error;
delegate void Step () throws Error;

class Case {
  string name;
  Call call;

  public Case (string name, owned Call call) {
    this.name = name;
    this.call = (owned) call;
  }

  public void run () {
    try {
      call (new World ());
    } catch (Error error) {
      Test.message ("%s: %s", name, error.message);
      assert_true (error is Arena.ArenaError || error is Arena.CudaError || error is IOError);
    }
  }
}

void add (string name, owned Call call) {
  var test = new Case (name, (owned) call);
  Test.add_data_func (@"/arena/every-call/$name", () => test.run ());
}

// Each function makes what it returns, from a pair of a consumer and a producer in this process.
class World {
  public UnixFDList fds = new UnixFDList ();
  Arena.Consumer pair;
  Arena.Producer end;
  Arena.Backend home;
  Arena.Writer? made_writer;
  Arena.Unit? kept;
  Arena.Consumer? spare;
  Arena.Transfer? made_transfer;
  Bytes? pinned_bytes;
  uint64 made_span;
  MainLoop loop = new MainLoop ();
  Error? failure;

  public World () throws Error {
    home = new Arena.Pool (8192, 4);
    pair = new Arena.Consumer (new Arena.Pool (8192, 4), 2);
    pair.start ();
    end = new Arena.Producer.from_fd (pair.dup_worker_fd ());
    end.wait_iteration ();
    send (end.begin_unit ());
  }

  void send (Arena.UnitBuilder builder) throws Error {
    builder.append_bytes ("text", Arena.DType.UINT8, { 5000 }, new Bytes (new uint8[5000]));
    builder.set_value (new Variant.handle (0));
    builder.set_payload ("text/plain", { 1 });
    builder.commit ();
  }

  public Arena.Consumer consumer () {
    return pair;
  }

  public Arena.Consumer idle_consumer () throws Error {
    spare = new Arena.Consumer (new Arena.Pool (4096, 1), 1);
    return spare;
  }

  public int fd () throws Error {
    return idle_consumer ().dup_worker_fd ();
  }

  public Arena.Producer producer () {
    return end;
  }

  public unowned Arena.UnitBuilder unit_builder () throws Error {
    return end.begin_unit ();
  }

  public Arena.Unit unit () throws Error {
    kept = pair.next ();
    return kept;
  }

  public Arena.Field field () throws Error {
    return unit ().dup_field (0);
  }

  public Arena.Stats stats () {
    return pair.dup_stats ();
  }

  public Arena.RemoteError remote_error () throws Error {
    unit ();
    end.fail ("Sad", "over");
    try {
      pair.next ();
      assert_not_reached ();
    } catch (Arena.ArenaError.REMOTE error) {
      return pair.dup_remote_error ();
    }
  }

  public uint8[] record () throws Error {
    return pair.next_packed ();
  }

  public Arena.Worker worker () throws Error {
    return new Arena.Worker (home, { "true" }, 2);
  }

  public Arena.Pool pool () {
    return (Arena.Pool) home;
  }

  public Arena.Ring ring () throws Error {
    return new Arena.Ring (4096);
  }

  public Arena.Backend backend () {
    return home;
  }

  // As a worker makes it before it loads what its consumer has saved.
  public Arena.Backend empty_backend () {
    return (Arena.Backend) Object.new (typeof (Arena.Pool));
  }

  public Variant state () throws Error {
    return home.save (fds);
  }

  public Arena.Writer idle_writer () throws Error {
    var other = empty_backend ();
    other.load (state (), fds);
    made_writer = other.open_writer ();
    return made_writer;
  }

  public Arena.Writer started_writer () throws Error {
    idle_writer ().start_epoch (1);
    return made_writer;
  }

  public Arena.Writer writer () throws Error {
    started_writer ().begin_unit (16, 0);
    return made_writer;
  }

  public Arena.Reader idle_reader () throws Error {
    return home.open_reader ();
  }

  public Arena.Reader reader () throws Error {
    writer ().write (new Bytes ({ 1, 2, 3 }), null);
    made_writer.commit_unit (out made_span);
    var reader = home.open_reader ();
    reader.enter_epoch (1);
    return reader;
  }

  public uint64 span () {
    return made_span;
  }

  // Without a runtime one that was constructed by hand, as all that belongs to CUDA here.
  public Arena.CudaContext cuda_context () throws Error {
    if (Arena.CudaContext.is_supported ())
      return Arena.CudaContext.get_default ();
    return (Arena.CudaContext) Object.new (typeof (Arena.CudaContext));
  }

  public Arena.Transfer transfer () throws Error {
    if (made_transfer == null) {
      made_transfer = new Arena.Transfer (cuda_context ());
      made_transfer.add (new Bytes (new uint8[5000]));
    }
    return made_transfer;
  }

  public Arena.DeviceBuffer device_buffer () throws Error {
    if (Arena.CudaContext.is_supported ())
      return transfer ().run ()[0];
    return (Arena.DeviceBuffer) Object.new (typeof (Arena.DeviceBuffer));
  }

  public Arena.PinnedAllocator pinned_allocator () throws Error {
    if (!Arena.CudaContext.is_supported ())
      return (Arena.PinnedAllocator) Object.new (typeof (Arena.PinnedAllocator));

    var allocator = new Arena.PinnedAllocator (cuda_context ());
    pinned_bytes = allocator.alloc (5000);
    return allocator;
  }

  public Arena.PinnedStats pinned_stats () throws Error {
    return pinned_allocator ().dup_stats ();
  }

  public Arena.Quarantine quarantine () throws Error {
    cuda_context ().hold (new Bytes ({ 1 }), 12345); // no stream of that number will ever be done
    return cuda_context ().list_quarantine ()[0];
  }

  public void finish (Step step) {
    try {
      step ();
    } catch (Error error) {
      failure = error;
    }
    loop.quit ();
  }

  public void wait () throws Error {
    loop.run ();
    if (failure != null)
      throw failure;
  }
}
