// SPDX-License-Identifier: LGPL-2.1-or-later
// Workers of every language under a consumer in Vala: test-workers --tap LANGUAGE PROGRAM... [-- LANGUAGE PROGRAM...]...
class Language {
  public string name;
  public string[] argv;

  public Language (string words) {
    argv = words.split (" ");
    name = argv[0];
    argv = argv[1:argv.length];
  }

  public Arena.Worker start (string[] arguments) throws Error {
    var all = argv;
    foreach (var argument in arguments)
      all += argument;
    return new Arena.Worker (new Arena.Pool (4 << 20, 4), all, 2);
  }

  // The one in C is an example, which does nothing but count.
  public bool counts_only () {
    return name == "c";
  }

  string kind () {
    return name == "python" ? "LookupError" : name == "gjs" ? "RangeError" : "IOError";
  }

  // Its exception comes after two units, whether one more was begun or not.
  void check_failure (string mode) throws Error {
    var worker = start ({ mode, "2" });
    for (int pass = 0; pass < 6; pass++) {
      int n = 0;
      try {
        foreach (var unit in worker)
          assert_true (unit.dup_bytes (0).get (0) == n++);
        assert_not_reached ();
      } catch (Arena.ArenaError.REMOTE error) {
        assert_cmpint (n, CompareOperator.EQ, 2);
        assert_true (@"item 2: $(kind ()): lost ☃" in error.message);
        assert_null (worker.next ());
      }
    }
    assert_true (worker.dup_stats ().get_held_units () == 0);
    worker.close ();
  }

  public void fail () {
    try {
      check_failure ("fail");
      check_failure ("torn");
    } catch (Error error) {
      assert_no_error (error);
    }
  }

  public void die () {
    try {
      var worker = start ({ "count", "1000", "1048576" });
      var kept = worker.next ().dup_bytes (0);
      Posix.kill ((Posix.pid_t) worker.pid, Posix.Signal.KILL);
      try {
        while (worker.next () != null)
          continue;
        assert_not_reached ();
      } catch (Arena.ArenaError.PEER_GONE error) {
        assert_true ("killed by signal 9" in error.message);
      }
      foreach (var item in kept.get_data ())
        assert_true (item == 0);
    } catch (Error error) {
      assert_no_error (error);
    }
  }

  public void die_in_a_wait () {
    try {
      var worker = start ({ "hang", "1" });
      worker.next ();
      Process.spawn_command_line_async (@"sh -c \"sleep 0.2; kill -KILL $(worker.pid)\"");
      worker.next ();
      assert_not_reached ();
    } catch (Error error) {
      assert_true (error is Arena.ArenaError.PEER_GONE);
    }
  }
}

int main (string[] args) {
  // GLib would take options of the workers for its own.
  string[] own = { args[0], args[1] };
  unowned string[] of_test = own;
  Test.init (ref of_test);
  foreach (var words in string.joinv (" ", args[2:args.length]).split (" -- ")) {
    var language = new Language (words);
    Test.add_data_func (@"/arena/workers/$(language.name)/die", () => language.die ());
    if (language.counts_only ())
      continue;
    Test.add_data_func (@"/arena/workers/$(language.name)/fail", () => language.fail ());
    Test.add_data_func (@"/arena/workers/$(language.name)/die-in-a-wait", () => language.die_in_a_wait ());
  }

  return Test.run ();
}
