// SPDX-License-Identifier: Apache-2.0
// The parts of the report of a quantisation. Signal to noise is given in decibels; null: there is no noise.

const decibelText = (db) => (db === null || db === undefined ? 'exact' : `${db.toFixed(1)} dB`.replace('-', '−'));
const shareText = (part) => `${(100 * part).toFixed(1)} %`;
const MOST_DECIBELS = 60;  // where the bars end: beyond it no difference matters

const part = (title, note, ...children) =>
  html('section', {class: 'part'}, html('h2', {}, title), ...(note ? [html('p', {class: 'note'}, note)] : []), ...children);

// Rows of a table whose first column is a name and the others numbers. On a narrow window a row is a block of its own, in which
// every number has its column's title.
const headCells = (titles) => titles.map((title, i) => html('th', {scope: 'col', class: i > 0 ? 'number' : ''}, title));
const dataCells = (titles, values) => values.map((value, i) => html('td', i > 0 ? {class: 'number', 'data-label': titles[i]} : {class: 'name'}, value));
const stacked = (name, heads, rows) => html('table', {class: `stacked ${name}`}, html('thead', {}, html('tr', {}, ...heads)), html('tbody', {}, ...rows));

function meter(db) {
  const width = db === null ? 100 : Math.max(0, Math.min(100, 100 * db / MOST_DECIBELS));
  return html('td', {class: 'meter-cell'}, html('span', {class: 'meter'}, html('i', {style: `width: ${width}%`})));
}

// Returns a table of one set of samples against the float model: rows of the weights alone, the activations alone,
// and all.
function comparison(title, set) {
  const rows = [['integer model', set.all], ...Object.entries(set.other_outputs ?? {}).map(([name, c]) => [`output ${name}`, c]),
    ['weights alone', set.weights], ['activations alone', set.activations]].filter(([, c]) => c.samples > 0);
  if (rows.length === 0) return null;
  const hasClasses = rows.some(([, c]) => c.agreement !== undefined), hasLabels = rows.some(([, c]) => c.accuracy !== undefined);
  const columns = ['', 'SQNR', ...(hasClasses ? ['top-1', 'top-5'] : []), ...(hasLabels ? ['accuracy', 'float accuracy'] : []), 'samples'];
  const share = (value) => (value === undefined ? '' : shareText(value));
  const [head, ...heads] = headCells(columns);
  return html('div', {}, html('h3', {}, title), stacked('set', [head, html('th', {class: 'meter-cell'}), ...heads],
    rows.map(([name, c]) => {
      const [first, ...others] = dataCells(columns, [name, decibelText(c.sqnr_db), ...(hasClasses ? [share(c.agreement), share(c.agreement_top5)] : []),
        ...(hasLabels ? [share(c.accuracy), share(c.float_accuracy)] : []), groupedText(c.samples)]);
      return html('tr', {}, first, meter(c.sqnr_db), ...others);
    })));
}

// From one signal to noise to another, on a scale of all that the steps have.
function change(before, after, [from, to], isKept) {
  const at = (db) => `${Math.max(1, Math.min(99, 1 + 98 * ((db ?? to) - from) / (to - from)))}%`;
  return svg('svg', {class: isKept ? 'kept' : 'dropped', role: 'img', 'aria-label': `${decibelText(before)} to ${decibelText(after)}`},
    svg('line', {x1: '0%', x2: '100%', y1: 9, y2: 9}), svg('line', {class: 'change', x1: at(before), x2: at(after), y1: 9, y2: 9}),
    svg('circle', {cx: at(before), cy: 9, r: 4}), svg('circle', {class: 'after', cx: at(after), cy: 9, r: 5}));
}

function steps(ladder) {
  const all = ladder.flatMap((step) => [step, ...step.outputs]).flatMap((s) => [s.before_db, s.after_db]).filter((db) => db !== null);
  const scale = [Math.floor(Math.min(...all)) - 1, Math.ceil(Math.max(...all)) + 1];
  const row = (name, s, badge, isKept) => html('div', {class: 'step'}, name, badge, change(s.before_db, s.after_db, scale, isKept),
    html('span', {class: 'number'}, `${decibelText(s.before_db)} → ${decibelText(s.after_db)}`));
  return html('div', {class: 'steps'}, ...ladder.flatMap((step) => [
    row(html('span', {}, step.rung), step, html('span', {class: step.kept ? 'badge kept' : 'badge'}, step.kept ? 'kept' : 'not kept'), step.kept),
    ...(step.outputs.length < 2 ? [] : step.outputs.map((o) => row(html('span', {class: 'output'}, o.output), o, html('span'), step.kept)))]));
}

