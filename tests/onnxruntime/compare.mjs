#!/usr/bin/env node
// SPDX-License-Identifier: Apache-2.0
// compare.mjs DIR FIRST COUNT [--keep]: runs the graphs that random_graphs wrote to DIR in ONNX Runtime and compares.
// Prints one line of JSON for each graph: {index, verdict, why, float: [operators that ONNX Runtime left in float]}.
// Verdicts: equal, differs, refused, internal error, failed, not run (ONNX Runtime refuses the model or the batch).
// Graphs that are equal or refused are deleted, unless --keep says otherwise. ORT_DIR: where onnxruntime-node was installed.
import { existsSync, readFileSync, rmSync } from 'node:fs';
import path from 'node:path';
import { floatOperators, readModel } from './protobuf.mjs';

const [dir, first, count, keep] = process.argv.slice(2);
if (!count || !process.env.ORT_DIR) {
  console.error('usage: ORT_DIR=DIR compare.mjs DIR FIRST COUNT [--keep]');
  process.exit(2);
}
const { difference, openSession, tensorOf } = await import('./onnxruntime.mjs');

function readRun(file) {
  const bytes = readFileSync(file), line = bytes.indexOf(10);
  const record = JSON.parse(bytes.toString('utf8', 0, line));
  record.data = (t) => new Uint8Array(bytes.subarray(line + 1 + t.at, line + 1 + t.at + t.bytes)); // a copy, aligned
  return record;
}

async function judge(stem) {
  const record = readRun(`${stem}.run`);
  const optimised = `${stem}.optimised.onnx`;
  let session;
  try {
    session = await openSession(`${stem}.onnx`, { optimizedModelFilePath: optimised });
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
      for (const t of run.inputs) feeds[t.name] = tensorOf(t, record.data(t));
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
        const found = difference(outputs[got.name], got, record.data(got));
        if (found) return named('differs', `batch ${run.batch}, output ${got.name}: ${found.why}`);
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
