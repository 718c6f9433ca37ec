// SPDX-License-Identifier: Apache-2.0
// Elements of the page and how numbers are written. Text reaches the page as text only, never as HTML.

const SVG = 'http://www.w3.org/2000/svg';

function fill(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === 'function') node.addEventListener(name, value);
    else if (name === 'style') node.style.cssText = value; // the page's policy allows no attribute of this name
    else if (value !== false && value !== undefined) node.setAttribute(name, value);
  }
  node.append(...children);
  return node;
}

const html = (tag, attributes = {}, ...children) => fill(document.createElement(tag), attributes, children);
const svg = (tag, attributes = {}, ...children) => fill(document.createElementNS(SVG, tag), attributes, children);

// A table of two columns; rows without a value are left out.
function table(rows) {
  return html('table', {}, ...rows.filter(([, value]) => value !== undefined && value !== null && value !== '').map(
    ([name, value]) => html('tr', {}, html('th', {scope: 'row'}, name), html('td', {}, value instanceof Node ? value : String(value)))));
}

// The large numbers below a page's title.
const showFigures = (figures) => document.getElementById('figures').replaceChildren(
  ...figures.filter(([, value]) => value !== undefined).map(([name, value]) => html('div', {}, html('dt', {}, name), html('dd', {}, value))));

const measure = document.createElement('canvas').getContext('2d');

function textWidth(text, font) {
  measure.font = font;
  return measure.measureText(text).width;
}

// Returns the text if it is at most `width` pixels wide, else as much of its start or, with `keepEnd`, of its end as is.
function fitText(text, font, width, keepEnd = false) {
  if (textWidth(text, font) <= width) return text;
  const letters = Array.from(text.slice(0, 400));
  let fits = 0, tooMany = letters.length;
  const part = (n) => (keepEnd ? '…' + letters.slice(letters.length - n).join('') : letters.slice(0, n).join('') + '…');
  while (fits + 1 < tooMany) {
    const middle = (fits + tooMany) >> 1;
    if (textWidth(part(middle), font) <= width) fits = middle;
    else tooMany = middle;
  }
  return fits === 0 ? '' : part(fits);
}

function scaled(value, units, step) {
  let unit = 0;
  while (value >= step && unit + 1 < units.length) {
    value /= step;
    ++unit;
  }
  return `${+value.toPrecision(3)} ${units[unit]}`;
}

const bytesText = (n) => scaled(n, ['bytes', 'kB', 'MB', 'GB'], 1000);
const countText = (n) => scaled(n, ['', 'k', 'M', 'G', 'T'], 1000).trim();
const timeText = (ms) => (ms < 1 ? `${+(ms * 1000).toPrecision(3)} µs` : `${+ms.toPrecision(4)} ms`);
const percentText = (part) => `${+(part * 100).toPrecision(3)} %`;
const groupedText = (n) => String(n).replace(/\B(?=(\d{3})+$)/g, ',');
const realText = (x) => String(+x.toPrecision(4)).replace('-', '−');
const dimsText = (shape) => (shape.length === 0 ? 'scalar' : shape.join('×'));
// Names a dimension by what its size is made of, "seq" or "(w + 1) / 2"; undefined where the size is fixed or the file does not tell.
const sizeName = (tensor, i) => tensor.dims?.[i] ?? undefined;
const namedDimsText = (tensor) => dimsText(tensor.shape.map((n, i) => sizeName(tensor, i) ?? n));
const typeText = (tensor) => `${tensor.dtype} [${tensor.shape.map((n, i) => (sizeName(tensor, i) ? `${sizeName(tensor, i)} = ${n}` : n)).join(', ')}]`;
