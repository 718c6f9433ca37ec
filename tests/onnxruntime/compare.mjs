#!/usr/bin/env node
// compare.mjs DIR FIRST COUNT [--keep]: runs the graphs that random_graphs wrote to DIR in ONNX Runtime and compares.
// Prints one line of JSON for each graph: {index, verdict, why, float: [operators that ONNX Runtime left in float]}.
// Verdicts: equal, differs, refused, internal error, failed, not run (ONNX Runtime refuses the model or the batch).
// Graphs that are equal or refused are deleted, unless --keep says otherwise. ORT_DIR: where onnxruntime-node was installed.
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { floatOperators, readModel } from './protobuf.mjs';

const [dir, first, count, keep] = process.argv.slice(2);
if (!count || !process.env.ORT_DIR) {
  console.error('usage: ORT_DIR=DIR compare.mjs DIR FIRST COUNT [--keep]');
  process.exit(2);
}
const ort = createRequire(path.join(process.env.ORT_DIR, 'package.json'))('onnxruntime-node');

const types = { 1: ['float32', Float32Array], 2: ['uint8', Uint8Array], 3: ['int8', Int8Array], 4: ['uint16', Uint16Array],
  5: ['int16', Int16Array], 6: ['int32', Int32Array], 7: ['int64', BigInt64Array], 9: ['bool', Uint8Array], 10: ['float16', Uint16Array] };

function readRun(file) {
  const bytes = readFileSync(file), line = bytes.indexOf(10);
  const record = JSON.parse(bytes.toString('utf8', 0, line));
  record.data = (t) => new Uint8Array(bytes.subarray(line + 1 + t.at, line + 1 + t.at + t.bytes)); // a copy, aligned
  return record;
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

// What differs between one output of both; null: nothing.
function difference(want, got, record) {
  if (want.type !== got.type || want.dims.join() !== got.dims.join()) return `${got.type}[${got.dims}] instead of ${want.type}[${want.dims}]`;
  const a = want.data, b = typed(want.type, record.data(got));
  let bad = 0, worst = 0, at = -1;
  for (let i = 0; i < a.length; ++i) {
    if (Object.is(a[i], b[i]) || (a[i] === 0 && b[i] === 0)) continue;
    if (!bad++) at = i;
    const d = Math.abs(Number(a[i]) - Number(b[i]));
    if (!(d <= worst)) worst = d;
  }
  const unit = bad ? step(want.type, a) : 0;
  const inSteps = unit && Math.round(worst / unit) ? `${Math.round(worst / unit)} steps` : 'a part of a float';
  return bad ? `${inSteps}: ${bad} of ${a.length} differ, worst by ${worst}; [${at}] is ${b[at]} instead of ${a[at]}` : null;
}

async function judge(stem) {
  const record = readRun(`${stem}.run`);
  const optimised = `${stem}.optimised.onnx`;
  let session;
  try {
    session = await ort.InferenceSession.create(`${stem}.onnx`, { intraOpNumThreads: 1, interOpNumThreads: 1, logSeverityLevel: 4,
      optimizedModelFilePath: optimised, extra: { session: { qdqisint8allowed: '1' } } });
  } catch (e) {
    return { verdict: 'not run', why: String(e.message) };
  }
  const float = floatOperators(readModel(readFileSync(optimised)));
  const order = new Map(readModel(readFileSync(`${stem}.onnx`)).nodes.flatMap((n) => n.outputs).map((name, i) => [name, i]));
  const named = (verdict, why) => ({ verdict, why, float });
  try {
    let ran = 0, whyNot = '';
    for (const run of record.runs) {
      const feeds = {};
      for (const t of run.inputs) {
        const [type, Array_] = types[t.type];
        feeds[t.name] = new ort.Tensor(type, new Array_(record.data(t).buffer), t.dims);
      }
      let outputs;
      try {
        outputs = await session.run(feeds);
      } catch (e) {
        whyNot = String(e.message);
        continue; // a batch that the model cannot take
      }
      ++ran;
      if (record.status !== 'ok') return named(record.status, record.op ? `${record.op}: ${record.message}` : record.message);
      if (!run.outputs) return named(run.status === 'internal' ? 'internal error' : run.batch > 1 ? 'batch refused' : 'failed', `batch ${run.batch}: ${run.message}`);
      for (const got of run.outputs.sort((x, y) => (order.get(x.name) ?? -1) - (order.get(y.name) ?? -1))) {
        const why = difference(outputs[got.name], got, record);
        if (why) return named('differs', `batch ${run.batch}, output ${got.name}: ${why}`);
      }
    }
    if (!ran && record.status === 'internal error') return named(record.status, record.message);
    return ran ? named('equal', '') : named('not run', whyNot);
  } finally {
    await session.release();
  }
}

for (let i = Number(first); i < Number(first) + Number(count); ++i) {
  const stem = path.join(dir, String(i));
  const result = existsSync(`${stem}.run`) ? await judge(stem) : { verdict: 'failed', why: 'the converter or the runtime crashed' };
  console.log(JSON.stringify({ index: i, ...result }));
  const keeps = keep === '--keep' || ['differs', 'failed', 'internal error'].includes(result.verdict);
  for (const end of ['onnx', 'run', 'optimised.onnx']) if (!keeps) rmSync(`${stem}.${end}`, { force: true });
}
