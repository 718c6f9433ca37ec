#!/usr/bin/env node
// ORT_DIR=DIR symbolic_batch_numbers.mjs SYMBOLIC_BATCH_TEST: what ONNX Runtime gives for the models of symbolic_batch_test.cc
// at batch 3, to be written into that file: {dims}, {codes} of each. DIR is where onnxruntime-node was installed.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import path from 'node:path';

const [program] = process.argv.slice(2);
if (!program || !process.env.ORT_DIR) {
  console.error('usage: ORT_DIR=DIR symbolic_batch_numbers.mjs SYMBOLIC_BATCH_TEST');
  process.exit(2);
}
const ort = createRequire(path.join(process.env.ORT_DIR, 'package.json'))('onnxruntime-node');
const dir = mkdtempSync(path.join(tmpdir(), 'symbolic-batch-'));
spawnSync(program, ['--gtest_filter=SymbolicBatches.WriteModels'], { env: { ...process.env, QRT_WRITE_MODELS: dir } });
for (const file of readdirSync(dir).filter((f) => f.endsWith('.onnx'))) {
  const stem = path.join(dir, path.basename(file, '.onnx'));
  const session = await ort.InferenceSession.create(`${stem}.onnx`, { intraOpNumThreads: 1, logSeverityLevel: 3 });
  const dims = readFileSync(`${stem}.dims`, 'utf8').split(',').map(Number);
  const x = new ort.Tensor('uint8', new Uint8Array(readFileSync(`${stem}.input`)), dims);
  const y = Object.values(await session.run({ [session.inputNames[0]]: x }))[0];
  console.log(`${path.basename(stem)}: {${y.dims.join(', ')}}, {${[...y.data].join(', ')}}`);
}
rmSync(dir, { recursive: true });
