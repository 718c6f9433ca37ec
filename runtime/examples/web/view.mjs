// SPDX-License-Identifier: Apache-2.0
// The parts that both pages have: the colour scheme, times, the operators of a session, and the comparison of bits.

export function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (typeof value === 'function') made.addEventListener(key, value);
    else if (value !== false) made.setAttribute(key, value === true ? '' : value);
  }
  made.append(...children);
  return made;
}

export const byId = (id) => document.getElementById(id);

// Light or dark: as the system wishes until the reader chooses. A choice lasts where the browser has storage.
export function showTheme() {
  const systemIsDark = matchMedia('(prefers-color-scheme: dark)');
  let theme = 'auto';
  try { theme = localStorage.getItem('qrt-theme') ?? 'auto'; } catch { /* no storage */ }
  const picker = byId('theme');
  const apply = () => {
    const isDark = picker.value === 'dark' || (picker.value === 'auto' && systemIsDark.matches);
    document.documentElement.dataset.theme = isDark ? 'dark' : 'light';
  };
  picker.value = ['light', 'dark'].includes(theme) ? theme : 'auto';
  picker.addEventListener('change', () => {
    try { localStorage.setItem('qrt-theme', picker.value); } catch { /* no storage */ }
    apply();
  });
  systemIsDark.addEventListener('change', apply);
  apply();
}

// 3 digits: 0.0412 ms is 41.2 µs.
export function duration(milliseconds) {
  if (milliseconds >= 1) return `${milliseconds.toPrecision(3)} ms`;
  const micros = milliseconds * 1000;
  return `${micros >= 1 ? micros.toPrecision(3) : micros.toFixed(2)} µs`;
}

export function showFigures(id, figures) {
  byId(id).replaceChildren(...Object.entries(figures).map(([name, value]) =>
    element('div', {}, element('dt', {}, name), element('dd', {}, value))));
}

// rows: [words, figure, share of 1]
export function showBars(id, rows) {
  byId(id).replaceChildren(...rows.map(([words, figure, share]) => {
    const bar = element('i');
    bar.style.width = `${100 * share}%`;
    return element('li', {}, element('div', { class: 'words' }, element('span', {}, words), element('span', {}, figure)),
                   element('div', { class: 'track' }, bar));
  }));
}

// The operators of a session with `profile`, each with the milliseconds of a run: the median of `parts` means, as a clock
// of coarse steps needs many runs, and one that was interrupted tells nothing.
export function profile(session, parts = 9) {
  const means = [];
  for (let part = 0, before = session.operators; part < parts; ++part) {
    const end = performance.now() + 10;
    do session.run(); while (performance.now() < end);
    const now = session.operators;
    means.push(now.map((op, i) => (op.milliseconds - before[i].milliseconds) / Math.max(op.runs - before[i].runs, 1)));
    before = now;
  }
  return session.operators.map((op, i) => ({ ...op, time: median(means.map((part) => part[i])) }));
}

// Shows the slowest of profile()'s operators.
export function showOperators(id, operators) {
  const slowest = operators.filter(({ runs }) => runs > 0).sort((a, b) => b.time - a.time);
  const all = slowest.reduce((sum, { time }) => sum + time, 0) || 1;
  showBars(id, slowest.slice(0, 12).map(({ type, name, time }) =>
    [`${type} ${name}`, `${duration(time)} · ${(100 * time / all).toFixed(1)} %`, time / (slowest[0].time || 1)]));
}

// Compares what each operator makes of the file's test values with the digests that were made natively.
export function showCheck(id, model) {
  const badge = byId(id);
  const say = (kind, words, more) => {
    badge.className = `badge ${kind}`;
    badge.replaceChildren(element('b', {}, words), element('span', { class: 'soft' }, more));
  };
  if (model.metadata('digests') === undefined) {
    say('', 'No digests', 'qrt_convert --digests puts into a file what its operators make natively.');
    return;
  }
  const { operators, different } = model.check();
  if (different === null) say('good', 'Same bits as native', `all ${operators} operators are equal`);
  else say('bad', 'Other bits than native', `the first is ${different.type} ${different.name}`);
}

// Half of the times lie below.
export function median(times) {
  return [...times].sort((a, b) => a - b)[times.length >> 1];
}

// Runs a session until there are some dozen times, or for a tenth of a second: {median, least} in milliseconds.
// A clock of coarse steps needs several runs between two looks.
export function measure(session) {
  const times = [], end = performance.now() + 100;
  let runs = 1;
  while (times.length < 5 || (times.length < 60 && performance.now() < end)) {
    const begin = performance.now();
    for (let i = 0; i < runs; ++i) session.run();
    const passed = performance.now() - begin;
    if (passed < 1 && runs < 1000) runs *= 2;
    else times.push(passed / runs);
  }
  return { median: median(times), least: Math.min(...times) };
}

export function bytes(count) {
  return count >= 1e6 ? `${(count / 1e6).toPrecision(3)} MB` : `${Math.round(count / 1e3)} kB`;
}

export function showModel(name, model, session, size) {
  byId('summary').textContent =
      [name, model.reference, `${session.operators.length} operators`, session.isa, bytes(size)].filter(Boolean).join(' · ');
}

// Calls took(files) with what is dropped anywhere on the page, or chosen by the button.
export function takeFiles(button, accept, took) {
  const chooser = element('input', { type: 'file', accept, multiple: true, hidden: true, change: () => took([...chooser.files]) });
  document.body.append(chooser);
  byId(button).addEventListener('click', () => { chooser.value = ''; chooser.click(); });
  document.addEventListener('dragover', (event) => event.preventDefault());
  document.addEventListener('drop', (event) => {
    event.preventDefault();
    if (event.dataTransfer.files.length > 0) took([...event.dataTransfer.files]);
  });
}

// Shows what went wrong, in the place of the summary.
export function showError(error) {
  byId('summary').textContent = error.message;
}
