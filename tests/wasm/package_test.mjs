// SPDX-License-Identifier: Apache-2.0
// The npm package from its tarball, as a user installs it: package_test.mjs TARBALL NODE_MODULES DIGITS.qrt. NODE_MODULES has
// esbuild and typescript; DIGITS.qrt is tests/models/digits, whose results for 360 images are ONNX Runtime's.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync, copyFileSync, statSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import test, { after } from 'node:test';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { gzipSync } from 'node:zlib';
import { readNpy } from './npy.mjs';

const here = dirname(fileURLToPath(import.meta.url));
const [tarball, tools, digits] = process.argv.slice(2).map((path) => resolve(path));
const folder = mkdtempSync(join(tmpdir(), 'qrt-package-'));
after(() => rmSync(folder, { recursive: true, force: true }));
writeFileSync(join(folder, 'package.json'), '{"private": true, "type": "module"}');
execFileSync('npm', ['install', '--offline', '--ignore-scripts', '--no-audit', '--no-fund', tarball], { cwd: folder, stdio: 'pipe' });
const installed = join(folder, 'node_modules/qrt');
const { Model, QrtError, QrtWorker, bestModule } = await import(pathToFileURL(join(installed, 'qrt.mjs')).href);

const { data: images, dims } = readNpy(join(here, '../models/digits/images.npy'));
const { data: logits } = readNpy(join(here, '../models/digits/logits.npy'));
const count = dims[0], perImage = images.length / count, perResult = logits.length / count;
const bytes = readFileSync(digits);
const modules = bestModule() === 'wasmrelaxed' ? ['wasm128', 'wasmrelaxed'] : ['wasm128'];

// Runs f(module, inputs' name, outputs' name) for each module that the engine takes.
async function withModel(module, f) {
  const model = await Model.load(digits, { module });
  try {
    await f(model, model.inputs[0].name, model.outputs[0].name);
  } finally {
    model.dispose();
  }
}
const expected = logits.slice(0, perResult);
const image = images.slice(0, perImage);

for (const module of modules) {
  test(`${module}: the results of all images are ONNX Runtime's`, () => withModel(module, (model, x, y) => {
    const session = model.session({ batch: count });
    assert.deepEqual(session.run({ [x]: images })[y], logits);
    assert.equal(session.threads, 1);
    assert.equal(session.batch, count);
    assert.equal(session.isa.startsWith('wasm'), true);
  }));

  test(`${module}: the same results by the scalar kernels`, () => withModel(module, (model, x, y) => {
    const session = model.session({ isa: 'scalar' });
    assert.deepEqual(session.run({ [x]: image })[y], expected);
    assert.equal(session.isa, 'scalar');
  }));
}

test('digests made natively are those of every operator here', () => withModel('wasm128', async (model) => {
  const { operators, different } = model.check();
  assert.ok(operators > 3);
  assert.equal(different, null);
  // One digit of the second operator's digest is another one.
  const text = model.metadata('digests');
  const damaged = Buffer.from(bytes);
  const at = damaged.indexOf(text) + text.indexOf(' ') + 18;
  damaged[at] = damaged[at] === 0x30 ? 0x31 : 0x30;
  const other = await Model.load(damaged);
  assert.equal(other.check().different.index, 1);
  other.dispose();
}));

test('a model is loaded from a path, a URL, an ArrayBuffer, a view and a Blob', async () => {
  const buffer = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length);
  for (const source of [digits, pathToFileURL(digits), pathToFileURL(digits).href, buffer, bytes, new Blob([bytes])]) {
    const model = await Model.load(source, { check: true });
    assert.equal(model.inputs.length, 1);
    model.dispose();
  }
});

test('inputs, outputs and dimensions are described', () => withModel('wasm128', (model, x) => {
  const [input] = model.inputs;
  assert.equal(input.name, x);
  assert.equal(input.dims[0], -1);
  assert.equal(model.dims.some((dim) => dim.name === input.dimNames[0]), true);
  assert.equal(model.session({ batch: 3 }).inputs[0].dims[0], 3);
  assert.equal(typeof model.reference, 'string');
  assert.equal(model.metadata('no such key'), undefined);
}));

