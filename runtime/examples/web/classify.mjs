// SPDX-License-Identifier: Apache-2.0
// Classifies a frame of the camera, a picture or a sample.
import { Model } from './qrt/qrt.mjs';
import { brightInk, drawSquare, fill, imageInput, imagesOfNpy } from './picture.mjs';
import { byId, duration, element, measure, median, profile, showBars, showCheck, showError, showFigures, showModel, showOperators, showTheme, takeFiles } from './view.mjs';

// The network that comes with the page reads one digit: bright ink of 0 to 16 on black.
const kDigits = { pixels: '0 16', isInk: true, labels: [...'0123456789'] };

const picture = byId('picture'), seen = byId('seen'), video = byId('video');
let model, session, settings;
let profiled;         // a second session, which tells the operators' times
let latencies = [];   // of the camera's last frames
let frames = 0;       // of the camera

function probabilities(logits) {
  const most = Math.max(...logits), sum = logits.reduce((all, x) => all + Math.exp(x - most), 0);
  const isDone = logits.every((x) => x >= 0) && Math.abs(logits.reduce((all, x) => all + x, 0) - 1) < 1e-2;
  return logits.map((x) => (isDone ? x : Math.exp(x - most) / sum));
}

// The outputs as real numbers.
function realOutput() {
  const { name, quantization: q } = session.outputs[0];
  return Array.from(session.output(name), (x) => (q === null ? Number(x) : (x - q.zeroPoint[0]) * q.scale[0]));
}

// Runs the model on what the stage shows; returns the milliseconds of the run alone.
function classify() {
  const input = session.inputs[0], context = seen.getContext('2d', { willReadFrequently: true });
  const image = context.getImageData(0, 0, seen.width, seen.height);
  if (settings.isInk) {
    brightInk(image);
    context.putImageData(image, 0, 0);
  }
  for (const each of [session, profiled]) fill(each.input(input.name), input, image, settings.pixels ?? byId('pixels').value);
  const begin = performance.now();
  session.run();
  const passed = performance.now() - begin;
  const chances = probabilities(realOutput()), order = [...chances.keys()].sort((a, b) => chances[b] - chances[a]);
  showBars('answers', order.slice(0, 5).map((i) => [settings.labels[i] ?? `class ${i}`, `${(100 * chances[i]).toFixed(1)} %`, chances[i]]));
  return passed;
}

function showLatency({ median: half, least }, more = {}) {
  showFigures('figures', { median: duration(half), least: duration(least), ...more });
}

// Shows a picture, its class and what a run takes.
function show(source, isSample = false) {
  stopCamera();
  if (!isSample) for (const button of byId('samples').children) button.setAttribute('aria-pressed', 'false');
  drawSquare(picture, source, !isSample);
  drawSquare(seen, source);
  classify();
  showLatency(measure(session), { 'memory of a session': `${Math.round(session.memory / 1000)} kB` });
  showOperators('operators', profile(profiled));
}

async function startCamera() {
  try {
    video.srcObject = await navigator.mediaDevices.getUserMedia({ video: { facingMode: 'environment' }, audio: false });
  } catch (error) {
    showError(new Error(`No camera: ${error.message}`));
    return;
  }
  await video.play();
  video.hidden = false;
  picture.hidden = true;
  byId('camera').setAttribute('aria-pressed', 'true');
  latencies = [];
  frames = 0;
  requestAnimationFrame(nextFrame);
}

function stopCamera() {
  for (const track of video.srcObject?.getTracks() ?? []) track.stop();
  video.srcObject = null;
  video.hidden = true;
  picture.hidden = false;
  byId('camera').setAttribute('aria-pressed', 'false');
}

function nextFrame() {
  if (video.srcObject === null) return;
  drawSquare(seen, video);
  latencies = [...latencies.slice(-59), classify()];
  showLatency({ median: median(latencies), least: Math.min(...latencies) }, { frames: String(frames + 1) });
  if (++frames % 30 === 0) showOperators('operators', profile(profiled, 3));
  requestAnimationFrame(nextFrame);
}

async function open(source, name, size, found) {
  const next = await Model.load(source);
  const newSession = next.session({ batch: 1 });
  const { height, width } = imageInput(newSession.inputs[0]);
  for (const old of [session, profiled, model]) old?.dispose();
  [model, session, profiled, settings] = [next, newSession, next.session({ batch: 1, profile: true }), found];
  [seen.width, seen.height] = [width, height];
  byId('pixels').hidden = settings.pixels !== undefined;
  byId('samples-section').hidden = !settings.isInk;
  showModel(name, model, session, size);
  showCheck('check', model);
}

// A .qrt file of a TFLite or ESP-DL model. The converter is fetched for the first one.
async function converted(file) {
  const { convert } = await import('./qrt/convert.mjs');
  return new Blob([(await convert(file)).model]);
}

async function take(files) {
  try {
    const source = files.find((file) => /\.(qrt|tflite|espdl)$/.test(file.name)), labels = files.find((file) => file.name.endsWith('.txt'));
    const words = labels === undefined ? [] : (await labels.text()).split('\n').map((line) => line.trim());
    if (source !== undefined) {
      const model = source.name.endsWith('.qrt') ? source : await converted(source);
      await open(model, source.name, model.size, { labels: words });
    }
    if (labels !== undefined) settings.labels = words;
    const image = files.find((file) => file.type.startsWith('image/'));
    show(image === undefined ? picture : await createImageBitmap(image));
  } catch (error) {
    showError(error);
  }
}

// Buttons with the samples; the first of each digit.
async function showSamples() {
  const images = imagesOfNpy(await (await fetch('samples.npy')).arrayBuffer(), 16);
  const buttons = images.slice(0, 10).map((image, i) => {
    const canvas = element('canvas', { class: 'pixels', width: image.width, height: image.height });
    canvas.getContext('2d').putImageData(image, 0, 0);
    const choose = () => {
      for (const other of buttons) other.setAttribute('aria-pressed', String(other === button));
      show(canvas, true);
    };
    const button = element('button', { 'aria-label': `sample ${i + 1}`, 'aria-pressed': 'false', click: choose }, canvas);
    return button;
  });
  byId('samples').replaceChildren(...buttons);
  buttons[0].click();
}

showTheme();
try {
  const file = await (await fetch('digits.qrt')).arrayBuffer();
  await open(file, 'digits', file.byteLength, kDigits);
  await showSamples();
  byId('camera').addEventListener('click', () => (video.srcObject === null ? startCamera() : stopCamera()));
  byId('pixels').addEventListener('change', () => show(picture));
  takeFiles('choose', 'image/*,.qrt,.tflite,.espdl,.txt', take);
  for (const [event, isOver] of [['dragenter', true], ['dragleave', false], ['drop', false]])
    byId('stage').addEventListener(event, () => byId('stage').classList.toggle('over', isOver));
} catch (error) {
  showError(error);
}
