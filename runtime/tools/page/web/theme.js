// SPDX-License-Identifier: Apache-2.0
// Light or dark: as the system wishes until the reader chooses otherwise. A choice is kept where the browser allows it.

const THEMES = {auto: 'Auto', light: 'Light', dark: 'Dark'};
const systemIsDark = window.matchMedia('(prefers-color-scheme: dark)');

// A page opened from a file may have no storage.
function keptTheme() {
  try {
    const kept = localStorage.getItem('qrt-theme');
    return Object.hasOwn(THEMES, kept) ? kept : 'auto';
  } catch {
    return 'auto';
  }
}

function keepTheme(theme) {
  try {
    localStorage.setItem('qrt-theme', theme);
  } catch {
    // It lasts as long as the page is open.
  }
}

let theme = keptTheme();

function applyTheme() {
  const isDark = theme === 'dark' || (theme === 'auto' && systemIsDark.matches);
  document.documentElement.dataset.theme = isDark ? 'dark' : 'light';
}

applyTheme();
systemIsDark.addEventListener('change', applyTheme);

function themePicker() {
  const picker = html('select', {id: 'theme', 'aria-label': 'colour scheme', change: () => {
    theme = picker.value;
    keepTheme(theme);
    applyTheme();
  }}, ...Object.entries(THEMES).map(([value, label]) => html('option', {value}, label)));
  picker.value = theme;
  return picker;
}
