// SPDX-License-Identifier: Apache-2.0
#include "converter/quantize/float/operators.h"

#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <cstring>

namespace qrt::quantize {
namespace {

constexpr struct {
  const char* op;
  Operator run;
} kOperators[] = {
    {"Relu", run_unary},
    {"LeakyRelu", run_unary},
    {"ThresholdedRelu", run_unary},
    {"Elu", run_unary},
    {"Celu", run_unary},
    {"Selu", run_unary},
    {"Sigmoid", run_unary},
    {"HardSigmoid", run_unary},
    {"HardSwish", run_unary},
    {"Tanh", run_unary},
    {"Exp", run_unary},
    {"Log", run_unary},
    {"Sqrt", run_unary},
    {"Reciprocal", run_unary},
    {"Erf", run_unary},
    {"Gelu", run_unary},
    {"Softplus", run_unary},
    {"Softsign", run_unary},
    {"Mish", run_unary},
    {"Neg", run_unary},
    {"Abs", run_unary},
    {"Floor", run_unary},
    {"Ceil", run_unary},
    {"Round", run_unary},
    {"Sign", run_unary},
    {"Clip", run_clip},
    {"Cast", run_cast},
    {"Identity", run_identity},
    {"Add", run_binary},
    {"Sub", run_binary},
    {"Mul", run_binary},
    {"Div", run_binary},
    {"Mod", run_binary},
    {"Pow", run_binary},
    {"Min", run_binary},
    {"Max", run_binary},
    {"Sum", run_binary},
    {"PRelu", run_prelu},
    {"Equal", run_compare},
    {"Less", run_compare},
    {"LessOrEqual", run_compare},
    {"Greater", run_compare},
    {"GreaterOrEqual", run_compare},
    {"And", run_logic},
    {"Or", run_logic},
    {"Xor", run_logic},
    {"Not", run_logic},
    {"Where", run_where},

    {"Conv", run_conv},
    {"ConvTranspose", run_conv_transpose},
    {"MatMul", run_matmul},
    {"Gemm", run_gemm},

    {"MaxPool", run_pool},
    {"AveragePool", run_pool},
    {"GlobalAveragePool", run_global_pool},
    {"GlobalMaxPool", run_global_pool},

    {"BatchNormalization", run_batch_normalization},
    {"InstanceNormalization", run_instance_normalization},
    {"LayerNormalization", run_layer_normalization},
    {"GroupNormalization", run_group_normalization},
    {"LpNormalization", run_lp_normalization},
    {"Softmax", run_softmax},
    {"LogSoftmax", run_softmax},
    {"ReduceMean", run_reduce},
    {"ReduceSum", run_reduce},
    {"ReduceMax", run_reduce},
    {"ReduceMin", run_reduce},
    {"ReduceProd", run_reduce},
    {"ReduceSumSquare", run_reduce},
    {"ReduceL1", run_reduce},
    {"ReduceL2", run_reduce},
    {"ArgMax", run_arg},
    {"ArgMin", run_arg},

    {"Shape", run_shape},
    {"Size", run_size},
    {"ConstantOfShape", run_constant_of_shape},
    {"Range", run_range},
    {"Reshape", run_reshape},
    {"Flatten", run_flatten},
    {"Squeeze", run_squeeze},
    {"Unsqueeze", run_unsqueeze},

    {"Transpose", run_transpose},
    {"Concat", run_concat},
    {"Split", run_split},
    {"Slice", run_slice},
    {"Pad", run_pad},
    {"Gather", run_gather},
    {"GatherElements", run_gather_elements},
    {"Expand", run_expand},
    {"Tile", run_tile},
    {"DepthToSpace", run_depth_to_space},
    {"SpaceToDepth", run_space_to_depth},
    {"Resize", run_resize},

    {"QuantizeLinear", run_quantize_linear},
    {"DequantizeLinear", run_dequantize_linear},
};

// An element that is made takes about as long as so many terms of a product's sums.
constexpr int64_t kTermsOfElement = 8;

std::string formatted(const char* format, va_list arguments) {
  char text[512];
  vsnprintf(text, sizeof text, format, arguments);
  return text;
}

}  // namespace

Operator find_operator(const std::string& domain, const std::string& op) {
  for (const auto& entry : kOperators)
    if (domain.empty() && op == entry.op) return entry.run;
  return is_runtime_operator(domain, op) ? run_in_runtime : nullptr;
}

bool works_in_place(Operator run, const std::vector<const Tensor*>& inputs) {
  if (run == run_binary)
    return inputs.size() == 2 && inputs[1] != nullptr && inputs[1]->is_real() &&
           inputs[1]->shape == inputs[0]->shape;
  return run == run_unary || run == run_clip;
}

// Takes the free buffer that is least too long: a vector that grows is filled with zeros, one that
// shrinks is not.
std::vector<float> Buffers::take(size_t size) {
  auto best = free_.end();
  for (auto it = free_.begin(); it != free_.end(); ++it)
    if (it->size() >= size && (best == free_.end() || it->size() < best->size())) best = it;
  // A buffer that is half as long again would hold memory that others need.
  if (best == free_.end() || best->size() - size > size / 2) return std::vector<float>(size);
  std::vector<float> buffer = std::move(*best);
  free_.erase(best);
  buffer.resize(size);
  return buffer;
}

void Buffers::give(std::vector<float>&& buffer) {
  // Larger buffers cost little beside the work that fills them, and nothing else counts the ones kept here.
  constexpr size_t kKept = 24, kMostFloats = 1 << 24;
  if (buffer.capacity() == 0 || buffer.capacity() > kMostFloats) return;
  free_.push_back(std::move(buffer));
  const auto is_smaller = [](const auto& a, const auto& b) { return a.capacity() < b.capacity(); };
  const auto floats = [this] {
    size_t sum = 0;
    for (const std::vector<float>& b : free_) sum += b.capacity();
    return sum;
  };
  while (free_.size() > kKept || floats() > kMostFloats)
    free_.erase(std::min_element(free_.begin(), free_.end(), is_smaller));
}

void Machine::reserve(size_t floats) {
  scratch_.resize(parallel.threads);
  for (std::vector<float>& s : scratch_)
    if (s.size() < floats) s.resize(floats);
}

Status Call::need_reals(size_t first, size_t last) const {
  for (size_t i = first; i < last; ++i)
    if (!has(i) || !in(i).is_real())
      return wrong("input %zu is %s, expected float32", i,
                   has(i) ? element_name(in(i).element) : "absent");
  return Status();
}

Status Call::need_integers(size_t first, size_t last) const {
  for (size_t i = first; i < last; ++i)
    if (!has(i) || in(i).is_real())
      return wrong("input %zu is %s, expected integers", i, has(i) ? "float32" : "absent");
  return Status();
}

Status Call::make(size_t i, const Dims& shape, Element element, Tensor** y, int64_t terms) {
  for (int64_t d : shape)
    if (d < 0) return wrong("its result would have shape %s", to_string(shape).c_str());
  const int64_t most = std::min(machine.limits.value, machine.values_left);
  if (!is_within(shape, most))
    return most == machine.values_left
               ? beyond(static_cast<double>(machine.limits.values), "elements",
                        "together with the other values, its result of shape %s",
                        to_string(shape).c_str())
               : beyond(static_cast<double>(most), "elements", "its result of shape %s",
                        to_string(shape).c_str());
  const int64_t n = elements(shape);
  QRT_TRY(need_terms(n, kTermsOfElement + terms));
  machine.values_left -= n;
  Tensor& t = outputs_[i];
  // The interpreter has moved an operand here.
  if (!t.reals.empty() && t.shape == shape && t.element == element) {
    *y = &t;
    return Status();
  }
  t.element = element;
  t.shape = shape;
  if (element == Element::kFloat && machine.makes_shapes && outputs_.size() == 1) {
    t.reals.assign(static_cast<size_t>(n), 0);
    return made_shape();
  }
  if (element == Element::kFloat)
    t.reals = machine.buffers.take(static_cast<size_t>(n));
  else
    t.integers.assign(static_cast<size_t>(n), 0);
  *y = &t;
  return Status();
}

Status run_in_runtime(Call& call) {
  std::vector<const Tensor*> inputs;
  std::vector<bool> is_constant;
  int64_t terms = 0;
  for (size_t i = 0; i < call.input_count(); ++i) {
    inputs.push_back(call.has(i) ? &call.in(i) : nullptr);
    is_constant.push_back(call.has(i) && call.machine.constants->count(call.node.inputs[i]) != 0);
    if (call.has(i)) terms += call.in(i).size();
  }
  QRT_TRY(call.need_terms(terms, kTermsOfElement));
  std::vector<Tensor> made(call.output_count());
  bool is_charged = false;
  const auto charge = [&](double macs) {
    is_charged = true;
    return call.need_terms(macs);
  };
  Status status = call.machine.runtime.run(call.node, inputs, is_constant, charge, &made);
  if (status.code() == Code::kUnsupported && !is_charged)
    return call.unsupported("%s", status.message());
  if (!status.ok()) return is_charged ? std::move(status) : std::move(status).at(call.node.label());
  for (size_t i = 0; i < made.size(); ++i) {
    if (call.node.outputs[i].empty()) continue;
    Tensor* y;
    Status is_made = call.make(i, made[i].shape, made[i].element, &y);
    if (!is_made_shape(is_made)) QRT_TRY(std::move(is_made));
    call.out(i) = std::move(made[i]);
  }
  return Status();
}

namespace {
constexpr char kMadeShape[] = "only the shape was made";
}  // namespace

Status made_shape() { return Status(Code::kInternal, kMadeShape); }
bool is_made_shape(const Status& status) {
  return status.code() == Code::kInternal && strcmp(status.message(), kMadeShape) == 0;
}

Status Call::need_terms(int64_t results, int64_t each) const {
  return need_terms(static_cast<double>(results) * static_cast<double>(each));
}

Status Call::need_terms(double terms) const {
  machine.terms_left -= terms;
  if (machine.terms_left >= 0) return {};
  return beyond(machine.limits.terms, "terms of sums and results", "the model up to here");
}

Status Call::wrong(const char* format, ...) const {
  va_list arguments;
  va_start(arguments, format);
  const std::string text = formatted(format, arguments);
  va_end(arguments);
  return error(Code::kInvalidModel, "%s: %s", node.label().c_str(), text.c_str());
}

Status Call::unsupported(const char* format, ...) const {
  va_list arguments;
  va_start(arguments, format);
  const std::string text = formatted(format, arguments);
  va_end(arguments);
  return error(Code::kUnsupported,
               "%s: %s, which qrt_quantize does not run: give it smaller tensors or another form, "
               "or end the model in front of it (--outputs NAME)",
               node.label().c_str(), text.c_str());
}

Status Call::beyond(double limit, const char* units, const char* format, ...) const {
  va_list arguments;
  va_start(arguments, format);
  const std::string text = formatted(format, arguments);
  va_end(arguments);
  return error(Code::kUnsupported,
               "%s: %s has more than %.0f %s, the limit for files of this size: give the model "
               "smaller tensors, or --budget 16 for 16 times as much",
               node.label().c_str(), text.c_str(), limit, units);
}

Status Call::axis(int64_t given, size_t rank, size_t* axis) const {
  const auto n = static_cast<int64_t>(rank);
  if (given < -n || given >= n)
    return wrong("axis %lld, expected %lld to %lld", static_cast<long long>(given),
                 static_cast<long long>(-n), static_cast<long long>(n - 1));
  *axis = static_cast<size_t>(given < 0 ? given + n : given);
  return Status();
}

}  // namespace qrt::quantize
