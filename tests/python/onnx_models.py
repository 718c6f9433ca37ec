# SPDX-License-Identifier: Apache-2.0
"""Small ONNX models of one node, for the element types at a model's edges."""
import os
import struct
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "..", "bench"))
from onnx_writer import block, number  # noqa: E402

# ONNX's numbers of the types.
FLOAT, UINT8, INT8, BFLOAT16, FLOAT8E4M3FN, UINT4, INT4 = 1, 2, 3, 16, 17, 21, 22


def _value(name, kind, shape):
    dims = b"".join(block(1, block(2, d) if isinstance(d, str) else number(1, d)) for d in shape)
    return block(1, name) + block(2, block(1, number(1, kind) + block(2, dims)))


def _constant(name, kind, data):
    return number(2, kind) + block(8, name) + block(9, data)


def _model(op, kinds, shape, constants):
    node = b"".join(block(1, name) for name in ("x", "scale", "zero")[:1 + len(constants)])
    node += block(2, "y") + block(3, "node") + block(4, op)
    graph = block(1, node) + block(2, "graph") + b"".join(block(5, c) for c in constants)
    graph += block(11, _value("x", kinds[0], shape)) + block(12, _value("y", kinds[1], shape))
    return number(1, 10) + block(7, graph) + block(8, number(2, 21))


def quantize(kind, shape, scale=1.0):
    """y (of `kind`) = QuantizeLinear(x)."""
    zero = _constant("zero", kind, b"\0")
    return _model("QuantizeLinear", (FLOAT, kind), shape,
                  [_constant("scale", FLOAT, struct.pack("<f", scale)), zero])


def dequantize(kind, shape, scale=1.0):
    """y = DequantizeLinear(x of `kind`)."""
    zero = _constant("zero", kind, b"\0")
    return _model("DequantizeLinear", (kind, FLOAT), shape,
                  [_constant("scale", FLOAT, struct.pack("<f", scale)), zero])


def dequantize_to_bfloat16(shape):
    """y (bfloat16) = DequantizeLinear(x of int8), scale 0.5."""
    return _model("DequantizeLinear", (INT8, BFLOAT16), shape,
                  [_constant("scale", BFLOAT16, b"\x00\x3f")])


def quantize_bfloat16(shape):
    """y (int8) = QuantizeLinear(x of bfloat16), scale 0.5."""
    return _model("QuantizeLinear", (BFLOAT16, INT8), shape,
                  [_constant("scale", BFLOAT16, b"\x00\x3f"), _constant("zero", INT8, b"\0")])
