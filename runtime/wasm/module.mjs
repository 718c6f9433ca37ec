// SPDX-License-Identifier: Apache-2.0
// Chooses and instantiates the WebAssembly module of the runtime that an engine supports.
import { QrtError } from './errors.mjs';
import { Instance } from './instance.mjs';

// Returns a module with one function that uses i8x16.splat and, if `relaxed`,
// i32x4.relaxed_dot_i8x16_i7x16_add_s.
function probe(relaxed) {
  const splat = [0x41, 0, 0xfd, 0x0f];
  const body = [0, ...splat, ...(relaxed ? [...splat, ...splat, 0xfd, 0x93, 0x02] : []), 0x0b];
  return new Uint8Array([0, 0x61, 0x73, 0x6d, 1, 0, 0, 0, 1, 5, 1, 0x60, 0, 1, 0x7b, 3, 2, 1, 0,
    0x0a, body.length + 2, 1, body.length, ...body]);
}

// Returns the name of the best module that this engine supports. Throws UNSUPPORTED without SIMD.
function bestModule() {
  if (WebAssembly.validate(probe(true))) return 'wasmrelaxed';
  if (WebAssembly.validate(probe(false))) return 'wasm128';
  throw new QrtError('UNSUPPORTED', 'this engine has no SIMD instructions (simd128) for WebAssembly');
}

// Returns the URL of a module. Bundlers recognise the files by the form of these expressions.
function urlOf(name) {
  return name === 'wasmrelaxed' ? new URL('./qrt_wasmrelaxed.wasm', import.meta.url)
                                : new URL('./qrt_wasm128.wasm', import.meta.url);
}

// Returns a promise of an instance of `module`, by default the best one for this engine.
async function instantiate({ module = bestModule(), wasm } = {}) {
  if (module !== 'wasm128' && module !== 'wasmrelaxed')
    throw new QrtError('INVALID_ARGUMENT', `module '${module}', expected wasm128 or wasmrelaxed`);
  return Instance.create(urlOf(module), { wasm, advice: 'load the model anew' });
}

export { bestModule, instantiate };
