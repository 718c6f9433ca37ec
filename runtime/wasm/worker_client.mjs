// SPDX-License-Identifier: Apache-2.0
// A model in a worker: the interface of Model and Session by promises.
import { arrayOf, copyInto } from './arrays.mjs';
import { QrtError } from './errors.mjs';
import { kDispose } from './model.mjs';
import { bytesOf, isNode, nodeModule } from './source.mjs';

// Calls to a worker and their answers.
class Channel {
  #worker;
  #count = 0;
  #pending = new Map();  // number of a call -> its promise's functions

  static async open() {
    const channel = new Channel();
    const answer = (message) => channel.#answer(message);
    const fail = (message) => channel.#fail(message);
    if (isNode) {
      const { Worker } = await nodeModule('worker_threads');
      channel.#worker = new Worker(new URL('./worker.mjs', import.meta.url));
      channel.#worker.on('message', answer);
      channel.#worker.on('error', (error) => fail(error.message));
      channel.#worker.on('exit', () => fail('the worker has ended'));
      channel.#worker.unref();
    } else {
      channel.#worker = new Worker(new URL('./worker.mjs', import.meta.url), { type: 'module' });
      channel.#worker.onmessage = ({ data }) => answer(data);
      channel.#worker.onerror = (event) => fail(event.message ?? 'the worker cannot be started');
    }
    return channel;
  }

  call(method, values, transfer = []) {
    return new Promise((resolve, reject) => {
      if (this.#worker === null) {
        reject(new QrtError('INVALID_ARGUMENT', 'the worker has ended'));
        return;
      }
      this.#pending.set(++this.#count, { resolve, reject });
      this.#worker.ref?.();  // keeps Node.js running until the answer comes; #answer() undoes it
      this.#worker.postMessage({ id: this.#count, method, values }, transfer);
    });
  }
  close() {
    this.#worker?.terminate();
    this.#fail('the worker has ended');
  }

  #answer({ id, value, error }) {
    const { resolve, reject } = this.#pending.get(id);
    this.#pending.delete(id);
    if (this.#pending.size === 0) this.#worker?.unref?.();
    if (error === undefined) resolve(value);
    else reject(new QrtError(error.code, error.message));
  }
  #fail(message) {
    this.#worker = null;
    for (const { reject } of this.#pending.values()) reject(new QrtError('INTERNAL', message));
    this.#pending.clear();
  }
}

class WorkerSession {
  #channel;
  #id;
  #ended;
  #staged = new Map();
  #results = {};

  constructor(channel, told, ended) {
    this.#channel = channel;
    this.#id = told.id;
    this.#ended = ended;
    this.#take(told);
  }

  // An array that the next run() sends, with zeros at first.
  input(name) {
    const tensor = this.inputs.find((input) => input.name === name);
    if (tensor === undefined) {
      const names = this.inputs.map((input) => `'${input.name}'`).join(', ');
      throw new QrtError('INVALID_ARGUMENT', `no input '${name}': there are ${names}`);
    }
    if (!this.#staged.has(name)) {
      const Type = arrayOf(tensor.dtype);
      this.#staged.set(name, new Type(tensor.bytes / Type.BYTES_PER_ELEMENT));
    }
    return this.#staged.get(name);
  }
  // The array of an output that the last run() has brought.
  output(name) {
    if (!(name in this.#results)) throw new QrtError('INVALID_ARGUMENT', `no output '${name}' of a run`);
    return this.#results[name];
  }

  // `transfer`: the arrays of `inputs` are given to the worker, not copied, and are empty afterwards.
  async run(inputs = {}, { transfer = false } = {}) {
    const sent = Object.fromEntries(this.#staged);
    const buffers = [];
    for (const [name, values] of Object.entries(inputs)) {
      const staged = this.input(name);
      if (transfer) {
        sent[name] = values;
        if (values?.buffer instanceof ArrayBuffer && !buffers.includes(values.buffer)) buffers.push(values.buffer);
      } else {
        copyInto(staged, values, `input '${name}'`);
        sent[name] = staged;
      }
    }
    this.#results = await this.#channel.call('run', [this.#id, sent], buffers);
    return { ...this.#results };
  }
  async reshape(dims) {
    this.#take(await this.#channel.call('reshape', [this.#id, dims]));
  }
  async reset() {
    await this.#channel.call('reset', [this.#id]);
  }
  // The operators, with times where the session has `profile`.
  operators() {
    return this.#channel.call('operators', [this.#id]);
  }

  async dispose() {
    if (this.#id === 0) return;
    const id = this.#id;
    this.#id = 0;
    await this.#channel.call('endSession', [id]);
    this.#ended();
  }
  [kDispose]() { this.dispose(); }
  async [Symbol.asyncDispose ?? Symbol.for('Symbol.asyncDispose')]() { await this.dispose(); }

  #take({ inputs, outputs, threads, isa, batch }) {
    Object.assign(this, { inputs, outputs, threads, isa, batch });
    this.#staged.clear();
    this.#results = {};
  }
}

class QrtWorker {
  #channel;
  #sessions = 0;
  #isDisposed = false;

  // As Model.load(), in a worker of its own.
  static async load(source, options = {}) {
    // The worker's own URL is another one than this program's.
    const bytes = new Uint8Array(await bytesOf(source)).slice();
    const channel = await Channel.open();
    try {
      const wasm = options.wasm instanceof URL ? options.wasm.href : options.wasm;
      const told = await channel.call('load', [bytes, { ...options, wasm }], [bytes.buffer]);
      return new QrtWorker(channel, told);
    } catch (error) {
      channel.close();
      throw error;
    }
  }

  // For load() alone.
  constructor(channel, told) {
    this.#channel = channel;
    Object.assign(this, told);
  }

  async session(options = {}) {
    if (this.#isDisposed) throw new QrtError('INVALID_ARGUMENT', 'the model is disposed');
    const told = await this.#channel.call('session', [options]);
    ++this.#sessions;
    return new WorkerSession(this.#channel, told, () => {
      --this.#sessions;
      this.#close();
    });
  }
  metadata(key) {
    return this.#channel.call('metadata', [key]);
  }
  check() {
    return this.#channel.call('check', []);
  }

  // The worker ends with its last session.
  dispose() {
    this.#isDisposed = true;
    this.#close();
  }
  [kDispose]() { this.dispose(); }

  #close() {
    if (this.#isDisposed && this.#sessions === 0) this.#channel.close();
  }
}

export { QrtWorker };
