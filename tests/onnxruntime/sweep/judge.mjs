#!/usr/bin/env node
// SPDX-License-Identifier: Apache-2.0
// judge.mjs DIR FIRST SKIP: runs the cells that `sweep` wrote to DIR/FIRST.jsonl in ONNX Runtime, without the first SKIP lines, and
// compares. Prints one line of JSON for each attempt at a cell, without --allow-float and with it:
// {index, name, op, kind, allow_float, verdict, why, float: [operators that ONNX Runtime left in float]}.
// Verdicts: equal; near (off by one step of a quantised output at most, of floats by one part in 2^20 of the output's greatest
// magnitude, of 1, or of the sum of magnitudes that a sum is made of, where qrt's file computes in float); wrong; refused; internal
// (an internal error, or a model that fails to load or to run); not run (by ONNX Runtime). ORT_DIR: where onnxruntime-node was installed.
import { readFileSync, rmSync } from 'node:fs';
import path from 'node:path';
import { floatOperators, readModel } from '../protobuf.mjs';

const [dir, first, skip] = process.argv.slice(2);
if (!skip || !process.env.ORT_DIR) {
  console.error('usage: ORT_DIR=DIR judge.mjs DIR FIRST SKIP');
  process.exit(2);
}
const { difference, openSession, tensorOf } = await import('../onnxruntime.mjs');
const { magnitudesOf } = await import('../magnitudes.mjs');
const stem = path.join(dir, first);
const bytes = readFileSync(`${stem}.bytes`);

// Opened once more, for what it makes of the model.
async function floatOf(model) {
  const file = `${stem}.optimised.onnx`;
  await (await openSession(model, { optimizedModelFilePath: file })).release();
  const found = floatOperators(readModel(readFileSync(file)));
  rmSync(file);
  return found;
}

// Digests all outputs in turn (FNV-1a), for tests/converter/sweep_test.cc; 0 and -0 are one number.
function digestOf(outputs) {
  let h = 2166136261;
  for (const { type, data } of outputs) {
    const numbers = type === 'float32' ? data.map((v) => v + 0) : data;
    for (const byte of new Uint8Array(numbers.buffer, numbers.byteOffset, numbers.byteLength)) h = Math.imul(h ^ byte, 16777619) >>> 0;
  }
  return h;
}

function compare(attempt, outputs, units, data, magnitudes = {}) {
  if (attempt.status === 'refused') return { verdict: 'refused', why: attempt.op ? `${attempt.op}: ${attempt.message}` : attempt.message };
  if (!attempt.outputs) return { verdict: 'internal', why: `${attempt.status}: ${attempt.message}` };
  let result = { verdict: 'equal', why: '' };
  for (const got of attempt.outputs) {
    const found = difference(outputs[got.name], got, data(got), units[got.name], magnitudes[got.name]);
    if (found && !(result.verdict === 'wrong')) result = { verdict: found.isNear ? 'near' : 'wrong', why: `output ${got.name}: ${found.why}` };
  }
  return result;
}

async function judge(cell) {
  const data = (t) => new Uint8Array(bytes.subarray(cell.base + t.at, cell.base + t.at + t.bytes)); // a copy, aligned
  const model = data(cell.model);
  let outputs, feeds, problem = '';
  try {
    const session = await openSession(model);
    try {
      feeds = Object.fromEntries(cell.inputs.map((t) => [t.name, tensorOf(t, data(t))]));
      outputs = await session.run(feeds);
    } finally {
      await session.release();
    }
  } catch (e) {
    problem = String(e.message);
  }
  const lines = [];
  for (const attempt of cell.attempts) {
    const of = { index: cell.index, name: cell.name, op: cell.op, kind: cell.kind, allow_float: attempt.allow_float };
    if (problem) {
      // An error is internal here even if ONNX Runtime does not run the graph either.
      const isInternal = !attempt.outputs && attempt.status !== 'refused';
      lines.push({ ...of, verdict: isInternal ? 'internal' : 'not run', why: isInternal ? `${attempt.status}: ${attempt.message}` : problem });
      continue;
    }
    let result = compare(attempt, outputs, cell.units, data);
    if (result.verdict === 'wrong')
      result = compare(attempt, outputs, cell.units, data, await magnitudesOf(Buffer.from(model), feeds, Object.keys(outputs)));
    if (result.verdict === 'near' || result.verdict === 'wrong') {
      // A file without float operators promises ONNX Runtime's bits, but for tensors of 16 bits, whose arithmetic is qrt's own, and
      // for outputs of floats, which operators that ONNX Runtime leaves in float make by its own approximations.
      const promises = !attempt.has_float && !/int16/.test(cell.name) && Object.values(outputs).every((t) => t.type !== 'float32');
      if (promises) result.verdict = 'wrong';
      result = { ...result, float: await floatOf(model), has_float: Boolean(attempt.has_float) };
    }
    if (result.verdict === 'equal') result.digest = digestOf(attempt.outputs.map((got) => outputs[got.name]));
    lines.push({ ...of, ...result });
  }
  console.log(lines.map((l) => JSON.stringify(l)).join('\n'));
}

const cells = readFileSync(`${stem}.jsonl`, 'utf8').split('\n').filter(Boolean);
for (const line of cells.slice(Number(skip))) await judge(JSON.parse(line));
