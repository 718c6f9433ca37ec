// SPDX-License-Identifier: Apache-2.0
// Tensors as typed arrays. Types that JavaScript has none of are arrays of their bits.
import { QrtError } from './errors.mjs';

const kArrays = {
  uint8: Uint8Array, int8: Int8Array, uint16: Uint16Array, int16: Int16Array, int32: Int32Array,
  int64: BigInt64Array, float32: Float32Array, float16: Uint16Array, bfloat16: Uint16Array,
  bool: Uint8Array, uint32: Uint32Array,
};

// The class of a tensor's array; bytes for packed and for 8-bit floating-point elements.
function arrayOf(dtype) {
  return kArrays[dtype] ?? Uint8Array;
}

// Copies `values` into `to`, a tensor's memory. REQUIRES of the caller what the message says.
function copyInto(to, values, what) {
  const isOfType =
      values instanceof to.constructor || (to instanceof Uint8Array && values instanceof Uint8ClampedArray);
  if (!isOfType) {
    const got = values?.constructor?.name ?? String(values);
    throw new QrtError('INVALID_ARGUMENT', `${what} is a ${got}, expected a ${to.constructor.name}`);
  }
  if (values.length !== to.length) {
    throw new QrtError('INVALID_ARGUMENT', `${what} has ${values.length} elements, expected ${to.length}`);
  }
  to.set(values);
}

export { arrayOf, copyInto };
