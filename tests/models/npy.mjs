// SPDX-License-Identifier: Apache-2.0
// NumPy's files of float32, uint8 and int32.
import { readFileSync, writeFileSync } from 'node:fs';

const arrays = { '|u1': Uint8Array, '<f4': Float32Array, '<i4': Int32Array };

export function readNpy(file) {
  const b = readFileSync(file), size = b.readUInt16LE(8), header = b.toString('latin1', 10, 10 + size);
  const dims = /'shape':\s*\(([^)]*)\)/.exec(header)[1].split(',').filter((s) => s.trim()).map(Number);
  const bytes = Uint8Array.prototype.slice.call(b, 10 + size);
  const type = arrays[/'descr':\s*'([^']+)'/.exec(header)[1]];
  return { dims, data: new type(bytes.buffer, 0, bytes.byteLength / type.BYTES_PER_ELEMENT) };
}

export function writeNpy(file, dims, data) {
  const descr = Object.keys(arrays).find((d) => data instanceof arrays[d]);
  let header = `{'descr': '${descr}', 'fortran_order': False, 'shape': (${dims.join(', ')},), }`;
  header += ' '.repeat(63 - ((header.length + 10) % 64)) + '\n';
  const head = Buffer.from('\x93NUMPY\x01\x00\x00\x00', 'latin1');
  head.writeUInt16LE(header.length, 8);
  writeFileSync(file, Buffer.concat([head, Buffer.from(header, 'latin1'), Buffer.from(data.buffer, data.byteOffset, data.byteLength)]));
}
