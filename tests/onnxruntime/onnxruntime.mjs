// SPDX-License-Identifier: Apache-2.0
// ONNX Runtime for the scripts of this folder: how tensors come and go, and how two results differ. ORT_DIR: where
// onnxruntime-node was installed.
import { createRequire } from 'node:module';
import path from 'node:path';

export const ort = createRequire(path.join(process.env.ORT_DIR ?? '.', 'package.json'))('onnxruntime-node');

const types = { 1: ['float32', Float32Array], 2: ['uint8', Uint8Array], 3: ['int8', Int8Array], 4: ['uint16', Uint16Array],
  5: ['int16', Int16Array], 6: ['int32', Int32Array], 7: ['int64', BigInt64Array], 9: ['bool', Uint8Array], 10: ['float16', Uint16Array] };

// A session as all comparisons have it; more options are optional. A MatMul that stays in float multiplies floats: by default ONNX
// Runtime rounds its activations to 8 bits, which no model says.
export const openSession = (model, more = {}) => ort.InferenceSession.create(model, { intraOpNumThreads: 1, interOpNumThreads: 1,
  logSeverityLevel: 4, extra: { session: { qdqisint8allowed: '1', qdq_matmulnbits_accuracy_level: '1' } }, ...more });

// A tensor of ONNX's element type `t.type` and shape `t.dims`; `bytes` is a copy of its own.
export function tensorOf(t, bytes) {
  const [type, Array_] = types[t.type];
  return new ort.Tensor(type, new Array_(bytes.buffer), t.dims);
}

const typed = (type, bytes) => new (Object.values(types).find(([t]) => t === type)[1])(bytes.buffer);

// The least distance of two different numbers of an output: its scale, where it was quantised. 0: it was not, its numbers are as
// dense as floats.
function step(type, values) {
  if (type !== 'float32') return 1;
  const sorted = [...new Set(Array.from(values, Number))].sort((x, y) => x - y);
  let least = Infinity;
  for (let i = 1; i < sorted.length; ++i) least = Math.min(least, sorted[i] - sorted[i - 1]);
  const most = Math.max(Math.abs(sorted[0] ?? 0), Math.abs(sorted[sorted.length - 1] ?? 0));
  return least > most / 40000 ? least : 0;
}

// Compares an output of ONNX Runtime with qrt's in these bytes: null where they are equal, else {why, isNear}. `unit` is the
// output's scale, 0 where its numbers are floats. isNear: every number is off by one unit at most; a float by one part in 2^20 of the
// output's greatest magnitude, of 1, or of its own of `magnitudes` (magnitudes.mjs), if there are some.
export function difference(want, got, bytes, unit = step(want.type, want.data), magnitudes = []) {
  if (want.type !== got.type || want.dims.join() !== got.dims.join())
    return { why: `${got.type}[${got.dims}] instead of ${want.type}[${want.dims}]`, isNear: false };
  const a = want.data, b = typed(want.type, bytes);
  let most = 1;
  if (!unit) for (const v of a) if (Math.abs(v) > most && Number.isFinite(v)) most = Math.abs(v);
  const allowed = (i) => unit ? unit * 1.001 : Math.max(most, Number.isFinite(magnitudes[i]) ? magnitudes[i] : 0) / 1048576;
  let bad = 0, worst = 0, at = -1, isNear = true;
  for (let i = 0; i < a.length; ++i) {
    if (Object.is(a[i], b[i]) || (a[i] === 0 && b[i] === 0)) continue;
    if (!bad++) at = i;
    const d = Math.abs(Number(a[i]) - Number(b[i]));
    if (!(d <= worst)) worst = d;
    isNear = isNear && d <= allowed(i);
  }
  if (!bad) return null;
  const inSteps = unit && Math.round(worst / unit) ? `${Math.round(worst / unit)} steps` : 'a part of a float';
  return { why: `${inSteps}: ${bad} of ${a.length} differ, worst by ${worst}; [${at}] is ${b[at]} instead of ${a[at]}`, isNear };
}
