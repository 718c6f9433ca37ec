// SPDX-License-Identifier: Apache-2.0
// The panel that tells all about an operator, or about an input or output of the model.

const figure = (caption, ...children) => html('figure', {}, html('figcaption', {}, caption), ...children);
const ends = (from, to) => html('div', {class: 'ends'}, html('span', {}, from), html('span', {}, to));

const code = (text) => (text ? html('code', {}, text) : '');

function valuesFigure({histogram: h, dtype}) {
  const isReal = dtype.startsWith('float') || dtype.startsWith('bfloat');
  const most = h.counts.reduce((a, b) => Math.max(a, b), 0);
  const sampled = h.step > 1 ? `, of every ${h.step}th value` : '';
  return figure(`${isReal ? 'Values' : 'Stored integers'}, at most ${groupedText(most)} in a column${sampled}`,
    histogram(h.counts, 'histogram of the values'), ends(realText(h.from), realText(h.to)));
}

const scalesFigure = ({scales, shape}) => figure(
  `Scales by channel, ${realText(scales.least)} to ${realText(scales.greatest)}`,
  histogram(scales.groups, 'scales by channel'), ends('channel 0', `channel ${shape[scales.axis] - 1}`));

function tensorDetails(model, index, kind) {
  const tensor = model.tensors[index];
  const place = tensor.place === 'constant' ? (tensor.packing === 'NONE' ? 'constant' : `constant, packed as ${tensor.packing}`)
    : tensor.place === 'arena' ? `arena, from byte ${groupedText(tensor.offset)}` : undefined;
  return [
    html('h2', {class: 'subject'}, html('span', {class: 'kind'}, `${kind} `), tensor.name || `tensor ${index}`),
    table([
      ['tensor', index],
      ['type', typeText(tensor)],
      ['scale, zero point', tensor.quantization],
      ['size', bytesText(tensor.bytes)],
      ['place', place],
      ['values', tensor.values?.join(', ')],
    ]),
    ...(tensor.histogram ? [valuesFigure(tensor)] : []),
    ...(tensor.scales ? [scalesFigure(tensor)] : []),
  ];
}

function operatorPanel(model, index) {
  const op = model.operators[index];
  const measured = model.bench?.ops?.[index];
  const swatch = html('span', {class: 'level'}, html('i', {style: `background: ${levelOf(op)[0]}`}), html('span', {}, `${op.level}: ${levelOf(op)[1]}`));
  const kindOf = (t) => (model.tensors[t].place === 'constant' ? 'Constant' : 'Input');
  return [
    html('h2', {}, html('span', {class: 'kind'}, `${index} `), op.type),
    table([
      ['time', measured && timeText(measured.time_ms)],
      ['share of all', measured && percentText(measured.share)],
      ['speed', measured?.macs > 0 ? `${+measured.gmacs_per_second.toPrecision(4)} GMAC/s` : undefined],
      ['limit', measured?.bound && `${timeText(Math.max(measured.compute_ms, measured.memory_ms))}, by ${
        measured.bound === 'memory' ? `memory (${measured.memory_level})` : 'computing'}`],
      ['share of the limit', measured?.bound && measured.time_ms > 0 ? percentText(measured.of_limit) : undefined],
      ['reason above 100 %', measured?.above_limit],
      ['source node', code(op.name)],
      ['source operator', op.source_op],
      ['level', swatch],
      ['arithmetic', code(op.arithmetic)],
      ['kernel', code(measured?.kernel ?? op.kernel)],
      ['runs in', op.runs_in !== index ? `${op.runs_in}: ${model.operators[op.runs_in].name}` : undefined],
      ['MACs', op.macs > 0 ? groupedText(op.macs) : undefined],
    ]),
    ...op.inputs.flatMap((t) => tensorDetails(model, t, kindOf(t))),
    ...op.outputs.flatMap((t) => tensorDetails(model, t, 'Output')),
  ];
}

const tensorPanel = (model, tensor, title) => tensorDetails(model, tensor, title);

let whenClosed = null;

function closePanel() {
  const panel = document.getElementById('panel');
  if (panel.hidden) return;
  panel.hidden = true;
  whenClosed?.();
  whenClosed = null;
}

function showPanel(children, closed) {
  const panel = document.getElementById('panel');
  whenClosed = closed;
  panel.hidden = false;
  panel.replaceChildren(html('button', {class: 'button close', click: closePanel, 'aria-label': 'close'}, '×'), ...children);
  panel.scrollTop = 0;
}

// Attributes of a mark in a plot that a click or Enter chooses.
function chooses(choose, panel) {
  const open = (event) => {
    const mark = event.currentTarget;
    for (const other of mark.ownerSVGElement.querySelectorAll('.chosen')) other.classList.remove('chosen');
    mark.classList.add('chosen');
    choose(panel(), () => mark.classList.remove('chosen'));
  };
  return {click: open, keydown: (event) => { if (event.key === 'Enter') open(event); }};
}
