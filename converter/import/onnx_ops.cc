// The table of known operators.
#include "converter/import/onnx_ops.h"

namespace qrt::convert::from_onnx {
namespace {

constexpr char kMicrosoft[] = "com.microsoft";

constexpr OpEntry kOps[] = {
    {"", "QuantizeLinear", import_quantize, 2},
    {"", "DequantizeLinear", import_dequantize, 2},
    {"", "DynamicQuantizeLinear", import_dynamic_quantize, 1},
    {kMicrosoft, "QuantizeLinear", import_quantize, 2},
    {kMicrosoft, "DequantizeLinear", import_dequantize, 2},

    {"", "Constant", import_constant, 0},
    {"", "Cast", import_cast, 1},
    {"", "Shape", import_shape, 1},
    {"", "Gather", import_gather, 2},
    {"", "Slice", import_slice, 3},

    {"", "Identity", import_identity, 1},
    {"", "Dropout", import_identity, 1},
    {"", "Reshape", import_reshape, 2},
    {"", "Flatten", import_flatten, 1},
    {"", "Squeeze", import_squeeze, 1},
    {"", "Unsqueeze", import_unsqueeze, 1},
    {"", "Transpose", import_transpose, 1},
    {"", "Concat", import_concat, 1},
    {kMicrosoft, "QLinearConcat", import_qlinear_concat, 5},

    {"", "Conv", import_conv, 2},
    {"", "QLinearConv", import_qlinear_conv, 8},
    {kMicrosoft, "QLinearConv", import_qlinear_conv, 8},
    {"", "Gemm", import_gemm, 2},
    {"", "MatMul", import_matmul, 2},
    {kMicrosoft, "QGemm", import_qgemm, 6},
    {"", "QLinearMatMul", import_qlinear_matmul, 8},

    {"", "Add", import_binary, 2},
    {"", "Sub", import_binary, 2},
    {"", "Mul", import_binary, 2},
    {"", "Div", import_binary, 2},
    {"", "Min", import_binary, 2},
    {"", "Max", import_binary, 2},
    {"", "PRelu", import_binary, 2},
    {kMicrosoft, "QLinearAdd", import_qlinear_binary, 7},
    {kMicrosoft, "QLinearMul", import_qlinear_binary, 7},

    {"", "Relu", import_relu, 1},
    {"", "Clip", import_clip, 1},
    {"", "LeakyRelu", import_unary, 1},
    {"", "Sigmoid", import_unary, 1},
    {"", "Tanh", import_unary, 1},
    {"", "HardSigmoid", import_unary, 1},
    {"", "HardSwish", import_unary, 1},
    {"", "Elu", import_unary, 1},
    {"", "Selu", import_unary, 1},
    {"", "Softplus", import_unary, 1},
    {"", "Softsign", import_unary, 1},
    {"", "Mish", import_unary, 1},
    {"", "Gelu", import_unary, 1},
    {kMicrosoft, "Gelu", import_unary, 1},
    {"", "Erf", import_unary, 1},
    {"", "Exp", import_unary, 1},
    {"", "Abs", import_unary, 1},
    {"", "Neg", import_unary, 1},
    {"", "Sqrt", import_unary, 1},
    {kMicrosoft, "QLinearLeakyRelu", import_qlinear_unary, 4},
    {kMicrosoft, "QLinearSigmoid", import_qlinear_unary, 4},
    {"", "Softmax", import_softmax, 1},
    {kMicrosoft, "QLinearSoftmax", import_qlinear_softmax, 4},

    {"", "MaxPool", import_max_pool, 1},
    {"", "AveragePool", import_average_pool, 1},
    {"", "GlobalAveragePool", import_global_pool, 1},
    {"", "GlobalMaxPool", import_global_pool, 1},
    {"", "ReduceMax", import_reduce_extreme, 1},
    {"", "ReduceMin", import_reduce_extreme, 1},
    {"", "ReduceMean", import_reduce_sum, 1},
    {"", "ReduceSum", import_reduce_sum, 1},
    {kMicrosoft, "QLinearAveragePool", import_qlinear_average_pool, 4},
    {kMicrosoft, "QLinearGlobalAveragePool", import_qlinear_global_average_pool, 4},
};

}  // namespace

const OpEntry* find_op_entry(const std::string& domain, const std::string& op) {
  const std::string d = domain == "ai.onnx" ? "" : domain;
  for (const OpEntry& entry : kOps)
    if (d == entry.domain && op == entry.op) return &entry;
  return nullptr;
}

}  // namespace qrt::convert::from_onnx
