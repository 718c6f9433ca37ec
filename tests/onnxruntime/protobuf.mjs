// SPDX-License-Identifier: Apache-2.0
// As much of the ONNX protobuf format as tells which nodes a model has and what they read.

// The fields of a message: {number, value} of a number, {number, begin, end} of bytes.
export function* fields(bytes, begin = 0, end = bytes.length) {
  let at = begin;
  const varint = () => {
    let value = 0, factor = 1;
    for (;;) {
      const b = bytes[at++];
      value += (b & 127) * factor;
      if (b < 128) return value;
      factor *= 128;
    }
  };
  while (at < end) {
    const key = varint(), number = Math.floor(key / 8);
    switch (key & 7) {
      case 0: yield { number, value: varint() }; break;
      case 1: at += 8; break;
      case 2: {
        const size = varint();
        yield { number, begin: at, end: at + size };
        at += size;
        break;
      }
      case 5: at += 4; break;
      default: throw new Error(`wire type ${key & 7}`);
    }
  }
}

const text = (bytes, f) => bytes.toString('utf8', f.begin, f.end);

// [{op, domain, inputs, outputs, bytes}], the graph's inputs and its initialisers, both with their element types, and the bytes of those
// initialisers that have them in one piece.
export function readModel(bytes) {
  const nodes = [], types = new Map(), contents = new Map();
  for (const model of fields(bytes)) {
    if (model.number !== 7) continue;
    for (const graph of fields(bytes, model.begin, model.end)) {
      if (graph.number === 1) {
        const node = { op: '', domain: '', inputs: [], outputs: [], bytes: bytes.subarray(graph.begin, graph.end) };
        for (const f of fields(bytes, graph.begin, graph.end)) {
          if (f.number === 1) node.inputs.push(text(bytes, f));
          if (f.number === 2) node.outputs.push(text(bytes, f));
          if (f.number === 4) node.op = text(bytes, f);
          if (f.number === 7) node.domain = text(bytes, f);
        }
        nodes.push(node);
      } else if (graph.number === 5) {
        let name = '', type = 0, content;
        for (const f of fields(bytes, graph.begin, graph.end)) {
          if (f.number === 2) type = f.value;
          if (f.number === 8) name = text(bytes, f);
          if (f.number === 9) content = Uint8Array.prototype.slice.call(bytes, f.begin, f.end);
        }
        types.set(name, type);
        if (content) contents.set(name, content);
      } else if (graph.number === 11) {
        let name = '', type = 0;
        for (const f of fields(bytes, graph.begin, graph.end)) {
          if (f.number === 1) name = text(bytes, f);
          if (f.number !== 2) continue;
          for (const t of fields(bytes, f.begin, f.end))
            if (t.number === 1)
              for (const e of fields(bytes, t.begin, t.end)) if (e.number === 1) type = e.value;
        }
        types.set(name, type);
      }
    }
  }
  return { nodes, types, contents };
}

const integerOps = /^(QLinear|QGemm|QAttention|MatMulInteger$|ConvInteger$|DynamicQuantizeLinear$|QuantizeLinear$|ArgM|Shape$)/;
const moves = new Set(['Reshape', 'Flatten', 'Squeeze', 'Unsqueeze', 'Transpose', 'Identity', 'Slice', 'Split', 'Pad', 'Tile', 'Expand', 'Gather', 'GatherND', 'GatherElements', 'Concat',
  'DepthToSpace', 'SpaceToDepth', 'ReorderInput', 'ReorderOutput', 'Cast', 'Where']);

// Names of the operators that a model computes in float: not those that only convert, round or move.
export function floatOperators({ nodes, types }) {
  const isFloat = new Map();
  for (const [name, type] of types) isFloat.set(name, type === 1);
  const found = new Set();
  for (const node of nodes) {
    const reads = node.inputs.some((i) => isFloat.get(i));
    let makes = false;
    if (node.op === 'DequantizeLinear' || node.op === 'MatMulIntegerToFloat') makes = true;
    else if (integerOps.test(node.op)) makes = node.op === 'QGemm' && node.inputs.filter(Boolean).length < 8;
    else if (moves.has(node.op)) makes = reads || node.op === 'Cast';
    else if (reads) { makes = true; found.add(node.op); }
    for (const o of node.outputs) isFloat.set(o, makes);
  }
  return [...found].sort();
}
