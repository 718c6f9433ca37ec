// SPDX-License-Identifier: Apache-2.0
// The bytes of models and modules, by URL or path, or in memory.
import { QrtError } from './errors.mjs';

const isNode = typeof process !== 'undefined' && process.versions?.node !== undefined;

// A module of node that bundlers for browsers do not look for.
function nodeModule(name) {
  return import(/* @vite-ignore */ /* webpackIgnore: true */ `node:${name}`);
}

function isUrl(text) {
  return /^[a-z][a-z0-9+.-]+:/i.test(text);
}

// take(response) of a URL or, in node, the bytes of a path.
async function open(source, take) {
  const text = String(source);
  const isFile = text.startsWith('file:');
  try {
    if (isNode && (isFile || !isUrl(text))) {
      const { readFile } = await nodeModule('fs/promises');
      return await readFile(isFile ? new URL(text) : text);
    }
    const response = await fetch(text);
    if (!response.ok) throw new Error(`${response.status} ${response.statusText}`);
    return await take(response);
  } catch (cause) {
    if (cause instanceof WebAssembly.CompileError) throw cause;
    throw new QrtError('IO_ERROR', `${text}: ${cause.message}`, { cause });
  }
}

async function bytesOfResponse(response) {
  return new Uint8Array(await response.arrayBuffer());
}

// The bytes of a URL or, in node, a path.
function read(source) {
  return open(source, bytesOfResponse);
}

// The module at a URL or, in node, a path; compiled while it arrives where the server tells its type.
async function compileAt(source) {
  const arrived = await open(source, (response) =>
    response.headers.get('content-type') === 'application/wasm' ? WebAssembly.compileStreaming(response) : bytesOfResponse(response));
  return arrived instanceof WebAssembly.Module ? arrived : WebAssembly.compile(arrived);
}

// The bytes of a model, wherever they are.
async function bytesOf(source) {
  if (source instanceof ArrayBuffer || Object.prototype.toString.call(source) === '[object ArrayBuffer]' ||
      Object.prototype.toString.call(source) === '[object SharedArrayBuffer]')
    return new Uint8Array(source);
  if (ArrayBuffer.isView(source)) return new Uint8Array(source.buffer, source.byteOffset, source.byteLength);
  if (typeof Blob !== 'undefined' && source instanceof Blob) return new Uint8Array(await source.arrayBuffer());
  if (typeof source === 'string' || source instanceof URL) return read(source);
  throw new QrtError('INVALID_ARGUMENT', 'a model is a URL, a path or an ArrayBuffer');
}

export { bytesOf, compileAt, isNode, nodeModule, read };
