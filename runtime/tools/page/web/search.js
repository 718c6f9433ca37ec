// SPDX-License-Identifier: Apache-2.0
// Search in the graph: every node that has the text in its type, name, source, kernel, tensors or shapes.

function wordsOf(model, node) {
  const tensorWords = (t) => `${model.tensors[t].name} ${model.tensors[t].dtype} ${model.tensors[t].shape.join('x')} ${(model.tensors[t].dims ?? []).join(' ')}`;
  if (node.kind !== 'operator') return `${node.kind} ${tensorWords(node.tensor)}`.toLowerCase();
  const op = model.operators[node.index];
  return [node.index, op.type, op.name, op.source_op, op.kernel, op.level, ...[...op.inputs, ...op.outputs].map(tensorWords)].join(' ').toLowerCase();
}

// choose(i) is called with each node that is found, mark(found) with all of them as a set.
function searchBox(model, nodes, mark, choose) {
  const words = nodes.map((node) => wordsOf(model, node));
  let found = [], at = -1;
  const count = html('output', {class: 'found', 'aria-live': 'polite'});
  const tell = () => {
    count.textContent = box.value === '' ? '' : found.length === 0 ? 'none' : `${at + 1} of ${found.length}`;
  };
  const find = () => {
    const text = box.value.trim().toLowerCase().replaceAll('×', 'x');
    found = text === '' ? [] : nodes.map((_, i) => i).filter((i) => words[i].includes(text));
    at = -1;
    mark(new Set(found));
    step(1);
  };
  const step = (by) => {
    if (found.length > 0) {
      at = (at + by + found.length) % found.length;
      choose(found[at]);
    }
    tell();
  };
  const box = html('input', {
    id: 'find', type: 'search', placeholder: 'Search  /', 'aria-label': 'search operators and tensors', autocomplete: 'off', spellcheck: 'false',
    input: find,
    keydown: (event) => {
      if (event.key === 'Enter') step(event.shiftKey ? -1 : 1);
      if (event.key === 'Escape') {
        box.value = '';
        find();
        box.blur();
      }
    },
  });
  return [box, count];
}
