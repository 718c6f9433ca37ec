// SPDX-License-Identifier: Apache-2.0
// The graph: inputs, operators and outputs of a model.

// Nodes in an order in which every edge leads onwards: inputs and the first content of variables, operators, outputs.
function graphOf(model) {
  const nodes = [], writer = [], edges = [];
  const add = (node) => nodes.push(node) - 1;
  const end = (kind, t) => add({kind, tensor: t, title: model.tensors[t].name || `tensor ${t}`, type: `${model.tensors[t].dtype} ${namedDimsText(model.tensors[t])}`});
  for (const t of model.inputs) writer[t] = end('input', t);
  for (const v of model.variables) writer[v.tensor] = end('state', v.tensor);
  model.operators.forEach((op, index) => {
    const node = add({kind: 'operator', index, title: op.type, name: op.name});
    for (const t of new Set(op.inputs)) if (writer[t] !== undefined) edges.push([writer[t], node, t]);
    for (const t of op.outputs) writer[t] = node;
  });
  const last = (kind, t) => {
    const node = end(kind, t);
    if (writer[t] !== undefined) edges.push([writer[t], node, t]);
  };
  for (const t of model.outputs) last('output', t);
  for (const v of model.variables) last('next state', v.next);
  return {nodes, edges};
}

// The node that an arrow key leads to from node `i`: along an edge, or to the next one beside it.
function neighbour(key, i, edges, layer, x) {
  const nearest = (nodes) => nodes.reduce((best, n) => (best === undefined || Math.abs(x[n] - x[i]) < Math.abs(x[best] - x[i]) ? n : best), undefined);
  if (key === 'ArrowDown') return nearest(edges.filter(([from]) => from === i).map(([, to]) => to));
  if (key === 'ArrowUp') return nearest(edges.filter(([, to]) => to === i).map(([from]) => from));
  const side = key === 'ArrowRight' ? 1 : -1;
  const beside = nearest(layer.map((_, n) => n).filter((n) => layer[n] === layer[i] && (x[n] - x[i]) * side > 0));
  return beside ?? nearest(edges.flatMap(([from, to]) => (from === i ? [to] : to === i ? [from] : [])).filter((n) => (x[n] - x[i]) * side > 1));
}

// A picture of all that follows from a layout: {elements of nodes, of edges}, put into the scene.
function drawScene(model, scene, nodes, edges, placed) {
  const routes = edges.map(([, , tensor], i) =>
    tipped(svg('path', {class: 'edge', d: placed.routes[i].path, 'marker-end': 'url(#arrow)'}), `${model.tensors[tensor].name}\n${typeText(model.tensors[tensor])}`));
  const drawn = nodes.map((node, i) => drawNode(node, placed.x[i], placed.y[i]));
  scene.replaceChildren(
    svg('defs', {}, svg('marker', {id: 'arrow', viewBox: '0 0 8 8', refX: 7, refY: 4, markerWidth: 7, markerHeight: 7, markerUnits: 'userSpaceOnUse', orient: 'auto'},
      svg('path', {class: 'arrow', d: 'M0 0L8 4L0 8z'}))),
    ...routes, ...drawShapes(model, edges, placed.routes), ...drawn);
  return {routes, drawn};
}

const KEYS = `Keys
arrows: along the edges
Enter: details · Escape: close
/: search · Enter, Shift+Enter: next, previous
+ −: zoom · f: fit · c: columns
1 to 4: views`;

