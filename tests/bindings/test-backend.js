// SPDX-License-Identifier: LGPL-2.1-or-later
// F31: an arena of one's own in JavaScript, called as the library calls it: test-backend.js
import Arena from 'gi://Arena?version=1.0';
import Gio from 'gi://Gio';
import GLib from 'gi://GLib';
import GObject from 'gi://GObject';

import {assert, assertEqual, assertThrows, run} from '../lib/tap.js';

// Bytes of this process: one object is all three. Nothing is a subclass of the library's.
const Heap = GObject.registerClass({
  Implements: [Arena.Backend, Arena.Writer, Arena.Reader],
  Properties: {'zero-copy': GObject.ParamSpec.override('zero-copy', Arena.Reader)},
}, class Heap extends GObject.Object {
  _init() {
    super._init();
    this.memory = [];
    this.unit = 0;
    this.ended = [];
  }

  get zero_copy() {
    return false;
  }

  vfunc_open_writer() {
    return this;
  }

  vfunc_open_reader() {
    return this;
  }

  vfunc_shutdown() {
    return true;
  }

  vfunc_close() {
    throw new GLib.Error(Arena.Error, Arena.Error.BUSY, 'held');
  }

  vfunc_unlink() {
    throw new RangeError('no name');
  }

  vfunc_start_epoch() {
    return true;
  }

  vfunc_begin_unit() {
    this.unit = this.memory.length;
    return true;
  }

  vfunc_write(data) {
    const offset = this.memory.length;
    this.memory.push(...data.toArray());
    return [true, offset];
  }

  vfunc_commit_unit() {
    return [true, this.memory.length];
  }

  vfunc_abort_unit() {
    this.memory.length = this.unit;
    return true;
  }

  vfunc_enter_epoch() {
    return true;
  }

  vfunc_read(_span, offset, size) {
    return new GLib.Bytes(Uint8Array.from(this.memory.slice(offset, offset + size)));
  }

  vfunc_end_unit(span) {
    this.ended.push(span);
    return true;
  }
});

await run({
  'a round trip': () => {
    const heap = new Heap();
    const [writer, reader] = [heap.open_writer(), heap.open_reader()];
    writer.start_epoch(1);
    reader.enter_epoch(1);
    for (const text of ['one', 'another']) {
      writer.begin_unit(8, -1, null);
      const [, offset] = writer.write(new GLib.Bytes(new TextEncoder().encode(text)));
      const [, span] = writer.commit_unit();
      const bytes = reader.read(span, offset, text.length);
      assertEqual(new TextDecoder().decode(bytes.toArray()), text);
      reader.end_unit(span);
    }
    assertEqual(heap.ended.join(), '3,10');
    writer.begin_unit(8, -1, null);
    writer.write(new GLib.Bytes(new Uint8Array(5)));
    writer.abort_unit();
    assertEqual(heap.memory.length, 10);
  },

  // One of the library's is passed on, and so is JavaScript's own.
  'errors': () => {
    const heap = new Heap();
    assertEqual(heap.shutdown(), true);
    assertThrows(() => heap.close(), Arena.Error, Arena.Error.BUSY);
    assertThrows(() => heap.save(new Gio.UnixFDList()), Arena.Error, Arena.Error.NOT_SUPPORTED);
    try {
      heap.unlink();
      throw new Error('no error');
    } catch (error) {
      assert(`${error}`.includes('no name'), `${error}`);
    }
  },
});
