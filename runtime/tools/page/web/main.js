// SPDX-License-Identifier: Apache-2.0
// Chooses the model and the view of it that is shown, and handles the keys of the whole page.

// show(model, view, choose) draws a view. It may return {keys, leave}: what keys do there, and what is to be done before another.
const VIEWS = {
  graph: {label: 'Graph', show: showGraph, isThere: () => true},
  profile: {label: 'Profile', show: showProfile, isThere: (model) => Boolean(model.bench?.ops)},
  roofline: {label: 'Roofline', show: showRoofline, isThere: (model) => Boolean(model.bench?.roofline)},
  arena: {label: 'Memory', show: showArena, isThere: () => true},
};

const fileName = (path) => path.slice(path.lastIndexOf('/') + 1);
const titleOf = ({model}) => model.name || fileName(model.file);
const threadsText = (n) => `${n} thread${n === 1 ? '' : 's'}`;

const symbolText = ({name, size, least, most}) => `${name} ${size}${least < most ? ` (${least} to ${most})` : ''}`;

function summaryOf({model, symbols, bench}) {
  const parts = [fileName(model.file), model.reference, model.batch === null ? '' : `batch ${model.batch}`, ...symbols.map(symbolText)];
  if (bench) parts.push(`${threadsText(bench.threads)}, ${bench.isa}`, bench.machine.cpu, bench.date.replace('T', ' ').replace('Z', ' UTC'));
  return parts.filter((part) => part !== '').join(' · ');
}

const figuresOf = ({model, operators, memory, bench}) => [
  ['median latency', bench ? timeText(bench.latency_ms.median) : undefined],
  ['least', bench ? timeText(bench.latency_ms.min) : undefined],
  ['operators', groupedText(operators.length)],
  ['multiplications', countText(model.macs)],
  ['level', model.level],
  ['file', bytesText(memory.file_bytes)],
  ['memory of a session', bytesText(memory.arena_bytes + memory.state_bytes + memory.scratch_bytes)],
];

function choiceText(model) {
  const {bench} = model;
  return bench ? `${fileName(model.model.file)}, ${threadsText(bench.threads)}, batch ${bench.batch}` : fileName(model.model.file);
}

let shown = {}, shownModel = null;

function show(model, name) {
  closePanel();
  shown.leave?.();
  shownModel = model;
  const tabs = Object.entries(VIEWS).filter(([, view]) => view.isThere(model));
  const buttons = tabs.map(([other, view]) => html('button', {
    role: 'tab', 'data-view': other, 'aria-selected': other === name, 'aria-controls': 'view', tabindex: other === name ? 0 : -1, click: () => show(model, other),
    keydown: (event) => {
      const by = {ArrowLeft: -1, ArrowRight: 1}[event.key];
      if (by === undefined) return;
      event.preventDefault();
      const next = tabs[(tabs.findIndex(([tab]) => tab === other) + by + tabs.length) % tabs.length][0];
      show(model, next);
      document.querySelector(`[data-view=${next}]`).focus();
    },
  }, view.label));
  document.getElementById('views').replaceChildren(...buttons);
  const view = document.getElementById('view');
  view.scrollTop = 0;
  shown = VIEWS[name].show(model, view, showPanel) ?? {};
}

function open(model) {
  document.title = titleOf(model);
  document.getElementById('title').textContent = titleOf(model);
  document.getElementById('summary').textContent = summaryOf(model);
  showFigures(figuresOf(model));
  show(model, 'graph');
}

// Keys work wherever nothing is being typed.
document.addEventListener('keydown', (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.target.matches('input, select')) return;
  const view = document.querySelectorAll('#views button')[Number(event.key) - 1];
  const action = event.key === 'Escape' ? closePanel : view ? () => view.click() : shown.keys?.[event.key];
  if (!action) return;
  event.preventDefault();
  action();
});

const models = JSON.parse(document.getElementById('data').textContent);
const modelPicker = html('select', {id: 'model', 'aria-label': 'model', change: () => open(models[modelPicker.value])},
  ...models.map((model, i) => html('option', {value: i}, choiceText(model))));
modelPicker.hidden = models.length === 1;
document.getElementById('controls').append(modelPicker, themePicker());
open(models[0]);
