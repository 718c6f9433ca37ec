// SPDX-License-Identifier: Apache-2.0
// A call of engines.mjs in node: in_node.mjs FUNCTION ARGUMENTS, as JSON; prints what it returns.
import { setFlagsFromString } from 'node:v8';

if (Number(process.versions.node.split('.')[0]) < 22) setFlagsFromString('--experimental-wasm-relaxed-simd');
const [name, values] = process.argv.slice(2);
const engines = await import('./engines.mjs');
console.log(JSON.stringify(await engines[name](...JSON.parse(values))));
process.exit(0);
