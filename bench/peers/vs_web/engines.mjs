// SPDX-License-Identifier: Apache-2.0
// Engines that load a model, and their times, for ./run in a browser and in node. Options of all functions here:
// `qrt`, the URL of a .qrt file; `peer`, of its source, which the others load; `root`, of the folders qrt/ and peers/.
const kIsNode = typeof process !== 'undefined' && process.versions?.node !== undefined;

const kArrays = { float32: Float32Array, uint8: Uint8Array, int8: Int8Array, int32: Int32Array, int64: BigInt64Array };

async function read(url) {
  if (!kIsNode) return new Uint8Array(await (await fetch(url)).arrayBuffer());
  const { readFile } = await import('node:fs/promises');
  return new Uint8Array(await readFile(new URL(url)));
}

// Values of a tensor, the same each time: ids of tokens and masks are 1.
function valuesOf({ dtype, dims }) {
  let state = 1;
  const next = () => (state = (Math.imul(state, 1664525) + 1013904223) >>> 0) / 2 ** 32;
  const values = new kArrays[dtype](dims.reduce((product, size) => product * size, 1));
  return values.map(() => dtype === 'int64' ? 1n : dtype === 'float32' ? 2 * next() - 1 : Math.floor(128 * next()));
}

// The inputs of a model at its default sizes: [{name, dtype, dims}].
async function inputsOf({ qrt, root }) {
  const { Model } = await import(`${root}qrt/qrt.mjs`);
  const model = await Model.load(qrt, { module: 'wasm128' });
  return model.session().inputs.map(({ name, dtype, dims }) => ({ name, dtype, dims }));
}

// Each of these loads a model and returns a function that runs it once.
async function openQrt(module, inputs, { qrt, root }) {
  const { Model } = await import(`${root}qrt/qrt.mjs`);
  const session = (await Model.load(qrt, { module })).session();
  for (const input of inputs) session.input(input.name).set(valuesOf(input));
  return () => session.run();
}

async function openOnnxRuntime(inputs, { peer, root }) {
  const folder = `${root}peers/onnxruntime-web/dist/`;
  const ort = await import(`${folder}${kIsNode ? 'ort.node.min.mjs' : 'ort.wasm.min.mjs'}`);
  ort.env.wasm.numThreads = 1;
  if (!kIsNode) ort.env.wasm.wasmPaths = folder;
  const options = { executionProviders: ['wasm'], graphOptimizationLevel: 'all' };
  const session = await ort.InferenceSession.create(await read(peer), options);
  const feeds = Object.fromEntries(inputs.map((input) => [input.name, new ort.Tensor(input.dtype, valuesOf(input), input.dims)]));
  return () => session.run(feeds);
}

async function openLiteRt(inputs, { peer, root }) {
  const { loadLiteRt, loadAndCompile, Tensor } = await import(`${root}peers/@litertjs/core/dist/index.js`);
  await loadLiteRt(`${root}peers/@litertjs/core/wasm/`);
  const compiled = await loadAndCompile(await read(peer), { accelerator: 'wasm' });
  const tensors = inputs.map((input) => new Tensor(valuesOf(input), input.dims));
  return async () => {
    const results = await compiled.run(tensors);
    for (const result of Array.isArray(results) ? results : Object.values(results)) result.delete();
  };
}

function open(engine, inputs, options) {
  if (engine === 'onnxruntime-web') return openOnnxRuntime(inputs, options);
  if (engine === 'litert') return openLiteRt(inputs, options);
  return openQrt(engine.slice('qrt '.length), inputs, options);
}

// Returns the names of the modules of qrt that this engine takes.
async function modules({ root }) {
  const { bestModule } = await import(`${root}qrt/qrt.mjs`);
  return bestModule() === 'wasmrelaxed' ? ['wasm128', 'wasmrelaxed'] : ['wasm128'];
}

// Returns the milliseconds from nothing but this file to the first result.
async function start(engine, inputs, options) {
  const begin = performance.now();
  await (await open(engine, inputs, options))();
  return performance.now() - begin;
}

// Returns the least milliseconds of a run of each engine: of `rounds` turns of `seconds` each, after one that warms up.
async function time(engines, inputs, options, rounds, seconds) {
  const runs = [];
  for (const engine of engines) runs.push(await open(engine, inputs, options));
  const least = engines.map(() => Infinity);
  for (let round = 0; round <= rounds; ++round) {
    for (let i = 0; i < engines.length; ++i) {
      const end = performance.now() + 1000 * seconds;
      let now;
      do {
        const begin = performance.now();
        await runs[i]();
        now = performance.now();
        if (round > 0) least[i] = Math.min(least[i], now - begin);
      } while (now < end);
    }
  }
  return least;
}

export { inputsOf, modules, start, time };
