// SPDX-License-Identifier: Apache-2.0
// The roofline: how many multiplications an operator makes for each byte that it moves, how fast it makes them, and what
// memory and multipliers allow there.

// Whole powers of ten around positive values.
function decades(values) {
  const logs = values.filter((value) => value > 0).map(Math.log10);
  return [Math.floor(logs.reduce((a, b) => Math.min(a, b), Infinity)), Math.ceil(logs.reduce((a, b) => Math.max(a, b), -Infinity))];
}

function logAxis([from, to], start, end) {
  const span = Math.max(1, to - from);
  return {at: (value) => start + (Math.log10(value) - from) / span * (end - start), from, to: from + span};
}

// Heights of labels at or below those wanted, 15 pixels apart.
function spread(wanted) {
  const order = wanted.map((_, i) => i).sort((a, b) => wanted[a] - wanted[b]);
  const result = [];
  let least = -Infinity;
  for (const i of order) {
    result[i] = Math.max(wanted[i], least);
    least = result[i] + 15;
  }
  return result;
}

// Names along slopes. Two levels can be nearly as fast as each other: the later name then stands further up.
function slopeNames(slopes, x, y) {
  let before = null;
  return slopes.map(({name, points: [[x1, y1], [x2, y2]]}) => {
    const from = [x.at(x1), y.at(y1)], to = [x.at(x2), y.at(y2)];
    const angle = Math.atan2(to[1] - from[1], to[0] - from[0]);
    const apart = before ? Math.abs((from[0] - before.from[0]) * Math.sin(angle) - (from[1] - before.from[1]) * Math.cos(angle)) : Infinity;
    const along = apart < 15 ? before.along + before.length + 14 : 14;
    before = {from, along, length: textWidth(name, smallFont)};
    return svg('text', {class: 'roof-name', transform: `translate(${from[0]} ${from[1]}) rotate(${angle * 180 / Math.PI}) translate(${along} -5)`}, name);
  });
}

function roofs(model, x, y, right) {
  const {peaks, memory} = model.bench.roofline, threads = model.bench.threads;
  const least = 10 ** x.from, most = 10 ** x.to;
  const peak = peaks.reduce((best, p) => Math.max(best, p.gmacs_per_second * threads), 0);
  const line = ([[x1, y1], [x2, y2]], dashes) =>
    svg('line', {class: 'roof', x1: x.at(x1), y1: y.at(y1), x2: x.at(x2), y2: y.at(y2), 'stroke-dasharray': dashes});
  const flat = peaks.map((p) => ({name: `${p.loop} · ${+(p.gmacs_per_second * threads).toPrecision(3)}`, rate: p.gmacs_per_second * threads}));
  const slopes = memory.map((level) => {
    const rate = Math.max(level.read_gb_per_second, level.copy_gb_per_second) * threads;
    const start = Math.max(least, 10 ** y.from / rate), end = Math.min(most, peak / rate);
    return {name: `${level.level} · ${+rate.toPrecision(3)} GB/s`, points: [[start, start * rate], [end, end * rate]]};
  }).filter(({points: [[start], [end]]}) => start < end);
  const heights = spread(flat.map((roof) => y.at(roof.rate) - 6));
  const lines = [...flat.map((roof) => line([[least, roof.rate], [most, roof.rate]], 'none')), ...slopes.map((roof) => line(roof.points, '5 4'))];
  const names = [
    ...flat.map((roof, i) => svg('text', {class: 'roof-name', x: right - 4, y: heights[i], 'text-anchor': 'end'}, roof.name)),
    ...slopeNames(slopes, x, y),
  ];
  return {lines, names};
}

function axes(x, y, box) {
  const marks = [];
  for (let d = x.from; d <= x.to; ++d) {
    const at = x.at(10 ** d);
    marks.push(svg('line', {class: 'grid', x1: at, x2: at, y1: box.top, y2: box.bottom}), svg('text', {x: at, y: box.bottom + 18, 'text-anchor': 'middle'}, String(+(10 ** d).toPrecision(1))));
  }
  for (let d = y.from; d <= y.to; ++d) {
    const at = y.at(10 ** d);
    marks.push(svg('line', {class: 'grid', x1: box.left, x2: box.right, y1: at, y2: at}), svg('text', {x: box.left - 8, y: at + 4, 'text-anchor': 'end'}, String(+(10 ** d).toPrecision(1))));
  }
  return marks;
}

function drawRoofline(model, points, width, height, choose) {
  const box = {left: 52, right: width - 8, top: 12, bottom: height - 46};
  const x = logAxis(decades(points.map((p) => p.intensity)), box.left, box.right);
  const y = logAxis(decades([...points.map((p) => p.op.gmacs_per_second), ...model.bench.roofline.peaks.map((p) => p.gmacs_per_second * model.bench.threads)]),
    box.bottom, box.top);
  const colour = COLOURINGS.limit.make(model);
  const largest = Math.min(26, width / 28);
  const circles = points.slice().sort((a, b) => b.op.share - a.op.share).map(({op, index, intensity}) => tipped(svg('circle', {
    class: 'point', cx: x.at(intensity), cy: y.at(op.gmacs_per_second), r: 3.5 + largest * Math.sqrt(op.share), fill: colour.of(index), 'fill-opacity': 0.85,
    tabindex: 0, role: 'button', 'aria-label': `${index} ${op.type} ${op.name}`, ...chooses(choose, () => operatorPanel(model, index)),
  }), `${index}: ${op.type} ${op.name}\n${timeText(op.time_ms)}, ${percentText(op.of_limit)} of the limit${op.above_limit ? `: ${op.above_limit}` : ''}`));
  const {lines, names} = roofs(model, x, y, box.right);
  return svg('svg', {class: 'plot', id: 'roofline', height},
    svg('clipPath', {id: 'inside'}, svg('rect', {x: box.left, y: box.top, width: box.right - box.left, height: box.bottom - box.top})),
    ...axes(x, y, box), svg('g', {'clip-path': 'url(#inside)'}, ...lines), ...circles, ...names,
    svg('text', {x: (box.left + box.right) / 2, y: height - 8, 'text-anchor': 'middle'}, 'multiplications for each byte moved'),
    svg('text', {transform: `translate(13 ${(box.top + box.bottom) / 2}) rotate(-90)`, 'text-anchor': 'middle'}, 'GMAC/s'));
}

function showRoofline(model, view, choose) {
  const points = model.bench.ops.map((op, index) => ({op, index, intensity: op.macs / op.bytes})).filter(
    ({op}) => op.macs > 0 && op.bytes > 0 && op.time_ms > 0);
  if (points.length === 0) {
    view.replaceChildren(html('p', {class: 'page note'}, 'No operator of this model multiplies.'));
    return {};
  }
  const place = html('div');
  view.replaceChildren(html('div', {class: 'page'},
    html('div', {class: 'bar-of-plot'},
      html('p', {class: 'legend'}, html('span', {}, 'Area: share of the time. Colour: share of the limit,'), ...COLOURINGS.limit.make(model).legend),
      exportButton(() => exportPlot('roofline', place.firstChild))),
    place));
  return {leave: drawnToSize(view, (width, height) => place.replaceChildren(drawRoofline(model, points, width, height, choose)))};
}
