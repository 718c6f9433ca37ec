// SPDX-License-Identifier: Apache-2.0
// Conversion of TFLite and ESP-DL models by a WebAssembly module of its own, which is fetched when the first one is converted.
import { QrtError } from './errors.mjs';
import { Instance } from './instance.mjs';
import { bytesOf } from './source.mjs';

const kMostBytes = 2 ** 31 - 1;  // that FlatBuffers have

// The name by which messages call a source.
function nameOf(source) {
  if (typeof source === 'string' || source instanceof URL) return String(source);
  return source.name ?? 'model';
}

// Sets an option of qrt_convert by its name there: inputShape is input-shape.
function setOption(wasm, name, value) {
  const option = name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
  wasm.withText(option, (nameAt) => {
    if (typeof value === 'boolean') return wasm.check(wasm.call('qrt_convert_set_flag', nameAt, Number(value)));
    const text = Array.isArray(value) ? value.join('\n') : String(value);
    return wasm.withText(text, (at) => wasm.check(wasm.call('qrt_convert_set_text', nameAt, at)));
  });
}

function reportOf(wasm) {
  const text = wasm.text(wasm.call('qrt_convert_report'));
  return text === '' ? null : JSON.parse(text);
}

// `source`: a URL, in node a path, a file or the bytes. options: see convert.d.ts. Each conversion has an instance of the
// module, whose memory is free afterwards.
async function convert(source, { wasm: module, ...options } = {}) {
  const bytes = await bytesOf(source);
  const name = nameOf(source);
  if (bytes.length > kMostBytes) throw new QrtError('INVALID_MODEL', `${name}: a model's file is limited to 2 GB`);
  const wasm = await Instance.create(new URL('./qrt_convert.wasm', import.meta.url),
                                     { wasm: module, advice: `convert ${name} by the native qrt_convert` });
  for (const [option, value] of Object.entries(options))
    if (value !== undefined) setOption(wasm, option, value);
  return wasm.withBytes(bytes, (at) => wasm.withText(name, (nameAt) => {
    try {
      wasm.check(wasm.call('qrt_convert_run', at, bytes.length, nameAt));
    } catch (error) {
      if (error.code !== 'OUT_OF_MEMORY') error.report = reportOf(wasm);
      throw error;
    }
    const file = wasm.call('qrt_convert_file'), length = wasm.call('qrt_convert_file_bytes');
    const notes = wasm.text(wasm.call('qrt_convert_notes'));
    return { model: new Uint8Array(wasm.memory, file, length).slice(), report: reportOf(wasm),
             notes: notes === '' ? [] : notes.split('\n') };
  }));
}

export { QrtError, convert };
