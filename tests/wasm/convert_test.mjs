// SPDX-License-Identifier: Apache-2.0
// qrt/convert in node: convert_test.mjs PACKAGE BIN FUZZ_FOLDER MODELS, with the native qrt_convert of the same commit in BIN. The
// fuzzers' files, sound and damaged ones, give the bytes and the report that it gives, or its message. MODELS is a folder with
// digits/, an ONNX model.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join, resolve } from 'node:path';
import test, { after } from 'node:test';
import { pathToFileURL } from 'node:url';

const [folder, bin, fuzz, models] = process.argv.slice(2).map((path) => resolve(path));
const { QrtError, convert } = await import(pathToFileURL(join(folder, 'convert.mjs')).href);
const { Model } = await import(pathToFileURL(join(folder, 'qrt.mjs')).href);
const work = mkdtempSync(join(tmpdir(), 'qrt-convert-'));
after(() => rmSync(work, { recursive: true, force: true }));

function filesOf(name) {
  return readdirSync(join(fuzz, name)).map((file) => join(fuzz, name, file));
}
const tflite = [...filesOf('corpus/fuzz_tflite'), ...filesOf('regressions/fuzz_tflite')];
const espdl = filesOf('corpus/fuzz_espdl');

const kCodes = { 0: null, 1: null /* --lint warned */, 2: 'INVALID_ARGUMENT', 3: 'INVALID_MODEL', 4: 'UNSUPPORTED' };

// {model, report, code, message} of the native qrt_convert: code is null where it made a model.
function native(path, options = []) {
  const output = join(work, `${basename(path)}.qrt`);
  return new Promise((done) => {
    execFile(join(bin, 'qrt_convert'), [path, '-o', output, '--explain=json', ...options], { maxBuffer: 1 << 28 }, (error, stdout, stderr) => {
      const code = kCodes[error?.code ?? 0];
      done({ code, message: stderr, report: stdout === '' ? null : JSON.parse(stdout), model: code === null ? readFileSync(output) : null });
    });
  });
}

// Likewise of the module.
async function here(source, options) {
  try {
    return { code: null, ...await convert(source, options) };
  } catch (error) {
    if (!(error instanceof QrtError)) throw error;
    return { code: error.code, message: error.message, report: error.report ?? null, model: null };
  }
}

async function assertAsNative(path, options, words) {
  const [expected, found] = await Promise.all([native(path, words), here(path, options)]);
  if (/no TFLite or ESP-DL model/.test(found.message)) {  // a damaged mark: it is taken for ONNX natively
    assert.notEqual(expected.code, null);
    return found;
  }
  assert.equal(found.code, expected.code, `${path}: ${found.message ?? ''} / ${expected.message}`);
  assert.deepEqual(found.report, expected.report, path);
  if (found.code === null) assert.ok(Buffer.from(found.model).equals(expected.model), `${path}: other bytes`);
  else assert.ok(expected.message.includes(found.message.split('\n')[0]), `${found.message} / ${expected.message}`);
  return found;
}

for (const [format, files] of Object.entries({ tflite, espdl }))
  test(`${format}: the bytes, the report and the messages are the native ones`, async () => {
    let converted = 0;
    for (const file of files) converted += (await assertAsNative(file, {}, [])).code === null;
    console.log(`${format}: ${converted} of ${files.length} files were converted`);
    assert.ok(converted > files.length / 20);
  });

