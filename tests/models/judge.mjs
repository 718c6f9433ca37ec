#!/usr/bin/env node
// SPDX-License-Identifier: Apache-2.0
// judge.mjs BIN NETWORKS [--scheme NAME] [--only NAME,NAME] [--keep DIR] [-- OPTIONS OF qrt_quantize]
// How good qrt_quantize is on trained networks, judged by ONNX Runtime (ORT_DIR: where onnxruntime-node was installed).
// BIN holds qrt_quantize and qrt_run. NETWORKS holds NAME.onnx, calibration_x.npy (calibration_denoise.npy for networks with
// "denoise" in their name), test_x.npy, test_y.npy, denoise_x.npy: images of 32 x 32, uint8, x = (u8 / 255 - 0.286) / 0.353.
// For each network one line: the metric (top-1 in per cent; of denoisers PSNR in dB) of the float model and the quantised one,
// how many answers agree, the signal to noise ratio of the outputs, whether ONNX Runtime's bytes for the QDQ model are those of the
// .qrt (schemes ort-*), and what is below the bars. Exit status 1: something is.
// Bars: what the metric may lose by scheme (or as --max-drop among the OPTIONS says), least signal to noise ratios by network
// (the best that quantisers without a ladder reach with 8 bits) and 1 dB more on half of the networks (schemes ort-*), and 2 dB
// between a network and its rescaled twin. Tensors that the ladder gave 16 bits are named; ONNX Runtime leaves such graphs in
// float, so that their bytes are not compared. Networks that CVM has no operators for are named and not judged.
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import os from 'node:os';
import path from 'node:path';
import { readNpy, writeNpy } from './npy.mjs';

const argv = process.argv.slice(2), further = argv.indexOf('--');
const extra = further < 0 ? [] : argv.splice(further).slice(1);
const option = (name, otherwise) => {
  const at = argv.indexOf(name);
  return at < 0 ? otherwise : argv.splice(at, 2)[1];
};
const scheme = option('--scheme', 'ort-u8'), only = option('--only', ''), keep = option('--keep', '');
const [bin, networks] = argv;
if (!networks || !process.env.ORT_DIR) {
  console.error('usage: ORT_DIR=DIR judge.mjs BIN NETWORKS [--scheme NAME] [--only NAME,NAME] [--keep DIR] [-- OPTIONS]');
  process.exit(2);
}
const ort = createRequire(path.join(process.env.ORT_DIR, 'package.json'))('onnxruntime-node');

const losses = { 'ort-u8': [0.5, 0.1], 'ort-s8': [0.5, 0.1], 'espdl-s8': [1, 0.1], 'espdl-s16': [0.1, 0.1], cvm: [1, 0.1] };
const ratios = { resnet8: 36.8, mobilenetv2: 33.6, mobilenetv2_relu: 32.2, mobilenetv2_relu_scaled: 32, mobilenetv3: 31.4, efficientnet: 26.5,
  tcn: 36.5, vit: 31.7, vit_outliers: 14, unet_denoise: 41.3 };
const twins = { mobilenetv2_relu_scaled: 'mobilenetv2_relu', vit_outliers: 'vit' };
const hasOnnx = scheme !== 'cvm';
const maxDrop = extra.includes('--max-drop') ? Number(extra[extra.indexOf('--max-drop') + 1]) : Infinity;

// In float32, in this order.
function prepared({ dims, data }) {
  const f = Math.fround, x = new Float32Array(data.length), mean = f(0.286), deviation = f(0.353);
  for (let i = 0; i < x.length; ++i) x[i] = f(f(f(data[i] / 255) - mean) / deviation);
  return { dims, data: x };
}
// `batch` images at a time.
async function run(model, x, batch = x.dims[0]) {
  const session = await ort.InferenceSession.create(model, { intraOpNumThreads: 1, interOpNumThreads: 1, logSeverityLevel: 3,
    // CPUs without VNNI add up products of uint8 in 16 bits, and saturate, unless x64quantprecision forbids it; those of int8 are exact,
    // and have no kernel with it.
    extra: { session: { qdqisint8allowed: '1', x64quantprecision: scheme === 'ort-u8' ? '1' : '0' } } });
  const parts = [], step = (x.data.length / x.dims[0]) * batch;
  for (let at = 0; at < x.data.length; at += step) {
    const part = new ort.Tensor('float32', x.data.subarray(at, at + step), [batch, ...x.dims.slice(1)]);
    parts.push((await session.run({ [session.inputNames[0]]: part }))[session.outputNames[0]].data);
  }
  const all = new Float32Array(parts.reduce((n, p) => n + p.length, 0));
  parts.forEach((p, i) => all.set(p, i * p.length));
  return all;
}
const best = (y, row, n) => {
  let at = 0;
  for (let i = 1; i < n; ++i) if (y[row * n + i] > y[row * n + at]) at = i;
  return at;
};
function metric(y, isDenoiser, clean, labels) {
  if (isDenoiser) {
    let sum = 0;
    for (let i = 0; i < y.length; ++i) sum += (y[i] - clean[i]) ** 2;
    return 10 * Math.log10((1 / 0.353) ** 2 / (sum / y.length));
  }
  const n = y.length / labels.length;
  return (labels.reduce((right, label, row) => right + (best(y, row, n) === label), 0) / labels.length) * 100;
}
function agreement(a, b, rows) {
  const n = a.length / rows;
  let same = 0;
  for (let row = 0; row < rows; ++row) same += best(a, row, n) === best(b, row, n);
  return (same / rows) * 100;
}
function decibels(real, got) {
  let signal = 0, noise = 0;
  for (let i = 0; i < real.length; ++i) {
    signal += real[i] ** 2;
    noise += (real[i] - got[i]) ** 2;
  }
  return 10 * Math.log10(signal / noise);
}

