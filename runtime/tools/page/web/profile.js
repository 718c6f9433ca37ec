// SPDX-License-Identifier: Apache-2.0
// The profile as bars: operators from the slowest on, and the same by type and by kernel.

function bar({title, name, ms, colour, click}, most, all) {
  return html(click ? 'button' : 'div', {class: 'bar', ...(click && {click})},
    html('span', {class: 'label', title: `${title} ${name}`.trim()}, title, ' ', html('span', {}, name)),
    html('span', {class: 'track'}, html('i', {style: `width: ${100 * ms / most}%; background: ${colour}`})),
    html('span', {class: 'number time'}, timeText(ms)), html('span', {class: 'number share'}, `${(all > 0 ? 100 * ms / all : 0).toFixed(1)} %`));
}

function bars(rows, all) {
  const most = rows.reduce((greatest, row) => Math.max(greatest, row.ms), 0) || 1;
  return html('div', {class: 'bars'}, ...rows.map((row) => bar(row, most, all)));
}

function sums(ops, key) {
  const found = new Map();
  for (const op of ops) {
    const row = found.get(op[key]) ?? {title: op[key], ms: 0, count: 0, colour: 'var(--bar)'};
    row.ms += op.time_ms;
    row.count += 1;
    found.set(op[key], row);
  }
  return [...found.values()].filter((row) => row.ms > 0).sort((a, b) => b.ms - a.ms).map((row) => ({...row, name: row.count > 1 ? `× ${row.count}` : ''}));
}

function showProfile(model, view, choose) {
  const ops = model.bench.ops;
  const all = ops.reduce((sum, op) => sum + op.time_ms, 0);
  const colour = COLOURINGS[model.bench.roofline ? 'limit' : 'time'].make(model);
  const byOperator = ops.map((op, i) => ({
    title: `${i} ${op.type}`, name: op.name, ms: op.time_ms, colour: colour.of(i),
    click: (event) => {
      for (const other of view.querySelectorAll('.bar.chosen')) other.classList.remove('chosen');
      const row = event.currentTarget;
      row.classList.add('chosen');
      choose(operatorPanel(model, i), () => row.classList.remove('chosen'));
    },
  })).filter((row) => row.ms > 0).sort((a, b) => b.ms - a.ms);
  view.replaceChildren(html('div', {class: 'page', id: 'bars'},
    html('h2', {}, 'Time by type'), bars(sums(ops, 'type'), all),
    html('div', {class: 'bar-of-plot'}, html('h2', {}, 'Time by operator'),
      html('p', {class: 'legend'}, html('span', {}, model.bench.roofline ? 'Colour: share of the limit,' : 'Colour: time,'), ...colour.legend)),
    bars(byOperator, all)));
}
