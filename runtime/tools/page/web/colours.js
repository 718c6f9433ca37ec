// What the colours of operators mean. Each returns {of(i), legend}: the colour of operator i, and the legend's elements.

const LEVELS = {
  I0: ['#7bc47f', 'integers only'],
  I1: ['#f2c14e', 'integers and IEEE-exact float32'],
  F: ['#e4572e', 'floating point: last bits may differ'],
  edge: ['#b9c3cf', 'conversion at the edge of the model'],
};
const NOTHING = '#e3e7ec';  // no value: views, and operators that run in another

// From pale to dark as `part` goes from 0 to 1.
const heat = (part) => `hsl(${45 - 45 * part} 85% ${92 - 32 * part}%)`;
// From red to green.
const nearness = (part) => `hsl(${120 * part} 60% 62%)`;

function scaleLegend(colour, from, to) {
  const stops = [0, 0.25, 0.5, 0.75, 1].map(colour).join(', ');
  return [from, html('i', {class: 'scale', style: `background: linear-gradient(90deg, ${stops})`}), to];
}

// `values` of all operators, null where there is none.
function byValue(values, text) {
  const most = values.reduce((greatest, value) => Math.max(greatest, value ?? 0), 0);
  return {
    of: (i) => values[i] === null || most === 0 ? NOTHING : heat(values[i] / most),
    legend: scaleLegend(heat, text(0), text(most)),
  };
}

const COLOURINGS = {
  level: {
    label: 'level',
    isThere: () => true,
    make: (model) => ({
      of: (i) => (LEVELS[model.operators[i].level] ?? LEVELS.F)[0],
      legend: Object.entries(LEVELS).flatMap(([level, [colour, meaning]]) =>
        model.operators.some((op) => op.level === level)
          ? [html('i', {style: `background: ${colour}`, title: meaning}), html('span', {title: meaning}, level)] : []),
    }),
  },
  memory: {
    label: 'memory',
    isThere: () => true,
    make: (model) => byValue(model.operators.map((op) => bytesOf(model, op)), bytesText),
  },
  time: {
    label: 'time',
    isThere: (model) => Boolean(model.bench?.ops),
    make: (model) => byValue(model.bench.ops.map((op) => op.time_ms > 0 ? op.time_ms : null), timeText),
  },
  limit: {
    label: 'share of the limit',
    isThere: (model) => Boolean(model.bench?.roofline),
    make: (model) => ({
      of: (i) => {
        const op = model.bench.ops[i];
        return op.time_ms > 0 ? nearness(Math.min(1, op.of_limit)) : NOTHING;
      },
      legend: scaleLegend(nearness, '0 %', 'as fast as this machine can'),
    }),
  },
};

// What an operator reads and writes: constants, inputs, outputs.
function bytesOf(model, op) {
  return [...new Set([...op.inputs, ...op.outputs])].reduce((sum, t) => sum + model.tensors[t].bytes, 0);
}
