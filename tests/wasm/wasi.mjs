// SPDX-License-Identifier: Apache-2.0
// Runs a WebAssembly program of WASI in node, with the file system of the machine: wasi.mjs PROGRAM ARGUMENT...
import { readFileSync } from 'node:fs';
import { setFlagsFromString } from 'node:v8';

process.removeAllListeners('warning'); // node calls its WASI experimental
process.on('warning', () => {});
if (Number(process.versions.node.split('.')[0]) < 22) setFlagsFromString('--experimental-wasm-relaxed-simd');
const { WASI } = await import('node:wasi');
const args = process.argv.slice(2);
const wasi = new WASI({ version: 'preview1', args, env: process.env, preopens: { '/': '/' } });
const module = await WebAssembly.compile(readFileSync(args[0]));
process.exitCode = wasi.start(await WebAssembly.instantiate(module, wasi.getImportObject()));
