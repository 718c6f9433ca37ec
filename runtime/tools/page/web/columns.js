// SPDX-License-Identifier: Apache-2.0
// Puts a layout into the plane: its layers below each other, in one column or, folded, in several side by side, so that the whole
// of a deep network can be seen at once. An edge from one column to the next runs below the first and up between the two.

const PITCH = BOX.height + BOX.rise;
const MOST_COLUMNS = 16, LEAST_LAYERS = 5;  // of a folded graph and of each column
const LANE = 8, MOST_LANES = 12;            // between columns: edges side by side

// Returns how many edges lead from each layer to the next.
function crossings({layer, chains, layers}) {
  const count = new Array(layers.length).fill(0);
  for (const chain of chains)
    for (let i = 1; i < chain.length; ++i)
      if (layer[chain[i]] === layer[chain[i - 1]] + 1) ++count[layer[chain[i - 1]]];
  return count;
}

// The first layers of `columns` columns, near equal parts, each where few edges are cut.
function cutLayers(count, columns, crossing) {
  const starts = [0];
  const reach = Math.floor(count / columns / 4), weight = Math.min(reach, 4);
  for (let k = 1; k < columns; ++k) {
    const even = Math.round(k * count / columns);
    let best = even;
    for (let at = even - reach; at <= even + reach; ++at)
      if (at > starts[k - 1] && crossing[at - 1] * weight + Math.abs(at - even) < crossing[best - 1] * weight + Math.abs(best - even)) best = at;
    starts.push(best);
  }
  return starts;
}

// Columns that begin at these layers: of each its first and last x and its place, and the size of the whole.
function measureColumns({count, layer, x, layers}, starts, crossing) {
  const half = (node) => (node < count ? BOX.width : BOX.bend) / 2;
  const column = [];
  layers.forEach((_, l) => { column[l] = starts.findLastIndex((start) => start <= l); });
  const parts = starts.map((start, k) => ({start, end: starts[k + 1] ?? layers.length, from: Infinity, to: -Infinity,
    lanes: k === 0 ? 0 : Math.min(MOST_LANES, crossing[start - 1])}));
  layer.forEach((l, node) => {
    const part = parts[column[l]];
    part.from = Math.min(part.from, x[node] - half(node));
    part.to = Math.max(part.to, x[node] + half(node));
  });
  const lanes = parts.reduce((most, part) => Math.max(most, part.lanes), 0);
  const top = lanes > 0 ? lanes * LANE + 14 : 0;
  let right = 0;
  for (const part of parts) {
    part.left = right + (right > 0 ? 28 + part.lanes * LANE : 0);
    right = part.left + Math.max(BOX.width, part.to - part.from);
  }
  const depth = parts.reduce((most, part) => Math.max(most, part.end - part.start), 0);
  return {parts, column, top, width: right, height: depth * PITCH - BOX.rise + 2 * top};
}

// The columns that leave a graph largest in a window; one, where that can be read.
function bestColumns(layout, window, isFolded) {
  const crossing = crossings(layout);
  let best = null;
  for (let columns = 1; columns <= MOST_COLUMNS && (columns === 1 || columns * LEAST_LAYERS <= layout.layers.length); ++columns) {
    const measured = measureColumns(layout, cutLayers(layout.layers.length, columns, crossing), crossing);
    const scale = Math.min(window.width / measured.width, window.height / measured.height);
    if (best === null || scale > best.scale * 1.05) best = {...measured, scale};
    if (!isFolded || best.scale >= 0.85) break;
  }
  return best;
}

// Returns where edges meet a box: as near as can be to where they come from, and apart.
function portsOf(wanted) {
  const reach = BOX.width / 2 - 22, apart = Math.min(22, 2 * reach / Math.max(1, wanted.length - 1));
  const order = wanted.map((_, i) => i).sort((a, b) => wanted[a] - wanted[b]);
  const ports = [];
  let least = -reach;
  order.forEach((i, k) => {
    const most = reach - apart * (order.length - 1 - k);
    ports[i] = Math.min(most, Math.max(least, wanted[i]));
    least = ports[i] + apart;
  });
  return ports;
}

// Returns {x, y, width, height, routes}: centres of nodes, and of every edge {path, from}: the text of its path and the point
// where it leaves its writer.
function placeColumns(layout, window, isFolded) {
  const {count, layer, chains} = layout;
  const {parts, column, top, width, height} = bestColumns(layout, window, isFolded);
  const x = [], y = [];
  layer.forEach((l, node) => {
    const part = parts[column[l]];
    const slack = Math.max(0, BOX.width - (part.to - part.from)) / 2;
    x[node] = layout.x[node] - part.from + part.left + slack;
    y[node] = top + (l - part.start) * PITCH + BOX.height / 2;
  });
  const outs = Array.from({length: count}, () => []), ins = Array.from({length: count}, () => []);
  chains.forEach((chain, i) => {
    outs[chain[0]].push(i);
    ins[chain[chain.length - 1]].push(i);
  });
  const start = [], end = [];
  const isNear = (a, b) => column[layer[a]] === column[layer[b]];
  for (let node = 0; node < count; ++node) {
    const toward = (other, away) => (isNear(node, other) ? x[other] - x[node] : away);
    const out = portsOf(outs[node].map((i) => toward(chains[i][1], 30)));
    outs[node].forEach((i, k) => { start[i] = x[node] + out[k]; });
    const into = portsOf(ins[node].map((i) => toward(chains[i][chains[i].length - 2], -30)));
    ins[node].forEach((i, k) => { end[i] = x[node] + into[k]; });
  }
  const used = parts.map(() => 0);
  const routes = chains.map((chain, i) => {
    const points = chain.map((node, k) => ({
      x: k === 0 ? start[i] : k === chain.length - 1 ? end[i] : x[node],
      y: k === 0 ? y[node] + BOX.height / 2 : k === chain.length - 1 ? y[node] - BOX.height / 2 : y[node],
      column: column[layer[node]],
    }));
    let path = `M${points[0].x} ${points[0].y}`;
    for (let k = 1; k < points.length; ++k) {
      const from = points[k - 1], to = points[k];
      if (from.column === to.column) {
        const middle = (from.y + to.y) / 2;
        path += `C${from.x} ${middle} ${to.x} ${middle} ${to.x} ${to.y}`;
        continue;
      }
      const lane = LANE * (used[to.column]++ % MOST_LANES) + 8;
      const isNext = to.column === from.column + 1;
      const below = isNext ? from.y + (k === 1 ? 0 : BOX.height / 2) + lane : height - top + lane;
      path += cornersText([from.x, from.y], below, parts[to.column].left - 8 - lane, top - lane, [to.x, to.y]);
    }
    return {path, from: points[0], to: points[1]};
  });
  return {x, y, width, height, routes};
}

// Down to `below`, across to `gutter`, up to `above`, across, and down: with round corners.
function cornersText([fromX, fromY], below, gutter, above, [toX, toY]) {
  const r = 6, side = Math.sign(gutter - fromX) || 1, back = Math.sign(toX - gutter) || 1;
  return `C${fromX} ${fromY} ${fromX} ${below - r} ${fromX} ${below - r}Q${fromX} ${below} ${fromX + side * r} ${below}` +
    `H${gutter - side * r}Q${gutter} ${below} ${gutter} ${below - r}V${above + r}Q${gutter} ${above} ${gutter + back * r} ${above}` +
    `H${toX - back * r}Q${toX} ${above} ${toX} ${above + r}V${toY}`;
}