function showGraph(model, view, choose) {
  const {nodes, edges} = graphOf(model);
  const layout = layoutGraph(nodes.length, edges);
  const scene = svg('g', {class: 'scene'});
  const canvas = svg('svg', {class: 'canvas', id: 'graph', role: 'group', 'aria-label': 'graph: arrow keys lead along its edges'}, scene);
  let placed, routes, drawn, colouring, isFolded = true, current = 0, chosen = null;
  const camera = makeCamera(canvas, scene, () => placed);

  const colour = () => nodes.forEach((node, i) => {
    if (node.kind !== 'operator') return;
    drawn[i].firstChild.setAttribute('fill', colouring.of(node.index));
    showValue(drawn[i], node, colouring.text(node.index));
  });
  const focusable = (i) => {
    drawn[current].setAttribute('tabindex', -1);
    current = i;
    drawn[current].setAttribute('tabindex', 0);
  };
  const mark = () => {
    drawn.forEach((element, i) => element.classList.toggle('chosen', i === chosen));
    routes.forEach((element, i) => element.classList.toggle('chosen', edges[i][0] === chosen || edges[i][1] === chosen));
  };
  const open = (i) => {
    chosen = i;
    focusable(i);
    mark();
    const {kind, index, tensor} = nodes[i];
    choose(kind === 'operator' ? operatorPanel(model, index) : tensorPanel(model, tensor, `Model ${kind}`), () => {
      chosen = null;
      mark();
    });
    camera.reveal(placed.x[i], placed.y[i], false);
  };
  const draw = () => {
    placed = placeColumns(layout, camera.window(), isFolded);
    ({routes, drawn} = drawScene(model, scene, nodes, edges, placed));
    drawn.forEach((element, i) => element.addEventListener('click', () => open(i)));
    colour();
    focusable(current);
    mark();
  };
  const onKey = (event) => {
    const {key} = event;
    const i = drawn.indexOf(event.target);
    if (i >= 0 && (key === 'Enter' || key === ' ')) {
      open(i);
    } else if (i >= 0 && key.startsWith('Arrow')) {
      const to = neighbour(key, i, edges, layout.layer.slice(0, nodes.length), placed.x);
      if (to !== undefined) {
        focusable(to);
        camera.reveal(placed.x[to], placed.y[to], false);
        drawn[to].focus({preventScroll: true});
      }
    } else {
      return;
    }
    event.preventDefault();
  };
  canvas.addEventListener('keydown', onKey);

  const [find, count] = searchBox(model, nodes, (found) => {
    scene.classList.toggle('searching', found.size > 0);
    drawn.forEach((element, i) => element.classList.toggle('match', found.has(i)));
  }, (i) => {
    open(i);
    camera.reveal(placed.x[i], placed.y[i], true);
  });
  const names = Object.keys(COLOURINGS).filter((name) => COLOURINGS[name].isThere(model));
  const legend = html('span', {class: 'legend'});
  const choice = html('select', {id: 'colour', 'aria-label': 'colour of the boxes', change: () => {
    colouring = COLOURINGS[choice.value].make(model);
    legend.replaceChildren(...colouring.legend);
    colour();
  }}, ...names.map((name) => html('option', {value: name}, COLOURINGS[name].label)));
  choice.value = names.includes('time') ? 'time' : 'level';
  const button = (label, tip, click, more = {}) => tipped(html('button', {class: 'button', click, 'aria-label': tip, ...more}, label), tip);
  const fold = button('Columns', 'Several columns side by side, or one  (c)', () => {
    isFolded = !isFolded;
    fold.setAttribute('aria-pressed', isFolded);
    draw();
    camera.start([placed.x[0], placed.y[0]]);
  }, {id: 'fold', 'aria-pressed': 'true'});
  const picture = () => {
    const camera = scene.getAttribute('transform'), look = scene.getAttribute('class');
    scene.setAttribute('class', 'scene');
    scene.removeAttribute('transform');
    const text = standalone(canvas, [-20, -20, placed.width + 40, placed.height + 40], groundColour('--sunken'));
    scene.setAttribute('class', look);
    scene.setAttribute('transform', camera);
    return ['graph.svg', text];
  };
  view.replaceChildren(html('div', {class: 'stage'},
    html('div', {class: 'tools'},
      html('span', {class: 'group'},
        button('+', 'Larger  (+)', () => camera.zoom(1.3)), button('−', 'Smaller  (−)', () => camera.zoom(1 / 1.3)),
        button('Fit', 'The whole graph  (f)', camera.fit, {id: 'fit'}), fold, exportButton(picture), button('?', KEYS, () => {}, {class: 'button keys'})),
      html('span', {class: 'group'}, choice, legend),
      html('span', {class: 'group search'}, count, find)),
    canvas));
  colouring = COLOURINGS[choice.value].make(model);
  legend.replaceChildren(...colouring.legend);
  draw();
  camera.start([placed.x[0], placed.y[0]]);
  return {
    keys: {'+': () => camera.zoom(1.3), '=': () => camera.zoom(1.3), '-': () => camera.zoom(1 / 1.3), f: camera.fit, c: () => fold.click(), '/': () => find.focus()},
  };
}
