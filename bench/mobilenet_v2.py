#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes MobileNetV2 (224x224) with random weights: mobilenet_v2.py powers|any|float OUT.onnx

In int8 QDQ form with scales that are powers of two, which qrt_convert takes with --reference espdl-p4, espdl-s3 or
espdl-c, and with any scales, for ONNX Runtime's bits: for comparing the speed of ESP-DL's arithmetic with that of
ONNX. Weights have one scale per tensor, as the ESP32-S3 wants them. In float: for the speed of qrt_quantize. Python 3 alone.
"""
import math
import sys

from onnx_writer import INT8, INT32, Graph

# Expansion, channels, blocks, stride of the first.
BLOCKS = [(1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1), (6, 160, 3, 2), (6, 320, 1, 1)]
WEIGHT_RMS = 127 / math.sqrt(3)  # of uniform int8 weights


class Network(Graph):
    def __init__(self, form):
        super().__init__(1)
        self.is_float = form == "float"
        powers = form == "powers"
        # The scale of all activations; another for every tensor would change nothing that is measured.
        self.scale = 2.0**-5 if powers else 0.0283
        self.powers = powers

    def dequantized(self, x, scale, kind=INT8):
        return self.node("DequantizeLinear", [x, self.scalar(scale), self.constant(kind, [], [0])])

    def pair(self, x):
        if self.is_float:
            return x
        q = self.node("QuantizeLinear", [x, self.scalar(self.scale), self.constant(INT8, [], [0])])
        return self.dequantized(q, self.scale)

    def weights(self, shape, terms):
        """Constant weights and bias, of a scale that keeps the size of what they are multiplied with."""
        if self.is_float:
            most = math.sqrt(6 / terms)  # half of what is summed is cut off at 0
            return [self.floats(shape, -most, most), self.floats([shape[0]], -0.1, 0.1)]
        scale = 1 / (WEIGHT_RMS * math.sqrt(terms))
        scale = 2.0 ** round(math.log2(scale)) if self.powers else scale
        values = [self.random.randint(-127, 127) for _ in range(math.prod(shape))]
        bias = [self.random.randint(-2000, 2000) for _ in range(shape[0])]
        return [self.dequantized(self.constant(INT8, shape, values), scale),
                self.dequantized(self.constant(INT32, [shape[0]], bias), scale * self.scale, INT32)]

    def convolution(self, x, c, out, kernel=1, stride=1, groups=1, relu=True):
        shape = [out, c // groups, kernel, kernel]
        y = self.node("Conv", [x, *self.weights(shape, math.prod(shape[1:]))], kernel_shape=[kernel, kernel],
                      strides=[stride, stride], pads=[kernel // 2] * 4, group=groups)
        if relu and self.is_float:
            y = self.node("Clip", [y, self.scalar(0.0), self.scalar(6.0)])
        elif relu:
            y = self.node("Relu", [y])
        return self.pair(y)

    def block(self, x, c, expansion, out, stride):
        inner = c * expansion
        y = self.convolution(x, c, inner) if expansion > 1 else x
        y = self.convolution(y, inner, inner, 3, stride, inner)
        y = self.convolution(y, inner, out, relu=False)
        return self.pair(self.node("Add", [x, y])) if stride == 1 and c == out else y


if len(sys.argv) != 3 or sys.argv[1] not in ("powers", "any", "float"):
    sys.exit(__doc__)
net = Network(sys.argv[1])
x, c = net.convolution(net.pair("image"), 3, 32, 3, 2), 32
for expansion, out, count, first in BLOCKS:
    for i in range(count):
        x, c = net.block(x, c, expansion, out, first if i == 0 else 1), out
x = net.convolution(x, c, 1280)
x = net.pair(net.node("GlobalAveragePool", [x]))
x = net.node("Flatten", [x], axis=1)
y = net.pair(net.node("Gemm", [x, *net.weights([1000, 1280], 1280)], transB=1))
net.save(sys.argv[2], [("image", [1, 3, 224, 224])], [(y, [1, 1000])])
