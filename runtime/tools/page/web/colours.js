// SPDX-License-Identifier: Apache-2.0
// Colours that mean something. They are seen as areas beside text, never behind it, and do for light and dark alike.

const RGB = (hex) => [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16));

// The colour at `part` (0 to 1) of a row of colours with equal distances.
function between(stops, part) {
  const at = Math.min(1, Math.max(0, part)) * (stops.length - 1);
  const i = Math.min(stops.length - 2, Math.floor(at));
  const from = RGB(stops[i]), to = RGB(stops[i + 1]);
  return `rgb(${from.map((value, k) => Math.round(value + (to[k] - value) * (at - i))).join(' ')})`;
}

const heat = (part) => between(['#f7d98b', '#f2a24a', '#e0662f', '#b3243a'], part);
const nearness = (part) => between(['#d1495b', '#e9b949', '#2a9d8f'], part);

function scaleLegend(colour, from, to) {
  const stops = [0, 0.25, 0.5, 0.75, 1].map(colour).join(', ');
  return [html('span', {class: 'range'}, from, html('i', {class: 'scale', style: `background: linear-gradient(90deg, ${stops})`}), to)];
}
