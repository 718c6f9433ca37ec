#!/usr/bin/env node
// SPDX-License-Identifier: Apache-2.0
// summary.mjs FILE...: counts the lines that compare.mjs printed. Exit status 1 if a graph differs though ONNX Runtime left nothing
// of it in float, on internal errors and on failures, and where ONNX Runtime ran none of them.
import { readFileSync } from 'node:fs';

const results = process.argv.slice(2).flatMap((f) => readFileSync(f, 'utf8').split('\n').filter(Boolean).map((l) => JSON.parse(l)));
const only = (verdict) => results.filter((r) => r.verdict === verdict);
const inFloat = (list) => list.filter((r) => r.float?.length);
const inIntegers = (list) => list.filter((r) => r.float && !r.float.length);

// The most frequent first, with the index of one graph.
function byReason(list, reason) {
  const groups = new Map();
  for (const r of list) {
    const why = reason(r);
    groups.set(why, [...(groups.get(why) ?? []), r.index]);
  }
  for (const [why, indices] of [...groups].sort((a, b) => b[1].length - a[1].length)) console.log(`  ${String(indices.length).padStart(6)}  ${why}  (graph ${indices[0]})`);
}
const withoutNumbers = (s) => s.split('\n')[0].replace(/'[^']*'/g, "'...'").replace(/-?\d+(\.\d+)?(e[-+]?\d+)?/g, '#').slice(0, 160);
const say = (title, list) => console.log(`${String(list.length).padStart(6)}  ${title}`);

say('graphs', results);
say('equal, nothing left in float in ONNX Runtime', inIntegers(only('equal')));
say('equal, with float left in ONNX Runtime', inFloat(only('equal')));
say('differing, NOTHING left in float', inIntegers(only('differs')));
for (const r of inIntegers(only('differs'))) console.log(`          graph ${r.index}: ${r.why}`);
say('differing, with float left; by the greatest difference of the first output that differs', inFloat(only('differs')));
byReason(inFloat(only('differs')), (r) => /: (\d+ steps|a part of a float):/.exec(r.why)?.[1] ?? 'another type or shape');
say('the same; by operators in float', inFloat(only('differs')));
byReason(inFloat(only('differs')), (r) => r.float.join(' '));
say('internal errors', only('internal error'));
byReason(only('internal error'), (r) => withoutNumbers(r.why));
say('failures', only('failed'));
byReason(only('failed'), (r) => withoutNumbers(r.why));
say('refused; by reason', only('refused'));
byReason(only('refused'), (r) => withoutNumbers(r.why));
say('equal at batch 1, which was fixed', only('batch refused'));
say('not run by ONNX Runtime', only('not run'));
byReason(only('not run'), (r) => withoutNumbers(r.why));
if (only('not run').length === results.length) console.log('nothing was compared: is there such a layer, and onnxruntime-node in ORT_DIR?');
process.exit(only('not run').length === results.length || inIntegers(only('differs')).length || only('internal error').length || only('failed').length ? 1 : 0);
