// SPDX-License-Identifier: Apache-2.0
// The report's graph, every operator coloured by its part in the error, and pictures before and after quantisation.

const LEAST_SCALE = 0.3;  // of the graph: smaller boxes show nothing

function drawErrorGraph({nodes, edges}, width) {
  const most = nodes.reduce((greatest, node) => Math.max(greatest, node.share ?? 0), 0);
  const placed = placeColumns(layoutGraph(nodes.length, edges), {width, height: 640}, true);
  const scale = Math.max(LEAST_SCALE, Math.min(1, width / (placed.width + 8)));
  const drawn = nodes.map((node, i) => {
    const box = drawNode({kind: node.kind, index: i, title: node.kind === 'operator' ? node.op : node.name, name: node.name, type: ''}, placed.x[i], placed.y[i]);
    const share = node.share === null || most === 0 ? undefined : percentText(node.share);
    box.dataset.tip = [node.kind === 'operator' ? `${node.op}\n${node.name}` : `${node.kind}\n${node.name}`, share === undefined ? 'is not rounded' : `${share} of the error`].join('\n');
    if (node.kind !== 'operator') {
      box.querySelector('.name').textContent = node.kind;
    } else {
      box.firstChild.setAttribute('fill', share === undefined ? 'var(--none)' : heat(node.share / most));
      showValue(box, {title: node.op}, share ?? '');
    }
    return box;
  });
  const size = {width: (placed.width + 8) * scale, height: (placed.height + 8) * scale};
  const scene = svg('g', {class: `scene${scale < 0.45 ? ' far' : scale < 0.7 ? ' middle' : ''}`}, ...placed.routes.map((route) => svg('path', {class: 'edge', d: route.path})), ...drawn);
  return svg('svg', {class: 'error-graph', id: 'error-graph', role: 'img', 'aria-label': 'the graph, coloured by the part in the error', ...size,
    viewBox: `-4 -4 ${placed.width + 8} ${placed.height + 8}`}, scene);
}

function errorGraph(graph) {
  const frame = html('div', {class: 'graph-frame'}), most = graph.nodes.reduce((greatest, node) => Math.max(greatest, node.share ?? 0), 0);
  const draw = () => frame.isConnected && frame.replaceChildren(drawErrorGraph(graph, Math.max(280, frame.clientWidth - 16)));
  return {draw, parts: [html('div', {class: 'legend'}, ...scaleLegend(heat, '0 %', percentText(most))), frame]};
}

function canvasOf(image, label) {
  const canvas = html('canvas', {width: image.width, height: image.height, role: 'img', 'aria-label': label}), bytes = atob(image.rgb);
  const context = canvas.getContext('2d'), pixels = context.createImageData(image.width, image.height);
  for (let i = 0; i < image.width * image.height; ++i) {
    for (let c = 0; c < 3; ++c) pixels.data[4 * i + c] = bytes.charCodeAt(3 * i + c);
    pixels.data[4 * i + 3] = 255;
  }
  context.putImageData(pixels, 0, 0);
  return html('figure', {}, canvas, html('figcaption', {}, label));
}

const pictureRows = (pictures) => html('div', {class: 'pictures'}, ...pictures.map((p) => html('div', {class: 'picture-row'}, canvasOf(p.input, 'input'),
  ...(p.float ? [canvasOf(p.float, 'float model'), canvasOf(p.integers, 'integer model')] : []),
  html('p', {class: 'note'}, [...(p.classes ? [`class ${p.classes[0]} by the float model, ${p.classes[1]} by integers`] : []), `SQNR ${decibelText(p.sqnr_db)}`].join(' · ')))));
