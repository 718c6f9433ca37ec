# SPDX-License-Identifier: Apache-2.0
"""Writes the ONNX models of the examples beside it, small ones with weights that somebody thought out: Python 3 alone.

    models.py voice|decoder|sentences|detector OUT.onnx
"""
import math
import os
import random
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "bench"))
from onnx_writer import FLOAT, INT64, INT8, UINT8, Graph  # noqa: E402


def dynamic_layer(g, x, weights, rows, columns):
    """x times int8 weights / 64, with x quantised by what it holds, as exporters of dynamic quantisation write it."""
    q, scale, zero = g.node("DynamicQuantizeLinear", [x], 3)
    w = g.constant(INT8, [rows, columns], weights)
    sums = g.node("Cast", [g.node("MatMulInteger", [q, w, zero])], to=FLOAT)
    return g.node("Mul", [sums, g.node("Mul", [scale, g.scalar(1 / 64)])])


def voice(path):
    """Voice activity of 256 samples at 16 kHz, 16 ms: how far bands are above the noise that was heard so far.

    States: `power` of each band, smoothed; `noise`, its floor, which rises slowly and falls at once; `speech`, which decays.
    """
    g, bands, length = Graph(1), 16, 256
    waves = []
    for n in range(length):
        window = 0.5 - 0.5 * math.cos(2 * math.pi * (n + 0.5) / length)
        for wave in (math.cos, math.sin):
            waves += [window * wave(2 * math.pi * (4 + 4 * b) * n / length) / 8 for b in range(bands)]
    pairs = [float(row % bands == b) for row in range(2 * bands) for b in range(bands)]
    parts = g.node("MatMul", ["samples", g.constant(FLOAT, [length, 2 * bands], waves)])
    now = g.node("MatMul", [g.node("Mul", [parts, parts]), g.constant(FLOAT, [2 * bands, bands], pairs)])
    power = g.node("Add", [g.node("Mul", ["power", g.scalar(0.8)]), g.node("Mul", [now, g.scalar(0.2)])], ["next_power"])
    level = g.node("Log", [g.node("Add", [power, g.scalar(1e-6)])])
    risen = g.node("Add", ["noise", g.scalar(0.01)])
    floor = g.node("Min", [level, risen], ["next_noise"])
    above = g.node("Relu", [g.node("Sub", [g.node("Sub", [level, floor]), g.scalar(3.0)])])
    # Speech has most of its power between 250 Hz and 3 kHz.
    score = dynamic_layer(g, above, [20 if b < 12 else 4 for b in range(bands)], bands, 1)
    speech = g.node("Max", [score, g.node("Mul", ["speech", g.scalar(0.8)])], ["next_speech"])
    g.node("Sigmoid", [g.node("Mul", [g.node("Sub", [speech, g.scalar(1.0)]), g.scalar(4.0)])], ["probability"])
    g.save(path, [("samples", [1, length]), ("power", [1, bands]), ("noise", [1, bands]), ("speech", [1, 1])],
           [("probability", [1, 1]), ("next_power", [1, bands]), ("next_noise", [1, bands]), ("next_speech", [1, 1])])


def decoder(path):
    """A decoder of one layer whose attention looks for the last two characters in what it has seen, and reads what came
    behind them: it goes on with any text that repeats itself. Ids are ASCII less 32.

    States: the caches `keys` and `values`, of 128 positions, the `position` of the next token, and the two characters
    before it, `context`.
    """
    g, vocabulary, positions = Graph(1), 96, 128
    one_hot = [int(row == column) for row in range(vocabulary) for column in range(vocabulary)]
    table = g.node("DequantizeLinear", [g.constant(INT8, [vocabulary, vocabulary], one_hot), g.scalar(1.0),
                                        g.constant(INT8, [], [0])])
    token = g.node("Gather", [table, "id"], axis=0)
    first = g.node("Slice", ["context"] + [g.constant(INT64, [1], [n]) for n in (0, vocabulary, 1)])
    query = g.node("Concat", [token, first], ["next_context"], axis=1)
    recency = g.constant(FLOAT, [1, positions], [0.02 * p for p in range(positions)])
    scores = g.node("MatMul", [query, g.node("Transpose", ["keys"], perm=[1, 0])])
    scores = g.node("Add", [g.node("Mul", [scores, g.scalar(12.0)]), recency])
    logits = g.node("MatMul", [g.node("Softmax", [scores], axis=1), "values"])
    g.node("ArgMax", [logits], ["next"], axis=1, keepdims=0)
    place = g.node("Reshape", ["position", g.constant(INT64, [2], [1, 1])])
    g.node("ScatterND", ["keys", place, "context"], ["next_keys"])
    g.node("ScatterND", ["values", place, token], ["next_values"])
    g.node("Add", ["position", g.constant(INT64, [1], [1])], ["next_position"])
    states = [("keys", [positions, 2 * vocabulary]), ("values", [positions, vocabulary]), ("context", [1, 2 * vocabulary]),
              ("position", [1], INT64)]
    g.save(path, [("id", [1], INT64)] + states,
           [("next", [1], INT64)] + [("next_" + state[0], *state[1:]) for state in states])


