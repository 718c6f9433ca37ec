#!/usr/bin/env node
// SPDX-License-Identifier: Apache-2.0
// Times qrt and ONNX Runtime in turns on one model and prints the ratio (ONNX Runtime / qrt: above 1, qrt is faster).
// See README.md beside this file; `vs_onnxruntime.mjs --help` lists the options.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import path from 'node:path';

const usage = `usage: vs_onnxruntime.mjs --bin DIR MODEL.onnx [--threads N] [--rounds R] [--seconds S] [--isa NAME] [--at-least RATIO]
                          [--allow-float] [--dims NAME=SIZE]...
  --bin DIR        where qrt_convert and qrt_bench are
  --threads N      of both (default 1)
  --rounds R       turns of each (default 7)
  --seconds S      length of a turn (default 0.7)
  --isa NAME       best instruction set of qrt
  --at-least R     exit status 1 where the ratio is below R
  --allow-float    convert what has no integer form, too
  --dims NAME=SIZE size of an open dimension of both (INPUT.AXIS where it has no name); repeated. Others are 1 in ONNX Runtime
Environment: ORT_DIR, the folder that onnxruntime-node was installed to (README.md beside this file).`;

function parse(argv) {
  const options = { bin: '', threads: 1, rounds: 7, seconds: 0.7, isa: '', 'at-least': 0, 'allow-float': false, dims: {}, model: '' };
  while (argv.length) {
    const word = argv.shift();
    const key = word.replace(/^--/, '');
    if (word === '--allow-float') {
      options['allow-float'] = true;
    } else if (word === '--dims' && /^[^=]+=[0-9]+$/.test(argv[0] ?? '')) {
      const [name, size] = argv.shift().split('=');
      options.dims[name] = Number(size);
    } else if (word.startsWith('--') && key in options && key !== 'model' && argv.length) {
      const value = argv.shift();
      options[key] = typeof options[key] === 'number' ? Number(value) : value;
    } else if (!word.startsWith('-') && !options.model) {
      options.model = word;
    } else {
      (word === '--help' ? console.log : console.error)(usage);
      process.exit(word === '--help' ? 0 : 2);
    }
  }
  if (!options.bin || !options.model || !process.env.ORT_DIR) { console.error(usage); process.exit(2); }
  return options;
}

function median(values) {
  const v = [...values].sort((a, b) => a - b), half = v.length >> 1;
  return v.length % 2 ? v[half] : (v[half - 1] + v[half]) / 2;
}

// Standard output of a tool of qrt; ends this script where the tool fails.
function tool(options, name, argv) {
  const run = spawnSync(path.join(options.bin, name), argv, { encoding: 'utf8' });
  if (run.status !== 0) {
    console.error(`${name}: ${run.error?.message ?? `exit status ${run.status}: ${run.stderr}`}`);
    process.exit(1);
  }
  return run.stdout;
}

// Returns a tensor of the declared type, filled from one fixed sequence; int64 is 0, an index of every table.
function makeInput(ort, sizes, { name, type, shape }) {
  const arrays = { float32: Float32Array, uint8: Uint8Array, int8: Int8Array, int32: Int32Array, int64: BigInt64Array, bool: Uint8Array };
  if (!(type in arrays)) throw new Error(`input ${name}: type ${type} is not supported here`);
  const dims = shape.map((d, axis) => (typeof d === 'number' && d > 0 ? d : sizes[d || `${name}.${axis}`] ?? 1));
  const data = new arrays[type](dims.reduce((a, d) => a * d, 1));
  for (let i = 0, s = 12345; i < data.length && !['int64', 'bool'].includes(type); ++i) {
    s = (Math.imul(s, 1664525) + 1013904223) >>> 0;
    data[i] = type === 'float32' ? s / 2147483648 - 1 : s >>> 24;
  }
  return new ort.Tensor(type, data, dims);
}

async function openOnnxRuntime({ model, threads, dims }) {
  const ort = createRequire(path.resolve(process.env.ORT_DIR, 'package.json'))('onnxruntime-node');
  const session = await ort.InferenceSession.create(model, {
    intraOpNumThreads: threads, interOpNumThreads: 1, executionMode: 'sequential', graphOptimizationLevel: 'all',
    logSeverityLevel: 3,
  });
  const feeds = {};
  for (const input of session.inputMetadata) feeds[input.name] = makeInput(ort, dims, input);
  return { version: ort.env.versions.common, run: () => session.run(feeds) };
}

// Wall times in ms, and the time the process was running per run.
async function timeOnnxRuntime(peer, seconds) {
  const times = [];
  const used = process.cpuUsage();
  const end = performance.now() + seconds * 1000;
  while (performance.now() < end || times.length < 3) {
    const start = performance.now();
    await peer.run();
    times.push(performance.now() - start);
  }
  const { user, system } = process.cpuUsage(used);
  return { times, running: (user + system) / 1000 / times.length };
}

const options = parse(process.argv.slice(2));
const folder = mkdtempSync(path.join(tmpdir(), 'vs-'));
try {
  const converted = path.join(folder, 'model.qrt');
  tool(options, 'qrt_convert', [options.model, '-o', converted, ...(options['allow-float'] ? ['--allow-float'] : [])]);
  const argv = [converted, '--threads', `${options.threads}`, '--seconds', `${options.seconds}`, '--format', 'json',
    ...(options.isa ? ['--isa', options.isa] : []), ...Object.entries(options.dims).flatMap(([name, size]) => ['--dims', `${name}=${size}`])];
  const peer = await openOnnxRuntime(options);
  await timeOnnxRuntime(peer, 0.3);  // warm-up; qrt_bench does its own
  const rounds = { theirs: [], ours: [], ratio: [], least: [Infinity, Infinity], running: [] };
  for (let r = 0; r < options.rounds; ++r) {
    const { times, running } = await timeOnnxRuntime(peer, options.seconds);
    const result = JSON.parse(tool(options, 'qrt_bench', argv));
    const ours = result.latency_ms;
    if (result.cpu_ms) rounds.running.push(running / result.cpu_ms.median);
    rounds.theirs.push(median(times));
    rounds.ours.push(ours.median);
    rounds.ratio.push(median(times) / ours.median);
    rounds.least = [Math.min(rounds.least[0], ...times), Math.min(rounds.least[1], ours.min)];
  }
  const ratio = median(rounds.ratio);
  const ms = (v) => `${v.toFixed(3)} ms`;
  console.log(`${path.basename(options.model)} threads ${options.threads}: onnxruntime ${peer.version} ` +
    `${ms(median(rounds.theirs))}, qrt ${ms(median(rounds.ours))}, ratio ${ratio.toFixed(2)} ` +
    `(${Math.min(...rounds.ratio).toFixed(2)}..${Math.max(...rounds.ratio).toFixed(2)}); ` +
    `least ${ms(rounds.least[0])}, ${ms(rounds.least[1])}, ratio ${(rounds.least[0] / rounds.least[1]).toFixed(2)}` +
    (rounds.running.length ? `; running time, ratio ${median(rounds.running).toFixed(2)}` : ''));
  process.exitCode = ratio < options['at-least'] ? 1 : 0;
} finally {
  rmSync(folder, { recursive: true, force: true });
}
