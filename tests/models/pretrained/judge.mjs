#!/usr/bin/env node
// SPDX-License-Identifier: Apache-2.0
// judge.mjs list
// judge.mjs BIN FOLDER [--only NAME,NAME] [--ladders NAME,NAME] [-- OPTIONS OF qrt_quantize]
// How good qrt_quantize is on networks that others have trained, judged by ONNX Runtime's float outputs (ORT_DIR: where onnxruntime-node
// was installed) on samples it was not calibrated with. `list` names the networks of networks.json: the repository of GitHub at a commit,
// or the package of npm, the file in it, and what its samples are. prepare.py fills FOLDER. States of a network are those of its float run over
// the frames of a recording. For each ladder one line: the signal to noise ratio of the worst output and the mean of all, the task's own
// measure, seconds. Exit status 1: the default ladder is 0.3 dB below the better one of the others, or fewer than 20 networks are taken.
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import os from 'node:os';
import path from 'node:path';
import { readNpy, writeNpy } from '../npy.mjs';

const networks = JSON.parse(readFileSync(new URL('networks.json', import.meta.url), 'utf8'));
const argv = process.argv.slice(2), further = argv.indexOf('--');
const extra = further < 0 ? [] : argv.splice(further).slice(1);
const option = (name, otherwise) => {
  const at = argv.indexOf(name);
  return at < 0 ? otherwise : argv.splice(at, 2)[1];
};
if (argv[0] === 'list') {
  for (const [name, n] of Object.entries(networks)) console.log(`${name}\t${n.from}\t${n.at}\t${n.file}\t${n.data}`);
  process.exit(0);
}
const only = option('--only', '').split(',').filter(Boolean), ladders = option('--ladders', 'min-max,none,fast').split(',');
const [bin, folder] = argv;
if (!folder || !process.env.ORT_DIR) {
  console.error('usage: judge.mjs list | ORT_DIR=DIR judge.mjs BIN FOLDER [--only NAME,NAME] [--ladders NAME,NAME] [-- OPTIONS]');
  process.exit(2);
}
const ort = createRequire(path.join(process.env.ORT_DIR, 'package.json'))('onnxruntime-node');
const open = (model) => ort.InferenceSession.create(model, { intraOpNumThreads: 1, logSeverityLevel: 3 });
const MOST = 64;  // samples of a recording

const tensor = ({ dims, data }) => new ort.Tensor({ Float32Array: 'float32', Uint8Array: 'uint8', Int32Array: 'int32' }[data.constructor.name], data, dims);
const row = ({ dims: [n, ...rest], data }, i, own = rest) => ({ dims: own, data: data.slice(i * data.length / n, (i + 1) * data.length / n) });
const joined = (parts) => {
  const all = new parts[0].constructor(parts.reduce((n, p) => n + p.length, 0));
  parts.reduce((at, p) => (all.set(p, at), at + p.length), 0);
  return all;
};
const constantsOf = (network) => Object.fromEntries(Object.entries(network.constants ?? {})
  .map(([name, value]) => [name, new ort.Tensor('int64', BigInt64Array.of(BigInt(value)), [])]));

// Makes what openWakeWord's networks get of a recording: 76 rows of its melspectrogram for each embedding, 16 embeddings for a word.
async function heard(make, sound) {
  const first = async (file, x) => {
    const session = await open(path.join(folder, file));
    return (await session.run({ [session.inputNames[0]]: x }))[session.outputNames[0]].data;
  };
  const mel = (await first('oww_melspectrogram.onnx', new ort.Tensor('float32', sound.data, [1, sound.data.length]))).map((v) => v / 10 + 2);
  const parts = [];
  for (let at = 0; at + 76 <= mel.length / 32; at += 8) parts.push(mel.slice(at * 32, (at + 76) * 32));
  if (make === 'mel_windows') return parts.map((data) => ({ dims: [1, 76, 32, 1], data }));
  const embeddings = [];
  for (const part of parts) embeddings.push(await first('oww_embedding.onnx', new ort.Tensor('float32', part, [1, 76, 32, 1])));
  return embeddings.slice(15).map((_, i) => ({ dims: [1, 16, 96], data: joined(embeddings.slice(i, i + 16)) }));
}

