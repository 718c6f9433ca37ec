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
    {"", "QuantizeLinear", import_quantize, 2, Reads::kElements},
    {"", "DequantizeLinear", import_dequantize, 2, Reads::kElements},
    {"", "DynamicQuantizeLinear", import_dynamic_quantize, 1, Reads::kFloats},
    {kMicrosoft, "QuantizeLinear", import_quantize, 2, Reads::kElements},
    {kMicrosoft, "DequantizeLinear", import_dequantize, 2, Reads::kElements},

    {kQuark, "ExtendedQuantizeLinear", import_extended_quantize, 2, Reads::kElements},
    {kQuark, "ExtendedDequantizeLinear", import_extended_dequantize, 2, Reads::kElements},
    {kVitis, "ExtendedQuantizeLinear", import_extended_quantize, 2, Reads::kElements},
    {kVitis, "ExtendedDequantizeLinear", import_extended_dequantize, 2, Reads::kElements},
    {kVitis, "VitisQuantizeLinear", import_extended_quantize, 2, Reads::kElements},
    {kVitis, "VitisDequantizeLinear", import_extended_dequantize, 2, Reads::kElements},

    {"", "Constant", import_constant, 0, Reads::kElements},
    {"", "Cast", import_cast, 1, Reads::kElements},
    {"", "CastLike", import_cast_like, 2, Reads::kElements},
    {"", "BitCast", import_bit_cast, 1, Reads::kElements},
    {"", "Shape", import_shape, 1, Reads::kElements},

    {"", "If", import_if, 1, Reads::kElements},
    {"", "Size", import_size, 1, Reads::kElements},
    {"", "ConstantOfShape", import_constant_of_shape, 1, Reads::kElements},
    {"", "Range", import_folded, 3, Reads::kAll},
    {"", "ReduceProd", import_folded, 1, Reads::kAll},

    {"", "Identity", import_identity, 1, Reads::kElements},
    {"", "Dropout", import_identity, 1, Reads::kElements},
    {"", "Reshape", import_reshape, 2, Reads::kMoved},
    {"", "Flatten", import_flatten, 1, Reads::kMoved},
    {"", "Squeeze", import_squeeze, 1, Reads::kMoved},
    {"", "Unsqueeze", import_unsqueeze, 1, Reads::kMoved},
    {"", "Transpose", import_transpose, 1, Reads::kMoved},
    {"", "Slice", import_slice, 3, Reads::kMoved},
    {"", "Split", import_split, 1, Reads::kMoved},
    {"", "Pad", import_pad, 1, Reads::kMoved},
    {"", "Tile", import_tile, 2, Reads::kMoved},
    {"", "Expand", import_expand, 2, Reads::kMoved},
    {"", "Gather", import_gather, 2, Reads::kMoved},
    {"", "GatherND", import_gather_nd, 2, Reads::kMoved},
    {"", "GatherElements", import_gather_elements, 2, Reads::kMoved},
    {"", "DepthToSpace", import_depth_to_space, 1, Reads::kMoved},
    {"", "SpaceToDepth", import_space_to_depth, 1, Reads::kMoved},
    {"", "Resize", import_resize, 2, Reads::kResized},
    {"", "Upsample", import_resize, 2, Reads::kResized},
    {"", "Concat", import_concat, 1, Reads::kMoved},
    {kMicrosoft, "QLinearConcat", import_qlinear_concat, 5, Reads::kAll},

    {"", "Conv", import_conv, 2, Reads::kAll},
    {"", "QLinearConv", product<import_qlinear_conv>, 8, Reads::kAll},
    {kMicrosoft, "QLinearConv", import_qlinear_conv, 8, Reads::kAll},
    {"", "ConvTranspose", import_conv_transpose, 2, Reads::kAll},
    {"", "ConvInteger", product<import_conv_integer>, 2, Reads::kAll},
    {"", "Gemm", import_gemm, 2, Reads::kAll},
    {"", "MatMulInteger", product<import_matmul_integer>, 2, Reads::kAll},
    {"", "MatMul", import_matmul, 2, Reads::kAll},
    {kMicrosoft, "QGemm", import_qgemm, 6, Reads::kAll},
    {"", "QLinearMatMul", product<import_qlinear_matmul>, 8, Reads::kAll},

    {"", "Add", import_binary, 2, Reads::kElements},
    {"", "Sub", import_binary, 2, Reads::kElements},
    {"", "Mul", import_binary, 2, Reads::kElements},
    {"", "Div", import_binary, 2, Reads::kElements},
    {"", "Min", import_binary, 1, Reads::kElements},
    {"", "Max", import_binary, 1, Reads::kElements},
    {"", "ArgMax", import_arg_max, 1, Reads::kAll},
    {"", "ArgMin", import_arg_max, 1, Reads::kAll},
    {"", "TopK", import_top_k, 2, Reads::kAll},
    {"", "PRelu", import_binary, 2, Reads::kElements},
    {"", "Pow", import_pow, 2, Reads::kElements},
    {"", "Mod", import_integers, 2, Reads::kElements},
    {"", "BitShift", import_integers, 2, Reads::kElements},
    {"", "BitwiseAnd", import_integers, 2, Reads::kElements},
    {"", "BitwiseOr", import_integers, 2, Reads::kElements},
    {"", "BitwiseXor", import_integers, 2, Reads::kElements},
    {"", "BitwiseNot", import_integers, 1, Reads::kElements},
    {"", "And", import_integers, 2, Reads::kElements},
    {"", "Or", import_integers, 2, Reads::kElements},
    {"", "Xor", import_integers, 2, Reads::kElements},
    {"", "Not", import_integers, 1, Reads::kElements},
    {"", "Equal", import_comparison, 2, Reads::kElements},
    {"", "Less", import_comparison, 2, Reads::kElements},
    {"", "LessOrEqual", import_comparison, 2, Reads::kElements},
    {"", "Greater", import_comparison, 2, Reads::kElements},
    {"", "GreaterOrEqual", import_comparison, 2, Reads::kElements},
    {"", "Where", import_where, 3, Reads::kElements},
    {kMicrosoft, "QLinearWhere", import_qlinear_where, 9, Reads::kElements},
    {kMicrosoft, "QLinearAdd", import_qlinear_binary, 7, Reads::kElements},
    {kMicrosoft, "QLinearMul", import_qlinear_binary, 7, Reads::kElements},

    {"", "Relu", import_relu, 1, Reads::kElements},
    {"", "Clip", import_clip, 1, Reads::kElements},
    {"", "LeakyRelu", import_unary, 1, Reads::kElements},
    {"", "Sigmoid", import_unary, 1, Reads::kElements},
    {"", "Tanh", import_unary, 1, Reads::kElements},
    {"", "HardSigmoid", import_unary, 1, Reads::kElements},
    {"", "HardSwish", import_unary, 1, Reads::kElements},
    {"", "Elu", import_unary, 1, Reads::kElements},
    {"", "Selu", import_unary, 1, Reads::kElements},
    {"", "Softplus", import_unary, 1, Reads::kElements},
    {"", "Softsign", import_unary, 1, Reads::kElements},
    {"", "Mish", import_unary, 1, Reads::kElements},
    {"", "Gelu", import_unary, 1, Reads::kElements},
    {kMicrosoft, "Gelu", import_unary, 1, Reads::kElements},
    {"", "Erf", import_unary, 1, Reads::kElements},
    {"", "Exp", import_unary, 1, Reads::kElements},
    {"", "Log", import_unary, 1, Reads::kElements},
    {"", "Celu", import_unary, 1, Reads::kElements},
    {"", "ThresholdedRelu", import_unary, 1, Reads::kElements},
    {"", "Shrink", import_unary, 1, Reads::kElements},
    {"", "Reciprocal", import_unary, 1, Reads::kElements},
    {"", "Floor", import_unary, 1, Reads::kElements},
    {"", "Ceil", import_unary, 1, Reads::kElements},
    {"", "Round", import_unary, 1, Reads::kElements},
    {"", "Sign", import_unary, 1, Reads::kElements},
    {"", "Swish", import_unary, 1, Reads::kElements},
    {kMicrosoft, "QuickGelu", import_unary, 1, Reads::kElements},
    {"", "Abs", import_unary, 1, Reads::kElements},
    {"", "Neg", import_unary, 1, Reads::kElements},
    {"", "Sqrt", import_unary, 1, Reads::kElements},
    {kMicrosoft, "QLinearLeakyRelu", import_qlinear_unary, 4, Reads::kElements},
    {kMicrosoft, "QLinearSigmoid", import_qlinear_unary, 4, Reads::kElements},
    {"", "Softmax", import_softmax, 1, Reads::kAll},
    {"", "LogSoftmax", import_softmax, 1, Reads::kAll},
    {kMicrosoft, "QLinearSoftmax", import_qlinear_softmax, 4, Reads::kAll},

    {"", "MaxPool", import_max_pool, 1, Reads::kImages},
    {"", "AveragePool", import_average_pool, 1, Reads::kAll},
    {"", "GlobalAveragePool", import_global_average_pool, 1, Reads::kAll},
    {"", "GlobalMaxPool", import_global_max_pool, 1, Reads::kImages},
    {"", "ReduceMax", import_reduce_extreme, 1, Reads::kAll},
    {"", "ReduceMin", import_reduce_extreme, 1, Reads::kAll},
    {"", "ReduceMean", import_reduce_sum, 1, Reads::kAll},
    {"", "ReduceSum", import_reduce_sum, 1, Reads::kAll},
    {kMicrosoft, "QLinearAveragePool", import_qlinear_average_pool, 4, Reads::kAll},
    {kMicrosoft, "QLinearGlobalAveragePool", import_qlinear_global_average_pool, 4, Reads::kAll},

    {"", "BatchNormalization", import_batch_normalization, 5, Reads::kElements},
    {"", "InstanceNormalization", import_refused, 1, Reads::kAll},
    {"", "LayerNormalization", import_refused, 1, Reads::kAll},
    {"", "GroupNormalization", import_refused, 1, Reads::kAll},
    {"", "RMSNormalization", import_refused, 1, Reads::kAll},
    {"", "MeanVarianceNormalization", import_refused, 1, Reads::kAll},
    {"", "LpNormalization", import_refused, 1, Reads::kAll},
    {"", "LRN", import_refused, 1, Reads::kAll},
    {kMicrosoft, "SkipLayerNormalization", import_refused, 1, Reads::kAll},
    {kMicrosoft, "SimplifiedLayerNormalization", import_refused, 1, Reads::kAll},
    {kMicrosoft, "SkipSimplifiedLayerNormalization", import_refused, 1, Reads::kAll},
    {kMicrosoft, "MatMulIntegerToFloat", import_matmul_integer_to_float, 4, Reads::kAll},
    {kMicrosoft, "DynamicQuantizeMatMul", import_dynamic_quantize_matmul, 3, Reads::kFloats},
    {kMicrosoft, "QAttention", import_refused, 1, Reads::kAll},
    {kMicrosoft, "DynamicQuantizeLSTM", import_refused, 1, Reads::kAll},
    {"", "Sin", import_refused, 1, Reads::kElements},
    {"", "Cos", import_refused, 1, Reads::kElements},
    {"", "Tan", import_refused, 1, Reads::kElements},
    {"", "Asin", import_refused, 1, Reads::kElements},
    {"", "Acos", import_refused, 1, Reads::kElements},
    {"", "Atan", import_refused, 1, Reads::kElements},
    {"", "Sinh", import_refused, 1, Reads::kElements},
    {"", "Cosh", import_refused, 1, Reads::kElements},
    {"", "Asinh", import_refused, 1, Reads::kElements},
    {"", "Acosh", import_refused, 1, Reads::kElements},
    {"", "Atanh", import_refused, 1, Reads::kElements},
};

}  // namespace

bool mixes(Reads reads, const NodeView& node, int axis) {
  switch (reads) {
    case Reads::kElements:
    case Reads::kMoved: return false;
    case Reads::kResized: return node.text("mode", "nearest") != "nearest";
    case Reads::kImages: return axis >= 2;
    case Reads::kAll:
    case Reads::kFloats: break;
  }
  return true;
}

bool takes_floats(Reads reads) {
  return reads == Reads::kMoved || reads == Reads::kResized || reads == Reads::kFloats;
}

const OpEntry* find_op_entry(const std::string& domain, const std::string& op) {
  const std::string d = domain == "ai.onnx" ? "" : domain;
  for (const OpEntry& entry : kOps)
    if (op == entry.op && d == entry.domain) return &entry;
  return nullptr;
}

std::vector<OpEntry> known_ops() { return {std::begin(kOps), std::end(kOps)}; }

}  // namespace qrt::convert::from_onnx
