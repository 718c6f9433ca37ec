// SPDX-License-Identifier: Apache-2.0
// The meanings of operators' colours. Each make() returns {of(i), text(i), legend}: the colour of operator i, the value that it
// stands for, and the legend's elements.

const LEVELS = {
  I0: ['#2a9d8f', 'integers only'],
  I1: ['#e9b949', 'integers and IEEE-exact float32'],
  F: ['#d1495b', 'floating point: last bits may differ'],
  edge: ['#8d99ae', 'conversion at the edge of the model'],
};
const levelOf = (op) => LEVELS[op.level] ?? LEVELS.F;
const NOTHING = 'var(--none)';  // no value: views, and operators that run in another

// `values` of all operators, null where there is none.
function byValue(values, text) {
  const most = values.reduce((greatest, value) => Math.max(greatest, value ?? 0), 0);
  return {
    of: (i) => values[i] === null || most === 0 ? NOTHING : heat(values[i] / most),
    text: (i) => values[i] === null ? '' : text(values[i]),
    legend: scaleLegend(heat, text(0), text(most)),
  };
}

const COLOURINGS = {
  level: {
    label: 'Level',
    isThere: () => true,
    make: (model) => ({
      of: (i) => levelOf(model.operators[i])[0],
      text: (i) => model.operators[i].level,
      legend: Object.entries(LEVELS).flatMap(([level, [colour, meaning]]) =>
        model.operators.some((op) => op.level === level)
          ? [html('i', {style: `background: ${colour}`}), tipped(html('span', {}, level), meaning)] : []),
    }),
  },
  memory: {
    label: 'Bytes touched',
    isThere: () => true,
    make: (model) => byValue(model.operators.map((op) => bytesOf(model, op)), bytesText),
  },
  time: {
    label: 'Time',
    isThere: (model) => Boolean(model.bench?.ops),
    make: (model) => byValue(model.bench.ops.map((op) => op.time_ms > 0 ? op.time_ms : null), timeText),
  },
  limit: {
    label: 'Share of the limit',
    isThere: (model) => Boolean(model.bench?.roofline),
    make: (model) => ({
      of: (i) => {
        const op = model.bench.ops[i];
        return op.time_ms > 0 ? nearness(op.of_limit) : NOTHING;
      },
      text: (i) => model.bench.ops[i].time_ms > 0 ? `${Math.round(100 * model.bench.ops[i].of_limit)} %` : '',
      legend: scaleLegend(nearness, '0 %', 'as fast as this machine can'),
    }),
  },
};

// Returns the bytes that an operator reads and writes: constants, inputs, outputs.
function bytesOf(model, op) {
  return [...new Set([...op.inputs, ...op.outputs])].reduce((sum, t) => sum + model.tensors[t].bytes, 0);
}
