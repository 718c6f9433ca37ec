#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes a QDQ MobileNet as the TFLite model of the same layers: qdq_to_tflite.py IN.onnx OUT.tflite [--uint8]

For comparing the speed of one network from both sources. uint8 activations become int8, images stand as
[n, h, w, c], and paddings are SAME, which for strides of 2 lies elsewhere: the results differ. Reads Conv, Clip or
Relu, Add, GlobalAveragePool, Flatten and Gemm. Needs the package onnx and flatc.

With --uint8 it is a legacy model: activations and weights are uint8, each with one scale and zero point, and one weight of
every layer lies beyond int8 when its zero point is taken off, as in the models that Coral publishes.
"""
import json
import pathlib
import subprocess
import sys
import tempfile

import numpy
import onnx
from onnx import numpy_helper

UINT8 = sys.argv[3:] == ["--uint8"]
if len(sys.argv) != 3 and not UINT8:
    sys.exit(__doc__)
WEIGHT_ZERO_POINT = 122  # of --uint8
SCHEMA = pathlib.Path(__file__).parent.parent / "converter/import/tflite/tflite.fbs"
graph = onnx.shape_inference.infer_shapes(onnx.load(sys.argv[1])).graph
CONSTANTS = {t.name: numpy_helper.to_array(t) for t in graph.initializer}
MAKER = {output: node for node in graph.node for output in node.output}
SHAPES = {v.name: [d.dim_value for d in v.type.tensor_type.shape.dim]
          for v in [*graph.value_info, *graph.input, *graph.output]}
CODES = ["QUANTIZE", "DEQUANTIZE", "CONV_2D", "DEPTHWISE_CONV_2D", "ADD", "MEAN", "FULLY_CONNECTED"]

buffers, tensors, operators = [{}], [], []
made = {}  # tensor by the name of the quantised ONNX tensor


def image(shape):
    return [shape[0], *shape[2:], shape[1]] if len(shape) == 4 else shape


def add(name, dtype, shape, scale=None, zero_point=None, axis=0, data=None):
    tensor = {"name": name, "type": dtype, "shape": [int(d) for d in shape], "buffer": 0}
    if scale is not None:
        scale = numpy.atleast_1d(scale)
        zero_point = numpy.zeros(len(scale), int) if zero_point is None else [int(zero_point)]
        tensor["quantization"] = {"scale": [float(s) for s in scale], "zero_point": [int(z) for z in zero_point],
                                  "quantized_dimension": axis}
    if data is not None:
        tensor["buffer"] = len(buffers)
        buffers.append({"data": list(numpy.ascontiguousarray(data).tobytes())})
    tensors.append(tensor)
    return len(tensors) - 1


def emit(code, inputs, output, table=None, **options):
    operator = {"opcode_index": CODES.index(code), "inputs": inputs, "outputs": [output]}
    if table:
        operator |= {"builtin_options_type": table, "builtin_options": options}
    operators.append(operator)


def activation(quantize):
    """The TFLite tensor of a QuantizeLinear's output."""
    name = quantize.output[0]
    scale, zero_point = (CONSTANTS[i] for i in quantize.input[1:])
    code = int(zero_point) - (128 if zero_point.dtype == numpy.uint8 else 0)
    made[name] = add(name, "UINT8" if UINT8 else "INT8", image(SHAPES[quantize.input[0]]), scale,
                     code + 128 if UINT8 else code)
    return made[name]


def operand(name):
    """The tensor that a DequantizeLinear reads, also behind a Flatten: FULLY_CONNECTED flattens."""
    if MAKER[name].op_type == "Flatten":
        name = MAKER[name].input[0]
    return made[MAKER[name].input[0]]


def weights(node, dims, axis):
    """Weights and bias behind DequantizeLinear, the weights' axes permuted."""
    result = []
    for name, dtype, order, at in ((node.input[1], "INT8", dims, axis), (node.input[2], "INT32", None, 0)):
        value, scale = (CONSTANTS[i] for i in MAKER[name].input[:2])
        value = value if order is None else value.transpose(order)
        zero_point = None
        if UINT8:
            scale = numpy.max(scale)
            if dtype == "INT8":
                dtype, zero_point = "UINT8", WEIGHT_ZERO_POINT
                value = numpy.clip(value.astype(numpy.int16) + zero_point, 0, 255).astype(numpy.uint8)
                value.flat[0] = 255
        result.append(add(name, dtype, value.shape, scale, zero_point, axis=at, data=value))
    return result


def layer(node, fused, quantize):
    attributes = {a.name: onnx.helper.get_attribute_value(a) for a in node.attribute}
    if node.op_type == "Conv":
        depthwise = attributes["group"] > 1
        constants = weights(node, (1, 2, 3, 0) if depthwise else (0, 2, 3, 1), 3 if depthwise else 0)
        options = {"padding": "SAME", "stride_h": attributes["strides"][0], "stride_w": attributes["strides"][1],
                   "fused_activation_function": fused}
        name, table = ("DEPTHWISE_CONV_2D", "DepthwiseConv2DOptions") if depthwise else ("CONV_2D", "Conv2DOptions")
        if depthwise:
            options["depth_multiplier"] = 1
        emit(name, [operand(node.input[0]), *constants], activation(quantize), table, **options)
    elif node.op_type == "Add":
        emit("ADD", [operand(i) for i in node.input], activation(quantize), "AddOptions",
             fused_activation_function=fused)
    elif node.op_type == "GlobalAveragePool":
        axes = add("axes", "INT32", [2], data=numpy.array([1, 2], numpy.int32))
        emit("MEAN", [operand(node.input[0]), axes], activation(quantize), "ReducerOptions", keep_dims=True)
    elif node.op_type == "Gemm":
        emit("FULLY_CONNECTED", [operand(node.input[0]), *weights(node, (0, 1), 0)], activation(quantize),
             "FullyConnectedOptions")
    elif node.op_type == "Flatten":
        made[quantize.output[0]] = operand(node.input[0])
    else:
        sys.exit(f"{node.op_type} is not known")


source = add("x", "FLOAT32", image(SHAPES[graph.input[0].name]))
for node in graph.node:
    if node.op_type != "QuantizeLinear":
        continue
    made_by, fused = MAKER.get(node.input[0]), "NONE"
    if made_by is None:
        emit("QUANTIZE", [source], activation(node))
        continue
    if made_by.op_type in ("Clip", "Relu"):
        fused, made_by = "RELU6" if made_by.op_type == "Clip" else "RELU", MAKER[made_by.input[0]]
    layer(made_by, fused, node)
result = add("y", "FLOAT32", SHAPES[graph.output[0].name])
emit("DEQUANTIZE", [operand(graph.output[0].name)], result)

model = {"version": 3, "operator_codes": [{"builtin_code": c} for c in CODES], "buffers": buffers,
         "subgraphs": [{"tensors": tensors, "inputs": [source], "outputs": [result], "operators": operators}]}
with tempfile.TemporaryDirectory() as folder:
    text = pathlib.Path(folder) / "model.json"
    text.write_text(json.dumps(model))
    subprocess.run(["flatc", "-b", "-o", folder, SCHEMA, text], check=True)
    pathlib.Path(sys.argv[2]).write_bytes(text.with_suffix(".bin").read_bytes())