const spread = (all) => (all.length <= MOST ? all : Array.from({ length: MOST }, (_, i) => all[Math.floor(i * all.length / MOST)]));

// Returns the samples of a set, each by the names of the network's inputs, and for the test their float outputs.
async function samplesOf(name, set, session) {
  const network = networks[name], at = (end) => path.join(folder, `${name}_${set}${end}`);
  const constants = constantsOf(network), [x] = session.inputNames.filter((n) => !(n in constants) && !(n in (network.states ?? {})));
  if (network.states) {
    const frames = readNpy(at('_frames.npy')), samples = [];
    let states = Object.fromEntries(Object.entries(network.states)
      .map(([input, [, dims]]) => [input, { dims, data: new Float32Array(dims.reduce((a, b) => a * b, 1)) }]));
    for (let i = 0; i < frames.dims[0]; ++i) {
      const sample = { [x]: row(frames, i, network.shape), ...states };
      const made = await session.run({ ...Object.fromEntries(Object.entries(sample).map(([n, t]) => [n, tensor(t)])), ...constants });
      samples.push({ inputs: sample, outputs: session.outputNames.map((n) => made[n].data) });
      states = Object.fromEntries(Object.entries(network.states).map(([input, [output, dims]]) => [input, { dims, data: made[output].data }]));
    }
    return spread(samples);
  }
  let all;
  if (existsSync(at('_sound.npy'))) {
    all = spread(await heard(network.make, readNpy(at('_sound.npy'))));
  } else if (existsSync(at('.npy'))) {
    const array = readNpy(at('.npy'));
    all = Array.from({ length: array.dims[0] }, (_, i) => row(array, i, [1, ...array.dims.slice(1)]));
  } else {
    all = readdirSync(at('')).sort().map((file) => readNpy(path.join(at(''), file)));
  }
  const samples = all.map((data) => ({ inputs: { [x]: data } }));
  if (set === 'test')
    for (const sample of samples) {
      const made = await session.run({ [x]: tensor(sample.inputs[x]), ...constants });
      sample.outputs = session.outputNames.map((n) => made[n].data);
    }
  return samples;
}

// Writes samples for a tool of qrt: an array for each input, or where sizes differ a file for each sample. Returns lists of NAME=FILE, one
// for each run.
function write(samples, dir) {
  rmSync(dir, { recursive: true, force: true });
  mkdirSync(dir, { recursive: true });
  const names = Object.keys(samples[0].inputs);
  const alike = samples.every((s) => names.every((n) => String(s.inputs[n].dims) === String(samples[0].inputs[n].dims)));
  const files = (some, stem, head) => names.map((n, i) => {
    const file = path.join(dir, `${stem}${i}.npy`);
    writeNpy(file, [...head, ...some[0].inputs[n].dims], joined(some.map((s) => s.inputs[n].data)));
    return `${n}=${file}`;
  });
  return alike ? [files(samples, 'x', [samples.length])] : samples.map((s, k) => files([s], `${String(k).padStart(3, '0')}_`, []));
}

