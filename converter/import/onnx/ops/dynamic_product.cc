// SPDX-License-Identifier: Apache-2.0
// QLinearMatMul, QLinearConv, MatMulInteger and ConvInteger whose weights or parameters are no
// constants, or whose scales are float16: DynamicProduct. The others are their own handlers'.
#include "converter/import/onnx/ops/handlers.h"
#include "converter/import/onnx/window.h"

namespace qrt::convert::from_onnx {
namespace {

bool is_eight_bit(int type) { return type == kUint8 || type == kInt8; }

// The input numbers of the operator's operands and parameters, or -1.
struct ProductInputs {
  int a, a_scale, a_zero, b, b_scale, b_zero, y_scale, y_zero, bias;
};
constexpr ProductInputs kQLinear = {0, 1, 2, 3, 4, 5, 6, 7, 8},
                        kInteger = {0, -1, 2, 1, -1, 3, -1, -1, -1};

// Returns whether a MatMulInteger or ConvInteger has constant weights. It is then a layer like
// others, with a zero point that a run computes.
bool is_layer(const Importer& importer, const NodeView& node, const ProductInputs& at, bool conv) {
  const Tensor &a = importer.input(node, at.a), &b = importer.input(node, at.b);
  const bool zero_is_known =
      !node.has_input(at.b_zero) || importer.input(node, at.b_zero).is_plain_constant();
  return at.a_scale < 0 && a.is_value() && is_eight_bit(a.type) && b.is_plain_constant() &&
         is_eight_bit(b.type) && (conv || b.shape.rank() == 2) && zero_is_known;
}

bool needs_inputs(const Importer& importer, const NodeView& node, const ProductInputs& at,
                  bool conv) {
  if (is_layer(importer, node, at, conv)) return false;
  if (conv && importer.input(node, at.b).is_value()) return true;
  for (int i : {at.a_scale, at.a_zero, at.b_scale, at.b_zero, at.y_scale, at.y_zero}) {
    if (i < 0 || !node.has_input(i)) continue;
    const Tensor& t = importer.input(node, i);
    if (t.is_value() || t.type == kHalf) return true;
  }
  return false;
}

// Returns zero point i of a tensor of `type`, or a stored 0.
ValueId zero_point(Importer& importer, const NodeView& node, int i, int type) {
  if (node.has_input(i)) return plain_value(importer, node.input(i), importer.input(node, i));
  return importer.graph().add_constant(
      "", DType::kUInt8, {}, std::vector<uint8_t>{static_cast<uint8_t>(type == kInt8 ? 128 : 0)});
}

Status read_geometry(Importer& importer, const NodeView& node, const Tensor& x, const Tensor& w,
                     fb::DynamicProductOptionsT* o, Window* window, Shape* y, bool* known) {
  Image image;
  QRT_TRY(read_image(importer, node, x.shape, false, 2, &image, known));
  if (!*known) return Status();
  *known = false;
  QRT_MODEL_CHECK(w.shape.rank() == x.shape.rank(), "the weights have shape %s, the input %s",
                  w.shape.to_string().c_str(), x.shape.to_string().c_str());
  if (image.dimensions != 2)
    return importer.refuse(node, "it has one spatial dimension and weights or scales as inputs",
                           node.input(0),
                           "give its images two spatial dimensions (Unsqueeze), or make weights "
                           "and scales initialisers");
  const int64_t groups = node.integer("group", 1);
  QRT_MODEL_CHECK(groups >= 1 && groups <= image.c,
                  "group is %lld, expected 1 to the %lld channels", static_cast<long long>(groups),
                  static_cast<long long>(image.c));
  const std::vector<int64_t> kernel(w.shape.begin() + 2, w.shape.end());
  QRT_TRY(read_window(node, image, kernel, false, window));
  o->is_convolution = true;
  o->groups = static_cast<uint32_t>(groups);
  set_window(*window, o);
  set_dilation(*window, o);
  *y = image.shape(w.shape[0], 1, window->output);
  *known = true;
  return Status();
}

Status matrix_shape(const Shape& a, const Shape& b, Shape* y) {
  const int rank = std::max(a.rank(), b.rank());
  const auto at = [rank](const Shape& s, int i) {
    return i < rank - s.rank() ? 1 : s[i - (rank - s.rank())];
  };
  QRT_MODEL_CHECK(a[a.rank() - 1] == b[b.rank() - 2], "shapes %s and %s cannot be multiplied",
                  a.to_string().c_str(), b.to_string().c_str());
  for (int i = 0; i < rank - 2; ++i) y->push_back(std::max(at(a, i), at(b, i)));
  y->push_back(a[a.rank() - 2]);
  y->push_back(b[b.rank() - 1]);
  return Status();
}

Status emit(Importer& importer, const NodeView& node, const ProductInputs& at, bool conv) {
  const Tensor a = importer.input(node, at.a), b = importer.input(node, at.b);
  for (int i : {at.a, at.b}) {
    const Tensor& t = importer.input(node, i);
    if (!is_eight_bit(t.type) || !(t.is_value() || t.is_plain_constant()))
      return importer.refuse_float(node, i);
  }
  Node n = make_node<fb::DynamicProductOptionsT>(node.name(), node.op(), {}, {});
  auto& o = options<fb::DynamicProductOptionsT>(n);
  Shape shape;
  Window window;
  if (conv) {
    bool known;
    QRT_TRY(read_geometry(importer, node, a, b, &o, &window, &shape, &known));
    if (!known) return Status();
  } else {
    if (a.shape.rank() < 2 || b.shape.rank() < 2)
      return importer.refuse(
          node, "a vector is multiplied with parameters that are inputs", node.output(0),
          "give the vector a second dimension (Unsqueeze), or make the parameters initialisers");
    QRT_TRY(matrix_shape(a.shape, b.shape, &shape));
  }
  Tensor y;
  y.kind = Tensor::Kind::kValue;
  y.shape = shape;
  y.type = kInt32;
  n.inputs = {
      plain_value(importer, node.input(at.a), a), plain_value(importer, node.input(at.b), b),
      zero_point(importer, node, at.a_zero, a.type), zero_point(importer, node, at.b_zero, b.type)};
  if (conv && n.inputs[0] != kNoValue)
    n.inputs[0] = without_skipped(importer, node, window, 2, n.inputs[0]);
  if (at.a_scale >= 0) {
    const Tensor& zero = importer.input(node, at.y_zero);
    y.type = zero.type;
    if (!is_eight_bit(y.type))
      return importer.refuse(node, std::string("the output is ") + element_type_name(y.type),
                             node.output(0), "quantise the output to uint8 or int8");
    for (int i : {at.a_scale, at.b_scale, at.y_scale, at.y_zero})
      n.inputs.push_back(plain_value(importer, node.input(i), importer.input(node, i)));
    if (conv && node.has_input(at.bias))
      n.inputs.push_back(plain_value(importer, node.input(at.bias), importer.input(node, at.bias)));
  }
  for (size_t i = 0; i < n.inputs.size(); ++i)
    if (n.inputs[i] == kNoValue)
      return importer.refuse(node, "a parameter is neither a constant nor an integer tensor",
                             node.output(0),
                             "make scales and zero points initialisers of the model");
  y.value = importer.builder().new_value(node.output(0),
                                         y.type == kInt32 ? DType::kInt32 : DType::kUInt8, shape);
  n.outputs.push_back(y.value);
  importer.graph().nodes.push_back(std::move(n));
  importer.became(node, "DynamicProduct", y.type == kInt32 ? "I0" : "edge");
  importer.set_output(node, 0, std::move(y));
  return Status();
}

}  // namespace

Status import_dynamic_product(Importer& importer, const NodeView& node, bool* taken) {
  const std::string& op = node.op();
  const bool conv = op == "QLinearConv" || op == "ConvInteger";
  const ProductInputs& at = op == "QLinearConv" || op == "QLinearMatMul" ? kQLinear : kInteger;
  *taken = needs_inputs(importer, node, at, conv);
  return *taken ? emit(importer, node, at, conv) : Status();
}

}  // namespace qrt::convert::from_onnx
