// SPDX-License-Identifier: Apache-2.0
// Runs the 360 images in the folder by the installed package qrt, and compares the results with ONNX Runtime's.
import assert from 'node:assert';
import { readFileSync } from 'node:fs';
import { Model } from 'qrt';

const bytesAtEnd = (path, bytes) => new Uint8Array(readFileSync(path)).slice(-bytes);
const session = (await Model.load('digits.qrt')).session({ batch: 360 });
const { logits } = session.run({ image: new Float32Array(bytesAtEnd('images.npy', 92160).buffer) });
assert.deepStrictEqual(new Uint8Array(logits.buffer, logits.byteOffset, logits.byteLength), bytesAtEnd('logits.npy', 14400));
