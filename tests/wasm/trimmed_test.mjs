// SPDX-License-Identifier: Apache-2.0
// A module with MobileNet's operators alone: trimmed_test.mjs PACKAGE MODULE.wasm DIGITS.qrt. It takes the place of the package's
// module wasm128 and refuses the network of digits, which has one operator more, by that operator's name.
import assert from 'node:assert/strict';
import { copyFileSync, cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import test, { after } from 'node:test';
import { pathToFileURL } from 'node:url';

const [distribution, module, digits] = process.argv.slice(2).map((path) => resolve(path));
const folder = mkdtempSync(join(tmpdir(), 'qrt-trimmed-'));
after(() => rmSync(folder, { recursive: true, force: true }));
cpSync(distribution, folder, { recursive: true });
copyFileSync(module, join(folder, 'qrt_wasm128.wasm'));
const { Model } = await import(pathToFileURL(join(folder, 'qrt.mjs')).href);

test('an operator that is not built in is named', () => assert.rejects(Model.load(digits, { module: 'wasm128' }), {
  code: 'UNSUPPORTED', message: "op 6 (MaxPool2D 'pool.max'): operator MaxPool2D is not built into this library (QRT_OPS)",
}));
