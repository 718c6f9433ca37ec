// The panel that tells all about an operator, or about an input or output of the model.

function table(rows) {
  return html('table', {}, ...rows.filter(([, value]) => value !== undefined && value !== null && value !== '').map(
    ([name, value]) => html('tr', {}, html('th', {}, name), html('td', {}, String(value)))));
}

function tensorRows(model, index) {
  const tensor = model.tensors[index];
  const place = tensor.place === 'constant' ? `constant, packed as ${tensor.packing}`
    : tensor.place === 'arena' ? `arena + ${tensor.offset}` : undefined;
  return [
    ['tensor', `${index}: ${tensor.name}`],
    ['type', typeText(tensor)],
    ['scale, zero point', tensor.quantization],
    ['bytes', `${tensor.bytes}${place ? `, ${place}` : ''}`],
  ];
}

function operatorPanel(model, index) {
  const op = model.operators[index];
  const measured = model.bench?.ops?.[index];
  const kernel = measured?.kernel ?? op.kernel;
  return [
    html('h2', {}, `${index}: ${op.type}`),
    table([
      ['source node', op.name],
      ['source operator', op.source_op],
      ['level', `${op.level}: ${(LEVELS[op.level] ?? LEVELS.F)[1]}`],
      ['arithmetic', op.arithmetic],
      ['kernel', kernel],
      ['runs in', op.runs_in !== index ? `${op.runs_in}: ${model.operators[op.runs_in].name}` : undefined],
      ['MACs', op.macs > 0 ? op.macs : undefined],
      ['time', measured && timeText(measured.time_ms)],
      ['share of all', measured && percentText(measured.share)],
      ['speed', measured?.macs > 0 ? `${+measured.gmacs_per_second.toPrecision(4)} GMAC/s` : undefined],
      ['limit', measured?.bound && `${timeText(Math.max(measured.compute_ms, measured.memory_ms))}, by ${
        measured.bound === 'memory' ? `memory (${measured.memory_level})` : 'computing'}`],
      ['share of the limit', measured?.bound && measured.time_ms > 0 ? percentText(measured.of_limit) : undefined],
    ]),
    ...op.inputs.flatMap((t) => [html('h2', {}, 'Input'), table(tensorRows(model, t))]),
    ...op.outputs.flatMap((t) => [html('h2', {}, 'Output'), table(tensorRows(model, t))]),
  ];
}

const edgePanel = (model, tensor, title) => [html('h2', {}, title), table(tensorRows(model, tensor))];

function showPanel(children) {
  const panel = document.getElementById('panel');
  panel.hidden = false;
  panel.replaceChildren(
    html('button', {class: 'close', click: () => { panel.hidden = true; }, 'aria-label': 'close'}, '×'), ...children);
}
