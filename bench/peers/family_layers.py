# SPDX-License-Identifier: Apache-2.0
"""What the networks of family_graphs.py are made of: layers in QDQ form, as quantisers of ONNX models write them.

Every layer takes and gives a name of a float tensor behind a DequantizeLinear. Activations are uint8, weights int8 with
one scale for each channel; both are random, and of a size that keeps the sums of a layer within its output's range.
"""
import math
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), ".."))
from onnx_writer import FLOAT, INT8, INT32, INT64, UINT8, Graph  # noqa: E402

WEIGHT_RMS = 127 / math.sqrt(3)  # of uniform int8 weights
SCALE = 0.0283  # of all activations


def of_axes(v, axes):
    return list(v) if isinstance(v, (tuple, list)) else [v] * axes


class Layers(Graph):
    def __init__(self, seed):
        super().__init__(seed)
        self.shapes = {}  # of tensors that layers gave
        self.inputs = []

    def input(self, shape):
        name = self.name("input")
        self.inputs.append((name, shape))
        return self.pair(name, shape)

    def pair(self, x, shape, low=None):
        """x through 8 bits. `low` is the zero point: 0 behind a ReLU."""
        scale, zero = self.scalar(SCALE), self.constant(UINT8, [], [128 if low is None else low])
        y = self.node("DequantizeLinear", [self.node("QuantizeLinear", [x, scale, zero]), scale, zero])
        self.shapes[y] = shape
        return y

    def weights(self, shape, terms, outputs, axis=0):
        """Weights and bias of a layer whose sums have so many terms."""
        data = self.random.randbytes(math.prod(shape))
        bias = [self.random.randint(-2000, 2000) for _ in range(outputs)]
        scales = [self.random.uniform(0.8, 1.2) / (WEIGHT_RMS * math.sqrt(terms)) for _ in range(outputs)]
        return [self.of_channels(self.constant(INT8, shape, data), INT8, scales, axis),
                self.of_channels(self.constant(INT32, [outputs], bias), INT32, [SCALE * s for s in scales], 0)]

    def of_channels(self, data, kind, scales, axis):
        c = [len(scales)]
        zeros = self.constant(kind, c, [0] * len(scales))
        return self.node("DequantizeLinear", [data, self.constant(FLOAT, c, scales), zeros], axis=axis)

    def convolution(self, x, out, kernel=1, stride=1, groups=1, act="relu", dilation=1, pad=None, transposed=False):
        """Of one or two axes. act: what stands behind it, None for nothing."""
        images, c, *size = self.shapes[x]
        axes = len(size)
        k, s, d = of_axes(kernel, axes), of_axes(stride, axes), of_axes(dilation, axes)
        p = [(a - 1) * b // 2 for a, b in zip(k, d)] if pad is None else of_axes(pad, axes)
        options = dict(kernel_shape=k, strides=s, pads=p * 2, dilations=d, group=groups)
        if transposed:
            shape = [images, out] + [(n - 1) * b - 2 * q + a for n, a, b, q in zip(size, k, s, p)]
            weights = self.weights([c, out // groups, *k], math.prod(k) * c / groups, out, axis=1)
            y = self.node("ConvTranspose", [x, *weights], **options)
        else:
            shape = [images, out] + [(n + 2 * q - (a - 1) * e - 1) // b + 1 for n, a, b, q, e in zip(size, k, s, p, d)]
            weights = self.weights([out, c // groups, *k], math.prod(k) * c / groups, out)
            y = self.node("Conv", [x, *weights], **options)
        return self.activation(y, shape, act)

    def activation(self, y, shape, act):
        if act == "relu":
            return self.pair(self.node("Relu", [y]), shape, low=0)
        if act is None:
            return self.pair(y, shape)
        if act == "silu":
            y = self.pair(y, shape)
            return self.pair(self.node("Mul", [y, self.pair(self.node("Sigmoid", [y]), shape)]), shape)
        if act == "hardswish":
            y = self.pair(y, shape)
            return self.pair(self.node("HardSwish", [y]), shape)
        if act == "prelu":
            y = self.pair(y, shape)
            slope = self.small([shape[1], 1, 1][:len(shape) - 1])
            return self.pair(self.node("PRelu", [y, slope]), shape)
        if act == "gelu":
            y = self.pair(y, shape)
            e = self.node("Erf", [self.node("Div", [y, self.scalar(math.sqrt(2))])])
            m = self.node("Mul", [y, self.node("Add", [e, self.scalar(1.0)])])
            return self.pair(self.node("Mul", [m, self.scalar(0.5)]), shape)
        return self.pair(self.node(act, [self.pair(y, shape)]), shape)

    def small(self, shape):
        """Constants between -0.25 and 0.25, a bias or slopes: of the activations' type."""
        data = self.constant(UINT8, shape, self.random.randbytes(math.prod(shape)))
        return self.node("DequantizeLinear", [data, self.scalar(0.002), self.constant(UINT8, [], [128])])

    def batch_norm(self, x, act="relu"):
        shape = self.shapes[x]
        c = [shape[1]]
        y = self.node("BatchNormalization", [x, self.floats(c, 0.8, 1.2), self.floats(c, -0.2, 0.2),
                                             self.floats(c, -0.2, 0.2), self.floats(c, 0.8, 1.2)])
        return self.activation(y, shape, act)

    def binary(self, op, a, b, act=None):
        return self.activation(self.node(op, [a, b]), self.shapes[a], act)

    def add(self, a, b, act=None):
        return self.binary("Add", a, b, act)

    def concat(self, parts, axis=1):
        shape = list(self.shapes[parts[0]])
        shape[axis] = sum(self.shapes[p][axis] for p in parts)
        return self.pair(self.node("Concat", parts, axis=axis), shape)

    def pool(self, x, kind, kernel, stride, pad=0):
        images, c, *size = self.shapes[x]
        shape = [images, c] + [(n + 2 * pad - kernel) // stride + 1 for n in size]
        axes = len(size)
        options = dict(kernel_shape=[kernel] * axes, strides=[stride] * axes, pads=[pad] * 2 * axes)
        if kind == "average":
            return self.pair(self.node("AveragePool", [x], count_include_pad=1, **options), shape)
        return self.pair(self.node("MaxPool", [x], **options), shape)

    def global_pool(self, x):
        shape = self.shapes[x]
        return self.pair(self.node("GlobalAveragePool", [x]), shape[:2] + [1] * (len(shape) - 2))

    def reshape(self, x, shape, known=None):
        y = self.node("Reshape", [x, self.constant(INT64, [len(shape)], shape)])
        return self.pair(y, known or shape)

    def transpose(self, x, perm):
        return self.pair(self.node("Transpose", [x], perm=perm), [self.shapes[x][i] for i in perm])

    def split(self, x, parts, axis=1):
        shape = list(self.shapes[x])
        shape[axis] //= parts
        sizes = self.constant(INT64, [parts], [shape[axis]] * parts)
        return [self.pair(p, shape) for p in self.node("Split", [x, sizes], outputs=parts, axis=axis)]

    def resize(self, x, factor, mode):
        shape = self.shapes[x]
        scales = self.constant(FLOAT, [4], [1, 1, factor, factor])
        how = {"nearest": "asymmetric", "linear": "half_pixel"}[mode]
        options = dict(nearest_mode="floor") if mode == "nearest" else {}
        y = self.node("Resize", [x, "", scales], mode=mode, coordinate_transformation_mode=how, **options)
        return self.pair(y, shape[:2] + [shape[2] * factor, shape[3] * factor])

    def dense(self, x, out, act=None):
        """A product over the last axis."""
        *rows, c = self.shapes[x]
        shape = [*rows, out]
        y = self.pair(self.node("MatMul", [x, self.weights([c, out], c, out, axis=1)[0]]), shape)
        return self.activation(self.node("Add", [y, self.small([out])]), shape, act)

    def classify(self, x, classes=1000):
        x = self.global_pool(x)
        images, c = self.shapes[x][:2]
        x = self.pair(self.node("Flatten", [x], axis=1), [images, c])
        y = self.node("Gemm", [x, *self.weights([classes, c], c, classes)], transB=1)
        return self.pair(y, [images, classes])

    def squeeze_excite(self, x, inner, gate="Sigmoid"):
        s = self.convolution(self.global_pool(x), inner)
        s = self.convolution(s, self.shapes[x][1], act=gate)
        return self.binary("Mul", x, s)

    def layer_norm(self, x):
        shape = self.shapes[x]
        c = [shape[-1]]
        y = self.node("LayerNormalization", [x, self.floats(c, 0.8, 1.2), self.floats(c, -0.2, 0.2)], axis=-1)
        return self.pair(y, shape)

    def attention(self, x, heads):
        images, tokens, c = self.shapes[x]
        def parts(perm):
            y = self.reshape(self.dense(x, c), [images, tokens, heads, c // heads])
            return self.transpose(y, perm)
        q, k, v = parts([0, 2, 1, 3]), parts([0, 2, 3, 1]), parts([0, 2, 1, 3])
        square = [images, heads, tokens, tokens]
        s = self.pair(self.node("MatMul", [q, k]), square)
        s = self.pair(self.node("Mul", [s, self.scalar(1 / math.sqrt(c // heads))]), square)
        s = self.pair(self.node("Softmax", [s], axis=-1), square, low=0)
        y = self.pair(self.node("MatMul", [s, v]), [images, heads, tokens, c // heads])
        y = self.reshape(self.transpose(y, [0, 2, 1, 3]), [images, tokens, c])
        return self.dense(y, c)

    def write(self, path, *outputs):
        self.save(path, self.inputs, [(y, self.shapes[y]) for y in outputs])