// The values of a tensor, as high as the logarithms of their counts, and the ends of what its integers can hold.
function picture({histogram: h}) {
  if (!h) return '';
  const width = 180, height = 44, step = width / h.counts.length, span = h.to - h.from || 1;
  const most = Math.log1p(h.counts.reduce((a, b) => Math.max(a, b), 1));
  const bars = h.counts.map((count, i) => count === 0 ? '' : `M${(i * step).toFixed(1)} ${height}v${(-height * Math.log1p(count) / most).toFixed(1)}h${(step + 0.2).toFixed(2)}V${height}z`);
  const ends = [h.low, h.high].map((end) => (end - h.from) / span).filter((at) => at >= 0 && at <= 1);
  return tipped(svg('svg', {class: 'histogram', viewBox: `0 0 ${width} ${height}`, preserveAspectRatio: 'none', role: 'img', 'aria-label': 'histogram of the values'},
    svg('path', {class: 'bars', d: bars.join('')}), ...ends.map((at) => svg('line', {class: 'mark', x1: at * width, x2: at * width, y1: 0, y2: height}))),
    `values ${realText(h.from)} to ${realText(h.to)}\nintegers hold ${realText(h.low)} to ${realText(h.high)}`);
}

const worst = (db) => (db === null ? Infinity : db);
const TENSOR_COLUMNS = [
  {title: 'tensor', key: (t) => t.name, isText: true},
  {title: 'values', isPicture: true},
  {title: 'alone', key: (t) => worst(t.sqnr_alone_db), text: (t) => decibelText(t.sqnr_alone_db)},
  {title: 'so far', key: (t) => worst(t.sqnr_cumulative_db), text: (t) => decibelText(t.sqnr_cumulative_db)},
  {title: 'worst channel', key: (t) => worst(t.worst_channel_db ?? null), text: (t) => (t.worst_channel === undefined ? '' : `${t.worst_channel}: ${decibelText(t.worst_channel_db)}`)},
  {title: 'clipped', key: (t) => -t.clipped, text: (t) => `${+(100 * t.clipped).toPrecision(2)} %`},
  {title: 'integers used', key: (t) => t.codes_used, text: (t) => groupedText(t.codes_used)},
  {title: 'mean shift', key: (t) => -Math.abs(t.mean_shift), text: (t) => (Math.abs(t.mean_shift) < 0.0005 ? '0' : realText(+t.mean_shift.toFixed(3)))},
  {title: 'bias headroom', key: (t) => t.bias_headroom_bits ?? Infinity, text: (t) => (t.bias_headroom_bits === undefined ? '' : `${t.bias_headroom_bits.toFixed(1)} bits`)},
  {title: 'range', key: (t) => t.rule, text: (t) => t.rule},
  {title: 'remedy', key: (t) => (t.remedy === '' ? '~' : t.remedy), isText: true},
];

function tensorRow(t) {
  return html('tr', {}, ...TENSOR_COLUMNS.map((column) => {
    if (column.isPicture) return html('td', {class: 'picture'}, picture(t));
    if (column.title === 'tensor')
      return html('td', {class: 'name'}, html('b', {}, t.name), html('br'), html('span', {class: 'note'}, `${t.op}, ${t.bits} bits`));
    if (column.title === 'remedy') return html('td', {class: 'remedy', ...(t.remedy && {'data-label': 'remedy'})}, t.remedy);
    return html('td', {class: 'number', 'data-label': column.title}, column.text(t));
  }));
}

const ROWS_AT_FIRST = 40;

// A table that is sorted by a click on its heads and shows what is searched for.
function tensorTable(tensors) {
  let sorted = 2, most = ROWS_AT_FIRST;
  const body = html('tbody'), count = html('output', {class: 'note'});
  const heads = TENSOR_COLUMNS.map((column, i) => html('th', {scope: 'col', class: column.isText || column.isPicture ? '' : 'number'},
    column.key ? html('button', {click: () => { sorted = i; show(); }}, column.title) : column.title));
  const find = html('input', {type: 'search', id: 'find', placeholder: 'Search  /', 'aria-label': 'search tensors', input: () => show()});
  const more = html('button', {class: 'button', click: () => { most = Infinity; show(); }});
  const show = () => {
    const text = find.value.trim().toLowerCase(), {key} = TENSOR_COLUMNS[sorted];
    const found = tensors.filter((t) => `${t.name} ${t.op} ${t.rule} ${t.remedy}`.toLowerCase().includes(text));
    const order = found.map((t) => [key(t), t]).sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));
    body.replaceChildren(...order.slice(0, most).map(([, t]) => tensorRow(t)));
    heads.forEach((head, i) => (i === sorted ? head.setAttribute('aria-sort', 'ascending') : head.removeAttribute('aria-sort')));
    count.textContent = `${groupedText(found.length)} of ${groupedText(tensors.length)} tensors`;
    more.hidden = order.length <= most;
    more.textContent = `Show all ${groupedText(order.length)}`;
  };
  show();
  return [html('div', {class: 'finder'}, find, count),
    html('div', {class: 'wide'}, html('table', {class: 'stacked tensors'}, html('thead', {}, html('tr', {}, ...heads)), body)), more];
}

