// The roofline: how many multiplications an operator makes for each byte that it moves, how fast it makes them, and what
// memory and multipliers allow there.

const PLOT = {width: 960, height: 560, left: 70, right: 170, top: 20, bottom: 50};

// Whole powers of ten around positive values.
function decades(values) {
  const logs = values.filter((value) => value > 0).map(Math.log10);
  return [Math.floor(logs.reduce((a, b) => Math.min(a, b), Infinity)), Math.ceil(logs.reduce((a, b) => Math.max(a, b), -Infinity))];
}

function logAxis([from, to], start, end) {
  const span = Math.max(1, to - from);
  return {at: (value) => start + (Math.log10(value) - from) / span * (end - start), from, to: from + span};
}

function roofs(model, x, y) {
  const {peaks, memory} = model.bench.roofline, threads = model.bench.threads;
  const least = 10 ** x.from, most = 10 ** x.to;
  const peak = peaks.reduce((best, p) => Math.max(best, p.gmacs_per_second * threads), 0);
  const flat = peaks.map((p) => {
    const rate = p.gmacs_per_second * threads;
    return {name: p.loop, points: [[least, rate], [most, rate]]};
  });
  const slopes = memory.map((level) => {
    const rate = Math.max(level.read_gb_per_second, level.copy_gb_per_second) * threads;
    const start = Math.max(least, 10 ** y.from / rate), end = Math.min(most, peak / rate);
    return {name: level.level, points: [[start, start * rate], [end, end * rate]]};
  }).filter(({points: [[start], [end]]}) => start < end);
  const line = ({points: [[x1, y1], [x2, y2]]}, dashes) =>
    svg('line', {class: 'roof', x1: x.at(x1), y1: y.at(y1), x2: x.at(x2), y2: y.at(y2), 'stroke-dasharray': dashes});
  return [
    ...flat.flatMap((roof) => [line(roof, 'none'), svg('text', {x: x.at(most) + 6, y: y.at(roof.points[1][1]) + 4}, roof.name)]),
    ...slopes.flatMap((roof, i) => {  // names at different heights: two levels can be equally fast
      const [from, rate] = roof.points[0];
      return [line(roof, '5 4'), svg('text', {x: x.at(from) + 8, y: y.at(rate) - 6 - 12 * i}, roof.name)];
    }),
  ];
}

function showRoofline(model, view, choose) {
  const {width, height, left, right, top, bottom} = PLOT;
  const points = model.bench.ops.map((op, index) => ({op, index, intensity: op.macs / op.bytes})).filter(
    ({op}) => op.macs > 0 && op.bytes > 0 && op.time_ms > 0);
  if (points.length === 0) {
    view.replaceChildren(html('p', {class: 'hint'}, 'No operator of this model multiplies.'));
    return;
  }
  const x = logAxis(decades(points.map((p) => p.intensity)), left, width - right);
  const {peaks} = model.bench.roofline;
  const y = logAxis(decades([...points.map((p) => p.op.gmacs_per_second), ...peaks.map((p) => p.gmacs_per_second * model.bench.threads)]),
    height - bottom, top);
  const grid = [];
  for (let d = x.from; d <= x.to; ++d) {
    const at = x.at(10 ** d);
    grid.push(svg('line', {class: 'grid', x1: at, x2: at, y1: top, y2: height - bottom}), svg('text', {x: at, y: height - bottom + 16, 'text-anchor': 'middle'}, String(+(10 ** d).toPrecision(1))));
  }
  for (let d = y.from; d <= y.to; ++d) {
    const at = y.at(10 ** d);
    grid.push(svg('line', {class: 'grid', x1: left, x2: width - right, y1: at, y2: at}), svg('text', {x: left - 8, y: at + 4, 'text-anchor': 'end'}, String(+(10 ** d).toPrecision(1))));
  }
  const colour = COLOURINGS.limit.make(model);
  const circles = points.map(({op, index, intensity}) => titled(svg('circle', {
    class: 'point', cx: x.at(intensity), cy: y.at(op.gmacs_per_second), r: 4 + 22 * Math.sqrt(op.share), fill: colour.of(index), 'fill-opacity': 0.75,
    click: () => choose(operatorPanel(model, index)),
  }), `${index}: ${op.type} ${op.name}\n${timeText(op.time_ms)}, ${percentText(op.of_limit)} of the limit`));
  view.replaceChildren(svg('svg', {class: 'plot', id: 'roofline', viewBox: `0 0 ${width} ${height}`, width},
    svg('clipPath', {id: 'inside'}, svg('rect', {x: left, y: top, width: width - left, height: height - top - bottom})),
    ...grid, svg('g', {'clip-path': 'url(#inside)'}, ...roofs(model, x, y)), ...circles,
    svg('text', {x: (left + width - right) / 2, y: height - 8, 'text-anchor': 'middle'}, 'multiplications for each byte moved'),
    svg('text', {transform: `translate(16 ${(top + height - bottom) / 2}) rotate(-90)`, 'text-anchor': 'middle'}, 'GMAC/s')),
  html('p', {class: 'hint legend'}, 'area: share of the time; colour, share of the limit: ', ...colour.legend));
}
