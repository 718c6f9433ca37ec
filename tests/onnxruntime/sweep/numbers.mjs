#!/usr/bin/env node
// SPDX-License-Identifier: Apache-2.0
// numbers.mjs RESULTS.jsonl SEED: writes tests/converter/sweep_numbers.h, ONNX Runtime's results of one cell of each form that is equal
// somewhere, from what `run` left in BUILD/sweep:
//   ORT_DIR=... tests/onnxruntime/sweep/run build/release 1 11; node tests/onnxruntime/sweep/numbers.mjs build/release/sweep/results.jsonl 1
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const [file, seed] = process.argv.slice(2);
if (!seed) {
  console.error('usage: numbers.mjs RESULTS.jsonl SEED');
  process.exit(2);
}
const results = readFileSync(file, 'utf8').split('\n').filter(Boolean).map((l) => JSON.parse(l)).sort((a, b) => a.index - b.index);
// With the flag only where nothing comes without it. The digests choose one as dice would.
const byForm = new Map();
for (const r of results.filter((e) => e.verdict === 'equal')) {
  const form = r.name.split(' of ')[0], best = byForm.get(form);
  if (!best || (best.allow_float && !r.allow_float) || (best.allow_float === r.allow_float && r.digest < best.digest)) byForm.set(form, r);
}
const taken = [...byForm.values()];
const header = path.join(path.dirname(fileURLToPath(import.meta.url)), '../../converter/sweep_numbers.h');
writeFileSync(header, `// ONNX Runtime's results of cells of the sweep, as digests of all outputs. Written by tests/onnxruntime/sweep/numbers.mjs.
#ifndef QRT_TESTS_CONVERTER_SWEEP_NUMBERS_H_
#define QRT_TESTS_CONVERTER_SWEEP_NUMBERS_H_

#include <cstdint>

namespace qrt::sweep {

struct SweepNumber {
  const char* cell;
  bool allow_float;
  uint32_t digest;
};

constexpr uint64_t kSweepSeed = ${seed};

// clang-format off
constexpr SweepNumber kSweepNumbers[] = {
${taken.map((r) => `    {"${r.name}", ${r.allow_float}, ${r.digest}u},`).join('\n')}
};
// clang-format on

}  // namespace qrt::sweep

#endif  // QRT_TESTS_CONVERTER_SWEEP_NUMBERS_H_
`);
console.log(`${taken.length} cells`);
