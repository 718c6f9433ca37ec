#!/usr/bin/env node
// numbers.mjs TEST_PROGRAM: writes tests/converter/onnxruntime_numbers.h, what ONNX Runtime makes of the models that
// TEST_PROGRAM (build/release/tests/onnx_bits_test) builds. ORT_DIR: where onnxruntime-node was installed.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const program = process.argv[2];
if (!program || !process.env.ORT_DIR) {
  console.error('usage: ORT_DIR=DIR numbers.mjs TEST_PROGRAM');
  process.exit(2);
}
const ort = createRequire(path.join(process.env.ORT_DIR, 'package.json'))('onnxruntime-node');
const arrays = { float32: Float32Array, uint8: Uint8Array, int8: Int8Array, uint16: Uint16Array, int16: Int16Array, int32: Int32Array };
const folder = mkdtempSync(path.join(tmpdir(), 'numbers-'));
spawnSync(program, [], { env: { ...process.env, QRT_DUMP_MODELS: folder }, stdio: 'ignore' });

let text = `// What ONNX Runtime ${ort.env.versions.common} makes of the models of onnx_bits_test.cc, by test: all outputs in turn.
// Written by tests/onnxruntime/numbers.mjs.
#ifndef QRT_TESTS_CONVERTER_ONNXRUNTIME_NUMBERS_H_
#define QRT_TESTS_CONVERTER_ONNXRUNTIME_NUMBERS_H_

#include <map>
#include <string>
#include <vector>

namespace qrt::testing {

// clang-format off
inline const std::map<std::string, std::vector<float>>& onnxruntime_numbers() {
  static const std::map<std::string, std::vector<float>> numbers = {
`;
for (const file of readdirSync(folder).filter((f) => f.endsWith('.onnx')).sort()) {
  const name = file.slice(0, -5), stem = path.join(folder, name);
  const session = await ort.InferenceSession.create(`${stem}.onnx`, { intraOpNumThreads: 1, logSeverityLevel: 4,
    extra: { session: { qdqisint8allowed: '1' } } });
  const feeds = {};
  session.inputMetadata.forEach((meta, i) => {
    const bin = `${stem}.${i}.bin`;
    if (!existsSync(bin)) throw new Error(`${name}: no input ${i}`);
    const data = new arrays[meta.type](new Uint8Array(readFileSync(bin)).buffer);
    feeds[meta.name] = new ort.Tensor(meta.type, data, meta.shape.map((d) => (typeof d === 'number' && d > 0 ? d : 1)));
  });
  const outputs = await session.run(feeds);
  const all = session.outputNames.flatMap((n) => [...outputs[n].data].map(Number));
  const literals = all.map((v) => (Number.isInteger(v) ? `${v}` : `${v}f`)), lines = [];
  for (let i = 0; i < literals.length; i += 12) lines.push(`       ${literals.slice(i, i + 12).join(', ')}`);
  text += `      {"${name}", {\n${lines.join(',\n')}}},\n`;
}
text += `  };
  return numbers;
}
// clang-format on

}  // namespace qrt::testing

#endif  // QRT_TESTS_CONVERTER_ONNXRUNTIME_NUMBERS_H_
`;
const here = path.dirname(fileURLToPath(import.meta.url));
writeFileSync(path.join(here, '../converter/onnxruntime_numbers.h'), text);
rmSync(folder, { recursive: true, force: true });
