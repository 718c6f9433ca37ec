// SPDX-License-Identifier: Apache-2.0
// The boxes and edges of the graph, drawn.

const FONT = 'Inter, system-ui, sans-serif';
const titleFont = `600 13px ${FONT}`, smallFont = `11.5px ${FONT}`, largeFont = `600 22px ${FONT}`;

// Returns the large text of boxes that are seen from afar.
const largeText = (text) => svg('text', {class: 'large', 'text-anchor': 'middle', x: 4, y: 8}, fitText(text, largeFont, BOX.width - 18));

function drawNode(node, x, y) {
  const {width, height} = BOX;
  const isOperator = node.kind === 'operator';
  const group = svg('g', {class: `node ${node.kind.replace(' ', '-')}`, transform: `translate(${x} ${y})`, tabindex: -1, role: 'button'},
    svg('rect', {class: 'colour', x: -width / 2, y: -height / 2, width, height, rx: isOperator ? 7 : height / 2}));
  const tip = isOperator ? `${node.index}: ${node.title}\n${node.name}` : `${node.kind}: ${node.title}\n${node.type}`;
  group.setAttribute('aria-label', tip.replace('\n', ', '));
  group.dataset.tip = tip;
  if (isOperator) {
    group.dataset.operator = node.index;
    const left = -width / 2 + 9;
    group.append(
      svg('path', {class: 'plate', d: `M${left} ${1 - height / 2}H${width / 2 - 7}q6 0 6 6V${height / 2 - 7}q0 6 -6 6H${left}z`}),
      svg('text', {class: 'title', x: left + 10, y: -4}, node.title),
      svg('text', {class: 'value', x: width / 2 - 10, y: -4, 'text-anchor': 'end'}),
      svg('text', {class: 'name', x: left + 10, y: 14}, fitText(node.name, smallFont, width - 30, true)));
  } else {
    group.append(
      svg('text', {class: 'title', 'text-anchor': 'middle', y: -4}, fitText(node.title, titleFont, width - 36, true)),
      svg('text', {class: 'name', 'text-anchor': 'middle', y: 14}, `${node.kind} · ${fitText(node.type, smallFont, width - 90)}`));
  }
  group.append(largeText(node.title));
  return group;
}

// The value of the chosen colouring, beside the title.
function showValue(element, node, text) {
  const room = BOX.width - 39;
  element.querySelector('.value').textContent = text;
  element.querySelector('.title').textContent = fitText(node.title, titleFont, room - (text === '' ? 0 : textWidth(text, smallFont) + 10));
}

// Shapes beside edges: one for each tensor, on its straightest edge, where it covers no other.
function drawShapes(model, edges, routes) {
  const straightest = new Map();
  edges.forEach(([, , tensor], i) => {
    const bend = Math.abs(routes[i].to.x - routes[i].from.x);
    if (!(straightest.get(tensor)?.bend <= bend)) straightest.set(tensor, {bend, i});
  });
  const taken = new Map();
  const shapes = [];
  for (const [tensor, {i}] of straightest) {
    const {from, to} = routes[i];
    const text = dimsText(model.tensors[tensor].shape);
    const x = (from.column === to.column ? (from.x + to.x) / 2 : from.x) + 7, y = from.y + BOX.rise / 2 + 4;
    const row = taken.get(y) ?? [];
    const end = x + textWidth(text, smallFont) + 6;
    if (row.some(([a, b]) => x < b && end > a)) continue;
    taken.set(y, [...row, [x, end]]);
    shapes.push(svg('text', {class: 'shape', x, y}, text));
  }
  return shapes;
}
