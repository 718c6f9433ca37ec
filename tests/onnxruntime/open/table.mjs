#!/usr/bin/env node
// SPDX-License-Identifier: Apache-2.0
// table.mjs FILE...: counts the lines that judge.mjs printed. Exit status 1 where a run is wrong or internal, and where ONNX Runtime ran none.
import { readFileSync } from 'node:fs';

const graphs = process.argv.slice(2).flatMap((f) => readFileSync(f, 'utf8').split('\n').filter(Boolean).map((l) => JSON.parse(l)));
const names = ['1', 'odd', 'usual', 'large', 'zero'];
const runs = graphs.flatMap((g) => g.runs.map((r) => ({ ...r, graph: g })));
const verdicts = ['exact', 'within', 'as fixed', 'wrong', 'internal', 'closed', 'refused', 'not run'];
console.log(`${graphs.length} graphs: ${graphs.filter((g) => g.status === 'ok').length} converted, ${graphs.filter((g) => g.status === 'refused').length} refused, ${graphs.filter((g) => g.notRun).length} not taken by ONNX Runtime`);
console.log(['run'.padEnd(8), ...verdicts.map((v) => v.padStart(9))].join(''));
for (const [k, name] of [...names.entries(), [-1, 'all']])
  console.log([name.padEnd(8), ...verdicts.map((v) => String(runs.filter((r) => (k < 0 || r.run === k) && r.verdict === v).length).padStart(9))].join(''));

const withoutNumbers = (s) => (s ?? '').split('\n')[0].replace(/'[^']*'/g, "'...'").replace(/[\w]+ = -?\d+/g, 'SIZE').replace(/\b[A-Za-z]+\d+\b(?= (\(|is|depends|has))/g, 'NODE').replace(/-?\d+(\.\d+)?(e[-+]?\d+)?/g, '#').slice(0, 150);
// The most frequent first, with the index of one graph.
function byReason(title, list, reason, index) {
  if (!list.length) return;
  console.log(`${title}: ${list.length}`);
  const groups = new Map();
  for (const e of list) groups.set(reason(e), [...(groups.get(reason(e)) ?? []), index(e)]);
  for (const [why, of] of [...groups].sort((a, b) => b[1].length - a[1].length).slice(0, 40)) console.log(`  ${String(of.length).padStart(6)}  ${why}  (graph ${of[0]})`);
}
const graphOf = (r) => r.graph.index;
for (const g of graphs) {
  const r = g.runs.map((r) => ({ ...r, graph: g })).find((r) => ['wrong', 'internal'].includes(r.verdict));
  if (r) console.log(`  ${r.verdict} graph ${r.graph.index} [${r.graph.layers}] at ${r.sizes}: ${r.why}`);
}
byReason('graphs refused, by reason', graphs.filter((g) => g.status === 'refused'), (g) => withoutNumbers(g.why), (g) => g.index);
byReason('graphs with a dimension kept fixed, or whose sizes are bounded', graphs.filter((g) => g.runs.some((r) => r.verdict === 'closed' || /^OUT_OF_RANGE/.test(r.why))), (g) => withoutNumbers(g.runs.find((r) => r.verdict === 'closed' || /^OUT_OF_RANGE/.test(r.why)).why), (g) => g.index);
byReason('runs refused, by reason', runs.filter((r) => r.verdict === 'refused' && r.graph.status === 'ok'), (r) => withoutNumbers(r.why), graphOf);
byReason('runs as fixed, by layers', runs.filter((r) => r.verdict === 'as fixed'), (r) => r.why.startsWith('ONNX Runtime has') ? withoutNumbers(r.why) : 'float is left', graphOf);
byReason('graphs that ONNX Runtime does not take', graphs.filter((g) => g.notRun), (g) => withoutNumbers(g.notRun), (g) => g.index);
const compared = runs.filter((r) => r.verdict !== 'not run').length;
if (!compared) console.log('nothing was compared: is onnxruntime-node in ORT_DIR?');
process.exit(!compared || runs.some((r) => ['wrong', 'internal'].includes(r.verdict)) ? 1 : 0);
