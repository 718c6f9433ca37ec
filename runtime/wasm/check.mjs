// SPDX-License-Identifier: Apache-2.0
// Test values in a model's file, and digests of what every operator makes of them (runtime/tools/test_values.h, digests.h).
import { QrtError } from './errors.mjs';

// Fields of schema/qrt_model.fbs by their places in a table's list of offsets.
const kModelOperators = 20, kModelBuffers = 26, kOperatorOutputs = 14, kBufferData = 4;

// A reader of FlatBuffers that were verified: `file` is where they begin in the buffer.
class Reader {
  constructor(buffer, file) {
    this.view = new DataView(buffer, file);
  }
  follow(at) {
    return at + this.view.getUint32(at, true);
  }
  // Where a table's field is; 0: it has none.
  field(table, place) {
    const offsets = table - this.view.getInt32(table, true);
    const offset = place < this.view.getUint16(offsets, true) ? this.view.getUint16(offsets + place, true) : 0;
    return offset === 0 ? 0 : table + offset;
  }
  // The first element and the number of a table's vector.
  vector(table, place) {
    const field = this.field(table, place);
    if (field === 0) return [0, 0];
    const at = this.follow(field);
    return [at + 4, this.view.getUint32(at, true)];
  }
}

class TestFile {
  #inputs;
  #sizes;
  #digests;
  #file;

  constructor(memory, file, metadata) {
    const values = metadata('test_values'), digests = metadata('digests');
    if (values === undefined || digests === undefined)
      throw new QrtError('INVALID_ARGUMENT', 'the file holds no test values and digests: convert it with qrt_convert --digests');
    const numbers = (text) => (text ?? '').split(' ').filter((word) => word !== '').map(Number);
    const [buffers, sizes] = values.split('@');
    this.#inputs = numbers(buffers.split('>')[0]);
    this.#sizes = numbers(sizes);
    this.#digests = digests.split(' ').map((word) => word.split(':')[1]);
    this.#file = file;
    const reader = new Reader(memory, file);
    const [first, count] = reader.vector(reader.follow(0), kModelOperators);
    this.outputCounts = Array.from({ length: count }, (_, i) =>
      reader.vector(reader.follow(first + 4 * i), kOperatorOutputs)[1]);
    const isSound = [...this.#inputs, ...this.#sizes].every(Number.isSafeInteger) && this.#digests.length === count;
    if (!isSound) throw new QrtError('INVALID_MODEL', "the metadata 'test_values' and 'digests' are damaged");
  }

  // Sizes of the open dimensions, as a session takes them.
  dims(infos) {
    return Object.fromEntries(this.#sizes.map((size, i) => [infos[i]?.name, size]));
  }

  input(memory, index) {
    const reader = new Reader(memory, this.#file);
    const [first, count] = reader.vector(reader.follow(0), kModelBuffers);
    const buffer = this.#inputs[index];
    if (buffer === undefined || buffer >= count) throw new QrtError('INVALID_MODEL', `no test values for input ${index}`);
    const [data, bytes] = reader.vector(reader.follow(first + 4 * buffer), kBufferData);
    return new Uint8Array(memory, this.#file + data, bytes);
  }

  // -1: none.
  firstDifferent(digests) {
    return digests.findIndex((digest, i) => digest !== this.#digests[i]);
  }
}

export { TestFile };
