// SPDX-License-Identifier: Apache-2.0
// The WebAssembly modules: which one an engine takes, compiled once; instances of it with a memory each.
import { QrtError } from './errors.mjs';

const isNode = typeof process !== 'undefined' && process.versions?.node !== undefined;

// A module with one function: i8x16.splat, and where `relaxed`, i32x4.relaxed_dot_i8x16_i7x16_add_s.
function probe(relaxed) {
  const splat = [0x41, 0, 0xfd, 0x0f];
  const body = [0, ...splat, ...(relaxed ? [...splat, ...splat, 0xfd, 0x93, 0x02] : []), 0x0b];
  return new Uint8Array([0, 0x61, 0x73, 0x6d, 1, 0, 0, 0, 1, 5, 1, 0x60, 0, 1, 0x7b, 3, 2, 1, 0,
    0x0a, body.length + 2, 1, body.length, ...body]);
}

// The name of the best module that this engine takes.
function bestModule() {
  if (WebAssembly.validate(probe(true))) return 'wasmrelaxed';
  if (WebAssembly.validate(probe(false))) return 'wasm128';
  throw new QrtError('UNSUPPORTED', 'this engine has no SIMD instructions (simd128) for WebAssembly');
}

// Bundlers find these files by the form of the expressions.
function urlOf(name) {
  return name === 'wasmrelaxed' ? new URL('./qrt_wasmrelaxed.wasm', import.meta.url)
                                : new URL('./qrt_wasm128.wasm', import.meta.url);
}

// A module of node that bundlers for browsers do not look for.
function nodeModule(name) {
  return import(/* @vite-ignore */ /* webpackIgnore: true */ `node:${name}`);
}

function isUrl(text) {
  return /^[a-z][a-z0-9+.-]+:/i.test(text);
}

// The bytes of a URL or, in node, a path.
async function read(source) {
  const text = String(source);
  const isFile = text.startsWith('file:');
  try {
    if (isNode && (isFile || !isUrl(text))) {
      const { readFile } = await nodeModule('fs/promises');
      return await readFile(isFile ? new URL(text) : text);
    }
    const response = await fetch(text);
    if (!response.ok) throw new Error(`${response.status} ${response.statusText}`);
    return new Uint8Array(await response.arrayBuffer());
  } catch (cause) {
    throw new QrtError('IO_ERROR', `${text}: ${cause.message}`, { cause });
  }
}

const compiled = new Map();  // name -> promise of a WebAssembly.Module

// `given`: instead of the package's own file a URL, bytes or a WebAssembly.Module; not kept.
async function compile(name, given) {
  if (given instanceof WebAssembly.Module) return given;
  if (given !== undefined)
    return WebAssembly.compile(typeof given === 'string' || given instanceof URL ? await read(given) : given);
  if (!compiled.has(name)) {
    const promise = read(urlOf(name)).then((bytes) => WebAssembly.compile(bytes));
    promise.catch(() => compiled.delete(name));
    compiled.set(name, promise);
  }
  return compiled.get(name);
}

// An instance: its functions, and what lies in its memory. A lack of memory that no status tells of ends an
// instance: after that every call fails.
class Instance {
  #exports;
  #buffer = null;
  #view = null;
  #ended = null;

  static async create({ module = bestModule(), wasm } = {}) {
    if (module !== 'wasm128' && module !== 'wasmrelaxed')
      throw new QrtError('INVALID_ARGUMENT', `module '${module}', expected wasm128 or wasmrelaxed`);
    const instance = new Instance();
    const code = await compile(module, wasm);
    const imports = {};
    for (const { module: from, name } of WebAssembly.Module.imports(code))
      (imports[from] ??= {})[name] = instance.#systemCall(name);
    instance.#exports = (await WebAssembly.instantiate(code, imports)).exports;
    instance.call('_initialize');
    return instance;
  }

  // The system that the C library asks: a clock and nothing else.
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
      return this.#exports[name](...values);
    } catch (cause) {
      if (!(cause instanceof WebAssembly.RuntimeError)) throw cause;
      this.#ended = `the WebAssembly module ended for want of memory (${cause.message}): load the model anew`;
      throw new QrtError('OUT_OF_MEMORY', this.#ended, { cause });
    }
  }

  // Throws where `status` is none of success.
  check(status) {
    if (status !== 0)
      throw new QrtError(this.text(this.call('qrt_js_status_name', status)), this.text(this.call('qrt_js_message')));
  }
  // A pointer from a function that gives none where it fails.
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

  // The NUL-terminated UTF-8 text at `at`; null where there is none.
  text(at) {
    if (at === 0) return null;
    const bytes = new Uint8Array(this.memory, at);
    return new TextDecoder().decode(bytes.slice(0, bytes.indexOf(0)));
  }
  // The i-th word and number that the last call has left.
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
  // body(pointer) with a copy of bytes.
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

export { Instance, bestModule, isNode, nodeModule, read };
