// SPDX-License-Identifier: Apache-2.0
// Instances of the package's WebAssembly modules, with a memory each. A module is compiled once.
import { QrtError } from './errors.mjs';
import { compileAt } from './source.mjs';

const compiled = new Map();  // URL of a module -> promise of a WebAssembly.Module

// `given`: instead of the module at `url` another URL, bytes or a WebAssembly.Module; not kept.
async function compile(url, given) {
  if (given instanceof WebAssembly.Module) return given;
  if (given !== undefined)
    return typeof given === 'string' || given instanceof URL ? compileAt(given) : WebAssembly.compile(given);
  const { href } = url;
  if (!compiled.has(href)) {
    const promise = compileAt(url);
    promise.catch(() => compiled.delete(href));
    compiled.set(href, promise);
  }
  return compiled.get(href);
}

// An instance: its functions, and what lies in its memory. A lack of memory that no status tells of ends an
// instance: after that every call fails.
class Instance {
  #exports;
  #buffer = null;
  #view = null;
  #ended = null;
  #advice;

  // `wasm` as compile() takes it; `advice` for those for whom the memory is too small.
  static async create(url, { wasm, advice }) {
    const instance = new Instance();
    instance.#advice = advice;
    const code = await compile(url, wasm);
    const imports = {};
    for (const { module: from, name } of WebAssembly.Module.imports(code))
      (imports[from] ??= {})[name] = instance.#systemCall(name);
    instance.#exports = (await WebAssembly.instantiate(code, imports)).exports;
    instance.call('_initialize');
    return instance;
  }

  // Returns the system call `name` of the WebAssembly module: a clock, an empty environment and
  // exit; every other call fails.
  #systemCall(name) {
    const kNoSuchCall = 52, kOk = 0;
    switch (name) {
      case 'clock_time_get':
        return (id, precision, at) => {
          this.view().setBigUint64(at, BigInt(Math.round(performance.now() * 1e6)), true);
          return kOk;
        };
      case 'environ_sizes_get':
        return (count, bytes) => {
          this.view().setUint32(count, 0, true);
          this.view().setUint32(bytes, 0, true);
          return kOk;
        };
      case 'environ_get': return () => kOk;
      case 'proc_exit': return (status) => { throw new WebAssembly.RuntimeError(`exit ${status}`); };
      default: return () => kNoSuchCall;
    }
  }

  call(name, ...values) {
    if (this.#ended !== null) throw new QrtError('OUT_OF_MEMORY', this.#ended);
    try {
      const result = this.#exports[name](...values);
      // >>> 0 makes addresses beyond 2 GB positive.
      return typeof result === 'number' ? result >>> 0 : result;
    } catch (cause) {
      // Engines throw a RangeError or an InternalError when their stack overflows.
      const isEnd = cause instanceof WebAssembly.RuntimeError || cause instanceof RangeError || cause.name === 'InternalError';
      if (!isEnd) throw cause;
      this.#ended = `the WebAssembly module ended for want of memory (${cause.message}): ${this.#advice}`;
      throw new QrtError('OUT_OF_MEMORY', this.#ended, { cause });
    }
  }

  // Throws unless `status` is 0, success.
  check(status) {
    if (status !== 0)
      throw new QrtError(this.text(this.call('qrt_js_status_name', status)), this.text(this.call('qrt_js_message')));
  }
  // Returns a pointer; throws if it is null, which means that the function failed.
  made(pointer) {
    if (pointer === 0) this.check(this.call('qrt_js_status'));
    return pointer;
  }

  get memory() {
    return this.#exports.memory.buffer;
  }
  view() {
    if (this.#buffer !== this.memory) {
      this.#buffer = this.memory;
      this.#view = new DataView(this.#buffer);
    }
    return this.#view;
  }

  // Returns the NUL-terminated UTF-8 text at `at`, or null for a null pointer.
  text(at) {
    if (at === 0) return null;
    const bytes = new Uint8Array(this.memory, at);
    return new TextDecoder().decode(bytes.slice(0, bytes.indexOf(0)));
  }
  // Return word i, or number i, that the last call left.
  word(i) {
    return this.view().getUint32(this.call('qrt_js_words') + 4 * i, true);
  }
  number(i) {
    return this.view().getFloat64(this.call('qrt_js_numbers') + 8 * i, true);
  }

  allocate(bytes) {
    const at = this.call('qrt_js_allocate', bytes);
    if (at === 0) throw new QrtError('OUT_OF_MEMORY', `no memory for ${bytes} bytes`);
    return at;
  }
  release(at) {
    this.call('qrt_js_release', at);
  }
  // Returns body(pointer), where `pointer` is a copy of `bytes` in the module's memory.
  withBytes(bytes, body) {
    const at = this.allocate(bytes.length);
    try {
      new Uint8Array(this.memory, at, bytes.length).set(bytes);
      return body(at);
    } finally {
      if (this.#ended === null) this.release(at);
    }
  }
  withText(text, body) {
    return this.withBytes(new TextEncoder().encode(`${text}\0`), body);
  }
}

export { Instance };