def sentences(path):
    """The embedding of a sentence, of length 1: the mean of its words' vectors behind a layer. Of the 40 words, 0 to 7, 8 to
    15 and so on speak of the same thing."""
    g, words, topic, width = Graph(1), 40, 8, 32
    rows = []
    for word in range(words):
        own, shared = random.Random(word), random.Random(1000 + word // topic)
        rows += [round(shared.uniform(-90, 90) + own.uniform(-35, 35)) for _ in range(width)]
    table = g.node("DequantizeLinear", [g.constant(INT8, [words, width], rows), g.scalar(0.02), g.constant(INT8, [], [0])])
    vectors = g.node("Gather", [table, "ids"], axis=0)
    layer = [g.random.randint(-40, 40) for _ in range(width * width)]
    hidden = g.node("Tanh", [dynamic_layer(g, vectors, layer, width, width)])
    mean = g.node("ReduceMean", [hidden], axes=[1], keepdims=0)
    g.node("Div", [mean, g.node("ReduceL2", [mean], axes=[1], keepdims=1)], ["embedding"])
    g.save(path, [("ids", [1, "length"], INT64)], [("embedding", [1, width])])


def detector(path):
    """Bright squares of 5 by 5 pixels in a grey image of 32 by 32: a convolution makes a map of how much a place looks like the
    middle of one, and non-maximum suppression keeps up to 4 of their boxes, those that overlap no better one."""
    g, side, most = Graph(1), 32, 4
    zero = g.constant(UINT8, [], [0])

    def rounded(x, scale):
        limits = [x, g.scalar(scale), zero]
        return g.node("DequantizeLinear", [g.node("QuantizeLinear", limits)] + limits[1:])

    kernel = [4 if 1 <= row <= 5 and 1 <= column <= 5 else -4 for row in range(7) for column in range(7)]
    weights = g.node("DequantizeLinear", [g.constant(INT8, [1, 1, 7, 7], kernel), g.scalar(0.01), g.constant(INT8, [], [0])])
    image = g.node("DequantizeLinear", ["image", g.scalar(1 / 255), zero])
    heat = rounded(g.node("Relu", [g.node("Conv", [image, weights], pads=[3, 3, 3, 3])]), 1 / 255)
    places = side * side
    scores = g.node("Reshape", [heat, g.constant(INT64, [3], [1, 1, places])], ["scores"])
    boxes = [edge for row in range(side) for column in range(side)
             for edge in (row - 2, column - 2, row + 3, column + 3)]
    limits = [g.constant(INT64, [], [most]), g.scalar(0.3), g.scalar(0.1)]
    g.node("NonMaxSuppression", [g.constant(FLOAT, [1, places, 4], boxes), scores] + limits, ["found"])
    g.save(path, [("image", [1, 1, side, side], UINT8)], [("scores", [1, 1, places]), ("found", [most, 3], INT64)])


if __name__ == "__main__":
    makers = {"voice": voice, "decoder": decoder, "sentences": sentences, "detector": detector}
    if len(sys.argv) != 3 or sys.argv[1] not in makers:
        sys.exit(__doc__)
    makers[sys.argv[1]](sys.argv[2])
