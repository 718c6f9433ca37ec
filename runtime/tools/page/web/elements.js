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

// With a tooltip.
const titled = (node, text) => {
  node.append(svg('title', {}, text));
  return node;
};

function shortened(text, length) {
  const letters = Array.from(text);
  return letters.length > length ? letters.slice(0, length - 1).join('') + '…' : text;
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
const typeText = (tensor) => `${tensor.dtype} [${tensor.shape.join(', ')}]`;
