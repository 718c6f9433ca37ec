#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes ONNX models with weights in blocks (com.microsoft.MatMulNBits), random ones, for measurements and comparisons.

    block_models.py product M K N OUT.onnx [OPTION...]    x [M, K] -> MatMulNBits -> y [M, N]; M may be `open`
    block_models.py decoder LAYERS WIDTH OUT.onnx [...]   a language model as ONNX Runtime's model builder writes it: embedding, grouped
                                                          queries of heads of 64, caches that grow, SiLU; batch 1, 512 words

Options: --bits B (2, 4, 8; default 4), --block N (default 32), --level L (accuracy_level; default 4), --zero-points, --bias,
--seed S. Python 3 alone: the file is written as protobuf by hand.
"""
import argparse
import math

from onnx_writer import FLOAT, INT64, UINT8, Graph

WORDS, EACH, LONGEST = 512, 64, 1024


class Blocks(Graph):
    def __init__(self, options):
        super().__init__(options.seed)
        self.options = options

    def bytes_of(self, shape):
        return self.constant(UINT8, shape, self.random.randbytes(math.prod(shape)))

    def product(self, x, k, n):
        o = self.options
        blocks = -(-k // o.block)
        scale = 1.5 / (2 ** (o.bits - 1)) / k ** 0.5
        inputs = [x, self.bytes_of([n, blocks, o.block * o.bits // 8]), self.floats([n * blocks], 0.5 * scale, 1.5 * scale)]
        if o.zero_points:
            inputs.append(self.bytes_of([n * -(-blocks * o.bits // 8)]))
        if o.bias:
            inputs += [""] * (5 - len(inputs)) + [self.floats([n], -0.5, 0.5)]
        return self.node("MatMulNBits", inputs, domain="com.microsoft", K=k, N=n, bits=o.bits, block_size=o.block, accuracy_level=o.level)

    def norm(self, x, width):
        return self.node("SimplifiedLayerNormalization", [x, self.floats([width], 0.5, 1.5)], axis=-1, epsilon=1e-6)

    def decoder(self, layers, width):
        heads, groups = width // EACH, max(1, width // EACH // 4)
        inputs = [("input_ids", [1, "sequence_length"], INT64), ("attention_mask", [1, "total_sequence_length"], INT64)]
        outputs = [("logits", [1, "sequence_length", WORDS], FLOAT)]
        one = self.constant(INT64, [1], [1])
        lengths = self.node("Cast", [self.node("Sub", [self.node("ReduceSum", ["attention_mask", one], keepdims=1), one])], to=6)
        lengths = self.node("Reshape", [lengths, one])
        total = self.node("Cast", [self.node("Gather", [self.node("Shape", ["attention_mask"]), self.constant(INT64, [], [1])], axis=0)], to=6)
        angles = [p * 1e4 ** (-2 * i / EACH) for p in range(LONGEST) for i in range(EACH // 2)]
        tables = [self.constant(FLOAT, [LONGEST, EACH // 2], [f(a) for a in angles]) for f in (math.cos, math.sin)]
        x = self.node("Gather", [self.floats([WORDS, width], -1, 1), "input_ids"], axis=0)
        for i in range(layers):
            caches = [f"past_key_values.{i}.{part}" for part in ("key", "value")]
            present = [f"present.{i}.{part}" for part in ("key", "value")]
            inputs += [(c, [1, groups, "past_sequence_length", EACH], FLOAT) for c in caches]
            outputs += [(c, [1, groups, "total_sequence_length", EACH], FLOAT) for c in present]
            y = self.norm(x, width)
            q, k, v = (self.product(y, width, h * EACH) for h in (heads, groups, groups))
            attended = self.name("attended")
            self.node("GroupQueryAttention", [q, k, v, *caches, lengths, total, *tables], [attended, *present], domain="com.microsoft",
                      num_heads=heads, kv_num_heads=groups, do_rotary=1, scale=EACH ** -0.5)
            x = self.node("Add", [x, self.product(attended, heads * EACH, width)])
            y = self.norm(x, width)
            gate, up = (self.product(y, width, 4 * width) for _ in range(2))
            gate = self.node("Mul", [gate, self.node("Sigmoid", [gate])])
            x = self.node("Add", [x, self.product(self.node("Mul", [gate, up]), 4 * width, width)])
        self.node("Identity", [self.product(self.norm(x, width), width, WORDS)], ["logits"])
        return inputs, outputs


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kind", choices=["product", "decoder"])
    parser.add_argument("sizes", nargs="+", help="as above, and OUT.onnx")
    for name, value in (("bits", 4), ("block", 32), ("level", 4), ("seed", 1)):
        parser.add_argument("--" + name, type=int, default=value)
    parser.add_argument("--zero-points", action="store_true")
    parser.add_argument("--bias", action="store_true")
    options = parser.parse_args()
    g, *sizes, path = Blocks(options), *options.sizes
    if options.kind == "decoder":
        inputs, outputs = g.decoder(*map(int, sizes))
    else:
        m, k, n = sizes[0] if sizes[0] == "open" else int(sizes[0]), int(sizes[1]), int(sizes[2])
        inputs, outputs = [("x", [m, k], FLOAT)], [("y", [m, n], FLOAT)]
        g.node("Identity", [g.product("x", k, n)], ["y"])
    g.save(path, inputs, outputs)


main()
