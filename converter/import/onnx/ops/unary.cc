// SPDX-License-Identifier: Apache-2.0
// Elementwise operators of one tensor: tables. Relu and Clip behind a pending operator become limits
// of that operator.
#include <cmath>
#include <limits>

#include "converter/import/onnx/arithmetic/ort_math.h"
#include "converter/import/onnx/ops/handlers.h"
#include "converter/import/onnx/remedies.h"

namespace qrt::convert::from_onnx {
namespace {

// Returns min(max(x, lo), hi), also where lo > hi.
float clip(float x, float lo, float hi) {
  const float v = x < lo ? lo : x;
  return v > hi ? hi : v;
}

Status limit(Importer& importer, const NodeView& node, float lo, float hi) {
  const Tensor& x = importer.input(node, 0);
  if (!x.is_pending())
    return map_table(importer, node, 0, [lo, hi](float v) { return clip(v, lo, hi); });
  Tensor y = x;
  y.pending = own_pending(importer, node, 0);
  y.pending->lo = clip(y.pending->lo, lo, hi);
  y.pending->hi = clip(y.pending->hi, lo, hi);
  y.pending->ops += "+" + node.op();
  y.pending->followers.push_back(node.index());
  importer.set_output(node, 0, std::move(y));
  return Status();
}

std::function<float(float)> function_of(const NodeView& node) {
  const std::string& op = node.op();
  if (op == "LeakyRelu" || op == "QLinearLeakyRelu") {
    const float alpha = node.real("alpha", 0.01f);
    return [alpha](float x) { return ort_leaky_relu(x, alpha); };
  }
  if (op == "Sigmoid" || op == "QLinearSigmoid") return ort_logistic;
  if (op == "Tanh") return ort_tanh;
  if (op == "HardSigmoid") {
    const float alpha = node.real("alpha", 0.2f), beta = node.real("beta", 0.5f);
    return [alpha, beta](float x) { return ort_hard_sigmoid(x, alpha, beta); };
  }
  if (op == "HardSwish") return ort_hard_swish;
  if (op == "Elu") {
    const float alpha = node.real("alpha", 1.0f);
    return [alpha](float x) { return ort_elu(x, alpha); };
  }
  if (op == "Selu") {
    const float alpha = node.real("alpha", 1.67326319217681884765625f);
    const float gamma = node.real("gamma", 1.05070102214813232421875f);
    return [alpha, gamma](float x) { return ort_selu(x, alpha, gamma); };
  }
  if (op == "Softplus") return ort_softplus;
  if (op == "Softsign") return ort_softsign;
  if (op == "Mish") return ort_mish;
  if (op == "Gelu" && node.text("approximate", "none") == "tanh") return ort_gelu_tanh;
  if (op == "Gelu") return ort_gelu;
  if (op == "Erf") return ort_erf;
  if (op == "Exp") return ort_exp;
  if (op == "Log") return ort_log;
  if (op == "Celu") {
    const float alpha = node.real("alpha", 1.0f);
    return [alpha](float x) { return ort_celu(x, alpha); };
  }
  if (op == "ThresholdedRelu") {
    const float alpha = node.real("alpha", 1.0f);
    return [alpha](float x) { return x > alpha ? x : 0.0f; };
  }
  if (op == "Shrink") {
    const float bias = node.real("bias", 0.0f), lambda = node.real("lambd", 0.5f);
    return [bias, lambda](float x) {
      return x < -lambda ? x + bias : x > lambda ? x - bias : 0.0f;
    };
  }
  if (op == "Reciprocal") return [](float x) { return 1.0f / x; };
  if (op == "Floor") return [](float x) { return std::floor(x); };
  if (op == "Ceil") return [](float x) { return std::ceil(x); };
  if (op == "Round") return [](float x) { return std::nearbyint(x); };
  if (op == "Sign")
    return [](float x) { return x != x ? x : static_cast<float>((x > 0.0f) - (x < 0.0f)); };
  if (op == "QuickGelu") {
    const float alpha = node.real("alpha", 1.702f);
    return [alpha](float x) { return ort_quick_gelu(x, alpha); };
  }
  if (op == "Swish") {
    const float alpha = node.real("alpha", 1.0f);
    return [alpha](float x) { return x * ort_logistic(alpha * x); };
  }
  if (op == "Abs") return [](float x) { return std::fabs(x); };
  if (op == "Neg") return [](float x) { return -x; };
  return [](float x) { return std::sqrt(x); };  // Sqrt
}

// Reads a bound of Clip: an input since opset 11, an attribute before. *known stays false where it is refused.
Status read_bound(Importer& importer, const NodeView& node, int input, const char* attribute,
                  float otherwise, float* bound, bool* known) {
  *bound = node.real(attribute, otherwise);
  *known = true;
  if (node.has_input(input)) {
    std::vector<float> v;
    const Tensor& t = importer.input(node, input);
    *known = t.is_constant() && constant_floats(t, &v) && v.size() == 1;
    if (!*known)
      return importer.refuse(
          node, "the limit '" + node.input(input) + "' is not one constant number of a float type",
          node.input(input),
          t.is_constant() ? "clip behind the DequantizeLinear, with limits of float32"
                          : remedy_for_constant(importer, node, input));
    *bound = v[0];
  }
  QRT_MODEL_CHECK(!std::isnan(*bound), "a limit is NaN");
  return Status();
}

}  // namespace

Status import_relu(Importer& importer, const NodeView& node) {
  bool taken;
  QRT_TRY(import_integer_operator(importer, node, &taken));
  if (taken) return Status();
  return limit(importer, node, 0.0f, std::numeric_limits<float>::infinity());
}

Status import_clip(Importer& importer, const NodeView& node) {
  if (fold_node(importer, node)) return Status();
  bool taken;
  QRT_TRY(import_integer_operator(importer, node, &taken));
  if (taken) return Status();
  float lo, hi;
  bool known;
  const float infinity = std::numeric_limits<float>::infinity();
  QRT_TRY(read_bound(importer, node, 1, "min", -infinity, &lo, &known));
  if (!known) return Status();
  QRT_TRY(read_bound(importer, node, 2, "max", infinity, &hi, &known));
  return known ? limit(importer, node, lo, hi) : Status();
}

Status import_unary(Importer& importer, const NodeView& node) {
  if (fold_node(importer, node)) return Status();
  bool taken;
  QRT_TRY(import_integer_operator(importer, node, &taken));
  if (taken) return Status();
  const std::string approximation = node.text("approximate", "none");
  QRT_MODEL_CHECK(node.op() != "Gelu" || approximation == "none" || approximation == "tanh",
                  "approximate is '%s', expected none or tanh", approximation.c_str());
  return map_table(importer, node, 0, function_of(node));
}

// Exponents that are products, as ONNX Runtime computes them.
Status import_pow(Importer& importer, const NodeView& node) {
  const Tensor& exponent = importer.input(node, 1);
  std::vector<float> v;
  if (exponent.is_constant() && exponent.constant->elements() == 1) {
    if (exponent.is_plain_constant() && exponent.constant->is_integer())
      v.push_back(static_cast<float>(exponent.constant->integer(0)));
    else
      constant_floats(exponent, &v);
  }
  const float e = v.empty() ? -1.0f : v[0];
  if (e == 0.0f) return map_table(importer, node, 0, [](float) { return 1.0f; });
  if (e == 1.0f) return map_table(importer, node, 0, [](float x) { return x; });
  if (e == 2.0f) return map_table(importer, node, 0, [](float x) { return x * x; });
  if (e == 3.0f) return map_table(importer, node, 0, [](float x) { return x * x * x; });
  return importer.refuse(node, "the exponent '" + node.input(1) + "' is not 0, 1, 2 or 3",
                         node.input(1),
                         "write the power as Mul or Sqrt, whose bits are the same everywhere");
}

Status import_qlinear_unary(Importer& importer, const NodeView& node) {
  Tensor x = importer.input(node, 0);
  if (!x.is_value()) return importer.refuse_float(node, 0);
  std::optional<Quant> in, out;
  QRT_TRY(read_tensor_quant(importer, node, 1, 2, x.type, &in));
  if (!in) return Status();
  QRT_TRY(read_tensor_quant(importer, node, 3, 4,
                            node.has_input(4) ? static_cast<int>(kUndefined) : x.type, &out));
  if (!out) return Status();
  x.kind = Tensor::Kind::kTable;
  x.quant = *in;
  x.value = importer.builder().with_quant(node, x.value, *in);
  auto table = std::make_shared<std::vector<float>>();
  if (!entries(x, table.get())) return importer.refuse_float(node, 0);
  const auto f = function_of(node);
  for (float& v : *table) v = f(v);
  x.table = std::move(table);
  Tensor y;
  y.kind = Tensor::Kind::kValue;
  y.type = onnx_type(out->type);
  y.shape = x.shape;
  QRT_TRY(quantize_table(importer, node, x, *out, Limits(), node.output(0), &y.value));
  if (y.value == kNoValue) return Status();
  importer.set_output(node, 0, std::move(y));
  return Status();
}

}  // namespace qrt::convert::from_onnx
