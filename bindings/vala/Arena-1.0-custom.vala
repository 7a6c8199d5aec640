// SPDX-License-Identifier: LGPL-2.1-or-later
// What the GIR can't say to Vala.
namespace Arena {
	public sealed class Worker : Arena.Consumer {
		[CCode (cname = "arena_worker_new_async", finish_name = "arena_worker_new_finish")]
		public static async Arena.Worker create (Arena.Backend backend, [CCode (array_length = false, array_null_terminated = true)] string[] argv, uint buffer_size, int io_priority = GLib.Priority.DEFAULT, GLib.Cancellable? cancellable = null) throws GLib.Error;
	}
}
