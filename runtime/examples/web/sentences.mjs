// SPDX-License-Identifier: Apache-2.0
// Embeds sentences, each at its own length, and shows how alike they are.
import { Model } from './qrt/qrt.mjs';
import { Tokens } from './tokens.mjs';
import { byId, duration, element, measure, profile, showCheck, showError, showFigures, showModel, showOperators, showTheme, takeFiles } from './view.mjs';

const kExamples = ['thunder and rain', 'snow, frost and wind', 'bread with butter and honey', 'soup and cheese', 'a song for violin and choir', 'the ship, the sail and the tide'];

let model, session, tokens;
let profiled;  // a second session, which tells the operators' times
const text = byId('text');

// The dimension of a sentence's length: the one of the ids that is no batch.
function lengthOf(opened) {
  return opened.inputs[0].dimNames[opened.inputs[0].dims.length - 1];
}

// Gives a session the ids; what a model asks for beside them is a mask of ones, and types of 0.
function setInputs(to, ids) {
  const length = lengthOf(model);
  to.reshape({ [length]: ids.length });
  for (const { name } of to.inputs) {
    const view = to.input(name), isWide = view instanceof BigInt64Array;
    const values = /mask/.test(name) ? ids.map(() => 1) : /type/.test(name) ? ids.map(() => 0) : ids;
    view.set(isWide ? values.map(BigInt) : values);
  }
}

// Returns a vector of length 1: the output, or the mean of its rows where it has one for each token.
function embed(ids) {
  setInputs(session, ids);
  session.run();
  const { name, dims } = session.outputs[0], values = session.output(name), width = dims.at(-1);
  const sums = new Float64Array(width);
  values.forEach((value, i) => { sums[i % width] += value; });
  const length = Math.hypot(...sums) || 1;
  return sums.map((sum) => sum / length);
}

const cosine = (a, b) => a.reduce((sum, value, i) => sum + value * b[i], 0);

function showMatrix(lines, vectors) {
  const matrix = byId('matrix'), cells = [element('span')];
  matrix.style.gridTemplateColumns = `24px repeat(${lines.length}, minmax(0, 1fr))`;
  lines.forEach((line, i) => cells.push(element('span', { class: 'name', title: line }, String(i + 1))));
  vectors.forEach((a, i) => {
    cells.push(element('span', { class: 'name', title: lines[i] }, String(i + 1)));
    vectors.forEach((b, j) => {
      const value = cosine(a, b), cell = element('span', { title: `${lines[i]}\n${lines[j]}` }, value.toFixed(2));
      cell.style.background = `color-mix(in oklab, var(--bar) ${Math.round(78 * Math.max(value, 0) ** 1.5)}%, var(--sunken))`;
      cells.push(cell);
    });
  });
  matrix.replaceChildren(...cells);
}

function update() {
  const lines = text.value.split('\n').map((line) => line.trim()), unknown = new Set(), kept = [];
  for (const line of lines) {
    const { ids, unknown: words } = tokens.of(line);
    words.forEach((word) => unknown.add(word));
    if (ids.length > 0) kept.push({ line, ids });
  }
  byId('unknown').textContent = unknown.size > 0 ? `Left out, as the model does not know them: ${[...unknown].join(', ')}` : '';
  if (kept.length === 0) {
    byId('matrix').replaceChildren();
    return;
  }
  showMatrix(kept.map(({ line }) => line), kept.map(({ ids }) => embed(ids)));
  const longest = kept.reduce((a, b) => (a.ids.length >= b.ids.length ? a : b)).ids;
  setInputs(profiled, longest);
  showOperators('operators', profile(profiled));
  setInputs(session, longest);
  const { median, least } = measure(session);
  showFigures('figures', { [`median, ${longest.length} tokens`]: duration(median), least: duration(least),
                           dimensions: String(session.outputs[0].dims.at(-1)) });
}

async function open(source, name, size, vocabulary) {
  const next = await Model.load(source);
  const newSession = next.session(), newTokens = new Tokens(vocabulary);
  for (const old of [session, profiled, model]) old?.dispose();
  [model, session, profiled, tokens] = [next, newSession, next.session({ profile: true }), newTokens];
  showModel(name, model, session, size);
  showCheck('check', model);
  byId('words-section').hidden = tokens.isWordPiece;
  byId('words').replaceChildren(...(tokens.isWordPiece ? [] : tokens.words).map((word) =>
    element('button', { click: () => { text.value = `${text.value.trimEnd()} ${word}`; update(); } }, word)));
}

async function take(files) {
  try {
    const file = files.find(({ name }) => name.endsWith('.qrt')), words = files.find(({ name }) => name.endsWith('.txt'));
    if (file === undefined || words === undefined) throw new Error('Drop two files at once: the model (.qrt) and its vocabulary (.txt)');
    await open(file, file.name, file.size, await words.text());
    update();
  } catch (error) {
    showError(error);
  }
}

showTheme();
try {
  const [file, words] = await Promise.all(['sentences.qrt', 'words.txt'].map(async (name) => (await fetch(name)).arrayBuffer()));
  await open(file, 'sentences', file.byteLength, new TextDecoder().decode(words));
  text.value = kExamples.join('\n');
  update();
  let waiting;
  text.addEventListener('input', () => {
    clearTimeout(waiting);
    waiting = setTimeout(update, 200);
  });
  takeFiles('choose', '.qrt,.txt', take);
} catch (error) {
  showError(error);
}
