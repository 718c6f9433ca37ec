#!/usr/bin/env node
// SPDX-License-Identifier: Apache-2.0
// ORT_DIR=DIR numbers.mjs WRITE_MODELS: ONNX Runtime's results of the models that WRITE_MODELS (build/release/tests/write_models) makes.
// Those of onnx_bits/ become tests/converter/onnx_bits/numbers.h; those of symbolic_batch_cases.h, which holds its own numbers, are
// printed where that file has others: {dims}, {codes}. ORT_DIR: where onnxruntime-node was installed.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const program = process.argv[2];
if (!program || !process.env.ORT_DIR) {
  console.error('usage: ORT_DIR=DIR numbers.mjs WRITE_MODELS');
  process.exit(2);
}
const ort = createRequire(path.join(process.env.ORT_DIR, 'package.json'))('onnxruntime-node');
const arrays = { float32: Float32Array, uint8: Uint8Array, int8: Int8Array, uint16: Uint16Array, int16: Int16Array, int32: Int32Array };
const tests = path.join(path.dirname(fileURLToPath(import.meta.url)), '../converter');
const folder = mkdtempSync(path.join(tmpdir(), 'numbers-'));
if (spawnSync(program, [folder], { stdio: 'inherit' }).status !== 0) process.exit(1);

// The outputs of one model, in order. A symbolic batch is as large as the input's bytes say.
async function outputsOf(stem) {
  const session = await ort.InferenceSession.create(`${stem}.onnx`, { intraOpNumThreads: 1, logSeverityLevel: 4,
    extra: { session: { qdqisint8allowed: '1' } } });
  const feeds = {};
  session.inputMetadata.forEach((meta, i) => {
    const bin = `${stem}.${i}.bin`;
    if (!existsSync(bin)) throw new Error(`${stem}: no input ${i}`);
    const data = new arrays[meta.type](new Uint8Array(readFileSync(bin)).buffer);
    const image = meta.shape.reduce((n, d) => (typeof d === 'number' && d > 0 ? n * d : n), 1);
    feeds[meta.name] = new ort.Tensor(meta.type, data, meta.shape.map((d) => (typeof d === 'number' && d > 0 ? d : data.length / image)));
  });
  const outputs = await session.run(feeds);
  return session.outputNames.map((n) => outputs[n]);
}

let text = `// The outputs of ONNX Runtime ${ort.env.versions.common} for the models of this folder, by case, one after the other.
// Written by tests/onnxruntime/numbers.mjs.
#ifndef QRT_TESTS_CONVERTER_ONNX_BITS_NUMBERS_H_
#define QRT_TESTS_CONVERTER_ONNX_BITS_NUMBERS_H_

#include <map>
#include <string>
#include <vector>

namespace qrt::testing {

// clang-format off
inline const std::map<std::string, std::vector<float>>& onnxruntime_numbers() {
  static const std::map<std::string, std::vector<float>> numbers = {
`;
const literal = (v) => (Number.isInteger(v) ? `${v}` : `${v}f`);
const symbolic = readFileSync(path.join(tests, 'symbolic_batch_cases.h'), 'utf8');
for (const file of readdirSync(folder).filter((f) => f.endsWith('.onnx')).sort()) {
  const [suite, name] = file.split('.');
  const outputs = await outputsOf(path.join(folder, `${suite}.${name}`));
  if (suite === 'symbolic_batch') {
    const line = `{${outputs[0].dims.join(', ')}}, {${[...outputs[0].data].join(', ')}}`;
    if (!symbolic.includes(line)) console.log(`symbolic_batch_cases.h, ${name}: ${line}`);
    continue;
  }
  const literals = outputs.flatMap((y) => [...y.data].map(Number)).map(literal), lines = [];
  for (let i = 0; i < literals.length; i += 12) lines.push(`       ${literals.slice(i, i + 12).join(', ')}`);
  text += `      {"${name}", {\n${lines.join(',\n')}}},\n`;
}
text += `  };
  return numbers;
}
// clang-format on

}  // namespace qrt::testing

#endif  // QRT_TESTS_CONVERTER_ONNX_BITS_NUMBERS_H_
`;
writeFileSync(path.join(tests, 'onnx_bits/numbers.h'), text);
rmSync(folder, { recursive: true, force: true });