// Signal to noise against time of the model with 16 bits for more of its tensors.
function drawWide(wide, width, height) {
  const box = {left: 62, right: width - 24, top: 18, bottom: height - 44};
  const most = Math.max(...wide.map((w) => w.roofline_ms)), dbs = wide.map((w) => w.sqnr_db ?? MOST_DECIBELS);
  const low = Math.floor(Math.min(...dbs) - 1), high = Math.ceil(Math.max(...dbs) + 1);
  const x = (ms) => box.left + ms / most * (box.right - box.left), y = (db) => box.bottom - (db - low) / (high - low) * (box.bottom - box.top);
  const step = Math.max(1, Math.ceil((high - low) / 6));
  const marks = [];
  for (let db = low; db <= high; db += step) {
    marks.push(svg('line', {class: 'grid', x1: box.left, x2: box.right, y1: y(db), y2: y(db)}), svg('text', {x: box.left - 8, y: y(db) + 4, 'text-anchor': 'end'}, `${db} dB`));
  }
  for (const ms of roundMarks(most, width > 600 ? 6 : 3)) marks.push(svg('text', {x: x(ms), y: box.bottom + 18, 'text-anchor': 'middle'}, ms === 0 ? '0' : timeText(ms)));
  return svg('svg', {class: 'plot', id: 'wide', height}, ...marks,
    svg('path', {class: 'path', d: wide.map((w, i) => `${i === 0 ? 'M' : 'L'}${x(w.roofline_ms)} ${y(dbs[i])}`).join('')}),
    ...wide.map((w, i) => tipped(svg('circle', {class: 'dot', cx: x(w.roofline_ms), cy: y(dbs[i]), r: 6, tabindex: 0}),
      `${w.tensors.length === 0 ? 'as it is' : `${w.tensors.length} tensors with 16 bits`}\n${decibelText(w.sqnr_db)}, ${timeText(w.roofline_ms)}`)),
    ...wide.map((w, i) => svg('text', {class: 'point-name', x: x(w.roofline_ms), y: y(dbs[i]) - 11}, w.tensors.length === 0 ? 'as it is' : `+${w.tensors.length}`)),
    svg('text', {x: (box.left + box.right) / 2, y: height - 6, 'text-anchor': 'middle'}, 'time of a run on a nominal core'));
}

function wideTable(wide) {
  const titles = ['16 bits for', 'SQNR', 'time', 'multiplications', 'bytes'];
  return html('div', {class: 'wide'}, stacked('', headCells(titles),
    wide.map((w, i) => {
      const added = w.tensors.slice(i === 0 ? 0 : wide[i - 1].tensors.length);
      return html('tr', {}, ...dataCells(titles, [w.tensors.length === 0 ? 'nothing more: as it is' : `${i > 1 ? 'also ' : ''}${added.join(', ')}`,
        decibelText(w.sqnr_db), timeText(w.roofline_ms), countText(w.macs), bytesText(w.bytes)]));
    })));
}

function nodeTable(nodes) {
  const rank = {F: 0, I1: 1, I0: 2};
  const sorted = nodes.map((n, i) => [rank[n.level] ?? 1, i, n]).sort(([a, i], [b, k]) => a - b || i - k);
  return html('div', {class: 'wide'}, html('table', {class: 'nodes'},
    html('tr', {}, ...['node', 'operator', 'becomes', 'level'].map((name) => html('th', {scope: 'col'}, name))),
    ...sorted.map(([, , n]) => html('tr', {}, html('td', {}, n.node), html('td', {}, n.op), html('td', {}, n.becomes), html('td', {}, n.level)))));
}

const TERMS = [
  ['SQNR', 'Signal to quantisation noise ratio: how much larger a value is than its error, in decibels. 20 dB is an error of 10 %, 40 dB of 1 %. More is better.'],
  ['top-1, top-5', 'Share of the samples for which the integer model’s first class is the float model’s, and for which the float model’s first class is among the integer model’s first five.'],
  ['accuracy', 'Share of the samples for which the first class is the label’s.'],
  ['held out', 'Samples that no range was made from: they show what the model does with what it has not seen.'],
  ['weights alone, activations alone', 'The float model in which only these are rounded.'],
  ['step', 'A change that could bring the integer model nearer to the float model. It is kept only if it does on the held-out samples.'],
  ['alone, so far', 'SQNR of a tensor with its own rounding only, and with all roundings up to it.'],
  ['worst channel', 'The output channel whose weights lose most by rounding, and their SQNR.'],
  ['clipped', 'Share of the values outside what the integers can hold. A tensor’s picture is the histogram of its values with logarithmic heights; the red lines are the ends of what the integers can hold.'],
  ['integers used', 'How many integers lie between the least and the greatest value that occur.'],
  ['mean shift', 'How far rounding moves the mean, in standard deviations.'],
  ['bias headroom', 'How many bits the greatest bias is away from 32.'],
  ['range', 'The rule that chose the ends: min-max, a percentile, mse (least mean squared error), entropy (least divergence of the distributions), search (by the model’s outputs).'],
];
const terms = () => html('dl', {class: 'terms'}, ...TERMS.flatMap(([name, meaning]) => [html('dt', {}, name), html('dd', {}, meaning)]));
