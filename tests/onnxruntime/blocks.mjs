#!/usr/bin/env node
// SPDX-License-Identifier: Apache-2.0
// blocks.mjs BIN SEED COUNT: random products with weights in blocks (MatMulNBits) in qrt and in ONNX Runtime. Rows of a batch are run
// one by one, too, and have the bits of the batch. The relative norm of the difference is within a bound: 1e-6 for sums of up to 128
// blocks, 4e-6 beyond.
//
// At accuracy_level 4 both quantise the activations, except of 2 bits in blocks of 16 and 256. There qrt has the bits of its definition,
// which is computed here again. Elsewhere both multiply floats.
//
// A product beyond its bound is printed and counted. The exact sums of the same terms, in double, tell whose rounding the difference is:
// - ONNX Runtime's, where qrt is within half the bound of the exact sums. ONNX Runtime sums 4-bit weights of two or more rows in the
//   order of k, which alone is off by 1.5e-6 at k = 8192, and int8 products in lanes whose sums are larger than those of blocks.
// - That of both, where sums cancel, such as a single output near 0: qrt is off by a part of the sums of magnitudes of the terms, at
//   most sqrt(terms) * 2^-24, as roundings of either sign add up.
// - Anything else is a failure.
//
// BIN holds qrt_convert and qrt_run; ORT_DIR is where onnxruntime-node was installed.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { readNpy, writeNpy } from '../models/npy.mjs';
import { openSession, ort } from './onnxruntime.mjs';
import { readModel } from './protobuf.mjs';

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

function halfEven(v) {
  const r = Math.round(v);  // halves go up
  return r - v === 0.5 && r % 2 ? r - 1 : r;
}

function runQrt(model, dims, data) {
  writeNpy(at('x.npy'), dims, data);
  execFileSync(path.join(bin, 'qrt_run'), [model, at('x.npy'), '--output-dir', dir], { stdio: ['ignore', 'ignore', 'pipe'] });
  return readNpy(at('output_0.npy')).data;
}

// The weights that were written: their codes, zero points and scales.
function weightsOf(k, bits, block) {
  const { nodes, contents } = readModel(readFileSync(at('m.onnx')));
  const [, codes, scales, zeros] = nodes.find((node) => node.op === 'MatMulNBits').inputs.map((name) => contents.get(name));
  const blocks = Math.ceil(k / block), perByte = 8 / bits, mask = (1 << bits) - 1;
  const code = (bytes, row, rowBytes, i) => (bytes[row * rowBytes + Math.floor(i / perByte)] >> (i % perByte * bits)) & mask;
  return {
    codeOf: (o, i) => code(codes, o, blocks * block / perByte, i),
    zeroOf: (o, b) => zeros ? code(zeros, o, Math.ceil(blocks / perByte), b) : 1 << (bits - 1),
    scale: new Float32Array(scales.buffer),
  };
}

// Products of floats: the exact sums, in double, and those of magnitudes.
function floatProducts({ m, k, n, bits, block }, x) {
  const { codeOf, zeroOf, scale } = weightsOf(k, bits, block), blocks = Math.ceil(k / block), sums = new Float64Array(m * n), magnitudes = new Float64Array(m * n);
  for (let o = 0; o < n; ++o) {
    for (let i = 0; i < k; ++i) {
      const b = Math.floor(i / block), w = (codeOf(o, i) - zeroOf(o, b)) * scale[o * blocks + b];
      for (let row = 0; row < m; ++row) {
        sums[row * n + o] += x[row * k + i] * w;
        magnitudes[row * n + o] += Math.abs(x[row * k + i] * w);
      }
    }
  }
  return { sums, magnitudes, terms: k };
}

// Products of int8 (nbits-seq, kernels/nbits_seq.h): y, the definition's bits, in single operations of float32; and the exact sums of
// its terms, in double, and those of magnitudes.
function intProducts({ m, k, n, bits, block }, x) {
  const { codeOf, zeroOf, scale } = weightsOf(k, bits, block);
  const blocks = Math.ceil(k / block), q = new Int8Array(m * k), scales = new Float32Array(m * blocks);
  for (let row = 0; row < m; ++row) {
    for (let b = 0; b < blocks; ++b) {
      const begin = row * k + b * block, end = Math.min(begin + block, (row + 1) * k);
      const most = x.subarray(begin, end).reduce((a, v) => Math.max(a, Math.abs(v)), 0), inverse = Math.fround(127 / most);
      scales[row * blocks + b] = most / 127;
      for (let i = begin; i < end; ++i) q[i] = halfEven(Math.fround(x[i] * inverse));
    }
  }
  const y = new Float32Array(m * n), sums = new Float64Array(m * n), magnitudes = new Float64Array(m * n);
  for (let j = 0; j < m * n; ++j) {
    const row = Math.floor(j / n), o = j % n;
    for (let b = 0; b < blocks; ++b) {
      let dot = 0;
      for (let i = b * block; i < Math.min((b + 1) * block, k); ++i) dot += q[row * k + i] * (codeOf(o, i) - zeroOf(o, b));
      const both = Math.fround(scales[row * blocks + b] * scale[o * blocks + b]);
      y[j] += Math.fround(dot * both);
      sums[j] += dot * both;
      magnitudes[j] += Math.abs(dot * both);
    }
  }
  return { y, sums, magnitudes, terms: blocks };
}

