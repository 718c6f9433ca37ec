# SPDX-License-Identifier: Apache-2.0
"""What the two examples beside share: an image file becomes a model's input, and a model runs in a process.

For models with one image as input, [n, channels, height, width] or [n, height, width, channels] of
float32, uint8 or int8, and one output. Needs numpy and Pillow.
"""
import io
import os

import numpy
import qrt
from PIL import Image

EXTENSIONS = (".png", ".jpg", ".jpeg", ".bmp", ".webp")


def files_of(folder):
    """The image files of a folder, in the order of their names."""
    return sorted(os.path.join(folder, name) for name in os.listdir(folder)
                  if name.lower().endswith(EXTENSIONS))


def read(data, info, mean=0.0, std=1.0):
    """Bytes of an image file -> an array of the input's type and shape, batch 1.

    float32: (pixel - mean) / std; quantised inputs: that by their scale and zero point.
    """
    first = info.shape[1] in (1, 3)  # [n, channels, height, width]
    channels, height, width = info.shape[1:] if first else (info.shape[3],) + info.shape[1:3]
    with Image.open(io.BytesIO(data)) as image:
        image = image.convert("L" if channels == 1 else "RGB")
        if image.size != (width, height):
            image = image.resize((width, height), Image.BILINEAR)
        pixels = numpy.asarray(image, numpy.float32).reshape(height, width, channels)
    real = (pixels - numpy.float32(mean)) / numpy.float32(std)
    if info.dtype != "float32":
        limits = numpy.iinfo(info.dtype)
        real = numpy.rint(real / numpy.float32(info.scale or 1)) + (info.zero_point or 0)
        real = real.clip(limits.min, limits.max)
    ordered = real.transpose(2, 0, 1) if first else real
    return numpy.ascontiguousarray(ordered, info.dtype)[numpy.newaxis]


class Classifier:
    """A model in this process: one thread, since there are as many processes as CPUs."""

    def __init__(self, model, mean=0.0, std=1.0):
        self.session = model.session(batch=1, threads=1)
        self.mean, self.std = mean, std

    def __call__(self, data):
        """Bytes of an image file -> the output of the model."""
        info = self.session.inputs[0]
        self.session.input(info.name)[...] = read(data, info, self.mean, self.std)
        return self.session.run()[self.session.outputs[0].name][0]


def print_result(path, output):
    best = int(numpy.argmax(output))
    print(f"{os.path.basename(path)}\t{best}\t{output.ravel()[best]:g}")


def add_arguments(parser):
    parser.add_argument("model", help="a .qrt file: qrt_convert makes it, or qrt.convert()")
    parser.add_argument("folder", help="of images")
    parser.add_argument("--mean", type=float, default=0.0, help="input = (pixel - mean) / std")
    parser.add_argument("--std", type=float, default=1.0)
