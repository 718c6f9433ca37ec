// The table of handlers, and how attributes are taken over.
#include "converter/import/espdl/qdq/ops.h"

namespace qrt::convert::from_qdq {
namespace {

constexpr Handler kHandlers[] = {
    {"Add", 2, translate_sum},
    {"AveragePool", 1, translate_pool},
    {"Clip", 1, translate_clip},
    {"Concat", 1, translate_concat},
    {"Conv", 2, translate_conv},
    {"DepthToSpace", 1, translate_blocks},
    {"Div", 2, translate_product},
    {"Dropout", 1, translate_identity},
    {"Elu", 1, translate_function},
    {"Exp", 1, translate_function},
    {"Flatten", 1, translate_flatten},
    {"Gather", 2, translate_gather},
    {"Gemm", 2, translate_gemm},
    {"GlobalAveragePool", 1, translate_global_pool},
    {"GlobalMaxPool", 1, translate_global_pool},
    {"HardSigmoid", 1, translate_gate},
    {"HardSwish", 1, translate_function},
    {"Identity", 1, translate_identity},
    {"LeakyRelu", 1, translate_function},
    {"Log", 1, translate_function},
    {"MatMul", 2, translate_matmul},
    {"Max", 1, translate_extreme},
    {"MaxPool", 1, translate_pool},
    {"Min", 1, translate_extreme},
    {"Mul", 2, translate_product},
    {"PRelu", 2, translate_prelu},
    {"Pad", 1, translate_pad},
    {"ReduceMax", 1, translate_reduce},
    {"ReduceMean", 1, translate_reduce},
    {"ReduceMin", 1, translate_reduce},
    {"ReduceSum", 1, translate_reduce},
    {"Relu", 1, translate_function},
    {"Reshape", 2, translate_reshape},
    {"Resize", 1, translate_resize},
    {"Sigmoid", 1, translate_gate},
    {"Slice", 3, translate_slice},
    {"Softmax", 1, translate_softmax},
    {"SpaceToDepth", 1, translate_blocks},
    {"Split", 1, translate_split},
    {"Sqrt", 1, translate_function},
    {"Squeeze", 1, translate_squeeze},
    {"Sub", 2, translate_sum},
    {"Swish", 1, translate_function},
    {"Tanh", 1, translate_function},
    {"Transpose", 1, translate_transpose},
    {"Unsqueeze", 1, translate_squeeze},
};

constexpr const char* kKeeping[] = {
    "Clip",  "Concat",  "Dropout", "Flatten",      "Gather",       "GlobalMaxPool", "Identity",
    "Max",   "MaxPool", "Min",     "ReduceMax",    "ReduceMin",    "Relu",          "Reshape",
    "Slice", "Split",   "Squeeze", "DepthToSpace", "SpaceToDepth", "Transpose",     "Unsqueeze",
};

}  // namespace

const Handler* find_handler(const NodeView& n) {
  for (const Handler& handler : kHandlers)
    if (n.op() == handler.op) return &handler;
  return nullptr;
}

bool is_onnx(const NodeView& n) {
  if (n.domain().empty() || n.domain() == "ai.onnx") return true;
  return n.domain() == "com.microsoft" &&
         (n.op() == "QuantizeLinear" || n.op() == "DequantizeLinear");
}

bool keeps_quantisation(const std::string& op) {
  for (const char* name : kKeeping)
    if (op == name) return true;
  return false;
}

bool is_number(const Term& x) {
  return x.kind == Term::Kind::kConstant && x.constant->elements() == 1 &&
         (x.scales || x.constant->is_real());
}

float real_of(const Term& x) {
  if (!x.scales) return x.constant->real(0);
  return static_cast<float>(x.constant->integer(0)) *
         from_espdl::power_of_two(static_cast<int>(x.scales->exponents[0]));
}

void copy_integers(const NodeView& n, const std::vector<const char*>& names, espdl::NodeT* to) {
  for (const char* name : names)
    if (n.has(name)) set(to, name, n.integer(name, 0));
}

void copy_reals(const NodeView& n, const std::vector<const char*>& names, espdl::NodeT* to) {
  for (const char* name : names)
    if (n.has(name)) set(to, name, n.real(name, 0));
}

void copy_lists(const NodeView& n, const std::vector<const char*>& names, espdl::NodeT* to) {
  for (const char* name : names)
    if (n.has(name)) set(to, name, n.integers(name));
}

}  // namespace qrt::convert::from_qdq
