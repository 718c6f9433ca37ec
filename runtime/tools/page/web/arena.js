// The arena over time: operators from left to right, addresses upwards, a block for each tensor from the operator that writes
// it to the last that reads it.

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

function showArena(model, view, choose) {
  const {memory, operators} = model;
  const width = 1000, height = 520, left = 80, bottom = 30;
  const total = Math.max(1, memory.arena_bytes), steps = Math.max(1, operators.length);
  const x = (step) => left + step / steps * (width - left);
  const y = (address) => (height - bottom) * (1 - address / total);
  const blocks = blocksOf(model).map(({tensor, index, first, last, writer}) => {
    const top = y(tensor.offset + tensor.arena_bytes);
    return titled(svg('rect', {
      class: 'block', x: x(first), y: top, width: x(last + 1) - x(first), height: Math.max(0.5, y(tensor.offset) - top),
      fill: `hsl(${writer === null ? 210 : writer * 47 % 360} ${writer === null ? 10 : 55}% 72%)`, 'fill-opacity': 0.8,
      click: () => choose(writer === null ? edgePanel(model, index, 'Input or state') : operatorPanel(model, writer)),
    }), `${tensor.name}: ${typeText(tensor)}\n${bytesText(tensor.arena_bytes)} at ${tensor.offset}, operators ${first} to ${last}`);
  });
  const marks = [0, 0.25, 0.5, 0.75, 1].map((part) =>
    svg('text', {x: left - 8, y: y(part * total) + (part === 1 ? 10 : 4), 'text-anchor': 'end'}, bytesText(Math.round(part * total))));
  view.replaceChildren(
    svg('svg', {class: 'plot', id: 'arena', viewBox: `0 0 ${width} ${height}`, width},
      svg('rect', {x: left, y: 0, width: width - left, height: height - bottom, fill: '#f4f6f8'}), ...marks, ...blocks,
      svg('text', {x: (left + width) / 2, y: height - 8, 'text-anchor': 'middle'}, `operators 0 to ${operators.length - 1}, in the order in which they run`)),
    html('div', {class: 'sizes'}, table([
      ['file', bytesText(memory.file_bytes)], ['constants', bytesText(memory.constant_bytes)],
      ['weights widened', memory.widened_bytes > 0 ? bytesText(memory.widened_bytes) : undefined],
      ['arena', bytesText(memory.arena_bytes)], ['scratch', bytesText(memory.scratch_bytes)],
      ['tables', bytesText(memory.table_bytes)], ['state', bytesText(memory.state_bytes)],
    ])));
}
