// SPDX-License-Identifier: LGPL-2.1-or-later
// What the GIR can't say to Vala.
namespace Arena {
  // foreach (var unit in consumer) { ... } is one iteration. The VAPI carries these bodies to the programs.
  public class Consumer : GLib.Object {
    public unowned Consumer iterator () throws GLib.Error {
      start ();
      return this;
    }

    // Through a variable: vapigen can't write the temporary that a thrown error needs elsewhere.
    public Unit? next_value () throws GLib.Error {
      Unit? unit = next ();
      return unit;
    }
  }

  public sealed class Worker : Arena.Consumer {
    [CCode (cname = "arena_worker_new_async", finish_name = "arena_worker_new_finish")]
    public static async Arena.Worker create (Arena.Backend backend, [CCode (array_length = false, array_null_terminated = true)] string[] argv, uint buffer_size, int io_priority = GLib.Priority.DEFAULT, GLib.Cancellable? cancellable = null) throws GLib.Error;
  }
}
