#!/usr/bin/env node
// SPDX-License-Identifier: Apache-2.0
// Every case of the open zoo on every instruction set: the outputs have the bytes of the scalar kernels.
//   open_everywhere.mjs BIN [--all] [ISA ...]
// Each instruction set runs each case with 1, 2 or 3 threads in turn; --all: with each number. Models that do not convert, and sizes
// that the scalar kernels refuse, are left out; a message then names their number.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const given = process.argv.slice(2), all = given.includes('--all'), [bin, ...isas] = given.filter((g) => g !== '--all');
if (!bin || !isas.length) { console.error('usage: open_everywhere.mjs BIN [--all] ISA ...'); process.exit(2); }
const zoo = path.join(path.dirname(fileURLToPath(import.meta.url)), '../../shared/zoo');
const cases = readFileSync(path.join(zoo, 'cases_open.jsonl'), 'utf8').trim().split('\n').map((l) => JSON.parse(l)).filter((c) => c.expect !== 'error');
const tmp = mkdtempSync(path.join(tmpdir(), 'open-'));
process.on('exit', () => rmSync(tmp, { recursive: true, force: true }));
const call = (program, argv) => spawnSync(path.join(bin, program), argv, { encoding: 'utf8', timeout: 120000, maxBuffer: 1 << 26 });

// The bytes of all outputs, or null where there are none.
function outputs(qrt, c, isa, threads) {
  const out = path.join(tmp, 'out');
  rmSync(out, { recursive: true, force: true });
  const r = call('qrt_run', [qrt, ...c.inputs.map((f) => path.join(zoo, f)), '--isa', isa, '--threads', `${threads}`, '--output-dir', out]);
  if (r.status !== 0) return null;
  return Buffer.concat(readdirSync(out).filter((f) => f.endsWith('.npy')).sort().map((f) => readFileSync(path.join(out, f))));
}

const converted = new Map();
let runs = 0, left = 0, wrong = 0;
cases.forEach((c, i) => {
  if (!converted.has(c.model)) {
    const qrt = path.join(tmp, `m${converted.size}.qrt`);
    converted.set(c.model, call('qrt_convert', [path.join(zoo, c.model), ...(c.args ?? ['--allow-float']), '-o', qrt]).status === 0 ? qrt : null);
  }
  const qrt = converted.get(c.model), want = qrt && outputs(qrt, c, 'scalar', 1);
  if (!want) { ++left; return; }
  isas.forEach((isa, k) => {
    for (const threads of all ? [1, 2, 3] : [1 + (i + k) % 3]) {
      ++runs;
      const got = outputs(qrt, c, isa, threads);
      if (got && Buffer.compare(got, want) === 0) continue;
      ++wrong;
      console.log(`wrong: ${c.model} [${c.case}] on ${isa} with threads ${threads}: ${got ? 'other bytes' : 'no outputs'}`);
    }
  });
});
console.log(`${runs} runs, ${wrong} wrong; ${left} of ${cases.length} cases left out`);
process.exit(wrong > 0 || runs === 0 ? 1 : 0);
