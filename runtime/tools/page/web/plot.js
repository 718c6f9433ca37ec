// SPDX-License-Identifier: Apache-2.0
// The common part of plots: their size, redrawn with the window, and the marks of their axes.

// Calls draw(width, height) with the pixels that there are, now and whenever they become others.
function drawnToSize(view, draw) {
  let last = '';
  const size = () => {
    const narrow = innerWidth <= 640;
    const width = Math.min(1400, view.clientWidth) - (narrow ? 28 : 40);
    const height = Math.round(Math.max(320, Math.min(view.clientHeight - 110, width * (narrow ? 1.3 : 0.6))));
    return [width, height];
  };
  const observer = new ResizeObserver(() => {
    const now = size();
    if (now.join() === last) return;
    last = now.join();
    draw(...now);
  });
  const now = size();
  last = now.join();
  draw(...now);
  observer.observe(view);
  return () => observer.disconnect();
}

// Round numbers from 0 to at most `most`, about `count` of them.
function roundMarks(most, count) {
  const rough = most / count, power = 10 ** Math.floor(Math.log10(rough));
  const step = power * [1, 2, 5, 10].find((factor) => factor * power >= rough);
  const marks = [];
  for (let value = 0; value <= most * 1.0001; value += step) marks.push(value);
  return marks;
}

// Columns of a histogram, and vertical lines at the parts `marks` of its width.
function histogram(counts, label, marks = []) {
  const width = 320, height = 72;
  const most = counts.reduce((a, b) => Math.max(a, b), 0) || 1;
  const step = width / counts.length;
  const picture = svg('svg', {class: 'histogram', viewBox: `0 0 ${width} ${height}`, role: 'img', 'aria-label': label});
  counts.forEach((count, i) => {
    if (count === 0) return;
    const tall = Math.max(1, height * count / most);
    picture.append(svg('rect', {x: i * step, y: height - tall, width: Math.max(0.5, step - (step > 3 ? 0.8 : 0)), height: tall}));
  });
  for (const at of marks) picture.append(svg('line', {class: 'mark', x1: at * width, x2: at * width, y1: 0, y2: height}));
  return picture;
}
