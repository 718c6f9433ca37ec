#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""score.py DIR KEYS: what the quantised networks of PP-OCRv4 read and decide beside the float ones; status 1 below a bar.

DIR holds NETWORK.float.npy and NETWORK.integers.npy, the outputs for render.py's test set, and test.json; KEYS the
recogniser's characters. Bars: the classifier decides alike on 99.5 % of the lines; the detector's boxes match at an
intersection over union of 0.8 for 98 %; the recogniser misreads at most 1 point of the characters more."""
import json
import pathlib
import sys

import numpy

LEAST_ALIKE, LEAST_MATCHED, MOST_LOST = 99.5, 98.0, 1.0
# As PaddleOCR reads the detector's map.
PIXEL, BOX, SMALLEST = 0.3, 0.6, 3


def runs_of(row):
    """Where a row of booleans is true: [begin, end)."""
    edges = numpy.flatnonzero(numpy.diff(numpy.concatenate(([False], row, [False])).astype(numpy.int8)))
    return edges.reshape(-1, 2)


def boxes_of(probability):
    """Boxes (left, top, right, bottom) around what hangs together."""
    parent, runs, above = [], [], []

    def root(i):
        while parent[i] != i:
            i = parent[i]
        return i

    for y, row in enumerate(probability > PIXEL):
        here = []
        for begin, end in runs_of(row):
            here.append(len(runs))
            runs.append((begin, y, end, y + 1))
            parent.append(len(parent))
            for other in above:
                if runs[other][0] <= end and begin <= runs[other][2]:
                    parent[root(other)] = root(here[-1])
        above = here
    boxes = {}
    for i, (left, top, right, bottom) in enumerate(runs):
        l, t, r, b = boxes.get(root(i), (left, top, right, bottom))
        boxes[root(i)] = (min(l, left), min(t, top), max(r, right), max(b, bottom))
    return [(l, t, r, b) for l, t, r, b in boxes.values()
            if min(r - l, b - t) >= SMALLEST and probability[t:b, l:r].mean() > BOX]


def overlap(a, b):
    """Intersection over union."""
    wide, high = min(a[2], b[2]) - max(a[0], b[0]), min(a[3], b[3]) - max(a[1], b[1])
    both = max(wide, 0) * max(high, 0)
    return both / ((a[2] - a[0]) * (a[3] - a[1]) + (b[2] - b[0]) * (b[3] - b[1]) - both)


def matched(real, got):
    """Of the boxes of both, in per cent, those that have a partner."""
    pairs = total = 0
    for a, b in zip(real, got):
        boxes, others = boxes_of(a[0]), boxes_of(b[0])
        total += len(boxes) + len(others)
        for box in boxes:
            best = max(others, key=lambda other: overlap(box, other), default=None)
            if best is not None and overlap(box, best) >= 0.8:
                others.remove(best)
                pairs += 2
    return 100 * pairs / total, total


def read(scores, characters):
    """Greedy: a character each time the best class changes, 0 being none."""
    best = scores.argmax(1)
    return "".join(characters[c] for c, before in zip(best, numpy.concatenate(([0], best))) if c != 0 and c != before)


def edits(a, b):
    """Levenshtein's distance."""
    row = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        diagonal, row[0] = row[0], i
        for j, y in enumerate(b, 1):
            diagonal, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, diagonal + (x != y))
    return row[-1]


def misread(scores, texts, characters):
    """Of the characters, in per cent."""
    return 100 * sum(edits(t, read(s, characters)) for t, s in zip(texts, scores)) / sum(map(len, texts))


def main(directory, keys):
    texts = json.loads((directory / "test.json").read_text())
    outputs = lambda network: [numpy.load(directory / f"{network}.{kind}.npy") for kind in ("float", "integers")]
    failed = []

    def line(name, text, is_good):
        print(f"{name:12}{text}{'' if is_good else '  BELOW THE BAR'}")
        failed.extend([] if is_good else [name])

    real, got = outputs("classifier")
    alike = 100 * (real.argmax(1) == got.argmax(1)).mean()
    right = [100 * (y.argmax(1) == texts["turned"]).mean() for y in (real, got)]
    line("classifier", f"alike {alike:.2f} % of {len(real)} (bar {LEAST_ALIKE}); right {right[0]:.2f} %, integers {right[1]:.2f} %",
         alike >= LEAST_ALIKE)
    share, total = matched(*outputs("detector"))
    line("detector", f"matched {share:.2f} % of {total} boxes (bar {LEAST_MATCHED})", share >= LEAST_MATCHED)
    characters = ["", *keys.read_text().removesuffix("\n").split("\n"), " "]
    real, got = (misread(y, texts["texts"], characters) for y in outputs("recogniser"))
    line("recogniser", f"misread {real:.2f} % of characters, integers {got:.2f} % (bar {MOST_LOST} more)", got <= real + MOST_LOST)
    return 1 if failed else 0


if len(sys.argv) != 3:
    sys.exit(__doc__)
sys.exit(main(pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])))
