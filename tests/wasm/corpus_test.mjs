// SPDX-License-Identifier: Apache-2.0
// Replays the fuzzers' .qrt files in node: corpus_test.mjs PACKAGE FUZZ_FOLDER. Each file, and some with a byte changed or cut
// short, gives an error or the same results by the scalar kernels and by the best ones of both modules.
import assert from 'node:assert/strict';
import { readFileSync, readdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import test from 'node:test';
import { pathToFileURL } from 'node:url';

const [folder, fuzz] = process.argv.slice(2).map((path) => resolve(path));
const { Model, QrtError, bestModule } = await import(pathToFileURL(join(folder, 'qrt.mjs')).href);
const kMostMemory = 256 << 20;

const files = ['corpus/fuzz_load', 'corpus/fuzz_run', 'regressions/fuzz_load', 'regressions/fuzz_run'].flatMap((name) => {
  try {
    return readdirSync(join(fuzz, name)).map((file) => join(fuzz, name, file));
  } catch {
    return []; // nothing was found there
  }
});

// A generator of pseudo-random integers below 2^32, the same each time.
let state = 1;
const random = () => (state = (Math.imul(state, 1664525) + 1013904223) >>> 0);

function* variants(bytes) {
  yield bytes;
  for (let i = 0; i < 4 && bytes.length > 0; ++i) {
    const changed = bytes.slice();
    changed[random() % changed.length] ^= 1 << (random() >>> 16) % 8;
    yield changed;
  }
  yield bytes.subarray(0, random() % (bytes.length + 1));
}

// Returns the code of a file's error, or the bytes of its outputs.
async function resultOf(bytes, module, isa) {
  try {
    const model = await Model.load(bytes, { module });
    try {
      const session = model.session({ maxMemory: kMostMemory, isa });
      for (const { name } of session.inputs) {
        const view = session.input(name), inBytes = new Uint8Array(view.buffer, view.byteOffset, view.byteLength);
        inBytes.forEach((_, i) => { inBytes[i] = (i * 73 + 11) & 63; });
      }
      return Object.values(session.run()).map((output) => Buffer.from(output.buffer).toString('base64')).join();
    } finally {
      model.dispose();
    }
  } catch (error) {
    if (!(error instanceof QrtError)) throw error;
    return error.code;
  }
}

test('the files of the fuzzers give the same everywhere', async () => {
  const modules = bestModule() === 'wasmrelaxed' ? ['wasm128', 'wasmrelaxed'] : ['wasm128'];
  let runs = 0, errors = 0;
  for (const file of files) {
    for (const bytes of variants(new Uint8Array(readFileSync(file)))) {
      const expected = await resultOf(bytes, 'wasm128', 'scalar');
      for (const module of modules) assert.equal(await resultOf(bytes, module), expected, `${file} in ${module}`);
      if (/^[A-Z_]+$/.test(expected)) ++errors; else ++runs;
    }
  }
  console.log(`${files.length} files: ${runs} runs, ${errors} errors`);
  assert.ok(runs >= 5 && errors > 100);
});
