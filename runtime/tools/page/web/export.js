// SPDX-License-Identifier: Apache-2.0
// A picture of the page as an SVG file of its own, in the colours that are shown.

// Properties of a style sheet that a picture needs.
const STYLES = ['fill', 'fill-opacity', 'stroke', 'stroke-width', 'stroke-dasharray', 'stroke-opacity', 'stroke-linejoin', 'paint-order', 'opacity',
  'font-family', 'font-size', 'font-weight', 'display'];

// Elements with the same styles share a class: a picture of a thousand boxes has a few dozen.
function standalone(source, box, ground) {
  const copy = source.cloneNode(true);
  const classes = new Map();
  const from = [source, ...source.querySelectorAll('*')], to = [copy, ...copy.querySelectorAll('*')];
  from.forEach((element, i) => {
    const style = getComputedStyle(element);
    const text = STYLES.map((name) => `${name}:${style.getPropertyValue(name)}`).join(';');
    if (!classes.has(text)) classes.set(text, `s${classes.size}`);
    to[i].removeAttribute('style');
    for (const name of ['tabindex', 'role', 'data-tip', 'aria-label', 'aria-hidden']) to[i].removeAttribute(name);
    to[i].setAttribute('class', classes.get(text));
    if (element.dataset.tip) to[i].prepend(svg('title', {}, element.dataset.tip));
  });
  fill(copy, {xmlns: SVG, viewBox: box.join(' '), width: box[2], height: box[3]}, []);
  copy.prepend(svg('rect', {x: box[0], y: box[1], width: box[2], height: box[3], fill: ground}));
  // Within the page such an element would be against its policy.
  const sheet = [...classes].map(([text, name]) => `.${name}{${text}}`).join('\n');
  const [tag, end] = ['<style>', '<' + '/style>'];
  return new XMLSerializer().serializeToString(copy).replace('>', () => `>${tag}${sheet.replaceAll('&', '&amp;').replaceAll('<', '&lt;')}${end}`);
}

function download(name, text) {
  const url = URL.createObjectURL(new Blob([text], {type: 'image/svg+xml'}));
  html('a', {href: url, download: name}).click();
  setTimeout(() => URL.revokeObjectURL(url), 10000);
}

const groundColour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

// A button that saves the plot which make() gives.
const exportButton = (make) => tipped(html('button', {class: 'button export', click: () => download(...make())}, 'SVG'), 'Save the picture as an SVG file');

function exportPlot(name, plot) {
  const {width, height} = plot.getBoundingClientRect();
  return [`${name}.svg`, standalone(plot, [-8, -8, width + 16, height + 16], groundColour('--ground'))];
}
