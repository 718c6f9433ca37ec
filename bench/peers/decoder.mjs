#!/usr/bin/env node
// SPDX-License-Identifier: Apache-2.0
// decoder.mjs BIN [WIDTH [STEPS [TURNS [OPTION...]]]]: a small decoder (block_models.py decoder: 4 layers of WIDTH, grouped queries, caches
// that grow, open lengths, weights in blocks) in qrt and in ONNX Runtime: greedy steps from one text. Exit status 1 where a token
// differs. One thread, in turns, the least time of each. Both go on with the caches of the step before without copying them.
//
// BIN holds qrt_convert and greedy_steps (target of that name); ORT_DIR is where
// onnxruntime-node was installed. OPTIONs go to block_models.py.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { openSession, ort } from '../../tests/onnxruntime/onnxruntime.mjs';

const [bin, size = '1024', steps = '64', turns = '10', ...options] = process.argv.slice(2);
if (!bin) { console.error('usage: decoder.mjs BIN [WIDTH [STEPS [TURNS [OPTION...]]]]'); process.exit(2); }
const layers = 4, width = Number(size), groups = width / 64 / 4;
const text = [17, 301, 5, 77, 250];
const dir = mkdtempSync(path.join(tmpdir(), 'decoder-')), at = (name) => path.join(dir, name);
execFileSync(path.join(path.dirname(fileURLToPath(import.meta.url)), '../block_models.py'), ['decoder', layers, width, at('m.onnx'), ...options].map(String));
execFileSync(path.join(bin, 'qrt_convert'), [at('m.onnx'), '-o', at('m.qrt'), '--allow-float'], { stdio: ['ignore', 'ignore', 'inherit'] });
const session = await openSession(at('m.onnx'), { graphOptimizationLevel: 'all' });
const integers = (values) => new ort.Tensor('int64', BigInt64Array.from(values, BigInt), [1, values.length]);

async function takeTurn() {
  const names = Array.from({ length: layers }, (_, i) => [`${i}.key`, `${i}.value`]).flat();
  let caches = names.map(() => new ort.Tensor('float32', new Float32Array(0), [1, groups, 0, 64]));
  const tokens = [];
  const step = async (ids, past) => {
    const feeds = { input_ids: integers(ids), attention_mask: integers(Array(past + ids.length).fill(1)) };
    names.forEach((name, i) => { feeds[`past_key_values.${name}`] = caches[i]; });
    const results = await session.run(feeds);
    caches = names.map((name) => results[`present.${name}`]);
    const { data, dims } = results.logits, last = data.subarray(data.length - dims[2]);
    tokens.push(last.reduce((best, v, i) => (v > last[best] ? i : best), 0));
  };
  await step(text, 0);
  const start = performance.now();
  for (let i = 0; i < Number(steps); ++i) await step([tokens.at(-1)], text.length + i);
  return { tokens, ms: performance.now() - start };
}

let theirs = Infinity, ours = Infinity, different = 0;
for (let i = 0; i < Number(turns); ++i) {
  const turn = await takeTurn();
  theirs = Math.min(theirs, turn.ms);
  const [line, ms] = execFileSync(path.join(bin, 'greedy_steps'), [at('m.qrt'), steps, 3, ...text].map(String), { encoding: 'utf8' }).trim().split('\n');
  ours = Math.min(ours, Number(ms));
  const tokens = line.trim().split(' ').map(Number);
  different = tokens.filter((t, j) => t !== turn.tokens[j]).length;
  if (i === 0) console.log(`tokens ${tokens.join(' ')}`);
  if (different) { console.log(`ONNX Runtime's ${turn.tokens.join(' ')}`); break; }
}
rmSync(dir, { recursive: true });
const rate = (ms) => (Number(steps) * 1000 / ms).toFixed(0);
console.log(`4 layers of ${width}, ${steps} steps: ${different} tokens differ; ONNX Runtime ${ort.env.versions.common} ${rate(theirs)} steps a second, qrt ${rate(ours)}, ratio ${(theirs / ours).toFixed(2)}`);
process.exit(different ? 1 : 0);
