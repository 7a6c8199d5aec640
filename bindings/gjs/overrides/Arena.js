// SPDX-License-Identifier: LGPL-2.1-or-later
// The C API of Arena made iterable and viewable; GJS applies this to the namespace when it is imported.
//
// Every typed array keeps the GBytes that it looks into, never the unit: it stays valid after the unit's release, and
// its storage goes back at the collection after it is dropped.
const {Gio, GLib, GObject} = imports.gi;
const System = imports.system;

// Newer versions of GJS copy here: their arrays are snapshots.
function toArrayShares() {
  const bytes = new GLib.Bytes(new Uint8Array(1));
  bytes.toArray()[0] = 1;
  return bytes.toArray()[0] === 1;
}

// GLib.Variant.recursiveUnpack() with view(index) for each handle.
function unpack(value, view) {
  const type = value.get_type_string();
  if (type === 'h')
    return view(value.get_handle());
  if (type === 'v')
    return unpack(value.get_variant(), view);
  if (!/[hv]/.test(type))
    return value.recursiveUnpack();

  const children = [];
  for (let i = 0; i < value.n_children(); i++)
    children.push(unpack(value.get_child_value(i), view));
  if (type[0] === 'm')
    return children[0] ?? null;
  return type.startsWith('a{') ? Object.fromEntries(children) : children;
}

