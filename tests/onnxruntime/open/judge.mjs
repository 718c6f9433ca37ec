#!/usr/bin/env node
// SPDX-License-Identifier: Apache-2.0
// judge.mjs DIR FIRST COUNT [--keep]: runs the graphs that open_graphs wrote to DIR in ONNX Runtime, at the same sizes, and compares.
// Prints one line of JSON for each graph: {index, layers, status, why, runs: [{run, sizes, verdict, why}]}. Verdicts:
//   exact     every bit of every output
//   within    float is left in qrt or in ONNX Runtime, and every float is off by one part in 2^20 of the output's greatest magnitude, of 1,
//             or of the magnitudes that a sum is made of, every integer by one
//   as fixed  float is left, another difference, but the bits are those of the same model converted with this run's sizes
//   wrong     anything else that was answered, where ONNX Runtime has no answer included unless the model of fixed sizes has one
//   closed    the file has another size of that dimension
//   refused   by a status that says so; `fixed` tells whether the model of fixed sizes answers
//   internal  any other failure
//   not run   ONNX Runtime has no answer, and qrt has none
// Graphs that are neither wrong nor internal are deleted, unless --keep says otherwise. ORT_DIR: where onnxruntime-node was installed.
import { existsSync, readFileSync, rmSync } from 'node:fs';
import path from 'node:path';
import { floatOperators, readModel } from '../protobuf.mjs';

const [dir, first, count, keep] = process.argv.slice(2);
if (!count || !process.env.ORT_DIR) {
  console.error('usage: ORT_DIR=DIR judge.mjs DIR FIRST COUNT [--keep]');
  process.exit(2);
}
const { difference, openSession, tensorOf } = await import('../onnxruntime.mjs');
const { magnitudesOf } = await import('../magnitudes.mjs');

function readRun(file) {
  const bytes = readFileSync(file), line = bytes.indexOf(10);
  const record = JSON.parse(bytes.toString('utf8', 0, line));
  record.data = (t) => new Uint8Array(bytes.subarray(line + 1 + t.at, line + 1 + t.at + t.bytes)); // a copy, aligned
  return record;
}

const clean = new Set(['UNSUPPORTED', 'INVALID_ARGUMENT', 'OUT_OF_RANGE', 'OUT_OF_MEMORY']);

// The worst difference of all outputs, null where there is none. Outputs that `skips` names by their index count as equal.
function compare(wanted, got, record, magnitudes, skips = () => false) {
  let worst = null;
  for (const [i, t] of got.entries()) {
    if (skips(i)) continue;
    const bytes = record.data(t), want = wanted[t.name];
    const found = want.type === 'float32' ? difference(want, t, bytes, 0, magnitudes[t.name]) : difference(want, t, bytes);
    if (found && (!worst || !found.isNear)) worst = { ...found, why: `output ${t.name}: ${found.why}` };
    if (worst && !worst.isNear) return worst;
  }
  return worst;
}

const isSame = (t, u, record) => t.dims.join() === u.dims.join() && Buffer.compare(Buffer.from(record.data(t)), Buffer.from(record.data(u))) === 0;
const sameBytes = (a, b, record) => a && b && a.every((t, i) => isSame(t, b[i], record));

async function judgeRun(run, record, wanted, whyNone, isFloat, findMagnitudes) {
  const fixed = run.fixed?.outputs ? 'answered' : run.fixed?.status ?? '';
  const result = (verdict, why = '') => ({ run: run.run, sizes: run.sizes.map((s) => s.join('x')).join(' '), verdict, why, fixed });
  if (!run.outputs) {
    if (run.status === 'closed') return result(wanted ? 'closed' : 'not run', run.message);
    if (!clean.has(run.status)) return result('internal', `${run.status}: ${run.message}`);
    return result(wanted ? 'refused' : 'not run', wanted ? `${run.status}: ${run.message}` : whyNone);
  }
  if (!wanted) return sameBytes(run.outputs, run.fixed?.outputs, record) ? result('as fixed', `ONNX Runtime has no answer: ${whyNone}`) : result('wrong', `answers, and ONNX Runtime does not: ${whyNone}`);
  let magnitudes = {}, found = compare(wanted, run.outputs, record, magnitudes);
  if (!found) return result('exact');
  if (!isFloat) return result('wrong', found.why);
  if (!found.isNear) {
    magnitudes = await findMagnitudes();
    found = compare(wanted, run.outputs, record, magnitudes);
  }
  if (found.isNear) return result('within', found.why);
  // Outputs that a file of these sizes has, too, are its affair.
  const others = run.fixed?.outputs ? compare(wanted, run.outputs, record, magnitudes, (i) => isSame(run.outputs[i], run.fixed.outputs[i], record)) : found;
  return result(!others || others.isNear ? 'as fixed' : 'wrong', found.why);
}

async function judge(stem) {
  const record = readRun(`${stem}.run`), optimised = `${stem}.optimised.onnx`;
  const result = { layers: record.layers, status: record.status, why: record.op ? `${record.op}: ${record.message}` : record.message, runs: [] };
  let session;
  try {
    session = await openSession(`${stem}.onnx`, { optimizedModelFilePath: optimised });
  } catch (e) {
    return { ...result, notRun: String(e.message).split('\n')[0] };
  }
  try {
    const isFloat = Boolean(record.has_float) || floatOperators(readModel(readFileSync(optimised))).length > 0;
    result.float = isFloat;
    for (const run of record.runs) {
      const feeds = {};
      for (const t of run.inputs) feeds[t.name] = tensorOf(t, record.data(t));
      let wanted = null, whyNone = '';
      try {
        wanted = await session.run(feeds);
      } catch (e) {
        whyNone = String(e.message).split('\n')[0];
      }
      if (record.status === 'ok') result.runs.push(await judgeRun(run, record, wanted, whyNone, isFloat, () => magnitudesOf(readFileSync(`${stem}.onnx`), feeds, Object.keys(wanted))));
      else result.runs.push({ run: run.run, sizes: run.sizes.map((s) => s.join('x')).join(' '), verdict: wanted ? record.status === 'refused' ? 'refused' : 'internal' : 'not run', why: result.why });
    }
    return result;
  } finally {
    await session.release();
  }
}

for (let i = Number(first); i < Number(first) + Number(count); ++i) {
  const stem = path.join(dir, String(i));
  const result = existsSync(`${stem}.run`) ? await judge(stem) : { layers: [], status: 'crashed', why: 'the converter or the runtime crashed', runs: [{ run: 0, sizes: '', verdict: 'internal', why: 'crashed' }] };
  console.log(JSON.stringify({ index: i, ...result }));
  const keeps = keep === '--keep' || result.runs.some((r) => ['wrong', 'internal'].includes(r.verdict));
  for (const end of ['onnx', 'run', 'optimised.onnx', 'fixed.onnx']) if (!keeps) rmSync(`${stem}.${end}`, { force: true });
}
