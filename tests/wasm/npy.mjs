// SPDX-License-Identifier: Apache-2.0
// Arrays in .npy files.
import { readFileSync, writeFileSync } from 'node:fs';

const kTypes = {
  '|u1': ['uint8', Uint8Array], '|i1': ['int8', Int8Array], '<u2': ['uint16', Uint16Array], '<i2': ['int16', Int16Array],
  '<i4': ['int32', Int32Array], '<u4': ['uint32', Uint32Array], '<i8': ['int64', BigInt64Array],
  '<f4': ['float32', Float32Array], '<f2': ['float16', Uint16Array], '|b1': ['bool', Uint8Array],
};

// {dtype, dims, data}. Other types than a tensor's may be in the file: {dtype: undefined}.
export function readNpy(path) {
  const file = readFileSync(path);
  const isLong = file[6] > 1;
  const begin = isLong ? 12 : 10;
  const end = begin + (isLong ? file.readUInt32LE(8) : file.readUInt16LE(8));
  const header = file.toString('latin1', begin, end);
  const [, descr] = /'descr': '([^']+)'/.exec(header);
  const [, shape] = /'shape': \(([^)]*)\)/.exec(header);
  const [dtype, Type] = kTypes[descr] ?? [undefined, Uint8Array];
  const bytes = file.buffer.slice(file.byteOffset + end, file.byteOffset + file.length);
  return { dtype, dims: shape.split(',').filter((s) => s.trim()).map(Number), data: new Type(bytes) };
}

export function writeNpy(path, dtype, dims, data) {
  const [descr] = Object.entries(kTypes).find(([, [name]]) => name === dtype) ?? ['|u1'];
  const shape = dims.length === 1 ? `(${dims[0]},)` : `(${dims.join(', ')})`;
  const header = `{'descr': '${descr}', 'fortran_order': False, 'shape': ${shape}, }`;
  const padded = header.padEnd(Math.ceil((11 + header.length) / 64) * 64 - 11) + '\n';
  const size = Buffer.alloc(2);
  size.writeUInt16LE(padded.length);
  writeFileSync(path, Buffer.concat([Buffer.from('\x93NUMPY\x01\x00', 'latin1'), size, Buffer.from(padded, 'latin1'),
    Buffer.from(data.buffer, data.byteOffset, data.byteLength)]));
}
