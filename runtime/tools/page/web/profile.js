// The profile as bars: operators from the slowest on, and the same by type.

function bar(title, name, part, ms, colour, click) {
  const width = Math.max(0.2, 100 * part);
  return html('button', {class: 'bar', title: `${title} ${name}`, click},
    html('span', {class: 'number'}, title), html('span', {}, name),
    html('span', {}, html('i', {style: `width: ${width}%; background: ${colour}`})),
    html('span', {class: 'number'}, timeText(ms)), html('span', {class: 'number share'}));
}

function bars(rows, all) {
  const most = rows.reduce((greatest, row) => Math.max(greatest, row.ms), 0) || 1;
  return rows.map((row) => {
    const element = bar(row.title, row.name, row.ms / most, row.ms, row.colour, row.click);
    element.querySelector('.share').textContent = percentText(all > 0 ? row.ms / all : 0);
    return element;
  });
}

function showProfile(model, view, choose) {
  const ops = model.bench.ops;
  const all = ops.reduce((sum, op) => sum + op.time_ms, 0);
  const colour = COLOURINGS[model.bench.roofline ? 'limit' : 'time'].make(model);
  const types = new Map();
  for (const op of ops) types.set(op.type, (types.get(op.type) ?? 0) + op.time_ms);
  const byType = [...types].map(([name, ms]) => ({title: '', name, ms, colour: '#8fb4dd'})).sort((a, b) => b.ms - a.ms);
  const byOperator = ops.map((op, i) => ({
    title: String(i), name: `${op.type} ${op.name}`, ms: op.time_ms, colour: colour.of(i),
    click: () => choose(operatorPanel(model, i)),
  })).filter((row) => row.ms > 0).sort((a, b) => b.ms - a.ms);
  view.replaceChildren(html('div', {class: 'bars', id: 'bars'},
    html('h2', {}, 'By type'), ...bars(byType, all),
    html('h2', {}, 'By operator'), html('p', {class: 'legend'}, 'colour: ', ...colour.legend), ...bars(byOperator, all)));
}
