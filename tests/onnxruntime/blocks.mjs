#!/usr/bin/env node
// SPDX-License-Identifier: Apache-2.0
// blocks.mjs BIN SEED COUNT: random products with weights in blocks (MatMulNBits) in qrt and in ONNX Runtime, at accuracy_level 4 and
// without one. Neither has the other's bits: the relative norm of the difference is within 1e-6 for sums of up to 128 blocks, 4e-6
// beyond. Rows of a batch are run one by one, too, and have the bits of the batch. BIN holds qrt_convert and qrt_run; ORT_DIR is where
// onnxruntime-node was installed.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { readNpy, writeNpy } from '../models/npy.mjs';
import { openSession, ort } from './onnxruntime.mjs';

const [bin, seed, count] = process.argv.slice(2);
if (!count) { console.error('usage: blocks.mjs BIN SEED COUNT'); process.exit(2); }
const writer = path.join(path.dirname(fileURLToPath(import.meta.url)), '../../bench/block_models.py');
const dir = mkdtempSync(path.join(tmpdir(), 'blocks-')), at = (name) => path.join(dir, name);

let state = Number(seed) >>> 0;
const integer = (least, most) => {  // mulberry32
  state = (state + 0x6d2b79f5) >>> 0;
  let t = state;
  t = Math.imul(t ^ (t >>> 15), t | 1);
  t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
  return least + ((t ^ (t >>> 14)) >>> 0) % (most - least + 1);
};

function runQrt(model, dims, data) {
  writeNpy(at('x.npy'), dims, data);
  execFileSync(path.join(bin, 'qrt_run'), [model, at('x.npy'), '--output-dir', dir], { stdio: ['ignore', 'ignore', 'pipe'] });
  return readNpy(at('output_0.npy')).data;
}

const worst = {};
let bad = 0;
for (let i = 0; i < Number(count); ++i) {
  const block = 16 << integer(0, 4), blocks = integer(0, 3) ? integer(1, Math.floor(2048 / block)) : integer(1, Math.floor(8192 / block));
  const level = integer(0, 1) * 4, bits = [4, 8][integer(0, 1)], m = integer(1, 9), n = integer(1, 70);
  const k = blocks * block - integer(0, block - 1);
  const options = ['--bits', bits, '--block', block, '--level', level, '--seed', integer(1, 1e6)];
  if (integer(0, 1)) options.push('--zero-points');
  execFileSync(writer, ['product', 'open', k, n, at('m.onnx'), ...options].map(String));
  execFileSync(path.join(bin, 'qrt_convert'), [at('m.onnx'), '-o', at('m.qrt')], { stdio: ['ignore', 'ignore', 'pipe'] });
  const x = Float32Array.from({ length: m * k }, () => integer(-1e6, 1e6) / 5e5);
  const got = runQrt(at('m.qrt'), [m, k], x);
  const session = await openSession(at('m.onnx'));
  const want = (await session.run({ x: new ort.Tensor('float32', x, [m, k]) })).y.data;
  let difference = 0, norm = 0;
  for (let j = 0; j < want.length; ++j) { difference += (want[j] - got[j]) ** 2; norm += want[j] ** 2; }
  const row = integer(0, m - 1);
  const alone = runQrt(at('m.qrt'), [1, k], x.slice(row * k, (row + 1) * k));
  const isSame = alone.every((v, j) => Object.is(v, got[row * n + j]));
  const relative = Math.sqrt(difference / norm), key = `level ${level}, ${blocks > 128 ? 'above' : 'up to'} 128 blocks`;
  worst[key] = Math.max(worst[key] ?? 0, relative);
  if (relative <= (blocks > 128 ? 4e-6 : 1e-6) && isSame) continue;
  ++bad;
  console.log(`product ${i}: ${m}x${k}x${n}, ${options.join(' ')}: ${isSame ? relative.toExponential(2) : 'a row alone has other bits'}`);
}
rmSync(dir, { recursive: true });
for (const [key, value] of Object.entries(worst)) console.log(`${key}: at most ${value.toExponential(2)}`);
console.log(`${count} products, seed ${seed}: ${bad} beyond the bounds`);
process.exit(bad ? 1 : 0);