function decibels(real, got) {
  let signal = 0, noise = 0;
  for (let i = 0; i < real.length; ++i) {
    signal += real[i] ** 2;
    noise += (real[i] - got[i]) ** 2;
  }
  return noise > 0 ? Math.min(150, 10 * Math.log10(signal / noise)) : 150;
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
function alike(real, got, classes) {
  const best = (a, at) => a.subarray(at, at + classes).reduce((b, v, i, all) => (v > all[b] ? i : b), 0);
  let same = 0;
  for (let at = 0; at < real.length; at += classes) same += best(real, at) === best(got, at);
  return `${(100 * same * classes / real.length).toFixed(1)} % of the classes`;
}
const tasks = {
  yunet: (real, got) => {
    const scores = (of) => joined([8, 16, 32].map((k) => of[`cls_${k}`].map((c, i) => c * of[`obj_${k}`][i])));
    return found(scores(real), scores(got), 0.3);
  },
  rfb: (real, got) => found(real.scores.filter((_, i) => i % 2), got.scores.filter((_, i) => i % 2), 0.5),
  fsanet: (real, got) => {
    const [a] = Object.values(real), [b] = Object.values(got);
    return `${(a.reduce((sum, v, i) => sum + Math.abs(v - b[i]), 0) / a.length).toFixed(2)} degrees off`;
  },
  antispoofing: (real, got) => alike(real.output, got.output, 2),
  magika: (real, got) => alike(real.target_label, got.target_label, 214),
  ocr_classifier: (real, got) => alike(Object.values(real)[0], Object.values(got)[0], 2),
  ocr_recogniser: (real, got) => alike(Object.values(real)[0], Object.values(got)[0], 6625),
  silero: (real, got) => found(real.output, got.output, 0.5),
};

const dir = mkdtempSync(path.join(os.tmpdir(), 'judge-'));
let failures = 0, taken = 0, tried = 0;
for (const name of Object.keys(networks).filter((n) => (!only.length || only.includes(n)) && existsSync(path.join(folder, `${n}.onnx`)))) {
  const network = networks[name], model = path.join(folder, `${name}.onnx`), session = await open(model), results = {};
  const calibration = write(await samplesOf(name, 'calibration', session), path.join(dir, 'calibration'));
  const test = await samplesOf(name, 'test', session), runs = write(test, path.join(dir, 'test'));
  const real = session.outputNames.map((_, i) => joined(test.map((s) => s.outputs[i])));
  const given = calibration.length > 1 ? ['--calibration', path.join(dir, 'calibration')] : calibration[0].flatMap((file) => ['--calibration', file]);
  const constants = Object.entries(network.constants ?? {}).flatMap(([n, value]) => ['--constant', `${n}=${value}`]);
  tried += 1;
  for (const ladder of ladders) {
    const started = performance.now(), qrt = path.join(dir, 'm.qrt');
    const run = spawnSync(path.join(bin, 'qrt_quantize'), [model, ...given, ...constants, ...(network.options ?? []), ...(network.task ? ['--task', network.task] : []),
      '--ladder', ladder, '-o', qrt, '--force', ...extra], { encoding: 'utf8' });
    if (run.status !== 0) {
      console.log(`${name.padEnd(18)} ${ladder.padEnd(8)} refused: ${run.stderr.trim()}`);
      continue;
    }
    const seconds = (performance.now() - started) / 1000, parts = session.outputNames.map(() => []);
    for (const files of runs) {
      execFileSync(path.join(bin, 'qrt_run'), [qrt, ...files.flatMap((file) => ['--input', file]), '--output-dir', dir], { stdio: ['ignore', 'ignore', 'pipe'] });
      parts.forEach((part, i) => part.push(readNpy(path.join(dir, `output_${i}.npy`)).data));
    }
    const got = parts.map(joined), each = real.map((a, i) => decibels(a, got[i]));
    const worst = Math.min(...each), mean = each.reduce((a, b) => a + b) / each.length;
    const byName = (all) => Object.fromEntries(session.outputNames.map((n, i) => [n, all[i]]));
    const task = Object.entries(tasks).find(([n]) => name.startsWith(n))?.[1](byName(real), byName(got)) ?? '';
    console.log(`${name.padEnd(18)} ${ladder.padEnd(8)} worst ${worst.toFixed(1)} mean ${mean.toFixed(1)} dB  ${seconds.toFixed(1)} s  ${task}`);
    results[ladder] = [worst, mean];
  }
  taken += Object.keys(results).length > 0;
  const others = ladders.filter((l) => l !== 'fast' && results[l]).sort((a, b) => results[b][0] + results[b][1] - results[a][0] - results[a][1]);
  if (results.fast && others.length && results.fast.some((db, i) => db < results[others[0]][i] - 0.3)) {
    console.log(`${name.padEnd(18)} the default is below ${others[0]}`);
    failures += 1;
  }
}
rmSync(dir, { recursive: true });
console.log(`${taken} of ${tried} networks are taken`);
process.exit(failures || (!only.length && taken < 20) ? 1 : 0);
