#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# libqrt with less in it, built for size: for AVX2 alone, then with MobileNet's operators alone (mobilenet_ops.txt), then
# without AVX2. Their sizes; what such a library says of a model that needs more, and of names that do not exist.
# trimmed_test.sh CMAKE GENERATOR SOURCE FOLDER STRIP CC CXX MODEL_WITH_ALL_OPERATORS TOOLS_DIR
set -eu
cmake=$1 CMAKE_GENERATOR=$2 source=$3 folder=$4 strip=$5 CC=$6 CXX=$7 all=$8 tools=$9
export CMAKE_GENERATOR CC CXX
. "$(dirname "$0")/trimmed.sh"
refused() {
  configure "$1" "$2" >"$folder/log" 2>&1 && { echo "CMake takes QRT_ISAS=$1 QRT_OPS=$2"; exit 1; }
  tr -s ' \n' ' ' <"$folder/log" | grep -qF "$3" || { cat "$folder/log"; echo "expected: $3"; exit 1; }
}

refused 'avx2;mmx' '' "QRT_ISAS: 'mmx' is no instruction set of"
refused avx2 'Add Sum' "QRT_OPS: 'Sum' is neither a file nor an operator nor a part; operators: Conv2D, "
size_of libqrt-avx2.so avx2 ''
size_of libqrt-avx2-mobilenet.so avx2 tests/package/mobilenet_ops.txt
size_of libqrt-scalar-mobilenet.so scalar tests/package/mobilenet_ops.txt

# The list of a model names enough for it, and not for any other.
quietly "$tools/qrt_convert" "$source/tests/models/digits/digits.onnx" -o "$folder/digits.qrt"
"$tools/qrt_inspect" "$folder/digits.qrt" --ops-list >"$folder/ops"
grep -qx Winograd "$folder/ops"
build scalar "$folder/ops"
"$CC" -I"$source/runtime/include" "$source/tests/package/consumer.c" -L"$build/runtime" -lqrt -Wl,-rpath,"$build/runtime" -o "$folder/consumer"
"$folder/consumer" "$folder/digits.qrt"
"$folder/consumer" "$all" 2>"$folder/log" && { echo "a model with all operators was loaded"; exit 1; }
grep -E "every_op.qrt: op [0-9]+ \\(([A-Za-z0-9]+) '.*'\\): operator \\1 is not built into this library \\(QRT_OPS\\)$" "$folder/log" ||
  { cat "$folder/log"; exit 1; }
# A library without a part refuses its operators on wider tensors, those read and those written, or with
# a zero point of the run.
# refused_for MODEL PART MESSAGE: by the first operator.
refused_for() {
  "$tools/qrt_inspect" "$1" --ops-list | grep -qx "$2" || { echo "$1: the list of operators lacks $2"; exit 1; }
  "$folder/consumer" "$1" 2>"$folder/log" && { echo "$1 was loaded without $2"; exit 1; }
  grep -E ": op 0 \\([A-Za-z0-9]+ '.*'\\): $3 not built into this library \\(QRT_OPS: $2\\)$" "$folder/log" || { cat "$folder/log"; exit 1; }
}
quietly "$tools/qrt_quantize" "$source/tests/models/digits/float.onnx" --calibration "$source/tests/models/digits/calibration.npy" \
  --scheme espdl-s16 -o "$folder/digits16.qrt"
refused_for "$folder/digits16.qrt" Int16 "tensors of int16 are"
refused_for "$(dirname "$all")/int16.qrt" Int16 "tensors of int16 are"
refused_for "$(dirname "$all")/dynamic_layer.qrt" DynamicLayers "with 4 inputs it is"
echo "trimmed_test: passed"
