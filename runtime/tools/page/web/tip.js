// SPDX-License-Identifier: Apache-2.0
// Tooltips: whatever has data-tip shows it under the mouse, or beside itself when the keyboard reaches it.

const tipped = (node, text) => fill(node, {'data-tip': text}, []);

function placeTip(x, y) {
  const tip = document.getElementById('tip');
  const {width, height} = tip.getBoundingClientRect();
  const left = Math.min(x + 14, innerWidth - width - 8);
  const top = y + 18 + height > innerHeight - 8 ? y - height - 10 : y + 18;
  tip.style.left = `${Math.max(8, left)}px`;
  tip.style.top = `${Math.max(8, top)}px`;
}

function showTip(node, x, y) {
  const tip = document.getElementById('tip');
  tip.hidden = !node;
  if (!node) return;
  if (tip.textContent !== node.dataset.tip) tip.textContent = node.dataset.tip;
  placeTip(x, y);
}

const tipAt = (event) => event.target.closest?.('[data-tip]');
const hideTip = () => showTip(null);
document.addEventListener('pointermove', (event) => {
  if (event.pointerType === 'mouse') showTip(event.buttons === 0 ? tipAt(event) : null, event.clientX, event.clientY);
});
document.addEventListener('pointerdown', hideTip);
document.addEventListener('pointerleave', hideTip);
document.addEventListener('focusin', (event) => {
  const node = tipAt(event);
  if (!node?.matches(':focus-visible')) return hideTip();
  const box = node.getBoundingClientRect();
  showTip(node, box.x, box.bottom - 10);
});
document.addEventListener('focusout', hideTip);
