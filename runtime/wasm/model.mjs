// SPDX-License-Identifier: Apache-2.0
// Models and sessions in the thread that made them.
import { arrayOf, copyInto } from './arrays.mjs';
import { TestFile } from './check.mjs';
import { QrtError } from './errors.mjs';
import { instantiate } from './module.mjs';
import { bytesOf } from './source.mjs';

const kDispose = Symbol.dispose ?? Symbol.for('Symbol.dispose');
const kLayouts = [null, 'channels_last', 'channels_first'];

// The tensor that the last call has told of.
function tensorOf(wasm) {
  const [name, dtype, rank, dims, bytes, scale, zeroPoint, count, axis, layout, dimNames] =
      Array.from({ length: 11 }, (_, i) => wasm.word(i));
  const view = wasm.view();
  const each = (n, f) => Array.from({ length: n }, (_, i) => f(i));
  const named = dimNames === 0 ? [] : each(rank, (i) => wasm.text(view.getUint32(dimNames + 4 * i, true)));
  const tensor = {
    name: wasm.text(name) ?? '',
    dtype: wasm.text(wasm.call('qrt_js_dtype_name', dtype)),
    dims: each(rank, (i) => Number(view.getBigInt64(dims + 8 * i, true))),
    bytes,
    dimNames: named,
    layout: kLayouts[layout] ?? null,
    quantization: count === 0 ? null : {
      scale: each(count, (i) => view.getFloat32(scale + 4 * i, true)),
      zeroPoint: each(count, (i) => view.getInt32(zeroPoint + 4 * i, true)),
      axis: axis | 0,
    },
  };
  return Object.freeze(tensor);
}

function tensorsOf(wasm, count, call, object) {
  return Object.freeze(Array.from({ length: count }, (_, i) => {
    wasm.check(wasm.call(call, object, i));
    return tensorOf(wasm);
  }));
}

// body(pointer, number) with sizes of open dimensions, {name: size}.
function withDims(wasm, sizes, body) {
  const names = Object.keys(sizes ?? {});
  const dims = wasm.call('qrt_js_dims', names.length);
  const texts = [];
  try {
    names.forEach((name, i) => {
      if (!Number.isSafeInteger(sizes[name]))
        throw new QrtError('INVALID_ARGUMENT', `size ${sizes[name]} of dimension '${name}', expected an integer`);
      const bytes = new TextEncoder().encode(`${name}\0`);
      const at = wasm.allocate(bytes.length);
      texts.push(at);
      new Uint8Array(wasm.memory, at, bytes.length).set(bytes);
      wasm.call('qrt_js_set_dim', dims, i, at, sizes[name]);
    });
    return body(dims, names.length);
  } finally {
    for (const at of [...texts, dims]) wasm.release(at);
  }
}

// A model ready to run at certain sizes, with its memory.
class Session {
  #wasm;
  #session;
  #inputs;
  #outputs;
  #views = new Map();
  #buffer = null;

  // For Model.session() alone.
  constructor(wasm, session) {
    this.#wasm = wasm;
    this.#session = session;
    this.#describe();
  }