const dir = keep || mkdtempSync(path.join(os.tmpdir(), 'judge-'));
mkdirSync(dir, { recursive: true });
const images = prepared(readNpy(path.join(networks, 'test_x.npy'))), labels = readNpy(path.join(networks, 'test_y.npy')).data;
const noisy = prepared(readNpy(path.join(networks, 'denoise_x.npy')));
const names = readdirSync(networks).filter((f) => f.endsWith('.onnx')).map((f) => f.slice(0, -5));
const row = (cells) => console.log(cells.map((c, i) => (i ? String(c).padStart(9) : String(c).padEnd(24))).join(' '));
console.log(`scheme ${scheme} ${extra.join(' ')}`);
row(['network', 'float', 'integers', 'change', 'agrees', 'SQNR dB', 'ORT bytes', 'seconds', 'kB', 'below the bar']);
const seen = {};
let failures = 0, judged = 0, better = 0; // better: by 1 dB than the bar
function complaints(name, isDenoiser, change, ratio, bytes) {
  const list = [];
  const allowed = isDenoiser ? losses[scheme][1] : Math.min(losses[scheme][0], maxDrop);
  if (change < -allowed - 1e-9) list.push(`loses more than ${allowed}`);
  if (scheme.startsWith('ort-') && ratio < ratios[name]) list.push(`less than ${ratios[name]} dB`);
  if (seen[twins[name]] - ratio > 2) list.push(`${(seen[twins[name]] - ratio).toFixed(1)} dB less than ${twins[name]}`);
  if (bytes.includes('differ')) list.push('bytes');
  seen[name] = ratio;
  better += ratio >= ratios[name] + 1;
  return list.join(', ');
}
async function judge(name) {
  const isDenoiser = name.includes('denoise'), x = isDenoiser ? noisy : images;
  const at = (end) => path.join(dir, name + end);
  const options = isDenoiser ? extra.filter((o, i) => o !== '--max-drop' && extra[i - 1] !== '--max-drop') : extra; // it has no classes
  const started = performance.now();
  const text = execFileSync(path.join(bin, 'qrt_quantize'), [path.join(networks, `${name}.onnx`), '--calibration',
    path.join(networks, isDenoiser ? 'calibration_denoise.npy' : 'calibration_x.npy'), '--scheme', scheme, '-o', at('.qrt'),
    ...(hasOnnx ? ['--onnx', at('.qdq.onnx')] : []), '--report', at('.json'), ...options], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
  const seconds = (performance.now() - started) / 1000;
  writeFileSync(at('.txt'), text);
  writeNpy(at('.input.npy'), x.dims, x.data);
  execFileSync(path.join(bin, 'qrt_run'), [at('.qrt'), at('.input.npy'), '--output-dir', dir], { stdio: ['ignore', 'ignore', 'pipe'] });
  const got = readNpy(path.join(dir, 'output_0.npy')).data, real = await run(path.join(networks, `${name}.onnx`), x);
  const clean = images.data.subarray(0, got.length);
  const before = metric(real, isDenoiser, clean, labels), after = metric(got, isDenoiser, clean, labels);
  const wide = JSON.parse(readFileSync(at('.json'))).tensors.filter((t) => t.bits === 16 && scheme !== 'espdl-s16').map((t) => t.name);
  let bytes = '-';
  if (scheme.startsWith('ort-') && !wide.length) {
    const theirs = await run(at('.qdq.onnx'), x, 1); // ONNX Runtime's order of a mean's sum depends on the batch
    let different = 0;
    for (let i = 0; i < got.length; ++i) different += got[i] !== theirs[i];
    bytes = different ? `${different} differ` : 'equal';
  }
  const ratio = decibels(real, got), below = complaints(name, isDenoiser, after - before, ratio, bytes);
  row([name, before.toFixed(2), after.toFixed(2), (after - before).toFixed(2), isDenoiser ? '-' : agreement(real, got, labels.length).toFixed(2),
    ratio.toFixed(2), bytes, seconds.toFixed(1), Math.round(statSync(at('.qrt')).size / 1024), below]);
  if (wide.length) console.log(`  16 bits: ${wide.join(', ')}`);
  return !below;
}
for (const name of names.filter((n) => !only || only.split(',').includes(n))) {
  judged += 1;
  try {
    failures += (await judge(name)) ? 0 : 1;
  } catch (e) {
    if (scheme === 'cvm' && e.status === 4) { // it is for convolutional networks
      row([name, 'not CVM:', String(e.stderr).trim().split('\n').pop()]);
      continue;
    }
    row([name, 'failed:', e.stderr ? String(e.stderr).trim().split('\n').pop() : String(e).split('\n')[0]]);
    failures += 1;
  }
}
if (scheme.startsWith('ort-')) {
  const enough = 2 * better >= judged;
  failures += enough ? 0 : 1;
  console.log(`${better} of ${judged} networks have 1 dB more than the best without a ladder${enough ? '' : ': below half'}`);
}
if (!keep) rmSync(dir, { recursive: true });
process.exit(failures ? 1 : 0);
