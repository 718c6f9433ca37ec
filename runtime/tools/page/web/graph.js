// The graph: inputs, operators and outputs of a model; wheel and buttons zoom, dragging moves it.

// Nodes in an order in which every edge leads onwards: inputs and the first content of variables, operators, outputs.
function graphOf(model) {
  const nodes = [], writer = [], edges = [];
  const add = (node) => nodes.push(node) - 1;
  for (const t of model.inputs) writer[t] = add({kind: 'input', tensor: t, title: model.tensors[t].name});
  for (const v of model.variables) writer[v.tensor] = add({kind: 'state', tensor: v.tensor, title: model.tensors[v.tensor].name});
  model.operators.forEach((op, index) => {
    const node = add({kind: 'operator', index, title: op.type, name: op.name});
    for (const t of new Set(op.inputs)) if (writer[t] !== undefined) edges.push([writer[t], node, t]);
    for (const t of op.outputs) writer[t] = node;
  });
  const end = (kind, t) => {
    const node = add({kind, tensor: t, title: model.tensors[t].name});
    if (writer[t] !== undefined) edges.push([writer[t], node, t]);
  };
  for (const t of model.outputs) end('output', t);
  for (const v of model.variables) end('next state', v.next);
  return {nodes, edges};
}

function drawNode(node, x, y) {
  const {width, height} = BOX;
  const isOperator = node.kind === 'operator';
  const label = svg('text', {'text-anchor': 'middle', y: isOperator ? -3 : 4}, shortened(node.title, 24));
  const shape = isOperator
    ? svg('rect', {x: -width / 2, y: -height / 2, width, height, rx: 5})
    : svg('ellipse', {rx: width / 2, ry: height / 2, fill: '#fff'});
  const group = svg('g', {class: `node ${node.kind}`, transform: `translate(${x} ${y})`, tabindex: 0, role: 'button'}, shape, label);
  if (isOperator) {
    group.setAttribute('data-operator', node.index);
    group.append(svg('text', {class: 'name', 'text-anchor': 'middle', y: 13}, shortened(node.name, 32)));
  }
  return titled(group, isOperator ? `${node.index}: ${node.title}\n${node.name}` : `${node.kind} ${node.title}`);
}

// Through the points, upright at each.
function routeText(points) {
  return points.map(([x, y], i) => {
    if (i === 0) return `M${x} ${y}`;
    const [fromX, fromY] = points[i - 1];
    const middle = (fromY + y) / 2;
    return `C${fromX} ${middle} ${x} ${middle} ${x} ${y}`;
  }).join('');
}

// Makes `scene` follow wheel and pointer within `canvas`. Returns {zoom(factor), fit(), show(x, y)}.
function movable(canvas, scene, {width, height, x: [first]}) {
  let scale = 1, left = 0, top = 0;
  const place = () => scene.setAttribute('transform', `translate(${left} ${top}) scale(${scale})`);
  const zoomAt = (factor, x, y) => {
    factor = Math.min(8, Math.max(0.01, scale * factor)) / scale;
    left = x - (x - left) * factor;
    top = y - (y - top) * factor;
    scale *= factor;
    place();
  };
  const centre = () => [canvas.clientWidth / 2, canvas.clientHeight / 2];
  canvas.addEventListener('wheel', (event) => {
    event.preventDefault();
    const box = canvas.getBoundingClientRect();
    zoomAt(Math.exp(-event.deltaY * 0.0015), event.clientX - box.left, event.clientY - box.top);
  }, {passive: false});
  let drag = null;
  canvas.addEventListener('pointerdown', (event) => { drag = [event.clientX, event.clientY]; });
  canvas.addEventListener('pointermove', (event) => {
    if (drag === null || event.buttons === 0) return;
    left += event.clientX - drag[0];
    top += event.clientY - drag[1];
    drag = [event.clientX, event.clientY];
    place();
  });
  return {
    zoom: (factor) => zoomAt(factor, ...centre()),
    // All of it, or as much around the first node as can still be read.
    fit: () => {
      scale = Math.min(1, Math.max(Math.min(canvas.clientWidth / (width + 60), canvas.clientHeight / (height + 60)), 0.55));
      left = canvas.clientWidth / 2 - (width * scale < canvas.clientWidth ? width / 2 : first) * scale;
      top = Math.max(60, (canvas.clientHeight - height * scale) / 2);
      place();
    },
    show: (x, y) => {
      scale = Math.max(scale, 0.7);
      left = centre()[0] - x * scale;
      top = centre()[1] - y * scale;
      place();
    },
  };
}

function showGraph(model, view, choose) {
  const {nodes, edges} = graphOf(model);
  const layout = layoutGraph(nodes.length, edges);
  const scene = svg('g');
  const routes = edges.map(([, , tensor], i) =>
    titled(svg('path', {class: 'edge', d: routeText(layout.routes[i])}), `${model.tensors[tensor].name}: ${typeText(model.tensors[tensor])}`));
  const drawn = nodes.map((node, i) => drawNode(node, layout.x[i], layout.y[i]));
  scene.append(...routes, ...drawn);
  const canvas = svg('svg', {class: 'canvas', id: 'graph'}, scene);
  const camera = movable(canvas, scene, layout);

  const mark = (chosen) => {
    drawn.forEach((element, i) => element.classList.toggle('chosen', i === chosen));
    routes.forEach((element, i) => element.classList.toggle('chosen', edges[i][0] === chosen || edges[i][1] === chosen));
  };
  const open = (i) => {
    mark(i);
    const {kind, index, tensor} = nodes[i];
    choose(kind === 'operator' ? operatorPanel(model, index) : edgePanel(model, tensor, `Model ${kind}`));
  };
  drawn.forEach((element, i) => {
    element.addEventListener('click', () => open(i));
    element.addEventListener('keydown', (event) => { if (event.key === 'Enter') open(i); });
  });

  const legend = html('span', {class: 'legend'});
  const colour = (name) => {
    const {of, legend: parts} = COLOURINGS[name].make(model);
    legend.replaceChildren(...parts);
    nodes.forEach((node, i) => {
      if (node.kind === 'operator') drawn[i].firstChild.setAttribute('fill', of(node.index));
    });
  };
  const names = Object.keys(COLOURINGS).filter((name) => COLOURINGS[name].isThere(model));
  const first = names.includes('time') ? 'time' : 'level';
  const picker = html('select', {id: 'colour', 'aria-label': 'colour', change: () => colour(picker.value)},
    ...names.map((name) => html('option', {value: name, selected: name === first && 'selected'}, COLOURINGS[name].label)));
  const find = html('input', {id: 'find', type: 'search', placeholder: 'find an operator', change: () => {
    const text = find.value.toLowerCase();
    const i = text === '' ? -1 : nodes.findIndex((node) =>
      `${node.index ?? ''} ${node.title} ${node.name ?? ''}`.toLowerCase().includes(text));
    if (i < 0) return;
    camera.show(layout.x[i], layout.y[i]);
    open(i);
  }});
  view.replaceChildren(html('div', {class: 'tools'},
    html('button', {click: () => camera.zoom(1.3), 'aria-label': 'larger'}, '+'),
    html('button', {click: () => camera.zoom(1 / 1.3), 'aria-label': 'smaller'}, '−'),
    html('button', {click: camera.fit}, 'fit'),
    html('label', {}, 'colour: ', picker), legend, find), canvas);
  colour(first);
  camera.fit();
}
