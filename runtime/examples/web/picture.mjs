// SPDX-License-Identifier: Apache-2.0
// Pictures as a model's input.

// How an input of rank 4 lies in memory: {height, width, channels, isPlanar}.
export function imageInput({ name, dims, layout }) {
  const isPlanar = layout === 'channels_first' || (layout !== 'channels_last' && [1, 3].includes(dims[1]));
  const [height, width, channels] = isPlanar ? [dims[2], dims[3], dims[1]] : [dims[1], dims[2], dims[3]];
  if (dims.length !== 4 || ![1, 3].includes(channels)) throw new Error(`input '${name}' [${dims}] is no picture of 1 or 3 channels`);
  return { height, width, channels, isPlanar };
}

// The middle square of a video frame, image or canvas, drawn over all of `canvas`, by halves so that no pixel is missed.
// Larger pixels stay squares where it is not `smooth`.
export function drawSquare(canvas, source, smooth = true) {
  const width = source.videoWidth ?? source.width, height = source.videoHeight ?? source.height;
  let side = Math.min(width, height), x = (width - side) / 2, y = (height - side) / 2, from = source;
  while (side >= 4 * Math.max(canvas.width, canvas.height)) {
    const half = new OffscreenCanvas(Math.ceil(side / 2), Math.ceil(side / 2));
    half.getContext('2d').drawImage(from, x, y, side, side, 0, 0, half.width, half.height);
    [from, side, x, y] = [half, half.width, 0, 0];
  }
  const context = canvas.getContext('2d', { willReadFrequently: true });
  context.imageSmoothingEnabled = smooth;
  context.imageSmoothingQuality = 'high';
  context.drawImage(from, x, y, side, side, 0, 0, canvas.width, canvas.height);
}

// Ink becomes bright on black, whatever it was on: brightness is stretched, and turned over where the border is bright.
export function brightInk(image) {
  const { data, width, height } = image, count = width * height;
  const grey = new Float32Array(count);
  let least = 255, most = 0, border = 0, borders = 0;
  for (let i = 0; i < count; ++i) {
    grey[i] = 0.299 * data[4 * i] + 0.587 * data[4 * i + 1] + 0.114 * data[4 * i + 2];
    least = Math.min(least, grey[i]);
    most = Math.max(most, grey[i]);
    const x = i % width, y = Math.floor(i / width);
    if (x === 0 || y === 0 || x === width - 1 || y === height - 1) border += grey[i], ++borders;
  }
  const isBright = border / borders > (least + most) / 2, range = Math.max(most - least, 1);
  for (let i = 0; i < count; ++i) {
    const value = 255 * (isBright ? most - grey[i] : grey[i] - least) / range;
    data.set([value, value, value], 4 * i);
  }
}

// The real values of 0 and 255 for each channel, of a choice such as "0 1".
export function scalesOf(pixels) {
  const [mean, deviation] = pixels === 'imagenet' ? [[0.485, 0.456, 0.406], [0.229, 0.224, 0.225]] : [[], []];
  return [0, 1, 2].map((c) => {
    const [least, most] = mean.length > 0 ? [-mean[c] / deviation[c], (1 - mean[c]) / deviation[c]] : pixels.split(' ').map(Number);
    return { least, step: (most - least) / 255 };
  });
}

// Writes an image to `view`, an input of the model. Bytes without a scale are the pixels themselves.
export function fill(view, input, image, pixels) {
  const { height, width, channels, isPlanar } = imageInput(input), { data } = image;
  const scales = scalesOf(pixels), plane = height * width;
  const scale = input.quantization?.scale[0] ?? 1, zero = input.quantization?.zeroPoint[0] ?? 0;
  const isReal = view instanceof Float32Array, isPlain = input.quantization === null;
  const [least, most] = view instanceof Int8Array ? [-128, 127] : [0, 255];
  for (let i = 0; i < plane; ++i) {
    for (let c = 0; c < channels; ++c) {
      const value = channels === 1 ? (data[4 * i] * 77 + data[4 * i + 1] * 150 + data[4 * i + 2] * 29) / 256 : data[4 * i + c];
      const real = scales[c].least + scales[c].step * value;
      const to = isPlanar ? c * plane + i : i * channels + c;
      if (isReal) view[to] = real;
      else view[to] = isPlain ? value + least : Math.min(Math.max(Math.round(real / scale) + zero, least), most);
    }
  }
}

// The images of a .npy file of float32 [count, 1, height, width], 0 to `most`.
export function imagesOfNpy(buffer, most) {
  const start = 10 + new DataView(buffer).getUint16(8, true), header = new TextDecoder().decode(buffer.slice(10, start));
  const [count, , height, width] = header.match(/\(([^)]*)\)/)[1].split(',').map(Number);
  const values = new Float32Array(buffer.slice(start));
  return Array.from({ length: count }, (_, i) => {
    const image = new ImageData(width, height);
    for (let p = 0; p < width * height; ++p) {
      const grey = 255 * values[i * width * height + p] / most;
      image.data.set([grey, grey, grey, 255], 4 * p);
    }
    return image;
  });
}