const norm = (a) => Math.sqrt(a.reduce((sum, v) => sum + v ** 2, 0));
const distance = (a, b) => norm(b.map((v, j) => v - a[j])) / norm(b);
const apart = ([both, ours, theirs]) => `${both.toExponential(2)} apart, from the exact sums qrt ${ours.toExponential(2)}, ONNX Runtime ${theirs.toExponential(2)}`;

const worst = {};
let beyond = 0, theirs = 0, cancelled = 0, bad = 0;
for (let i = 0; i < Number(count); ++i) {
  const block = 16 << integer(0, 4), blocks = integer(0, 3) ? integer(1, Math.floor(2048 / block)) : integer(1, Math.floor(8192 / block));
  const level = integer(0, 1) * 4, bits = [2, 4, 4, 8][integer(0, 3)], m = integer(0, 1) ? 1 : integer(2, 33), n = integer(1, 70);
  const k = blocks * block - integer(0, block - 1);
  const options = ['--bits', bits, '--block', block, '--level', level, '--seed', integer(1, 1e6)];
  if (integer(0, 1)) options.push('--zero-points');
  execFileSync(writer, ['product', 'open', k, n, at('m.onnx'), ...options].map(String));
  execFileSync(path.join(bin, 'qrt_convert'), [at('m.onnx'), '-o', at('m.qrt')], { stdio: ['ignore', 'ignore', 'pipe'] });
  const x = Float32Array.from({ length: m * k }, () => integer(-1e6, 1e6) / 5e5);
  const got = runQrt(at('m.qrt'), [m, k], x);
  const session = await openSession(at('m.onnx'));
  const want = (await session.run({ x: new ort.Tensor('float32', x, [m, k]) })).y.data;
  const row = integer(0, m - 1);
  const alone = runQrt(at('m.qrt'), [1, k], x.slice(row * k, (row + 1) * k));
  const isSame = alone.every((v, j) => Object.is(v, got[row * n + j]));
  const inFloat = level === 0 || (bits === 2 && (block === 16 || block === 256));
  const bound = blocks > 128 ? 4e-6 : 1e-6, key = `${inFloat ? 'floats' : 'int8'}, ${bits} bits, ${m === 1 ? 'one row' : 'rows'}, ${blocks > 128 ? 'above' : 'up to'} 128 blocks`;
  const { y, sums, magnitudes, terms } = (inFloat ? floatProducts : intProducts)({ m, k, n, bits, block }, x);
  const errors = [distance(got, want), distance(got, sums), distance(want, sums)], most = worst[key] ??= [0, 0, 0];
  errors.forEach((e, j) => { most[j] = Math.max(most[j], e); });
  const wrongBits = !isSame ? 'a row alone has other bits' : y?.some((v, j) => v !== got[j]) ? 'its bits are not those of the definition' : '';
  if (!wrongBits && errors[0] <= bound) continue;
  if (errors[0] > bound) ++beyond;
  let whose = '';
  if (!wrongBits && errors[1] <= bound / 2) whose = ": ONNX Runtime's rounding", ++theirs;
  else if (!wrongBits && errors[1] <= Math.sqrt(terms) * 2 ** -24 * norm(magnitudes) / norm(sums)) whose = ': sums that cancel', ++cancelled;
  else ++bad;
  console.log(`product ${i}: ${m}x${k}x${n}, ${options.join(' ')}: ${wrongBits || apart(errors)}${whose}`);
}
rmSync(dir, { recursive: true });
for (const [key, most] of Object.entries(worst).sort()) console.log(`${key}: at most ${apart(most)}`);
console.log(`${count} products, seed ${seed}: ${beyond} beyond the bounds, ${theirs} by ONNX Runtime's rounding, ${cancelled} where sums cancel; ${bad} failures`);
process.exit(bad ? 1 : 0);
