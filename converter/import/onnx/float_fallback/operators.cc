// SPDX-License-Identifier: Apache-2.0
// Chooses the Float operators that a node becomes.
#include <algorithm>
#include <cmath>
#include <limits>

#include "converter/import/onnx/deferred/table.h"
#include "converter/import/onnx/float_fallback/activations.h"
#include "converter/import/onnx/float_fallback/float_fallback.h"
#include "converter/import/onnx/float_fallback/grid_sample.h"
#include "converter/import/onnx/float_fallback/normalization.h"
#include "converter/import/onnx/float_fallback/products.h"
#include "converter/import/onnx/float_fallback/resize.h"
#include "converter/import/onnx/float_fallback/select.h"
#include "converter/import/onnx/float_fallback/spectrum.h"
#include "converter/import/onnx/float_fallback/windows.h"
#include "converter/import/onnx/ops/handlers.h"
#include "converter/import/onnx/ops/nbits.h"

namespace qrt::convert::from_onnx {
namespace {

using F = fb::FloatFunction;

struct Form {
  const char* op;
  F function;
};

constexpr Form kUnary[] = {{"Exp", F::EXP},
                           {"Log", F::LOG},
                           {"Sqrt", F::SQRT},
                           {"Erf", F::FUSED_ERF},
                           {"Gelu", F::FUSED_GELU},
                           {"Tanh", F::ORT_TANH},
                           {"Sigmoid", F::ORT_SIGMOID},
                           {"Sin", F::SIN},
                           {"Cos", F::COS},
                           {"Floor", F::FLOOR},
                           {"Ceil", F::CEIL},
                           {"Round", F::ROUND},
                           {"Tan", F::TAN},
                           {"Asin", F::ASIN},
                           {"Acos", F::ACOS},
                           {"Atan", F::ATAN},
                           {"Sinh", F::SINH},
                           {"Cosh", F::COSH},
                           {"Asinh", F::ASINH},
                           {"Acosh", F::ACOSH},
                           {"Atanh", F::ATANH}};
constexpr Form kBinary[] = {{"Add", F::ADD}, {"Sub", F::SUB},         {"Mul", F::MUL},
                            {"Div", F::DIV}, {"Min", F::NAN_MINIMUM}, {"Max", F::NAN_MAXIMUM},
                            {"Sum", F::ADD}, {"Mean", F::ADD}};
constexpr Form kReduce[] = {{"ReduceSum", F::REDUCE_SUM},
                            {"ReduceMean", F::REDUCE_MEAN},
                            {"ReduceMax", F::REDUCE_NAN_MAX},
                            {"ReduceMin", F::REDUCE_NAN_MIN},
                            {"ReduceProd", F::REDUCE_PROD}};
// Sums of squares or of magnitudes, or the root of such a sum.
struct SumForm {
  const char* op;
  bool of_squares;  // or else of magnitudes
  bool is_root;
};
constexpr SumForm kSums[] = {
    {"ReduceL1", false, false}, {"ReduceL2", true, true}, {"ReduceSumSquare", true, false}};
// Logarithms of sums.
struct LogarithmForm {
  const char* op;
  bool of_exponentials;
};
constexpr LogarithmForm kLogarithms[] = {{"ReduceLogSum", false}, {"ReduceLogSumExp", true}};
constexpr const char* kOther[] = {"Softmax",
                                  "LogSoftmax",
                                  "BatchNormalization",
                                  "GlobalAveragePool",
                                  "GlobalMaxPool",
                                  "Pow",
                                  "Mod",
                                  "Sign",
                                  "Hardmax",
                                  "Resize",
                                  "Where",
                                  "MatMul",
                                  "Gemm",
                                  "Conv",
                                  "ConvTranspose",
                                  "GridSample",
                                  "STFT",
                                  "DFT",
                                  "IsNaN",
                                  "IsInf"};

template <class Form, size_t n>
const Form* find(const Form (&forms)[n], const std::string& op) {
  for (const Form& form : forms)
    if (op == form.op) return &form;
  return nullptr;
}

bool other_outputs_are_read(const Importer& importer, const NodeView& node) {
  for (int i = 1; i < node.output_count(); ++i)
    if (node.has_output(i) && importer.uses(node.output(i)) > 0) return true;
  return false;
}

// Marks the dimensions that an operator over rows works on. Returns false where an axis is not
// known or outside the shape.
bool mark_rows(Importer& importer, const NodeView& node, const Shape& shape,
               std::vector<bool>* marked) {
  const int rank = shape.rank();
  marked->assign(static_cast<size_t>(rank), false);
  std::vector<int64_t> axes;
  if (node.op().rfind("Reduce", 0) == 0) {
    axes = node.integers("axes");
    if (node.has_input(1)) {
      const Tensor& given = importer.input(node, 1);
      if (!given.is_plain_constant() || !given.constant->is_integer()) return false;
      for (int64_t i = 0; i < given.constant->elements(); ++i)
        axes.push_back(given.constant->integer(i));
    }
    if (axes.empty()) {
      if (node.integer("noop_with_empty_axes", 0) != 0) return false;
      for (int i = 0; i < rank; ++i) axes.push_back(i);
    }
  } else if (node.op() == "InstanceNormalization" || node.op().rfind("Global", 0) == 0) {
    for (int i = 2; i < rank; ++i) axes.push_back(i);
  } else {
    const bool softmax = node.op().find("Softmax") != std::string::npos;
    const bool from_axis_on = !softmax || importer.opset(node) < 13;
    int64_t axis = node.integer("axis", softmax && from_axis_on ? 1 : -1);
    if (axis < -rank || axis >= rank) return false;
    axis = axis < 0 ? axis + rank : axis;
    for (int64_t i = axis; i < (from_axis_on ? rank : axis + 1); ++i) axes.push_back(i);
  }
  for (int64_t a : axes) {
    if (a < -rank || a >= rank) return false;
    (*marked)[static_cast<size_t>(a < 0 ? a + rank : a)] = true;
  }
  return !axes.empty();
}

// Makes x^2, x^3 and x^0.5, the powers that normalisations and activations are exported with, of other operators.
Status power(Importer& importer, FloatGraph* f, const NodeView& node, const Shape& shape, ValueId x,
             ValueId* y) {
  const Tensor& exponent = importer.input(node, 1);
  std::vector<float> values;
  if (exponent.is_plain_constant() && exponent.constant->is_integer())
    for (int64_t i = 0; i < exponent.constant->elements(); ++i)
      values.push_back(static_cast<float>(exponent.constant->integer(i)));
  else if (exponent.is_constant() && !constant_floats(exponent, &values))
    return Status();
  if (values.size() == 1 && exponent.shape.rank() <= shape.rank()) {
    if (values[0] == 2.0f) return f->binary(F::MUL, x, x, y);
    if (values[0] == 3.0f) {
      QRT_TRY(f->binary(F::MUL, x, x, y));
      return f->binary(F::MUL, *y, x, y);
    }
    if (values[0] == 0.5f) {
      // -inf^0.5 is infinite: it is negated first. -0^0.5 is 0, as the sum of -0 and 0.
      ValueId is_least, sign;
      const ValueId least = f->constant({}, {-std::numeric_limits<float>::infinity()});
      QRT_TRY(f->binary(F::EQUAL, x, least, &is_least));
      QRT_TRY(f->binary(F::MUL, is_least, f->constant({}, {2}), &sign));
      QRT_TRY(f->binary(F::SUB, f->constant({}, {1}), sign, &sign));
      QRT_TRY(f->binary(F::MUL, x, sign, &x));
      QRT_TRY(f->binary(F::ADD, x, f->constant({}, {0}), &x));
      *y = f->add(F::SQRT, {x}, shape);
      return Status();
    }
  }
  ValueId b;
  if (exponent.is_constant())
    b = f->constant(exponent.shape, values);
  else if (!f->read(1, &b))
    return Status();
  return f->binary(F::POW, x, b, y);
}

}  // namespace

bool has_float_form(const NodeView& node) {
  const std::string& op = node.op();
  const bool standard = node.domain().empty() || node.domain() == "ai.onnx";
  if (!standard)
    return node.domain() == "com.microsoft" &&
           (op == "Gelu" || op == "QuickGelu" || op == "SimplifiedLayerNormalization");
  return find(kUnary, op) || find(kBinary, op) || find(kReduce, op) || find(kSums, op) ||
         is_float_activation(node) || is_float_comparison(node) || is_float_pool(node) ||
         is_float_normalization(op) || find(kLogarithms, op) ||
         std::any_of(std::begin(kOther), std::end(kOther), [&](const char* o) { return op == o; });
}

Status make_float(Importer& importer, const NodeView& node, ValueId* made) {
  FloatGraph f(importer, node);
  const std::string& op = node.op();
  ValueId x;
  if (op == "Where") return float_where(&f, made);
  if (is_float_comparison(node)) return float_comparison(&f, made);
  return f.read(0, &x) ? make_float_of(importer, node, x, made) : Status();
}

Status make_float_of(Importer& importer, const NodeView& node, ValueId x, ValueId* made) {
  FloatGraph f(importer, node);
  const std::string& op = node.op();
  ValueId b;
  if (other_outputs_are_read(importer, node)) return Status();
  const Shape shape = f.shape_of(x);
  if (is_float_activation(node)) return float_activation(&f, x, made);
  if (const Form* form = find(kUnary, op)) {
    *made = f.add(form->function, {x}, shape);
    return Status();
  }
  if (const Form* form = find(kBinary, op)) {
    for (int i = 1; i < node.input_count(); ++i) {
      if (!f.read(i, &b)) return Status();
      QRT_TRY(f.binary(form->function, x, b, &x));
    }
    *made = x;
    if (op != "Mean") return Status();
    return f.binary(F::DIV, x, f.constant({}, {static_cast<float>(node.input_count())}), made);
  }
  if (is_float_pool(node)) return float_pool(&f, x, made);
  if (op == "Resize") return float_resize(&f, x, made);
  if (op == "IsNaN" || op == "IsInf") return float_class(&f, x, made);
  if (op == "GridSample") return float_grid_sample(&f, x, made);
  if (op == "STFT") return float_stft(&f, x, made);
  if (op == "DFT") return float_dft(&f, x, made);
  if (op == "LRN") return local_response_norm(&f, x, made);
  if (op == "LpNormalization") return unit_norm(&f, x, made);
  if (op == "MeanVarianceNormalization") return mean_variance_norm(&f, x, made);
  if (op == "MatMul" || op == "Gemm" || op == "Conv" || op == "ConvTranspose") {
    if (!f.read(1, &b)) return Status();
    if (op == "Conv") return float_conv(&f, x, b, made);
    if (op == "ConvTranspose") return float_conv_transpose(&f, x, b, made);
    if (op == "Gemm") return float_gemm(&f, x, b, made);
    QRT_TRY(multiply_by_blocks(&f, x, b, made));
    if (*made == kNoValue) float_matmul(&f, x, b, made);
    return Status();
  }
  if (op == "Mod") {
    if (node.integer("fmod", 0) == 0 || !f.read(1, &b)) return Status();
    return f.binary(F::FMOD, x, b, made);
  }
  if (op == "Sign") return float_sign(&f, x, made);
  if (op == "Hardmax") return float_hardmax(&f, x, made);
  if (op == "Pow") return power(importer, &f, node, shape, x, made);
  if (op == "BatchNormalization") {
    ChannelAffine lines;
    if (shape.rank() < 2 || !read_channel_affine(importer, node, shape[1], &lines)) return Status();
    return f.per_channel(lines.factor, lines.addend, x, made);
  }

  std::vector<bool> marked;
  if (!mark_rows(importer, node, shape, &marked)) return Status();
  const SumForm* sum = find(kSums, op);
  const LogarithmForm* logarithm = find(kLogarithms, op);
  if (const Form* form = find(kReduce, op);
      form != nullptr || sum != nullptr || logarithm != nullptr) {
    ValueId y, most = kNoValue;
    if (logarithm != nullptr && logarithm->of_exponentials) {
      // A difference from an infinity would be no number.
      constexpr float kMost = std::numeric_limits<float>::max();
      QRT_TRY(f.rows(F::REDUCE_MAX, marked, 0, x, &most));
      QRT_TRY(f.binary(F::MINIMUM, f.constant({}, {kMost}), most, &most));
      QRT_TRY(f.binary(F::MAXIMUM, f.constant({}, {-kMost}), most, &most));
      QRT_TRY(f.binary(F::SUB, x, most, &x));
      x = f.add(F::EXP, {x}, shape);
    }
    if (sum != nullptr && sum->of_squares) QRT_TRY(f.binary(F::MUL, x, x, &x));
    if (sum != nullptr && !sum->of_squares) {
      QRT_TRY(f.binary(F::MUL, x, f.constant({}, {-1.0f}), &y));
      QRT_TRY(f.binary(F::MAXIMUM, x, y, &x));
    }
    QRT_TRY(f.rows(form != nullptr ? form->function : F::REDUCE_SUM, marked, 0, x, &y));
    if (logarithm != nullptr) y = f.add(F::LOG, {y}, f.shape_of(y));
    if (most != kNoValue) QRT_TRY(f.binary(F::ADD, y, most, &y));
    if (sum != nullptr && sum->is_root) y = f.add(F::SQRT, {y}, f.shape_of(y));
    if (node.integer("keepdims", 1) == 0) {
      Shape kept;
      for (int i = 0; i < shape.rank(); ++i)
        if (!marked[static_cast<size_t>(i)]) kept.push_back(shape[i]);
      y = importer.builder().reshape(node, y, kept);
    }
    *made = y;
    return Status();
  }
  if (op == "GlobalAveragePool") return f.rows(F::REDUCE_MEAN, marked, 0, x, made);
  if (op == "GlobalMaxPool") return f.rows(F::REDUCE_NAN_MAX, marked, 0, x, made);
  if (op == "Softmax") return f.rows(F::LANE_SOFTMAX, marked, 0, x, made);
  if (op == "LogSoftmax") return f.rows(F::LOG_SOFTMAX, marked, 0, x, made);
  return float_normalization(&f, marked, x, made);
}

}  // namespace qrt::convert::from_onnx
