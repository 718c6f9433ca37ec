#!/usr/bin/env node
// SPDX-License-Identifier: Apache-2.0
// float_outputs.mjs MODEL.onnx IN.npy OUT.npy: the first output of ONNX Runtime for a float32 array, eight rows at a time.
// ORT_DIR: where onnxruntime-node was installed.
import { createRequire } from 'node:module';
import path from 'node:path';
import { readNpy, writeNpy } from '../npy.mjs';

const [model, from, to] = process.argv.slice(2);
if (!to || !process.env.ORT_DIR) {
  console.error('usage: ORT_DIR=DIR float_outputs.mjs MODEL.onnx IN.npy OUT.npy');
  process.exit(2);
}
const ort = createRequire(path.join(process.env.ORT_DIR, 'package.json'))('onnxruntime-node');
const session = await ort.InferenceSession.create(model, { intraOpNumThreads: 1, logSeverityLevel: 3 });
const { dims: [rows, ...rest], data } = readNpy(from);
const size = data.length / rows, parts = [];
let dims;
for (let row = 0; row < rows; row += 8) {
  const n = Math.min(8, rows - row);
  const x = new ort.Tensor('float32', data.subarray(row * size, (row + n) * size), [n, ...rest]);
  const y = (await session.run({ [session.inputNames[0]]: x }))[session.outputNames[0]];
  dims = y.dims.slice(1);
  parts.push(Float32Array.from(y.data));
}
const all = new Float32Array(parts.reduce((sum, p) => sum + p.length, 0));
parts.reduce((at, p) => (all.set(p, at), at + p.length), 0);
writeNpy(to, [rows, ...dims], all);
