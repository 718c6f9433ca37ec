// SPDX-License-Identifier: Apache-2.0
// Places the nodes of a graph without cycles in layers, every edge leading downwards; the steps are those of Sugiyama, Tagawa
// and Toda (1981): layers by the longest path, an order within each that crosses few edges, then places that keep edges
// straight. An edge over several layers bends in each at a point that takes its part in both.

const BOX = {width: 224, height: 48, bend: 18, gap: 22, rise: 44};
const MOST_BENDS = 80;  // of one edge; a longer one is drawn as one curve

// Nodes are 0 .. count - 1, and every edge [from, to] has from < to. Returns {layer, x, chains, layers}: the layer and the place
// within it of every node and bend, and of every edge the nodes and bends that it passes.
function layoutGraph(count, edges) {
  const {layer, layers} = findLayers(count, edges);
  const graph = withBends(count, edges, layer, layers);
  orderLayers(graph, layers);
  return {count, layer: graph.layer, x: placeInLayers(graph, layers), chains: graph.chains, layers};
}

// Layers by the longest path from above; what has nothing above it stands right over its first reader.
function findLayers(count, edges) {
  const layer = new Array(count).fill(0);
  const hasWriter = new Array(count).fill(false);
  const readers = Array.from({length: count}, () => []);
  for (const [from, to] of edges) {
    readers[from].push(to);
    hasWriter[to] = true;
  }
  for (let i = 0; i < count; ++i)
    for (const to of readers[i]) layer[to] = Math.max(layer[to], layer[i] + 1);
  for (let i = 0; i < count; ++i)
    if (!hasWriter[i] && readers[i].length > 0)
      layer[i] = readers[i].reduce((least, to) => Math.min(least, layer[to]), Infinity) - 1;
  const layers = [];
  for (let i = 0; i < count; ++i) (layers[layer[i]] ??= []).push(i);
  for (let i = 0; i < layers.length; ++i) layers[i] ??= [];
  return {layer, layers};
}

// Adds the bends to the layers. `above` and `below` name the neighbours of every node and bend.
function withBends(count, edges, layer, layers) {
  const graph = {count, layer: layer.slice(), above: [], below: [], chains: []};
  for (let i = 0; i < count; ++i) graph.above[i] = [], graph.below[i] = [];
  const link = (from, to) => {
    graph.below[from].push(to);
    graph.above[to].push(from);
  };
  for (const [from, to] of edges) {
    const chain = [from];
    const isShort = layer[to] - layer[from] <= MOST_BENDS;
    for (let l = layer[from] + 1; l < layer[to] && isShort; ++l) {
      const bend = graph.layer.push(l) - 1;
      graph.above[bend] = [], graph.below[bend] = [];
      layers[l].push(bend);
      link(chain[chain.length - 1], bend);
      chain.push(bend);
    }
    if (isShort) link(chain[chain.length - 1], to);
    chain.push(to);
    graph.chains.push(chain);
  }
  return graph;
}

const mean = (values) => values.reduce((sum, value) => sum + value, 0) / values.length;

// Sorts every layer by the middle of its neighbours', downwards and upwards in turns.
function orderLayers(graph, layers) {
  const position = [];
  const number = (nodes) => nodes.forEach((node, i) => position[node] = i);
  layers.forEach(number);
  const sort = (nodes, neighbours) => {
    const middle = new Map(nodes.map((node) => {
      const places = neighbours[node].map((n) => position[n]);
      return [node, places.length > 0 ? mean(places) : position[node]];
    }));
    nodes.sort((a, b) => middle.get(a) - middle.get(b) || position[a] - position[b]);
    number(nodes);
  };
  for (let round = 0; round < 8; ++round) {
    for (const nodes of layers) sort(nodes, graph.above);
    for (const nodes of layers.slice().reverse()) sort(nodes, graph.below);
  }
}

// Moves every layer towards its neighbours, keeping order and distances.
function placeInLayers(graph, layers) {
  const half = (node) => (node < graph.count ? BOX.width : BOX.bend) / 2;
  const x = [];
  for (const nodes of layers) {
    let at = 0;
    for (const node of nodes) {
      x[node] = at + half(node);
      at += 2 * half(node) + BOX.gap;
    }
  }
  for (let round = 0; round < 12; ++round) {
    const down = round % 2 === 0;
    for (const nodes of down ? layers : layers.slice().reverse()) {
      const neighbours = down ? graph.above : graph.below;
      const wanted = nodes.map((node) => {
        const near = neighbours[node];
        return near.length > 0 ? mean(near.map((n) => x[n])) : x[node];
      });
      const offsets = [];
      nodes.forEach((node, i) =>
        offsets.push(i === 0 ? 0 : offsets[i - 1] + half(nodes[i - 1]) + BOX.gap + half(node)));
      ascending(wanted.map((value, i) => value - offsets[i])).forEach((value, i) => x[nodes[i]] = value + offsets[i]);
    }
  }
  return x;
}

// The ascending numbers nearest to `values` by least squares: neighbours in the wrong order become their mean.
function ascending(values) {
  const runs = [];
  for (const value of values) {
    let run = {sum: value, count: 1};
    while (runs.length > 0 && runs[runs.length - 1].sum / runs[runs.length - 1].count > run.sum / run.count) {
      const before = runs.pop();
      run = {sum: before.sum + run.sum, count: before.count + run.count};
    }
    runs.push(run);
  }
  return runs.flatMap((run) => new Array(run.count).fill(run.sum / run.count));
}