test("views are the session's own memory", () => withModel('wasm128', (model, x, y) => {
  const session = model.session();
  session.input(x).set(image);
  const copy = session.run()[y];
  assert.deepEqual(session.output(y), expected);
  session.input(x).fill(0);
  session.run();
  assert.deepEqual(copy, expected); // run() gave a copy
  // Memory grows beneath the first session's views: it gives new ones.
  const others = Array.from({ length: 8 }, () => model.session({ batch: 4096 }));
  session.input(x).set(image);
  session.run();
  assert.deepEqual(session.output(y), expected);
  others.forEach((other) => other.dispose());
}));

test('a session goes on at another size', () => withModel('wasm128', (model, x, y) => {
  const session = model.session({ batch: 2 });
  session.reshape({ [model.dims[0].name]: 1 });
  assert.deepEqual(session.run({ [x]: image })[y], expected);
}));

test('operators have names, kernels and times', () => withModel('wasm128', (model, x) => {
  const session = model.session({ profile: true });
  session.run({ [x]: image });
  assert.equal(session.operators.some((op) => op.macs > 0 && op.runs === 1 && op.milliseconds > 0), true);
  assert.equal(session.operators.some((op) => /_wasm128$/.test(op.kernel)), true);
}));

test('errors are QrtErrors with a code', () => withModel('wasm128', async (model, x) => {
  const throws = (code, f) => assert.throws(f, (error) => error instanceof QrtError && error.code === code && error.message !== '');
  const rejects = (code, promise) => assert.rejects(promise, (error) => error instanceof QrtError && error.code === code);
  const session = model.session();
  throws('INVALID_ARGUMENT', () => session.run({ nothing: image }));
  throws('INVALID_ARGUMENT', () => session.run({ [x]: image.slice(1) }));
  throws('INVALID_ARGUMENT', () => session.run({ [x]: new BigInt64Array(perImage) }));
  throws('INVALID_ARGUMENT', () => model.session({ dims: { nothing: 1 } }));
  throws('INVALID_ARGUMENT', () => model.session({ batch: -1 }));
  throws('INVALID_ARGUMENT', () => model.session({ batch: 1.5 }));
  throws('OUT_OF_RANGE', () => model.session({ dims: { [model.dims[0].name]: 0 } }));
  throws('OUT_OF_MEMORY', () => model.session({ batch: 1000, maxMemory: 1000 }));
  await rejects('INVALID_MODEL', Model.load(bytes.subarray(0, 1000)));
  await rejects('INVALID_MODEL', Model.load(new ArrayBuffer(0)));
  await rejects('IO_ERROR', Model.load(join(folder, 'no such file')));
  await rejects('INVALID_ARGUMENT', Model.load(7));
  session.dispose();
  session.dispose();
  throws('INVALID_ARGUMENT', () => session.run());
  throws('INVALID_ARGUMENT', () => session.input(x));
  const other = await Model.load(bytes);
  other.dispose();
  throws('INVALID_ARGUMENT', () => other.session());
}));

test('a session outlives its model', async () => {
  const model = await Model.load(bytes);
  const x = model.inputs[0].name, y = model.outputs[0].name;
  const session = model.session();
  model.dispose();
  assert.deepEqual(session.run({ [x]: image })[y], expected);
  session[Symbol.dispose ?? Symbol.for('Symbol.dispose')]();
});

test('1,000 sessions made and disposed leave the memory as it was', () => withModel('wasm128', (model, x) => {
  let before = 0;
  for (let i = 0; i < 1000; ++i) {
    const session = model.session({ batch: 1 + i % 7 });
    if (i % 100 === 0) session.run();
    if (i === 50) before = session.input(x).buffer.byteLength;
    if (i === 999) assert.equal(session.input(x).buffer.byteLength, before);
    session.dispose();
  }
}));

test('a worker has the same interface', async () => {
  const model = await QrtWorker.load(digits);
  const x = model.inputs[0].name, y = model.outputs[0].name;
  assert.equal(typeof await model.metadata('source_format'), 'string');
  const session = await model.session({ batch: 1 });
  assert.deepEqual((await session.run({ [x]: image }))[y], expected);
  session.input(x).set(image);
  assert.deepEqual((await session.run())[y], expected);
  const given = image.slice();
  assert.deepEqual((await session.run({ [x]: given }, { transfer: true }))[y], expected);
  assert.equal(given.length, 0);
  assert.deepEqual(session.output(y), expected);
  await assert.rejects(session.run({ nothing: image }), (error) => error instanceof QrtError && error.code === 'INVALID_ARGUMENT');
  await assert.rejects(QrtWorker.load(bytes.subarray(0, 100)), (error) => error instanceof QrtError && error.code === 'INVALID_MODEL');
  await session.dispose();
  model.dispose();
  await assert.rejects(model.session(), { code: 'INVALID_ARGUMENT' });
});

