// SPDX-License-Identifier: Apache-2.0
// The profile as bars: operators from the slowest on, and the same by type.

const partText = (ms, all) => `${(all > 0 ? 100 * ms / all : 0).toFixed(1)} %`;

function bar({title, name, ms, colour, click}, most, all) {
  return html(click ? 'button' : 'div', {class: 'bar', ...(click && {click})},
    html('span', {class: 'label', title: `${title} ${name}`.trim()}, title, ' ', html('span', {}, name)),
    html('span', {class: 'track'}, html('i', {style: `width: ${100 * ms / most}%; background: ${colour}`})),
    html('span', {class: 'number time'}, timeText(ms)), html('span', {class: 'number share'}, partText(ms, all)));
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

// Draws the bars as a picture of fixed size: sums by type above the operators.
function drawBars(parts, all) {
  const width = 900, track = {left: 330, width: 390}, shapes = [];
  let y = 0;
  for (const {title, rows} of parts) {
    const most = rows.reduce((greatest, row) => Math.max(greatest, row.ms), 0) || 1;
    shapes.push(svg('text', {class: 'heading', x: 0, y: y + 14}, title));
    y += 28;
    for (const row of rows) {
      const text = (x, words, anchor) => svg('text', {x, y: y + 12, 'text-anchor': anchor}, words);
      const piece = (part, attributes) => svg('rect', {x: track.left, y: y + 1, width: Math.max(2, track.width * part), height: 14, rx: 3, ...attributes});
      shapes.push(text(0, fitText(`${row.title} ${row.name}`.trim(), smallFont, track.left - 14), 'start'), piece(1, {class: 'ground'}),
        piece(row.ms / most, {style: `fill: ${row.colour}`}), text(track.left + track.width + 90, timeText(row.ms), 'end'), text(width, partText(row.ms, all), 'end'));
      y += 22;
    }
    y += 18;
  }
  return svg('svg', {class: 'plot', id: 'bars-picture', style: `width: ${width}px`, height: y}, ...shapes);
}

// The picture has to stand in the page for a moment: it takes its colours from there.
function exportBars(view, parts, all) {
  const picture = drawBars(parts, all);
  view.append(picture);
  const file = exportPlot('profile', picture);
  picture.remove();
  return file;
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
  const [types, operators] = [{title: 'Time by type', rows: sums(ops, 'type')}, {title: 'Time by operator', rows: byOperator}];
  view.replaceChildren(html('div', {class: 'page', id: 'bars'},
    html('div', {class: 'bar-of-plot'}, html('h2', {}, types.title), exportButton(() => exportBars(view, [types, operators], all))),
    bars(types.rows, all),
    html('div', {class: 'bar-of-plot'}, html('h2', {}, operators.title),
      html('p', {class: 'legend'}, html('span', {}, model.bench.roofline ? 'Colour: share of the limit,' : 'Colour: time,'), ...colour.legend)),
    bars(operators.rows, all)));
}
