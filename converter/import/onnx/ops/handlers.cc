// The table of known operators.
#include "converter/import/onnx/ops/handlers.h"

#include <iterator>

namespace qrt::convert::from_onnx {
namespace {

constexpr char kMicrosoft[] = "com.microsoft";
constexpr char kQuark[] = "com.amd.quark", kVitis[] = "com.vai.quantize";

// A product with parameters that are inputs, or the handler of those with constants.
template <Handler constants>
Status product(Importer& importer, const NodeView& node) {
  bool taken;
  QRT_TRY(import_dynamic_product(importer, node, &taken));
  return taken ? Status() : constants(importer, node);
}

constexpr OpEntry kOps[] = {
    {"", "QuantizeLinear", import_quantize, 2},
    {"", "DequantizeLinear", import_dequantize, 2},
    {"", "DynamicQuantizeLinear", import_dynamic_quantize, 1},
    {kMicrosoft, "QuantizeLinear", import_quantize, 2},
    {kMicrosoft, "DequantizeLinear", import_dequantize, 2},

    {kQuark, "ExtendedQuantizeLinear", import_extended_quantize, 2},
    {kQuark, "ExtendedDequantizeLinear", import_extended_dequantize, 2},
    {kVitis, "ExtendedQuantizeLinear", import_extended_quantize, 2},
    {kVitis, "ExtendedDequantizeLinear", import_extended_dequantize, 2},
    {kVitis, "VitisQuantizeLinear", import_extended_quantize, 2},
    {kVitis, "VitisDequantizeLinear", import_extended_dequantize, 2},

    {"", "Constant", import_constant, 0},
    {"", "Cast", import_cast, 1},
    {"", "CastLike", import_cast_like, 2},
    {"", "BitCast", import_bit_cast, 1},
    {"", "Shape", import_shape, 1},

    {"", "If", import_if, 1},
    {"", "Size", import_size, 1},
    {"", "ConstantOfShape", import_constant_of_shape, 1},
    {"", "Range", import_folded, 3},
    {"", "ReduceProd", import_folded, 1},

    {"", "Identity", import_identity, 1},
    {"", "Dropout", import_identity, 1},
    {"", "Reshape", import_reshape, 2},
    {"", "Flatten", import_flatten, 1},
    {"", "Squeeze", import_squeeze, 1},
    {"", "Unsqueeze", import_unsqueeze, 1},
    {"", "Transpose", import_transpose, 1},
    {"", "Slice", import_slice, 3},
    {"", "Split", import_split, 1},
    {"", "Pad", import_pad, 1},
    {"", "Tile", import_tile, 2},
    {"", "Expand", import_expand, 2},
    {"", "Gather", import_gather, 2},
    {"", "GatherND", import_gather_nd, 2},
    {"", "GatherElements", import_gather_elements, 2},
    {"", "DepthToSpace", import_depth_to_space, 1},
    {"", "SpaceToDepth", import_space_to_depth, 1},
    {"", "Resize", import_resize, 2},
    {"", "Upsample", import_resize, 2},
    {"", "Concat", import_concat, 1},
    {kMicrosoft, "QLinearConcat", import_qlinear_concat, 5},

    {"", "Conv", import_conv, 2},
    {"", "QLinearConv", product<import_qlinear_conv>, 8},
    {kMicrosoft, "QLinearConv", import_qlinear_conv, 8},
    {"", "ConvTranspose", import_conv_transpose, 2},
    {"", "ConvInteger", product<import_conv_integer>, 2},
    {"", "Gemm", import_gemm, 2},
    {"", "MatMulInteger", product<import_matmul_integer>, 2},
    {"", "MatMul", import_matmul, 2},
    {kMicrosoft, "QGemm", import_qgemm, 6},
    {"", "QLinearMatMul", product<import_qlinear_matmul>, 8},

    {"", "Add", import_binary, 2},
    {"", "Sub", import_binary, 2},
    {"", "Mul", import_binary, 2},
    {"", "Div", import_binary, 2},
    {"", "Min", import_binary, 1},
    {"", "Max", import_binary, 1},
    {"", "ArgMax", import_arg_max, 1},
    {"", "ArgMin", import_arg_max, 1},
    {"", "TopK", import_top_k, 2},
    {"", "PRelu", import_binary, 2},
    {"", "Pow", import_pow, 2},
    {"", "Mod", import_integers, 2},
    {"", "BitShift", import_integers, 2},
    {"", "BitwiseAnd", import_integers, 2},
    {"", "BitwiseOr", import_integers, 2},
    {"", "BitwiseXor", import_integers, 2},
    {"", "BitwiseNot", import_integers, 1},
    {"", "And", import_integers, 2},
    {"", "Or", import_integers, 2},
    {"", "Xor", import_integers, 2},
    {"", "Not", import_integers, 1},
    {"", "Equal", import_comparison, 2},
    {"", "Less", import_comparison, 2},
    {"", "LessOrEqual", import_comparison, 2},
    {"", "Greater", import_comparison, 2},
    {"", "GreaterOrEqual", import_comparison, 2},
    {"", "Where", import_where, 3},
    {kMicrosoft, "QLinearWhere", import_qlinear_where, 9},
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
    {"", "Log", import_unary, 1},
    {"", "Celu", import_unary, 1},
    {"", "ThresholdedRelu", import_unary, 1},
    {"", "Shrink", import_unary, 1},
    {"", "Reciprocal", import_unary, 1},
    {"", "Floor", import_unary, 1},
    {"", "Ceil", import_unary, 1},
    {"", "Round", import_unary, 1},
    {"", "Sign", import_unary, 1},
    {"", "Swish", import_unary, 1},
    {kMicrosoft, "QuickGelu", import_unary, 1},
    {"", "Abs", import_unary, 1},
    {"", "Neg", import_unary, 1},
    {"", "Sqrt", import_unary, 1},
    {kMicrosoft, "QLinearLeakyRelu", import_qlinear_unary, 4},
    {kMicrosoft, "QLinearSigmoid", import_qlinear_unary, 4},
    {"", "Softmax", import_softmax, 1},
    {"", "LogSoftmax", import_softmax, 1},
    {kMicrosoft, "QLinearSoftmax", import_qlinear_softmax, 4},

    {"", "MaxPool", import_max_pool, 1},
    {"", "AveragePool", import_average_pool, 1},
    {"", "GlobalAveragePool", import_global_average_pool, 1},
    {"", "GlobalMaxPool", import_global_max_pool, 1},
    {"", "ReduceMax", import_reduce_extreme, 1},
    {"", "ReduceMin", import_reduce_extreme, 1},
    {"", "ReduceMean", import_reduce_sum, 1},
    {"", "ReduceSum", import_reduce_sum, 1},
    {kMicrosoft, "QLinearAveragePool", import_qlinear_average_pool, 4},
    {kMicrosoft, "QLinearGlobalAveragePool", import_qlinear_global_average_pool, 4},

    {"", "BatchNormalization", import_batch_normalization, 5},
    {"", "InstanceNormalization", import_refused, 1},
    {"", "LayerNormalization", import_refused, 1},
    {"", "GroupNormalization", import_refused, 1},
    {"", "RMSNormalization", import_refused, 1},
    {"", "MeanVarianceNormalization", import_refused, 1},
    {"", "LpNormalization", import_refused, 1},
    {"", "LRN", import_refused, 1},
    {kMicrosoft, "SkipLayerNormalization", import_refused, 1},
    {kMicrosoft, "SimplifiedLayerNormalization", import_refused, 1},
    {kMicrosoft, "SkipSimplifiedLayerNormalization", import_refused, 1},
    {kMicrosoft, "MatMulIntegerToFloat", import_matmul_integer_to_float, 4},
    {kMicrosoft, "DynamicQuantizeMatMul", import_dynamic_quantize_matmul, 3},
    {kMicrosoft, "QAttention", import_refused, 1},
    {kMicrosoft, "DynamicQuantizeLSTM", import_refused, 1},
    {"", "Sin", import_refused, 1},
    {"", "Cos", import_refused, 1},
    {"", "Tan", import_refused, 1},
    {"", "Asin", import_refused, 1},
    {"", "Acos", import_refused, 1},
    {"", "Atan", import_refused, 1},
    {"", "Sinh", import_refused, 1},
    {"", "Cosh", import_refused, 1},
    {"", "Asinh", import_refused, 1},
    {"", "Acosh", import_refused, 1},
    {"", "Atanh", import_refused, 1},
};

}  // namespace

const OpEntry* find_op_entry(const std::string& domain, const std::string& op) {
  const std::string d = domain == "ai.onnx" ? "" : domain;
  for (const OpEntry& entry : kOps)
    if (d == entry.domain && op == entry.op) return &entry;
  return nullptr;
}

std::vector<OpEntry> known_ops() { return {std::begin(kOps), std::end(kOps)}; }

}  // namespace qrt::convert::from_onnx