test('CommonJS has the same package', async () => {
  const qrt = createRequire(join(folder, 'index.js'))('qrt');
  for (const load of [qrt.Model.load, qrt.QrtWorker.load]) {
    const model = await load(digits);
    const session = await model.session();
    assert.deepEqual((await session.run({ [model.inputs[0].name]: image }))[model.outputs[0].name], expected);
    await session.dispose();
    model.dispose();
  }
});

test('qrt/convert is there in both forms, and refuses ONNX', async () => {
  const forms = [await import(pathToFileURL(join(installed, 'convert.mjs')).href), createRequire(join(folder, 'index.js'))('qrt/convert')];
  for (const { convert } of forms)
    await assert.rejects(convert(join(here, '../models/digits/digits.onnx')), { name: 'QrtError', code: 'UNSUPPORTED' });
});

test('types are right and complete', () => {
  copyFileSync(join(here, 'types.ts'), join(folder, 'types.ts'));
  const options = ['--noEmit', '--strict', '--target', 'es2022', '--lib', 'es2022,dom,esnext.disposable'];
  for (const mode of ['nodenext', 'bundler']) {
    const module = mode === 'bundler' ? 'es2022' : mode;
    execFileSync(process.execPath, [join(tools, 'typescript/bin/tsc'), ...options, '--module', module, '--moduleResolution', mode, 'types.ts'],
                 { cwd: folder, stdio: 'inherit' });
  }
});

test('a bundle runs', async () => {
  writeFileSync(join(folder, 'program.mjs'), "export { Model } from 'qrt';\nexport { convert } from 'qrt/convert';\n");
  for (const platform of ['node', 'browser']) {
    const out = join(folder, `bundle-${platform}`);
    execFileSync(join(tools, 'esbuild/bin/esbuild'), ['program.mjs', '--bundle', '--format=esm', `--platform=${platform}`,
      `--outfile=${join(out, 'bundle.mjs')}`, '--log-level=warning'], { cwd: folder, stdio: ['ignore', 'inherit', 'inherit'] });
    // The modules stand beside the bundle, as for every bundler that copies no files by itself.
    for (const module of ['wasm128', 'wasmrelaxed', 'convert']) copyFileSync(join(installed, `qrt_${module}.wasm`), join(out, `qrt_${module}.wasm`));
    const bundle = await import(pathToFileURL(join(out, 'bundle.mjs')).href);
    const model = await bundle.Model.load(digits);
    assert.deepEqual(model.session().run({ [model.inputs[0].name]: image })[model.outputs[0].name], expected);
    await assert.rejects(bundle.convert(digits), /is a \.qrt file already/);
  }
});

test('modules are as small as is promised', () => {
  for (const module of ['wasm128', 'wasmrelaxed']) {
    const file = join(installed, `qrt_${module}.wasm`);
    const size = statSync(file).size, gzipped = gzipSync(readFileSync(file), { level: 9 }).length;
    console.log(`${module}: ${size} bytes, ${gzipped} gzipped`);
    assert.ok(size <= 1_400_000, `${module} has ${size} bytes`);
    assert.ok(gzipped <= 450_000, `${module} has ${gzipped} bytes gzipped`);
  }
  // The converter's, which pages fetch that convert: 3 % more than it had when this was written.
  const file = join(installed, 'qrt_convert.wasm');
  const size = statSync(file).size, gzipped = gzipSync(readFileSync(file), { level: 9 }).length;
  console.log(`convert: ${size} bytes, ${gzipped} gzipped`);
  assert.ok(size <= 1_655_000, `qrt_convert.wasm has ${size} bytes`);
  assert.ok(gzipped <= 576_000, `qrt_convert.wasm has ${gzipped} bytes gzipped`);
});