function _init() {
  const Arena = this;
  const {
    Consumer, DeviceBuffer, DType, PinnedAllocator, Pool, Producer, Ring, Transfer, Unit, UnitBuilder, Worker,
  } = Arena;

  // A complex number is two items; JavaScript has neither 16-bit floats nor an array of bool.
  const arrayTypes = new Map([
    [DType.INT8, Int8Array], [DType.INT16, Int16Array], [DType.INT32, Int32Array], [DType.INT64, BigInt64Array],
    [DType.UINT8, Uint8Array], [DType.UINT16, Uint16Array], [DType.UINT32, Uint32Array],
    [DType.UINT64, BigUint64Array], [DType.FLOAT16, Uint16Array], [DType.FLOAT32, Float32Array],
    [DType.FLOAT64, Float64Array], [DType.BFLOAT16, Uint16Array], [DType.COMPLEX64, Float32Array],
    [DType.COMPLEX128, Float64Array], [DType.BOOL, Uint8Array],
  ]);
  const dtypes = new Map([
    [Int8Array, DType.INT8], [Int16Array, DType.INT16], [Int32Array, DType.INT32], [BigInt64Array, DType.INT64],
    [Uint8Array, DType.UINT8], [Uint8ClampedArray, DType.UINT8], [Uint16Array, DType.UINT16],
    [Uint32Array, DType.UINT32], [BigUint64Array, DType.UINT64], [Float32Array, DType.FLOAT32],
    [Float64Array, DType.FLOAT64],
  ]);

  const FRESH = {};

  // g_object_new() alone leaves a half-made object.
  function initOrThrow(properties) {
    GObject.Object.prototype._init.call(this, properties);
    if (properties !== FRESH)
      this.init(null);
  }

  // A pool or ring without storage of its own, for load(): Arena.Pool.fresh(). Nothing else is made so, whatever it is
  // called on.
  for (const loaded of [Pool, Ring])
    loaded.fresh = () => new loaded(FRESH);

  function refuse() {
    throw new TypeError(`an ${this.constructor.name.replace('_', '.')} is not made this way`);
  }

  for (const made of [Consumer, PinnedAllocator, Pool, Ring])
    made.prototype._init = initOrThrow;
  for (const given of [DeviceBuffer, Producer, Unit, UnitBuilder])
    given.prototype._init = refuse;

  // Replaces a method; change(original) returns the new one.
  function wrap(owner, name, change) {
    owner.prototype[name] = change(owner.prototype[name]);
  }

  for (const name of ['stop', 'close']) {
    wrap(Consumer, name, original => function (timeout = -1, cancellable = null) {
      return original.call(this, timeout, cancellable);
    });
  }

  // While this thread waits, nobody else can release what it holds: BUSY, if a collection doesn't either.
  function collect(consumer) {
    System.gc();
    if (consumer._waiting && consumer.get_starve_timeout() < 0) {
      consumer._gaveUp = true;
      consumer.set_starve_timeout(0);
    }
    return false;
  }

  function watchStarvation(consumer) {
    if (consumer._waiting === undefined)
      consumer.connect('starved', collect);
    consumer._waiting = false;
  }

  function wait(consumer, call, timeout, cancellable) {
    watchStarvation(consumer);
    consumer._waiting = true;
    try {
      return call.call(consumer, timeout, cancellable);
    } finally {
      consumer._waiting = false;
      if (consumer._gaveUp) {
        consumer._gaveUp = false;
        consumer.set_starve_timeout(-1);
      }
    }
  }

  wrap(Consumer, 'next', original => function (timeout = -1, cancellable = null) {
    return wait(this, original, timeout, cancellable);
  });

  // GJS frees an array that was never returned where it can't convert an argument.
  wrap(Consumer, 'next_packed', original => function (timeout = -1, cancellable = null) {
    if (!Number.isSafeInteger(timeout) || (cancellable !== null && !(cancellable instanceof Gio.Cancellable)))
      throw new TypeError('next_packed() takes an integer and a Gio.Cancellable');
    return wait(this, original, timeout, cancellable);
  });

  // Each loop is an iteration of the worker; a unit is released when the loop goes on.
  Consumer.prototype[Symbol.iterator] = function* () {
    this.start();
    for (let unit; (unit = this.next()) !== null;) {
      try {
        yield unit;
      } finally {
        unit.release();
      }
    }
  };

  // The same beside a main loop: for await (const unit of worker)
  for (const name of ['next', 'stop', 'close'])
    Gio._promisify(Consumer.prototype, `${name}_async`, `${name}_finish`);
  Gio._promisify(Transfer.prototype, 'run_async', 'run_finish');
  Gio._promisify(Worker, 'new_async', 'new_finish');
  Consumer.prototype[Symbol.asyncIterator] = async function* () {
    watchStarvation(this);
    this.start();
    for (let unit; (unit = await this.next_async(-1, null)) !== null;) {
      try {
        yield unit;
      } finally {
        unit.release();
      }
    }
  };

  function find(unit, field) {
    if (typeof field !== 'string')
      return field;

    const index = unit.find_field(field);
    if (index < 0) {
      unit.dup_value(); // says so where the unit has been released
      throw new RangeError(`no field ${field}`);
    }
    return index;
  }

  // The items of a field, as they lie in memory where it has strides. JavaScript has no read-only arrays: writing to one
  // of a read-only pool ends the process, so ask unit.readOnly first.
  Unit.prototype.array = function (field = 0) {
    const index = find(this, field);
    const ArrayType = arrayTypes.get(this.dup_field(index).get_dtype());
    const bytes = this.dup_bytes(index).toArray();
    if (ArrayType === Uint8Array)
      return bytes;
    return new ArrayType(bytes.buffer, bytes.byteOffset, bytes.byteLength / ArrayType.BYTES_PER_ELEMENT);
  };

  Object.defineProperties(Unit.prototype, {
    // The Arena.Field of each field.
    fields: {
      get() {
        return Array.from({length: this.get_n_fields()}, (_, i) => this.dup_field(i));
      },
    },
    // The portable value in JavaScript's own types, with arrays where it has handles; null where there is none.
    value: {
      get() {
        const value = this.dup_value();
        return value && unpack(value, index => this.array(index));
      },
    },
    // Whether arrays are the arena's memory, not copies of it.
    zeroCopy: {value: toArrayShares()},
  });

  // The bytes of a typed array; GJS would convert its items one by one.
  function toBytes(data, dtype) {
    if (!ArrayBuffer.isView(data) || data instanceof Uint8Array)
      return data;
    if (arrayTypes.get(dtype) !== data.constructor && dtypes.get(data.constructor) !== dtype)
      throw new TypeError(`a ${data.constructor.name} has no items of type ${Arena.dtype_get_name(dtype)}`);
    return new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
  }

  wrap(UnitBuilder, 'append_bytes', original => function (name, dtype, shape, data) {
    return original.call(this, name, dtype, shape, toBytes(data, dtype));
  });
  wrap(UnitBuilder, 'set_payload', original => function (contentType, payload) {
    if (payload !== null && !(payload instanceof Uint8Array))
      throw new TypeError('a payload is a Uint8Array');
    return original.call(this, contentType, payload);
  });

  // Copies a typed array, an ArrayBuffer or a GBytes into a field; returns its index.
  UnitBuilder.prototype.append = function (data, name = null, shape = null) {
    if (data instanceof ArrayBuffer)
      data = new Uint8Array(data);
    if (!(data instanceof GLib.Bytes) && !dtypes.has(data?.constructor))
      throw new TypeError(`${data} is neither a typed array nor bytes`);
    // GJS leaks the bytes at each call of a method of theirs but this.
    return this.append_bytes(name, dtypes.get(data.constructor) ?? DType.UINT8,
      shape ?? [(data instanceof GLib.Bytes ? data.toArray() : data).length], data);
  };

  wrap(Producer, 'begin_unit', original => function (expectedSize = 0, timeout = -1, cancellable = null) {
    return original.call(this, expectedSize, timeout, cancellable);
  });

  // Sends a unit: an array, a list of them, or an object of them by name. A GLib.Variant among them becomes the unit's
  // portable value.
  Producer.prototype.send = function (value) {
    let items = [[null, value]];
    if (Array.isArray(value))
      items = value.map(item => [null, item]);
    else if (value?.constructor === Object)
      items = Object.entries(value);

    const builder = this.begin_unit();
    try {
      for (const [name, item] of items) {
        if (item instanceof GLib.Variant)
          builder.set_value(item);
        else
          builder.append(item, name);
      }
      builder.commit();
    } finally {
      builder.abort(); // nothing where it was sent
    }
  };

  // Runs a worker: makeValues() is called for each iteration, and each value it yields is sent as a unit. What it
  // throws ends the iteration, and is the REMOTE error in the consumer.
  Arena.produce = function (makeValues) {
    const producer = Producer.new_from_environment();

    while (producer.wait_iteration(-1, null)[0]) {
      let nSent = 0;
      try {
        for (const value of makeValues()) {
          producer.send(value);
          nSent++;
        }
        producer.finish_iteration();
      } catch (error) {
        if (error.matches?.(Arena.Error, Arena.Error.CLOSED)) // the consumer has stopped and reads no more
          producer.finish_iteration();
        else
          producer.fail(error?.name ?? error?.constructor?.name ?? 'Error', `${error?.message ?? error}`,
            error?.stack ?? null, nSent);
      }
    }
  };
}
