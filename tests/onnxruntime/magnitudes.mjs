// SPDX-License-Identifier: Apache-2.0
// How much the order of additions can change a sum of floats: not by a part of the sum, which may be near 0, but by a part of what was
// added. The magnitude of a sum is the same sum of the magnitudes of its terms. ONNX Runtime computes it, by the model's own operators
// on absolute values. Operators that move elements pass magnitudes on; the magnitude of any other tensor is its absolute value.
import { fields, readModel } from './protobuf.mjs';
import { openSession } from './onnxruntime.mjs';

// Operators that add (products of) their inputs, or move them, and how many inputs that is; the inputs behind are axes, sizes, indices.
const linear = { Add: 2, AveragePool: 1, Concat: Infinity, Conv: Infinity, ConvTranspose: Infinity, CumSum: 1, Einsum: Infinity, Expand: 1,
  Flatten: 1, FusedMatMul: Infinity, Gather: 1, GatherElements: 1, GatherND: 1, Gemm: Infinity, GlobalAveragePool: 1, Identity: 1,
  MatMul: Infinity, Mean: Infinity, Pad: 1, ReduceMean: 1, ReduceSum: 1, Reshape: 1, Slice: 1, Split: 1, Squeeze: 1, Sum: Infinity, Tile: 1,
  Transpose: 1, Unsqueeze: 1 };
const moves = new Set(['Concat', 'Expand', 'Flatten', 'Gather', 'GatherElements', 'GatherND', 'Identity', 'Pad', 'Reshape', 'Slice', 'Split',
  'Squeeze', 'Tile', 'Transpose', 'Unsqueeze']);

function message(number, content) {
  const size = [];
  let left = content.length;
  for (; left > 127; left >>>= 7) size.push((left & 127) | 128);
  return Buffer.concat([Buffer.from([number << 3 | 2, ...size, left]), content]);
}

const inputField = 1, outputField = 2, nameField = 3;

// The bytes that, behind the model's, give it the outputs `magnitudes.get(name)`, for each output of `names` that is a sum.
function addition(model, names) {
  const producers = new Map();
  for (const node of readModel(model).nodes) for (const o of node.outputs) producers.set(o, node);
  const known = new Map(), nodes = [], magnitudes = new Map();
  const of = (name) => `${name}|magnitude`;
  const isSum = (name) => {
    const node = producers.get(name);
    return Boolean(node && node.op in linear && (!moves.has(node.op) || node.inputs.slice(0, linear[node.op]).some(isSum)));
  };
  function add(name) {
    if (!name || known.has(name)) return known.get(name) ?? '';
    const node = producers.get(name), count = linear[node?.op];
    for (const o of count ? node.outputs : [name]) known.set(o, of(o));
    const inputs = count ? node.inputs.map((input, i) => i < count ? add(input) : input) : [name];
    const raw = count ? [...fields(node.bytes)].filter((f) => f.number > nameField).map((f) => message(f.number, node.bytes.subarray(f.begin, f.end)))
      : [message(4, Buffer.from('Abs'))];
    const outputs = count ? node.outputs.map((o) => o && of(o)) : [of(name)];
    nodes.push(message(1, Buffer.concat([...inputs.map((i) => message(inputField, Buffer.from(i))),
      ...outputs.map((o) => message(outputField, Buffer.from(o))), ...raw])));
    return of(name);
  }
  for (const name of names) if (isSum(name)) magnitudes.set(name, add(name));
  const isFloat = message(2, message(1, Buffer.from([1 << 3, 1])));  // a type: a tensor of element type 1
  const outputs = [...magnitudes.values()].map((name) => message(12, Buffer.concat([message(1, Buffer.from(name)), isFloat])));
  return { bytes: message(7, Buffer.concat([...nodes, ...outputs])), magnitudes };
}

// The magnitudes of the outputs `names` of a model (a Buffer) with these inputs: {name: numbers}, without those that are no sums, or
// whose magnitudes ONNX Runtime does not compute.
export async function magnitudesOf(model, feeds, names) {
  const { bytes, magnitudes } = addition(model, names);
  if (!magnitudes.size) return {};
  let session;
  try {
    session = await openSession(Buffer.concat([model, bytes]));
    const found = await session.run(feeds, [...magnitudes.values()]);
    return Object.fromEntries([...magnitudes].map(([name, of]) => [name, found[of].data.map(Math.abs)]));
  } catch {
    return {};
  } finally {
    await session?.release();
  }
}
