// SPDX-License-Identifier: Apache-2.0
// The arena over time: operators from left to right, addresses upwards, a block for each tensor from the operator that writes
// it to the last that reads it.

const BLOCK_COLOURS = ['#8ecae6', '#ffb703', '#90be6d', '#f4978e', '#cdb4db', '#76c8b1', '#f2cc8f', '#a3b9f0'];
const OUTSIDE_COLOUR = '#a4b0bd';  // of inputs and state, which no operator writes

function blocksOf(model) {
  const end = model.operators.length;
  const blocks = new Map();
  const use = (t, step) => {
    const tensor = model.tensors[t];
    if (tensor.place !== 'arena') return;
    const block = blocks.get(t) ?? {tensor, index: t, first: step, last: step, writer: null};
    block.first = Math.min(block.first, step);
    block.last = Math.max(block.last, step);
    blocks.set(t, block);
  };
  for (const t of model.inputs) use(t, 0), use(t, end - 1);  // the caller's, before and after
  for (const v of model.variables) use(v.tensor, 0), use(v.tensor, end - 1), use(v.next, end - 1);
  model.operators.forEach((op, step) => {
    for (const t of [...op.inputs, ...op.outputs]) use(t, step);
    for (const t of op.outputs) if (blocks.has(t)) blocks.get(t).writer = step;
  });
  for (const t of model.outputs) use(t, end - 1);
  return [...blocks.values()];
}

// Returns, for each operator, how many bytes of the arena hold something while it runs; tensors that
// share memory count once.
function liveBytes(blocks, steps) {
  const live = new Array(steps).fill(0);
  const starting = Array.from({length: steps}, () => []);
  for (const block of blocks) starting[block.first]?.push(block);
  let open = [];
  for (let step = 0; step < steps; ++step) {
    open = [...open, ...starting[step]].filter((block) => block.last >= step).sort((a, b) => a.tensor.offset - b.tensor.offset);
    let end = 0;
    for (const {tensor} of open) {
      const to = tensor.offset + tensor.arena_bytes;
      live[step] += Math.max(0, to - Math.max(end, tensor.offset));
      end = Math.max(end, to);
    }
  }
  return live;
}

const USE_HEIGHT = 56;  // of the bytes in use, above the blocks

// The bytes in use by every operator, as an area.
function drawUse(live, x, left, width) {
  const most = live.reduce((a, b) => Math.max(a, b), 1), peak = live.indexOf(most);
  const y = (bytes) => 16 + USE_HEIGHT * (1 - bytes / most);
  const outline = live.map((bytes, step) => `L${x(step)} ${y(bytes)}H${x(step + 1)}`).join('');
  const label = `in use: at most ${bytesText(most)}, by operator ${peak}`;
  return [
    svg('path', {class: 'use', d: `M${left} ${y(0)}${outline}V${y(0)}z`}), svg('line', {class: 'grid', x1: left, x2: width, y1: y(0), y2: y(0)}),
    svg('circle', {class: 'peak', cx: x(peak + 0.5), cy: y(most), r: 3.5}),
    svg('text', x(peak) > width / 2 ? {x: x(peak) - 6, y: 14, 'text-anchor': 'end'} : {x: x(peak + 1) + 6, y: 14}, label)];
}

function drawArena(model, blocks, live, width, height, choose) {
  const steps = Math.max(1, model.operators.length), total = Math.max(1, model.memory.arena_bytes);
  const left = 66, bottom = height - 44, top = USE_HEIGHT + 32;
  const x = (step) => left + step / steps * (width - left);
  const y = (address) => bottom - address / total * (bottom - top);
  const font = `12px ${FONT}`;
  const names = [];
  const name = (text, attributes) => { if (text !== '') names.push(svg('text', {class: 'block-name', ...attributes}, text)); };
  const labelOf = (tensor, label, room) =>
    (textWidth(label, font) <= room ? label : fitText(tensor.name || label, font, room, true));
  const parts = blocks.map(({tensor, index, first, last, writer}) => {
    const at = y(tensor.offset + tensor.arena_bytes), from = x(first), wide = x(last + 1) - from, high = Math.max(1, y(tensor.offset) - at);
    const label = `${tensor.name || `tensor ${index}`}, ${bytesText(tensor.arena_bytes)}`;
    const block = tipped(svg('rect', {
      class: 'block', x: from, y: at, width: wide, height: high, rx: Math.min(3, high / 3),
      fill: writer === null ? OUTSIDE_COLOUR : BLOCK_COLOURS[writer % BLOCK_COLOURS.length],
      tabindex: 0, role: 'button', 'aria-label': label,
      ...chooses(choose, () => writer === null ? tensorPanel(model, index, 'Input or state') : operatorPanel(model, writer)),
    }), `${tensor.name || `tensor ${index}`}: ${typeText(tensor)}\n${bytesText(tensor.arena_bytes)} from byte ${groupedText(tensor.offset)}\nfrom operator ${first} to ${last}`);
    if (wide > 44 && high >= 16) {
      name(labelOf(tensor, label, wide - 10), {x: from + 5, y: at + Math.min(high / 2 + 4, 15)});
    } else if (high > 70 && wide >= 17) {
      name(labelOf(tensor, label, high - 12), {transform: `translate(${from + Math.min(wide / 2 + 4, 14)} ${at + high - 6}) rotate(-90)`});
    }
    return block;
  });
  const marks = roundMarks(total, height > 420 ? 6 : 4).flatMap((value) => [
    svg('line', {class: 'grid', x1: left, x2: width, y1: y(value), y2: y(value)}),
    svg('text', {x: left - 8, y: y(value) + 4, 'text-anchor': 'end'}, value === 0 ? '0' : bytesText(value))]);
  const every = roundMarks(steps - 1 || 1, Math.max(2, Math.floor(width / 120))).filter((step) => Number.isInteger(step) && step < steps);
  const operators = every.map((step) => svg('text', {x: x(step + 0.5), y: bottom + 17, 'text-anchor': 'middle'}, String(step)));
  return svg('svg', {class: 'plot', id: 'arena', height},
    svg('rect', {class: 'ground', x: left, y: top, width: width - left, height: bottom - top}), ...drawUse(live, x, left, width), ...marks, ...parts, ...names, ...operators,
    svg('text', {x: (left + width) / 2, y: height - 6, 'text-anchor': 'middle'}, 'operators in the order in which they run'));
}

function showArena(model, view, choose) {
  const {memory} = model;
  const blocks = blocksOf(model), live = liveBytes(blocks, model.operators.length);
  const place = html('div');
  view.replaceChildren(html('div', {class: 'page'},
    html('div', {class: 'bar-of-plot'},
      html('p', {class: 'note'}, 'Each block is a tensor: as high as its bytes, as wide as it is kept.'),
      exportButton(() => exportPlot('memory', place.firstChild))),
    place,
    html('div', {class: 'sizes'}, html('h2', {}, 'Sizes'), table([
      ['file', bytesText(memory.file_bytes)], ['constants', bytesText(memory.constant_bytes)],
      ['weights widened', memory.widened_bytes > 0 ? bytesText(memory.widened_bytes) : undefined],
      ['arena', bytesText(memory.arena_bytes)], ['scratch', bytesText(memory.scratch_bytes)],
      ['tables', bytesText(memory.table_bytes)], ['state', bytesText(memory.state_bytes)],
    ]))));
  return {leave: drawnToSize(view, (width, height) => place.replaceChildren(drawArena(model, blocks, live, width, height, choose)))};
}
