#!/usr/bin/env node
// SPDX-License-Identifier: Apache-2.0
// table.mjs RESULTS.jsonl: counts what judge.mjs found and prints it as the tables of ../README.md. Exit status 1 where a cell is
// wrong or internal, and where ONNX Runtime ran none of them.
import { readFileSync } from 'node:fs';

const results = readFileSync(process.argv[2], 'utf8').split('\n').filter(Boolean).map((l) => JSON.parse(l));
const verdicts = ['equal', 'near', 'refused', 'wrong', 'internal', 'not run'];
const titles = ['equal', 'equal but for float', 'refused', 'wrong', 'internal', 'not run by ONNX Runtime'];
const groupsOf = (list, key) => {
  const groups = new Map();
  for (const r of list) groups.set(key(r), [...(groups.get(key(r)) ?? []), r]);
  return groups;
};
const count = (list, verdict) => list.filter((r) => r.verdict === verdict).length;
const row = (...cells) => console.log(`| ${cells.join(' | ')} |`);
const header = (...cells) => (row(...cells), row(...cells.map((c, i) => (i ? '---:' : '---'))));

function countsBy(title, key) {
  header(title, 'cells', ...titles);
  for (const [name, list] of groupsOf(results, key)) row(name, list.length, ...verdicts.map((v) => count(list, v)));
  console.log();
}
countsBy('', (r) => (r.allow_float ? 'with `--allow-float`' : 'without'));
countsBy('kind of tensor, with `--allow-float` or without', (r) => `${r.kind}${r.allow_float ? ', with' : ''}`);

// Why not, without what differs from graph to graph: the operators that say so are told beside it.
const operatorOf = (r) => r.why.slice(0, r.why.indexOf(':'));
const reason = (r) =>
  r.why.slice(r.why.indexOf(':') + 1).trim().split('\n')[0]
    .replaceAll(operatorOf(r), 'the operator')
    .replace(/the float result of .*, which/, 'the float result of another operator, which')
    .replace(/(?<!\w)'[^']*'/g, "'...'").replace(/\[[^\]]*\]/g, '[...]').replace(/-?\b\d+(\.\d+)?(e[-+]?\d+)?/g, '#')
    .replace(/\b(uint|int|float)#/g, 'TYPE').replace(/\|/g, '/').slice(0, 170);
function reasons(title, list) {
  header(title, 'operators (and one such cell)', 'cells');
  for (const [why, found] of [...groupsOf(list, reason)].sort((a, b) => b[1].length - a[1].length)) {
    const operators = [...new Set(found.map(operatorOf))];
    const named = operators.slice(0, 6).join(', ') + (operators.length > 6 ? ` and ${operators.length - 6} more` : '');
    row(why, `${named} (${found[0].index})`, found.length);
  }
  console.log();
}
for (const flag of [false, true]) reasons(`refused, ${flag ? 'with' : 'without'} \`--allow-float\``, results.filter((r) => r.verdict === 'refused' && r.allow_float === flag));
header('not run by ONNX Runtime', 'cells');
for (const [op, list] of groupsOf(results.filter((r) => r.verdict === 'not run' && !r.allow_float), (r) => r.op)) row(op, list.length);
console.log();

const bad = results.filter((r) => ['wrong', 'internal'].includes(r.verdict));
for (const r of bad) console.log(`${r.verdict}: ${r.index} ${r.name}${r.allow_float ? ', --allow-float' : ''}: ${r.why}${r.float ? ` (in float: ONNX Runtime ${r.float.join(' ') || 'nothing'}, qrt ${r.has_float ? 'something' : 'nothing'})` : ''}`);
if (results.every((r) => r.verdict === 'not run')) console.log('nothing was compared: is onnxruntime-node in ORT_DIR?');
process.exit(bad.length || results.every((r) => r.verdict === 'not run') ? 1 : 0);
