// What .ci/zoo asks of qrt_run, by the npm package: qrt_run.mjs PACKAGE MODULE MODEL.qrt [ARRAY.npy ...]
// [--input NAME=ARRAY.npy] [--dim NAME=SIZE] --output-dir FOLDER. Exit statuses as of qrt_run.
import { mkdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { readNpy, writeNpy } from './npy.mjs';

if (Number(process.versions.node.split('.')[0]) < 22) setFlagsFromString('--experimental-wasm-relaxed-simd');
const kStatuses = { INVALID_ARGUMENT: 2, INVALID_MODEL: 3, UNSUPPORTED: 4, IO_ERROR: 5 };
const [folder, module, path, ...words] = process.argv.slice(2);
const { Model, QrtError } = await import(resolve(folder, 'qrt.mjs'));

const arrays = [], named = [], dims = {};
let output = null;
while (words.length > 0) {
  const word = words.shift();
  if (word === '--output-dir') {
    output = words.shift();
  } else if (word === '--input' || word === '--dim') {
    const value = words.shift(), equals = value.lastIndexOf('=');
    if (word === '--input') named.push([value.slice(0, equals), value.slice(equals + 1)]);
    else dims[value.slice(0, equals)] = Number(value.slice(equals + 1));
  } else if (word.startsWith('--')) {
    console.error(`qrt_run.mjs: no option ${word}`);
    process.exit(2);
  } else {
    arrays.push(word);
  }
}

// Sizes of open dimensions that the arrays have.
function sizesOf(model, given) {
  for (const [name, { dims: sizes }] of given) {
    const info = model.inputs.find((input) => input.name === name);
    info?.dims.forEach((size, i) => {
      const open = info.dimNames[i];
      if (size < 0 && model.dims.some((dim) => dim.name === open)) dims[open] ??= sizes[i];
    });
  }
}

try {
  const model = await Model.load(path, { module });
  const given = [...arrays.map((file, i) => [model.inputs[i]?.name, readNpy(file)]),
                 ...named.map(([name, file]) => [name, readNpy(file)])];
  // An array with a dimension before an input's is several inputs, one run each.
  const info = (name) => model.inputs.find((input) => input.name === name);
  const isSequence = given.some(([name, array]) => array.dims.length > (info(name)?.dims.length ?? Infinity));
  const runs = isSequence ? given[0][1].dims[0] : 1;
  if (!isSequence) sizesOf(model, given);
  const session = model.session({ dims });
  const results = session.outputs.map(() => []);
  for (let run = 0; run < runs; ++run) {
    const inputs = {};
    for (const [name, { data }] of given) {
      const view = session.input(name), n = data.length / runs;
      // Bits of types that JavaScript or the file have no name for.
      const part = data.slice(run * n, (run + 1) * n);
      inputs[name] = part.constructor === view.constructor ? part : new view.constructor(part.buffer);
    }
    const outputs = session.run(inputs);
    session.outputs.forEach(({ name }, i) => results[i].push(Buffer.from(outputs[name].buffer)));
  }
  mkdirSync(output, { recursive: true });
  session.outputs.forEach(({ dtype, dims: sizes }, i) =>
    writeNpy(join(output, `output_${i}.npy`), dtype, isSequence ? [runs, ...sizes] : sizes, Buffer.concat(results[i])));
} catch (error) {
  console.error(`qrt_run.mjs: ${error.message}`);
  process.exit(error instanceof QrtError ? kStatuses[error.code] ?? 1 : 1);
}
