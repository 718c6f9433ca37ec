// SPDX-License-Identifier: Apache-2.0
// Assembles the npm package: node assemble.mjs OUTPUT WASM128 WASMRELAXED CONVERT. The CommonJS files are the ES modules with
// other words for imports and exports.
import { copyFileSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const here = dirname(fileURLToPath(import.meta.url));
const [output, wasm128, wasmrelaxed, convert] = process.argv.slice(2);

function commonJs(text) {
  return text
      .replace(/^import (\{[^}]*\}) from '\.\/(\w+)\.mjs';$/gm, "const $1 = require('./$2.cjs');")
      .replace(/^export (\{[^}]*\});$/gm, 'module.exports = $1;')
      .replaceAll('import.meta.url', "require('node:url').pathToFileURL(__filename).href")
      .replaceAll("'./worker.mjs'", "'./worker.cjs'");
}

rmSync(output, { recursive: true, force: true });
mkdirSync(output, { recursive: true });
for (const name of readdirSync(here).filter((file) => file.endsWith('.mjs') && file !== 'assemble.mjs')) {
  const text = readFileSync(join(here, name), 'utf8');
  writeFileSync(join(output, name), text);
  writeFileSync(join(output, name.replace(/\.mjs$/, '.cjs')), commonJs(text));
}
// The version is that of qrt.h.
const header = readFileSync(join(here, '../include/qrt/qrt.h'), 'utf8');
const version = ['MAJOR', 'MINOR', 'PATCH'].map((part) => header.match(`#define QRT_VERSION_${part} (\\d+)`)[1]).join('.');
const description = JSON.parse(readFileSync(join(here, 'package.json'), 'utf8'));
writeFileSync(join(output, 'package.json'), `${JSON.stringify({ ...description, version }, null, 2)}\n`);
copyFileSync(join(here, 'README.md'), join(output, 'README.md'));
for (const name of ['qrt', 'convert']) {
  const types = readFileSync(join(here, `${name}.d.ts`), 'utf8');
  writeFileSync(join(output, `${name}.d.ts`), types);
  writeFileSync(join(output, `${name}.d.cts`), types.replaceAll("'./qrt.js'", "'./qrt.cjs'"));
}
copyFileSync(join(here, '../../LICENSE'), join(output, 'LICENSE'));
copyFileSync(wasm128, join(output, 'qrt_wasm128.wasm'));
copyFileSync(wasmrelaxed, join(output, 'qrt_wasmrelaxed.wasm'));
copyFileSync(convert, join(output, 'qrt_convert.wasm'));
