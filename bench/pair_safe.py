#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Halves the int8 weights of an ONNX model: pair_safe.py IN.onnx OUT.onnx

No sum of two neighbours then leaves [-128, 128], so that the converter proves every layer safe for VPMADDUBSW. For
measurements only: the model computes something else. Needs the package onnx.
"""
import sys

import numpy
import onnx
from onnx import numpy_helper

if len(sys.argv) != 3:
    sys.exit(__doc__)
model = onnx.load(sys.argv[1])
for tensor in model.graph.initializer:
    if tensor.data_type == onnx.TensorProto.INT8 and len(tensor.dims) >= 2:
        half = numpy_helper.to_array(tensor).astype(numpy.int16) // 2
        tensor.CopyFrom(numpy_helper.from_array(half.astype(numpy.int8), tensor.name))
onnx.save(model, sys.argv[2])