const sound = [];
test('options are those of the command line', async () => {
  for (const file of tflite) if ((await here(file)).code === null) sound.push(file);
  for (const file of sound.slice(0, 10)) {
    await assertAsNative(file, { reference: 'tflite-single' }, ['--reference', 'tflite-single']);
    await assertAsNative(file, { lint: true, signature: undefined }, ['--lint=json']);
    await assertAsNative(file, { outputs: ['nothing'] }, ['--outputs', 'nothing']);
    await assertAsNative(file, { inputShape: '1x2' }, ['--input-shape', '1x2']);
    await assertAsNative(file, { signature: 7 }, ['--signature', '7']);
    await assertAsNative(file, { signature: 'on' }, ['--signature', 'on']);
    await assertAsNative(file, { 'input-shape': '1x2', inputShape: '' }, []);
    await assertAsNative(file, { 'require-level': 'I0', requireLevel: '' }, []);
    await assertAsNative(file, { from: 'espdl' }, ['--from', 'espdl']);
  }
  for (const options of [{ nothing: 1 }, { from: 'keras' }, { reference: 'ort' }, { reference: true }, { requireLevel: 'F' }, { floatIo: 'on' },
                         { lint: 'on' }, { from: false }])
    assert.equal((await here(sound[0], options)).code, 'INVALID_ARGUMENT', JSON.stringify(options));
  for (const file of espdl.slice(0, 10)) {
    await assertAsNative(file, { floatIo: true }, ['--float-io']);
    await assertAsNative(file, { 'float-io': true, floatIo: false }, []);
  }
});

test('a converted model runs', async () => {
  for (const file of sound) {
    const model = await Model.load((await convert(file)).model, { check: true });
    const session = model.session();
    session.run(Object.fromEntries(model.inputs.map(({ name }) => [name, session.input(name).slice()])));
    model.dispose();
  }
});

test('a model is taken from a path, a URL, an ArrayBuffer, a view and a file', async () => {
  const bytes = readFileSync(sound[0]);
  const { model } = await convert(sound[0]);
  const buffer = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length);
  for (const source of [pathToFileURL(sound[0]), pathToFileURL(sound[0]).href, buffer, bytes, new Blob([bytes])])
    assert.deepEqual((await convert(source)).model, model);
  assert.equal((await here(7)).code, 'INVALID_ARGUMENT');
  assert.equal((await here(join(work, 'nothing'))).code, 'IO_ERROR');
});

test('other files are refused with what they are and what would be right', async () => {
  const onnx = await here(join(models, 'digits/digits.onnx'));
  assert.equal(onnx.code, 'UNSUPPORTED');
  assert.match(onnx.message, /no TFLite or ESP-DL model.*ONNX, convert it with the native qrt_convert/);
  assert.equal(onnx.report, null);
  const array = await here(join(models, 'digits/images.npy'));
  assert.equal(array.code, 'INVALID_MODEL');
  assert.match(array.message, /is a NumPy array/);
  assert.match((await here(Object.assign(new Blob(['no model']), { name: 'mobile.tflite' }))).message, /^mobile\.tflite: .*TFL3/);
  assert.match((await here((await convert(sound[0])).model)).message, /is a \.qrt file already/);
  assert.match((await here(new Uint8Array(0))).message, /is empty/);
});

// A generator of pseudo-random integers below 2^32, the same each time.
let state = 1;
const random = () => (state = (Math.imul(state, 1664525) + 1013904223) >>> 0);

test('damaged files and random bytes give an error or a model, and the next conversion is right', async () => {
  const [file] = sound, bytes = readFileSync(file), { model } = await convert(file);
  for (let i = 0; i < 200; ++i) {
    const damaged = i % 2 ? bytes.slice(0, random() % bytes.length) : Uint8Array.from(bytes, (byte) => random() >>> 24 > 250 ? random() >>> 24 : byte);
    await here(damaged);
    const noise = Uint8Array.from({ length: random() % 500 }, (_, k) => k > 3 && k < 8 && i % 2 ? 'TFL3'.charCodeAt(k - 4) : random() >>> 24);
    assert.notEqual((await here(noise)).code, null);
  }
  assert.deepEqual((await convert(file)).model, model);
});

test('1,000 conversions leave the memory as it was', async () => {
  const bytes = readFileSync(sound[0]);
  let before;
  for (let i = 0; i < 1000; ++i) {
    await convert(bytes);
    if (i === 300) before = process.memoryUsage().rss;
  }
  const more = process.memoryUsage().rss - before;
  assert.ok(more < 64 << 20, `${more} bytes more`);
});
