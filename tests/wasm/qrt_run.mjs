// SPDX-License-Identifier: Apache-2.0
// Does by the npm package what .ci/zoo runs qrt_run for: qrt_run.mjs PACKAGE MODULE MODEL.qrt [ARRAY.npy ...]
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

// Elements of 4 and 2 bits are packed in a tensor, the first in the lowest bits, and a byte each in a file.
const bitsOf = (dtype) => ({ int4: 4, uint4: 4, float4e2m1: 4, int2: 2, uint2: 2 })[dtype];

function packed(data, bits, bytes) {
  const to = new Uint8Array(bytes);
  data.forEach((value, i) => { to[Math.floor(i * bits / 8)] |= (value & ((1 << bits) - 1)) << (i * bits) % 8; });
  return to;
}

function unpacked(bytes, dtype, count) {
  const bits = bitsOf(dtype), isSigned = dtype.startsWith('int');
  const to = new (isSigned ? Int8Array : Uint8Array)(count);
  return to.map((_, i) => {
    const value = bytes[Math.floor(i * bits / 8)] >> (i * bits) % 8 & ((1 << bits) - 1);
    return isSigned && value >> (bits - 1) ? value - (1 << bits) : value;
  });
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
                 ...named.map(([name, file]) => [name, readNpy(file)])]
      .filter(([name]) => name !== undefined); // the model does without what others read
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
      const bits = bitsOf(info(name)?.dtype);
      inputs[name] = bits !== undefined ? packed(part, bits, view.length)
          : part.constructor === view.constructor ? part : new view.constructor(part.buffer);
    }
    const outputs = session.run(inputs);
    session.outputs.forEach(({ name }, i) => results[i].push(Buffer.from(outputs[name].buffer)));
  }
  mkdirSync(output, { recursive: true });
  session.outputs.forEach(({ dtype, dims: sizes }, i) => {
    const bytes = Buffer.concat(results[i]), count = sizes.reduce((product, size) => product * size, 1);
    const isPacked = bitsOf(dtype) !== undefined;
    const type = !isPacked ? dtype : dtype.startsWith('int') ? 'int8' : 'uint8';
    writeNpy(join(output, `output_${i}.npy`), type, isSequence ? [runs, ...sizes] : sizes, isPacked ? unpacked(bytes, dtype, count) : bytes);
  });
} catch (error) {
  console.error(`qrt_run.mjs: ${error.message}`);
  process.exit(error instanceof QrtError ? kStatuses[error.code] ?? 1 : 1);
}