  get inputs() { return this.#inputs; }
  get outputs() { return this.#outputs; }
  // Always 1: Debian's C library for WebAssembly has no threads. Several workers run several models.
  get threads() { return 1; }
  get isa() { return this.#info((wasm) => wasm.text(wasm.word(0))); }
  get batch() { return this.#info((wasm) => wasm.word(2)); }
  get memory() { return this.#info((wasm) => wasm.number(0)); }

  // The session's own memory of an input, to be filled before run(). It is another array after a session was
  // made, or this one reshaped: ask again rather than keep it.
  input(name) {
    return this.#view('input', this.#inputs, name);
  }
  // Returns the session's own memory of an output, as the last run has left it; the next run writes there again.
  output(name) {
    return this.#view('output', this.#outputs, name);
  }

  // Fills the inputs that are named, runs, and returns copies of all outputs, {name: array}.
  run(inputs = {}) {
    for (const [name, values] of Object.entries(inputs))
      copyInto(this.input(name), values, `input '${name}'`);
    this.#wasm.check(this.#call('qrt_js_run'));
    return Object.fromEntries(this.#outputs.map(({ name }) => [name, this.output(name).slice()]));
  }

  // Goes on at other sizes of open dimensions, {name: size}; inputs are 0 again.
  reshape(dims) {
    const session = this.#alive();
    withDims(this.#wasm, dims, (at, count) =>
      this.#wasm.check(this.#wasm.call('qrt_js_reshape', session, at, count)));
    this.#describe();
  }
  // Gives everything that the model keeps between runs its initial value again.
  reset() {
    this.#wasm.check(this.#call('qrt_js_reset'));
  }

  // The operators in the order of their execution, with times where the session has `profile`.
  get operators() {
    const wasm = this.#wasm, session = this.#alive();
    return Array.from({ length: wasm.call('qrt_js_op_count', session) }, (_, i) => {
      wasm.check(wasm.call('qrt_js_op', session, i));
      const [name, type, source, kernel] = [0, 1, 2, 3].map((w) => wasm.text(wasm.word(w)));
      return { name, type, source, kernel, level: wasm.word(4) | 0, macs: wasm.number(0),
               milliseconds: wasm.number(1) / 1e6, runs: wasm.number(2) };
    });
  }
  // With `keepAll`: copies of the tensors that operators wrote in the last run, in the order of execution.
  get tensors() {
    const wasm = this.#wasm, session = this.#alive();
    return Array.from({ length: wasm.call('qrt_js_tensor_count', session) }, (_, i) => {
      wasm.check(wasm.call('qrt_js_tensor', session, i));
      const at = wasm.word(11), tensor = tensorOf(wasm);
      return { ...tensor, data: new Uint8Array(wasm.memory, at, tensor.bytes).slice() };
    });
  }

  // For Model.check(): a digest of the tensors of each operator, of which counts[i] are the i-th's.
  digests(counts) {
    const wasm = this.#wasm, session = this.#alive();
    let tensor = 0;
    return counts.map((count) => {
      wasm.call('qrt_js_digest_begin');
      for (let i = 0; i < count; ++i, ++tensor) {
        wasm.check(wasm.call('qrt_js_tensor', session, tensor));
        wasm.call('qrt_js_digest_add', wasm.word(11), wasm.word(4));
      }
      return [1, 0].map((half) => wasm.word(half).toString(16).padStart(8, '0')).join('');
    });
  }

  dispose() {
    if (this.#session === 0) return;
    const session = this.#session;
    this.#session = 0;
    this.#views.clear();
    this.#wasm.call('qrt_js_session_destroy', session);
  }
  [kDispose]() { this.dispose(); }

  #alive() {
    if (this.#session === 0) throw new QrtError('INVALID_ARGUMENT', 'the session is disposed');
    return this.#session;
  }
  #call(name, ...values) {
    return this.#wasm.call(name, this.#alive(), ...values);
  }
  #info(f) {
    this.#wasm.check(this.#call('qrt_js_session_info'));
    return f(this.#wasm);
  }
  #describe() {
    const wasm = this.#wasm, session = this.#session;
    this.#inputs = tensorsOf(wasm, wasm.call('qrt_js_session_input_count', session), 'qrt_js_session_input', session);
    this.#outputs = tensorsOf(wasm, wasm.call('qrt_js_session_output_count', session), 'qrt_js_session_output', session);
    this.#views.clear();
  }
  #view(kind, tensors, name) {
    this.#alive();
    if (this.#buffer !== this.#wasm.memory) {  // it has grown, which leaves all views without memory
      this.#views.clear();
      this.#buffer = this.#wasm.memory;
    }
    const key = `${kind} ${name}`;
    let view = this.#views.get(key);
    if (view === undefined) {
      const index = tensors.findIndex((tensor) => tensor.name === name);
      if (index < 0) {
        const names = tensors.map((tensor) => `'${tensor.name}'`).join(', ');
        throw new QrtError('INVALID_ARGUMENT', `no ${kind} '${name}': there are ${names}`);
      }
      const Type = arrayOf(tensors[index].dtype);
      const at = this.#call(`qrt_js_${kind}_data`, index);
      view = new Type(this.#buffer, at, tensors[index].bytes / Type.BYTES_PER_ELEMENT);
      this.#views.set(key, view);
    }
    return view;
  }
}

// A verified .qrt file. Each model has an instance of WebAssembly of its own, whose memory is free once the model
// and its sessions are disposed.
class Model {
  #wasm;
  #model;
  #file;  // where its bytes are

  // `source`: a URL, in node a path, or the bytes. options: {check, module, wasm}, see qrt.d.ts.
  static async load(source, options = {}) {
    const [bytes, wasm] = await Promise.all([bytesOf(source), instantiate(options)]);
    const at = wasm.allocate(bytes.length);
    new Uint8Array(wasm.memory, at, bytes.length).set(bytes);
    return new Model(wasm, wasm.made(wasm.call('qrt_js_load', at, bytes.length, options.check ? 1 : 0)), at);
  }

  // For load() alone.
  constructor(wasm, model, file) {
    this.#wasm = wasm;
    this.#model = model;
    this.#file = file;
    this.inputs = tensorsOf(wasm, wasm.call('qrt_js_input_count', model), 'qrt_js_input', model);
    this.outputs = tensorsOf(wasm, wasm.call('qrt_js_output_count', model), 'qrt_js_output', model);
    this.dims = Object.freeze(Array.from({ length: wasm.call('qrt_js_dim_count', model) }, (_, i) => {
      wasm.check(wasm.call('qrt_js_dim', model, i));
      const [defaultSize, least, most, step] = [0, 1, 2, 3].map((n) => wasm.number(n));
      return Object.freeze({ name: wasm.text(wasm.word(0)), defaultSize, least, most, step });
    }));
    wasm.check(wasm.call('qrt_js_model_info', model));
    this.name = wasm.text(wasm.word(0));
    this.reference = wasm.text(wasm.word(1));
    this.defaultBatch = wasm.word(2);
  }

  // A value of the file's metadata, or undefined.
  metadata(key) {
    this.#alive();
    return this.#wasm.withText(key, (at) =>
      this.#wasm.text(this.#wasm.call('qrt_js_metadata', this.#model, at)) ?? undefined);
  }

  // options: {batch, dims, threads, isa, profile, keepAll, maxMemory}, see qrt.d.ts.
  session(options = {}) {
    this.#alive();
    const { batch = 0, dims, threads = 0, isa, profile, keepAll, maxMemory = 0 } = options;
    for (const [name, value] of Object.entries({ batch, threads, maxMemory }))
      if (!Number.isSafeInteger(value) || value < 0 || value > 0xffffffff)
        throw new QrtError('INVALID_ARGUMENT', `${name} ${value}, expected a whole number`);
    const wasm = this.#wasm;
    const create = (isaAt) => withDims(wasm, dims, (at, count) =>
      wasm.made(wasm.call('qrt_js_session', this.#model, batch, at, count, isaAt, profile ? 1 : 0, keepAll ? 1 : 0, maxMemory)));
    const session = isa === undefined ? create(0) : wasm.withText(isa, create);
    return new Session(wasm, session);
  }

  // Runs the test values of the file, which qrt_convert --digests has put there with what every operator made of them
  // natively: {operators, different}, of which the second is the first operator that differs, or null.
  check() {
    const test = new TestFile(this.#wasm.memory, this.#file, (key) => this.metadata(key));
    const session = this.session({ dims: test.dims(this.dims), keepAll: true });
    try {
      session.inputs.forEach(({ name }, i) => copyBytes(session.input(name), test.input(this.#wasm.memory, i)));
      session.run();
      const different = test.firstDifferent(session.digests(test.outputCounts));
      const op = session.operators[different];
      return { operators: test.outputCounts.length,
               different: different < 0 ? null : { index: different, name: op.name, type: op.type, kernel: op.kernel } };
    } finally {
      session.dispose();
    }
  }

  // Sessions go on; the memory is free once they are disposed, too.
  dispose() {
    if (this.#model === 0) return;
    this.#wasm.call('qrt_js_model_destroy', this.#model);
    this.#model = 0;
    this.#wasm = null;
  }
  [kDispose]() { this.dispose(); }

  #alive() {
    if (this.#model === 0) throw new QrtError('INVALID_ARGUMENT', 'the model is disposed');
  }
}

function copyBytes(to, bytes) {
  if (bytes.length !== to.byteLength)
    throw new QrtError('INVALID_MODEL', `${bytes.length} bytes of test values for an input of ${to.byteLength}`);
  new Uint8Array(to.buffer, to.byteOffset, to.byteLength).set(bytes);
}

export { Model, Session, kDispose };
