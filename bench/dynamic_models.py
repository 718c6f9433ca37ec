#!/usr/bin/env python3
"""Writes ONNX models in the form of dynamic quantisation, with random weights, for measurements.

    dynamic_models.py product M K N OUT.onnx              DynamicQuantizeLinear -> MatMulInteger ... + bias
    dynamic_models.py convolution C HW OUT.onnx           ... -> ConvInteger 3x3, uint8 weights
    dynamic_models.py transformer LAYERS TOKENS OUT.onnx  an encoder of 384 channels and 12 heads, as
                                                          transformers.js and Optimum write MiniLM

The layers are those of ONNX Runtime's quantize_dynamic: DynamicQuantizeLinear, MatMulInteger or
ConvInteger with constant weights, Cast, Mul(x_scale, w_scale), Mul, Add. What else a transformer has
(attention's products of two activations, Softmax, LayerNormalization, Gelu by Erf) is float there and
stays so. Python 3 alone: the file is written as protobuf by hand.
"""
import random
import struct
import sys

FLOAT, UINT8, INT8, INT64 = 1, 2, 3, 7
SIZES = {FLOAT: "f", UINT8: "B", INT8: "b", INT64: "q"}


def varint(v):
    out = bytearray()
    v &= (1 << 64) - 1
    while v >= 0x80:
        out.append(v & 0x7F | 0x80)
        v >>= 7
    out.append(v)
    return bytes(out)


def number(field, v):
    return varint(field << 3) + varint(v)


def block(field, data):
    data = data.encode() if isinstance(data, str) else data
    return varint(field << 3 | 2) + varint(len(data)) + data


def attribute(name, value):
    body = block(1, name)
    if isinstance(value, int):
        return body + number(3, value) + number(20, 2)
    if isinstance(value, float):
        return body + varint(2 << 3 | 5) + struct.pack("<f", value) + number(20, 1)
    return body + b"".join(number(8, v) for v in value) + number(20, 7)


def value_info(name, shape):
    dims = b"".join(block(1, number(1, d)) for d in shape)
    return block(1, name) + block(2, block(1, number(1, FLOAT) + block(2, dims)))


class Graph:
    def __init__(self, seed):
        self.random = random.Random(seed)
        self.nodes, self.initializers, self.count = [], [], 0

    def name(self, stem):
        self.count += 1
        return f"{stem}_{self.count}"

    def constant(self, kind, shape, values):
        name = self.name("c")
        data = struct.pack(f"<{len(values)}{SIZES[kind]}", *values)
        body = b"".join(number(1, d) for d in shape) + number(2, kind) + block(8, name) + block(9, data)
        self.initializers.append(body)
        return name

    def node(self, op, inputs, outputs=1, **attributes):
        names = [self.name(op) for _ in range(outputs)]
        body = b"".join(block(1, i) for i in inputs) + b"".join(block(2, o) for o in names)
        body += block(3, names[0]) + block(4, op)
        body += b"".join(block(5, attribute(k, v)) for k, v in attributes.items())
        self.nodes.append(body)
        return names if outputs > 1 else names[0]

    def floats(self, shape, low, high):
        count = 1
        for d in shape:
            count *= d
        return self.constant(FLOAT, shape, [self.random.uniform(low, high) for _ in range(count)])

    def scalar(self, v):
        return self.constant(FLOAT, [], [v])

    def save(self, path, inputs, outputs):
        body = b"".join(block(1, n) for n in self.nodes) + block(2, "dynamic")
        body += b"".join(block(5, t) for t in self.initializers)
        body += b"".join(block(11, value_info(n, s)) for n, s in inputs)
        body += b"".join(block(12, value_info(n, s)) for n, s in outputs)
        with open(path, "wb") as f:
            f.write(number(1, 8) + block(7, body) + block(8, number(2, 17)))

    # --- layers

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

    def normalized(self, x, c):
        return self.node("LayerNormalization", [x, self.floats([c], 0.9, 1.1), self.floats([c], -0.1, 0.1)],
                         axis=-1, epsilon=1e-12)

    def encoder(self, x, tokens, c, heads):
        size = c // heads
        split = self.constant(INT64, [4], [1, tokens, heads, size])
        joined = self.constant(INT64, [3], [1, tokens, c])
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
    g = Graph(1)
    if argv[:1] == ["product"] and len(argv) == 5:
        m, k, n = map(int, argv[1:4])
        y = g.linear(g.quantized("x"), k, n)
        g.save(argv[4], [("x", [m, k])], [(y, [m, n])])
    elif argv[:1] == ["convolution"] and len(argv) == 4:
        c, size = map(int, argv[1:3])
        y = g.convolution("x", c, c)
        g.save(argv[3], [("x", [1, c, size, size])], [(y, [1, c, size, size])])
    elif argv[:1] == ["transformer"] and len(argv) == 4:
        layers, tokens, c = int(argv[1]), int(argv[2]), 384
        y = g.normalized("x", c)
        for _ in range(layers):
            y = g.encoder(y, tokens, c, 12)
        g.save(argv[3], [("x", [1, tokens, c])], [(y, [1, tokens, c])])
    else:
        sys.exit(__doc__)


main(sys.argv[1:])
