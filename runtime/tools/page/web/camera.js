// SPDX-License-Identifier: Apache-2.0
// Chooses the visible part of a scene: wheel, two fingers, buttons and keys zoom, dragging moves.

const READABLE = 0.85, LARGE_ONLY = 0.41;  // scales from which small text, and the large text of boxes, can be read

// Makes `scene` follow wheel and pointers within `canvas`. size() gives the scene's extent.
function makeCamera(canvas, scene, size) {
  let scale = 1, left = 0, top = 0;
  const pointers = new Map();
  let dragged = 0;  // pixels since the pointer went down

  const place = () => {
    scene.setAttribute('transform', `translate(${left} ${top}) scale(${scale})`);
    scene.classList.toggle('far', scale < LARGE_ONLY);
    scene.classList.toggle('middle', scale >= LARGE_ONLY && scale < READABLE);
  };
  const least = () => Math.min(0.05, fitting());
  const zoomAt = (factor, x, y) => {
    factor = Math.min(6, Math.max(least(), scale * factor)) / scale;
    left = x - (x - left) * factor;
    top = y - (y - top) * factor;
    scale *= factor;
    place();
  };
  const window = () => ({width: canvas.clientWidth, height: canvas.clientHeight});
  // Returns the size of the canvas without the part that the panel covers on a narrow window.
  const seen = () => {
    const box = canvas.getBoundingClientRect(), panel = document.getElementById('panel').getBoundingClientRect();
    const isCovered = panel.width > 0 && panel.left < box.right && panel.top > box.top;
    return {width: box.width, height: isCovered ? panel.top - box.top : box.height};
  };
  const centre = () => [canvas.clientWidth / 2, canvas.clientHeight / 2];
  const fitting = () => Math.min((canvas.clientWidth - 16) / size().width, (canvas.clientHeight - 16) / size().height);

  canvas.addEventListener('wheel', (event) => {
    event.preventDefault();
    const box = canvas.getBoundingClientRect();
    const lines = event.deltaMode === 1 ? 16 : 1;
    zoomAt(Math.exp(-event.deltaY * lines * 0.0015), event.clientX - box.left, event.clientY - box.top);
  }, {passive: false});
  canvas.addEventListener('pointerdown', (event) => {
    pointers.set(event.pointerId, [event.clientX, event.clientY]);
    dragged = 0;
  });
  // The end of a drag is no click on the box under the pointer.
  canvas.addEventListener('click', (event) => { if (dragged > 6) event.stopPropagation(); }, true);
  for (const end of ['pointerup', 'pointercancel', 'pointerleave']) canvas.addEventListener(end, (event) => pointers.delete(event.pointerId));
  canvas.addEventListener('pointermove', (event) => {
    const before = pointers.get(event.pointerId);
    if (before === undefined || event.buttons === 0) return;
    const now = [event.clientX, event.clientY];
    pointers.set(event.pointerId, now);
    dragged += Math.abs(now[0] - before[0]) + Math.abs(now[1] - before[1]);
    const other = [...pointers].find(([id]) => id !== event.pointerId)?.[1];
    if (other === undefined) {
      left += now[0] - before[0];
      top += now[1] - before[1];
      place();
      return;
    }
    const box = canvas.getBoundingClientRect();
    const distance = ([x, y]) => Math.max(1, Math.hypot(x - other[0], y - other[1]));
    left += (now[0] - before[0]) / 2;
    top += (now[1] - before[1]) / 2;
    zoomAt(distance(now) / distance(before), (now[0] + other[0]) / 2 - box.left, (now[1] + other[1]) / 2 - box.top);
  });

  const show = (x, y) => {
    left = centre()[0] - x * scale;
    top = centre()[1] - y * scale;
    place();
  };
  return {
    window,
    zoom: (factor) => zoomAt(factor, ...centre()),
    move: (x, y) => { left += x; top += y; place(); },
    // All of it within the window.
    fit: () => {
      scale = Math.min(1, fitting());
      show(size().width / 2, size().height / 2);
    },
    // All of it if its boxes can be read so, else its beginning.
    start: ([x, y]) => {
      scale = Math.min(1, fitting());
      if (scale >= LARGE_ONLY) return show(size().width / 2, size().height / 2);
      scale = 1;
      show(x, y);
      top = 40 - (y - BOX.height) * scale;
      place();
    },
    // Brings a point into the window, and to a size at which it can be read.
    reveal: (x, y, always) => {
      const [atX, atY] = [left + x * scale, top + y * scale];
      const {width, height} = seen();
      const margin = Math.min(BOX.width * scale / 2 + 10, width / 3);
      const isSeen = atX > margin && atX < width - margin && atY > 30 && atY < height - 30;
      if (isSeen && (scale >= LARGE_ONLY || !always)) return;
      if (always) scale = Math.max(scale, READABLE);
      left = width / 2 - x * scale;
      top = height / 2 - y * scale;
      place();
    },
  };
}
