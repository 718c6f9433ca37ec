// SPDX-License-Identifier: Apache-2.0
// The report of a quantisation, from its verdict to its terms.

function figuresOfReport(report) {
  const set = report.agreement.held_out.all.samples > 0 ? report.agreement.held_out.all : report.agreement.calibration.all;
  const wide = report.tensors.filter((t) => t.bits === 16).length;
  return [
    ['SQNR', set.samples > 0 ? decibelText(set.sqnr_db) : undefined],
    ['same class as float', set.agreement === undefined ? undefined : shareText(set.agreement)],
    ['accuracy', set.accuracy === undefined ? undefined : shareText(set.accuracy)],
    ['float accuracy', set.float_accuracy === undefined ? undefined : shareText(set.float_accuracy)],
    ['integer nodes', groupedText(report.integer_nodes)],
    ['float nodes', groupedText(report.float_nodes)],
    ['tensors with 16 bits', wide > 0 ? groupedText(wide) : undefined],
  ];
}

function showReport(report) {
  const title = report.model.slice(report.model.lastIndexOf('/') + 1);
  document.title = `${title}, quantised`;
  document.getElementById('title').textContent = title;
  document.getElementById('summary').textContent = [`scheme ${report.scheme}`, `${groupedText(report.calibration_samples)} samples for the ranges`,
    `${groupedText(report.held_out_samples)} held out`].join(' · ');
  document.getElementById('controls').append(themePicker());
  showFigures(figuresOfReport(report));
  const {kind, text} = report.verdict;
  const plot = html('div'), graph = errorGraph(report.graph);
  const sets = [comparison('Held out', report.agreement.held_out), comparison('Calibration', report.agreement.calibration)].filter((set) => set !== null);
  const why = report.not_the_schemes_arithmetic;
  const parts = [
    html('p', {class: `verdict ${kind}`, id: 'verdict'}, text),
    ...(why ? [html('p', {class: 'note'}, `The arithmetic is ONNX’s, not the scheme’s, which has no form of ${why}.`)] : []),
    ...(sets.length > 0 ? [part('How near it is to the float model', '', html('div', {class: 'sets'}, ...sets))] : []),
    ...(report.ladder.length > 0 ? [part('Steps tried for accuracy', 'Signal to noise of the outputs before each step (ring) and after it (dot). What did not help was not kept.', steps(report.ladder))] : []),
    ...(report.tensors.length > 0 ? [part('Where the error arises', 'Tensors that are rounded, the worst first. A click on a column’s name sorts by it.', ...tensorTable(report.tensors))] : []),
    ...(report.tensors.length > 0 ? [part('The graph, by the error', 'Each operator’s part in the rounding errors of all tensors, each taken alone. Grey: its result is not rounded.', ...graph.parts)] : []),
    ...(report.pictures.length > 0 ? [part('Before and after', 'Pictures that were held out, and what both models make of them.', pictureRows(report.pictures))] : []),
    ...(report.more_with_16_bits.length > 1 ? [part('More tensors with 16 bits', `What it would bring and cost. Time is ${report.nominal_core.replace(/^ms: /, '')}.`, plot, wideTable(report.more_with_16_bits))] : []),
    html('section', {class: 'part'}, html('details', {}, html('summary', {}, `Nodes (${groupedText(report.nodes.length)})`), nodeTable(report.nodes))),
    part('Terms', '', terms()),
  ];
  const view = document.getElementById('view');
  view.replaceChildren(...parts);
  const draw = () => {
    if (plot.isConnected) plot.replaceChildren(drawWide(report.more_with_16_bits, Math.max(280, plot.clientWidth), 300));
    graph.draw();
  };
  draw();
  new ResizeObserver(draw).observe(view);
}

document.addEventListener('keydown', (event) => {
  const find = document.getElementById('find');
  if (event.key !== '/' || !find || event.target.matches('input, select')) return;
  event.preventDefault();
  find.focus();
});

showReport(JSON.parse(document.getElementById('data').textContent));
