#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes a network quantised by MRT's rules, with random weights, and the same layers as ONNX, for measurements.

    mrt_models.py mobilenet|resnet SIZE DIR

DIR/NAME.json and DIR/NAME.params are the CVM model (`qrt_convert NAME.json`), DIR/NAME.onnx has Q/DQ pairs where
the CVM model has shifts to 8 bits. mobilenet: MobileNetV1; resnet: ResNet-18, whose shortcuts keep 16 bits, as MRT
keeps them. SIZE: height and width of the image, a multiple of 32.
"""
import json
import math
import os
import random
import sys

from onnx_writer import INT8, INT32, UINT8, Graph

RMS = 40.0  # of 8-bit activations: codes use their range and seldom saturate
WEIGHT_RMS = 127 / math.sqrt(3)  # of uniform int8 weights


def bits(n):
    return int(n).bit_length()


def sum_bits(rms):
    """The precision that calibration would give to sums: they stay below five times their RMS."""
    return bits(rms * 5) + 1


class Symbol:
    """A CVM graph; precisions of operators are left to the reader."""

    def __init__(self):
        self.nodes, self.shapes, self.precisions, self.op_attrs, self.params = [], [], [], [], []

    def add(self, op, name, inputs, shape, precision, func=None, attrs=None):
        node = {"op": op, "name": name, "inputs": [[i, 0, 0] for i in inputs]}
        if func:
            node["attrs"] = {"func_name": func}
        self.nodes.append(node)
        self.shapes.append(shape)
        self.precisions.append(precision)
        self.op_attrs.append(json.dumps({k: str(v) for k, v in attrs.items()}) if func else "")
        return len(self.nodes) - 1

    def param(self, shape, precision, values):
        name = f"p_{len(self.nodes)}"
        self.params.append((name, shape, values, 8 if precision <= 8 else 32))
        return self.add("null", name, [], shape, precision)

    def op(self, func, inputs, shape, **attrs):
        return self.add("cvm_op", f"{func}_{len(self.nodes)}", inputs, shape, -1, func, attrs)

    def save(self, stem, heads):
        n = len(self.nodes)
        tagged = {"op_attrs": ["list_str", self.op_attrs], "shape": ["list_shape", self.shapes],
                  "storage_id": ["list_int", list(range(n))], "precision": ["list_int", self.precisions],
                  "dltype": ["list_str", ["int32"] * n]}
        symbol = {"nodes": self.nodes, "heads": [[h, 0, 0] for h in heads], "attrs": tagged,
                  "arg_nodes": [i for i, x in enumerate(self.nodes) if x["op"] == "null"],
                  "node_row_ptr": list(range(n + 1)), "version": "cvm_1.0.0"}
        with open(stem + ".json", "w") as f:
            json.dump(symbol, f)
        u64 = lambda v: v.to_bytes(8, "little")
        with open(stem + ".params", "wb") as f:
            f.write(u64(0xF7E58D4F05049CB7) + u64(0) + u64(len(self.params)))
            for name, *_ in self.params:
                f.write(u64(len(name)) + name.encode())
            f.write(u64(len(self.params)))
            for _, shape, values, width in self.params:
                data = values if width == 8 else b"".join(v.to_bytes(4, "little", signed=True) for v in values)
                f.write(u64(0xDD5E40F096B4A13F) + u64(0) + (1).to_bytes(4, "little") + bytes(4))
                f.write(len(shape).to_bytes(4, "little") + bytes([0, width, 1, 0]))
                f.write(b"".join(u64(d) for d in shape) + u64(len(data)) + data)


class Network:
    """The same layers twice: self.cvm and self.onnx. A tensor is (CVM node, ONNX name, channels, size)."""

    def __init__(self, size):
        self.random = random.Random(1)
        self.cvm, self.onnx = Symbol(), Graph(1)
        data = self.cvm.add("null", "data", [], [1, 3, size, size], 8)
        self.x = (data, self.dq(self.q("image", 1 / RMS), 1 / RMS), 3, size)
        self.size = size

    def q(self, x, scale):
        return self.onnx.node("QuantizeLinear", [x, self.onnx.scalar(scale), self.onnx.constant(UINT8, [], [128])])

    def dq(self, x, scale):
        return self.onnx.node("DequantizeLinear", [x, self.onnx.scalar(scale), self.onnx.constant(UINT8, [], [128])])

    def pair(self, x, scale=1 / RMS):
        return self.dq(self.q(x, scale), scale)

    def convolution(self, x, out, kernel, stride, groups=1):
        """The sums: CVM node, ONNX float, channels, size and the RMS of the node's values."""
        node, name, c, size = x
        shape, k = [out, c // groups, kernel, kernel], c // groups * kernel * kernel
        weights = self.random.randbytes(math.prod(shape)).replace(b"\x80", b"\x81")
        rms = math.sqrt(k) * RMS * WEIGHT_RMS
        bias = [self.random.randint(-int(rms / 4), int(rms / 4)) for _ in range(out)]
        after, pad = (size - 1) // stride + 1, kernel // 2
        y = self.cvm.op("conv2d", [node, self.cvm.param(shape, 8, weights),
                                   self.cvm.param([out], bits(int(rms / 4)) + 1, bias)],
                        [1, out, after, after], channels=out, kernel_size=(kernel, kernel), strides=(stride, stride),
                        padding=(pad, pad), dilation=(1, 1), groups=groups, layout="NCHW", kernel_layout="OIHW",
                        use_bias=True)
        scale = 1 / rms * RMS  # of the weights, that sums have an RMS of 1
        y = self.cvm.op("cvm_clip", [y], [1, out, after, after], precision=sum_bits(rms))
        w = self.onnx.node("DequantizeLinear", [self.onnx.constant(INT8, shape, memoryview(weights).cast("b")),
                                                self.onnx.scalar(scale), self.onnx.constant(INT8, [], [0])])
        b = self.onnx.node("DequantizeLinear", [self.onnx.constant(INT32, [out], bias),
                                                self.onnx.scalar(scale / RMS), self.onnx.constant(INT32, [], [0])])
        f = self.onnx.node("Conv", [name, w, b], kernel_shape=[kernel, kernel], strides=[stride, stride],
                           pads=[pad] * 4, group=groups)
        return y, f, out, after, rms

    def relu(self, y, f, out, size, rms):
        return self.cvm.op("relu", [y], [1, out, size, size]), self.onnx.node("Relu", [f]), out, size, rms

    def shifted(self, node, before, shape, factor, precision):
        """node of `before` bits times factor by MRT's rules: a product of 32 bits, then a shift."""
        width = min(32 - before, 16)
        shift = width - 2 - math.floor(math.log2(factor))
        multiplier = self.cvm.param([1], width, [min(round(factor * 2**shift), 2 ** (width - 1) - 1)])
        product = self.cvm.op("broadcast_mul", [node, multiplier], shape)
        return self.cvm.op("cvm_right_shift", [product], shape, shift_bit=shift, precision=precision)

    def bytes_of(self, y, f, out, size, rms):
        """The tensor at 8 bits."""
        return self.shifted(y, sum_bits(rms), [1, out, size, size], RMS / rms, 8), self.pair(f), out, size

    def save(self, stem):
        node, name, c, size = self.x
        shape = [1, c, 1, 1]
        total = self.cvm.op("sum", [node], shape, axis=(2, 3), keepdims=True)
        mean = self.shifted(total, 8 + bits(size**2), shape, 1 / size**2, 8)
        pooled = self.pair(self.onnx.node("GlobalAveragePool", [name]))
        y, f, out, _, rms = self.convolution((mean, pooled, c, 1), 1000, 1, 1)
        self.cvm.save(stem, [y])
        self.onnx.save(stem + ".onnx", [("image", [1, 3, self.size, self.size])],
                       [(self.pair(f, 4 / RMS), [1, 1000, 1, 1])])


def mobilenet(net):
    def layer(*args, **kwargs):
        net.x = net.bytes_of(*net.relu(*net.convolution(net.x, *args, **kwargs)))

    layer(32, 3, 2)
    channels = 32
    for out, stride in [(64, 1), (128, 2), (128, 1), (256, 2), (256, 1), (512, 2)] + [(512, 1)] * 5 + [(1024, 2), (1024, 1)]:
        layer(channels, 3, stride, groups=channels)
        layer(out, 1, 1)
        channels = out


def resnet(net):
    """Shortcuts: both sides of a sum have 15 bits and an RMS of 2^12 / 6."""
    wide = 2.0**12 / 6

    def as_addend(y, f, out, size, rms):
        return net.shifted(y, sum_bits(rms), [1, out, size, size], wide / rms, 15), f, out, size

    y, f, c, size, rms = net.relu(*net.convolution(net.x, 64, 7, 2))
    node = net.shifted(y, sum_bits(rms), [1, c, size, size], wide / rms, 15)
    size //= 2
    short = (net.cvm.op("max_pool2d", [node], [1, c, size, size], pool_size=(3, 3), strides=(2, 2), padding=(1, 1)),
             net.onnx.node("MaxPool", [net.pair(f)], kernel_shape=[3, 3], strides=[2, 2], pads=[1] * 4), c, size)
    for out in (64, 128, 256, 512):
        for block in range(2):
            stride = 2 if out != c else 1
            x = (net.shifted(short[0], 15, [1, c, size, size], RMS / wide, 8), net.pair(short[1]) if block or out > 64 else short[1], c, size)
            y = net.bytes_of(*net.relu(*net.convolution(x, out, 3, stride)))
            y = as_addend(*net.convolution(y, out, 3, 1))
            if stride == 2:
                short = as_addend(*net.convolution(x, out, 1, stride))
                short = (short[0], net.pair(short[1]), out, short[3])
            else:
                short = (short[0], x[1], out, short[3])
            c, size = out, short[3]
            total = net.cvm.op("elemwise_add", [short[0], y[0]], [1, c, size, size])
            total = net.cvm.op("relu", [total], [1, c, size, size])
            total = net.shifted(total, 16, [1, c, size, size], 0.7, 15)
            f = net.onnx.node("Relu", [net.onnx.node("Add", [short[1], net.pair(y[1])])])
            short = (total, f, c, size)
    net.x = (net.shifted(short[0], 15, [1, c, size, size], RMS / wide, 8), net.pair(short[1]), c, size)


def main(argv):
    builders = {"mobilenet": mobilenet, "resnet": resnet}
    if len(argv) != 3 or argv[0] not in builders or not argv[1].isdigit():
        sys.exit(__doc__)
    net = Network(int(argv[1]))
    builders[argv[0]](net)
    net.save(os.path.join(argv[2], argv[0]))


main(sys.argv[1:])
