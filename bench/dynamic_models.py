#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes ONNX models in the form of dynamic quantisation, with random weights, for measurements.

    dynamic_models.py product M K N OUT.onnx              DynamicQuantizeLinear -> MatMulInteger ... + bias
    dynamic_models.py convolution C HW OUT.onnx           ... -> ConvInteger 3x3, uint8 weights
    dynamic_models.py transformer LAYERS TOKENS OUT.onnx  an encoder of 384 channels and 12 heads, as
                                                          transformers.js and Optimum write MiniLM; TOKENS
                                                          may be `open`: any batch and length then
    dynamic_models.py keyword OUT.onnx                    a keyword network (DS-CNN) in float, nothing quantised

The layers are those of ONNX Runtime's quantize_dynamic: DynamicQuantizeLinear, MatMulInteger or
ConvInteger with constant weights, Cast, Mul(x_scale, w_scale), Mul, Add. What else a transformer has
(attention's products of two activations, Softmax, LayerNormalization, Gelu by Erf) is float there and
stays so. Python 3 alone: the file is written as protobuf by hand.
"""
import sys

from onnx_writer import FLOAT, INT8, INT64, UINT8, Graph


class Layers(Graph):
    def scaled(self, acc, x_scale, w_scale, bias):
        y = self.node("Cast", [acc], to=FLOAT)
        y = self.node("Mul", [y, self.node("Mul", [x_scale, self.scalar(w_scale)])])
        return self.node("Add", [y, bias])

    def quantized(self, x):
        return self.node("DynamicQuantizeLinear", [x], outputs=3)

    def linear(self, quantized, k, n):
        """A layer of int8 weights, symmetric, as exporters quantise a MatMul."""
        x, scale, zero = quantized
        w = self.constant(INT8, [k, n], [self.random.randint(-127, 127) for _ in range(k * n)])
        acc = self.node("MatMulInteger", [x, w, zero, self.constant(INT8, [], [0])])
        return self.scaled(acc, scale, 2.0 / 127 / k**0.5, self.floats([n], -0.1, 0.1))

    def convolution(self, x, c, out):
        x, scale, zero = self.quantized(x)
        w = self.constant(UINT8, [out, c, 3, 3], [self.random.randint(0, 255) for _ in range(out * c * 9)])
        acc = self.node("ConvInteger", [x, w, zero, self.constant(UINT8, [], [121])], pads=[1, 1, 1, 1])
        return self.scaled(acc, scale, 0.002, self.floats([1, out, 1, 1], -0.1, 0.1))

    def float_convolution(self, x, c, out, kernel, pads, stride=1, groups=1):
        limit = (3 * groups / (c * kernel[0] * kernel[1])) ** 0.5
        w = self.floats([out, c // groups, *kernel], -limit, limit)
        y = self.node("Conv", [x, w, self.floats([out], -0.1, 0.1)], pads=pads, strides=[stride, stride], group=groups)
        return self.node("Relu", [y])

    def keyword(self, x):
        """DS-CNN of MLPerf Tiny's form: 49 frames of 10 coefficients, 12 words."""
        x = self.float_convolution(x, 1, 64, [10, 4], [4, 1, 5, 1], stride=2)
        for _ in range(4):
            x = self.float_convolution(x, 64, 64, [3, 3], [1, 1, 1, 1], groups=64)
            x = self.float_convolution(x, 64, 64, [1, 1], [0, 0, 0, 0])
        x = self.node("Flatten", [self.node("GlobalAveragePool", [x])])
        return self.node("Add", [self.node("MatMul", [x, self.floats([64, 12], -0.2, 0.2)]), self.floats([12], -0.1, 0.1)])

    def normalized(self, x, c):
        return self.node("LayerNormalization", [x, self.floats([c], 0.9, 1.1), self.floats([c], -0.1, 0.1)],
                         axis=-1, epsilon=1e-12)

    def target(self, tokens, of, *rest):
        """The target of a Reshape: [batch, tokens, *rest], from the sizes of `of` where they are open."""
        rest = self.constant(INT64, [len(rest)], list(rest))
        if tokens == "open":
            shape = self.node("Shape", [of])
            sizes = [self.node("Gather", [shape, self.constant(INT64, [1], [d])], axis=0) for d in (0, 1)]
        else:
            sizes = [self.constant(INT64, [2], [1, tokens])]
        return self.node("Concat", [*sizes, rest], axis=0)

    def encoder(self, x, tokens, c, heads):
        size = c // heads
        split = self.target(tokens, x, heads, size)
        joined = self.target(tokens, x, c)
        source = self.quantized(x)
        q, k, v = (self.node("Reshape", [self.linear(source, c, c), split]) for _ in range(3))
        q, v = (self.node("Transpose", [t], perm=[0, 2, 1, 3]) for t in (q, v))
        k = self.node("Transpose", [k], perm=[0, 2, 3, 1])
        scores = self.node("Div", [self.node("MatMul", [q, k]), self.scalar(size**0.5)])
        context = self.node("MatMul", [self.node("Softmax", [scores], axis=-1), v])
        context = self.node("Reshape", [self.node("Transpose", [context], perm=[0, 2, 1, 3]), joined])
        x = self.normalized(self.node("Add", [self.linear(self.quantized(context), c, c), x]), c)
        inner = self.linear(self.quantized(x), c, 4 * c)
        erf = self.node("Erf", [self.node("Div", [inner, self.scalar(2**0.5)])])
        gelu = self.node("Mul", [inner, self.node("Add", [erf, self.scalar(1.0)])])
        gelu = self.node("Mul", [gelu, self.scalar(0.5)])
        return self.normalized(self.node("Add", [self.linear(self.quantized(gelu), 4 * c, c), x]), c)


def main(argv):
    g = Layers(1)
    if argv[:1] == ["product"] and len(argv) == 5:
        m, k, n = map(int, argv[1:4])
        y = g.linear(g.quantized("x"), k, n)
        g.save(argv[4], [("x", [m, k])], [(y, [m, n])])
    elif argv[:1] == ["convolution"] and len(argv) == 4:
        c, size = map(int, argv[1:3])
        y = g.convolution("x", c, c)
        g.save(argv[3], [("x", [1, c, size, size])], [(y, [1, c, size, size])])
    elif argv[:1] == ["keyword"] and len(argv) == 2:
        g.save(argv[1], [("x", [1, 1, 49, 10])], [(g.keyword("x"), [1, 12])])
    elif argv[:1] == ["transformer"] and len(argv) == 4:
        layers, tokens, c = int(argv[1]), argv[2] if argv[2] == "open" else int(argv[2]), 384
        shape = ["batch", "seq", c] if tokens == "open" else [1, tokens, c]
        y = g.normalized("x", c)
        for _ in range(layers):
            y = g.encoder(y, tokens, c, 12)
        g.save(argv[3], [("x", shape)], [(y, shape)])
    else:
        sys.exit(__doc__)


main(sys.argv[1:])
