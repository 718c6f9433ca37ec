#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""render.py DIR: lines and pages of text as the networks of PP-OCRv4 get them, as .npy, and the texts.

Text: the licences that every Debian system holds, in fonts of Debian; calibration has other texts than the test. A line is
48 pixels high: at most 320 wide for the recogniser, 192 for the direction classifier, every second of whose lines stands on its
head. A page for the detector has 320 x 320 pixels. Normalised as PaddleOCR does."""
import json
import pathlib
import random
import sys

import numpy
from PIL import Image, ImageDraw, ImageFilter, ImageFont

LICENCES = pathlib.Path("/usr/share/common-licenses")
FONTS = [pathlib.Path("/usr/share/fonts/truetype") / f for f in (
    "dejavu/DejaVuSans.ttf", "dejavu/DejaVuSans-Bold.ttf", "dejavu/DejaVuSerif.ttf", "dejavu/DejaVuSansMono.ttf",
    "liberation/LiberationSans-Regular.ttf", "liberation/LiberationSans-Italic.ttf", "liberation/LiberationSerif-Regular.ttf",
    "liberation/LiberationSerif-Bold.ttf", "liberation/LiberationMono-Regular.ttf", "freefont/FreeSans.ttf", "freefont/FreeSerif.ttf",
    "freefont/FreeSerifItalic.ttf")]
SETS = {"calibration": (["Apache-2.0", "MPL-2.0"], 200, 64), "test": (["GPL-3", "Artistic", "GFDL-1.3"], 400, 100)}
HEIGHT, PAGE = 48, 320


def words_of(names):
    return [w for name in names for w in (LICENCES / name).read_text().split() if w.isascii()]


def colours(rng):
    """Ink and paper, one of them dark."""
    dark = tuple(rng.randint(0, 90) for _ in range(3))
    light = tuple(rng.randint(170, 255) for _ in range(3))
    return (dark, light) if rng.random() < 0.8 else (light, dark)


def drawn(text, font, ink, paper, border):
    left, top, right, bottom = font.getbbox(text)
    image = Image.new("RGB", (right - left + 2 * border, bottom - top + 2 * border), paper)
    ImageDraw.Draw(image).text((border - left, border - top), text, font=font, fill=ink)
    return image


def spoilt(image, rng, noise):
    """As cameras do: blurred, and with noise."""
    image = image.filter(ImageFilter.GaussianBlur(rng.uniform(0, 0.8)))
    pixels = numpy.asarray(image, numpy.float32)
    return Image.fromarray(numpy.clip(pixels + noise.normal(0, rng.uniform(0, 8), pixels.shape), 0, 255).astype(numpy.uint8))


def line(words, rng, noise):
    start = rng.randrange(len(words) - 8)
    text = " ".join(words[start:start + rng.randint(1, 4)])[:16].strip()
    font = ImageFont.truetype(str(rng.choice(FONTS)), rng.randint(24, 40))
    return text, spoilt(drawn(text, font, *colours(rng), rng.randint(2, 7)), rng, noise)


def page(words, rng, noise):
    ink, paper = colours(rng)
    image = Image.new("RGB", (PAGE, PAGE), paper)
    y = rng.randint(5, 30)
    while True:
        size = rng.randint(16, 34)
        start = rng.randrange(len(words) - 8)
        text = " ".join(words[start:start + rng.randint(1, 5)])[:2 * (PAGE - 30) // size]
        text_line = drawn(text, ImageFont.truetype(str(rng.choice(FONTS)), size), ink, paper, 0)
        if y + text_line.height + 8 > PAGE:
            return spoilt(image, rng, noise)
        image.paste(text_line, (rng.randint(8, max(8, PAGE - 8 - text_line.width)), y))
        y += text_line.height + rng.randint(12, 40)


def normalised(image, mean, deviation):
    pixels = numpy.asarray(image, numpy.float32)[:, :, ::-1] / numpy.float32(255)  # blue first
    return ((pixels - numpy.float32(mean)) / numpy.float32(deviation)).transpose(2, 0, 1)


def in_width(image, width):
    """Scaled to the height, at the left of an image that is 0 elsewhere."""
    scaled = min(width, -(-image.width * HEIGHT // image.height))
    x = numpy.zeros((3, HEIGHT, width), numpy.float32)
    x[:, :, :scaled] = normalised(image.resize((scaled, HEIGHT), Image.BILINEAR), [0.5] * 3, [0.5] * 3)
    return x


def main(directory):
    for name, (licences, line_count, page_count) in SETS.items():
        rng, noise, words = random.Random(name), numpy.random.default_rng(len(name)), words_of(licences)
        lines = [line(words, rng, noise) for _ in range(line_count)]
        turned = [i % 2 == 1 for i in range(line_count)]
        pages = [page(words, rng, noise) for _ in range(page_count)]
        arrays = {
            "recogniser": [in_width(image, 320) for _, image in lines],
            "classifier": [in_width(image.rotate(180) if t else image, 192) for (_, image), t in zip(lines, turned)],
            "detector": [normalised(image, [0.485, 0.456, 0.406], [0.229, 0.224, 0.225]) for image in pages]}
        for network, array in arrays.items():
            numpy.save(directory / f"{network}.{name}.npy", numpy.stack(array))
        (directory / f"{name}.json").write_text(json.dumps({"texts": [text for text, _ in lines], "turned": turned}))


if len(sys.argv) != 2:
    sys.exit(__doc__)
main(pathlib.Path(sys.argv[1]))
