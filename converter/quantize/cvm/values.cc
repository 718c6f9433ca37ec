// SPDX-License-Identifier: Apache-2.0
#include "converter/quantize/cvm/values.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "converter/quantize/mrt.h"

namespace qrt::quantize {
namespace {

constexpr int kMostCode = 127;  // of a byte

double greatest(const Tensor& t) {
  double most = 0;
  for (const float v : t.reals)
    if (std::isfinite(v)) most = std::max(most, std::fabs(static_cast<double>(v)));
  return most;
}

}  // namespace

CvmValues::CvmValues(const FloatModel& model, const Placement& placement,
                     const Parameters& parameters, const Interpreter& interpreter,
                     CvmNumbers* numbers)
    : model_(model),
      placement_(placement),
      parameters_(parameters),
      interpreter_(interpreter),
      numbers_(*numbers) {
  for (size_t i = 0; i < model.nodes.size(); ++i)
    for (const std::string& y : model.nodes[i].outputs) writers_[y] = i;
}

Status CvmValues::shape(const std::string& value, Dims* shape) const {
  if (const Tensor* constant = model_.constant(value)) {
    *shape = constant->shape;
    return {};
  }
  const Value* known = nullptr;
  for (const Value& v : model_.inputs)
    if (v.name == value) known = &v;
  if (const auto v = model_.values.find(value); v != model_.values.end()) known = &v->second;
  if (!known) return error(Code::kUnsupported, "the shape of '%s' is not known", value.c_str());
  *shape = known->shape;
  for (size_t d = 0; d < shape->size(); ++d) {
    if ((*shape)[d] >= 0) continue;
    if (d > 0)
      return error(Code::kUnsupported, "dimension %zu of '%s' is not known", d, value.c_str());
    (*shape)[d] = 1;
  }
  return {};
}

double CvmValues::step(const std::string& value) const {
  return static_cast<double>(parameters_.coding(placement_, value).scale);
}

int CvmValues::precision(const std::string& value) const {
  return parameters_.coding(placement_, value).zero_point == 0 ? kCvmByte : kCvmByte + 1;
}

std::string CvmValues::base(const std::string& value) const {
  if (is_coded(value)) return value;
  const auto found = bases_.find(value);
  return found == bases_.end() ? "" : found->second;
}

const CvmNumber* CvmValues::number(const std::string& value) const {
  const auto found = numbers_of_.find(value);
  return found == numbers_of_.end() ? nullptr : &found->second;
}

Tensor CvmValues::reals_of_bytes(const std::string& base) const {
  const int32_t zero = parameters_.coding(placement_, base).zero_point;
  std::vector<float> reals;
  for (int q = -kMostCode; q <= kMostCode; ++q)
    reals.push_back(static_cast<float>((q - zero) * step(base)));
  return real_tensor({2 * kMostCode + 1}, std::move(reals));
}

Status CvmValues::compute(const std::string& value, const Tensor** y) {
  const std::string& base = bases_.at(value);
  std::map<std::string, Tensor>& computed = computed_[base];
  if (computed.empty()) computed[base] = reals_of_bytes(base);
  // Nodes from the base to the value; in their order each has what it reads.
  std::set<size_t> nodes;
  std::vector<std::string> wanted = {value};
  while (!wanted.empty()) {
    const std::string name = std::move(wanted.back());
    wanted.pop_back();
    if (name.empty() || model_.constant(name) || computed.count(name) != 0) continue;
    const size_t writer = writers_.at(name);
    if (!nodes.insert(writer).second) continue;
    const std::vector<std::string>& inputs = model_.nodes[writer].inputs;
    wanted.insert(wanted.end(), inputs.begin(), inputs.end());
  }
  for (const size_t i : nodes) {
    const Node& node = model_.nodes[i];
    std::vector<const Tensor*> inputs;
    for (const std::string& x : node.inputs) {
      const Tensor* constant = x.empty() ? nullptr : model_.constant(x);
      inputs.push_back(x.empty() || constant ? constant : &computed.at(x));
    }
    std::vector<Tensor> outputs;
    QRT_TRY(interpreter_.run_node(node, inputs, &outputs));
    computed[node.outputs[0]] = std::move(outputs[0]);
  }
  *y = &computed.at(value);
  return {};
}

Status CvmValues::table(const std::string& value, double step, int precision, CvmNumber* y) {
  const std::string& of = bases_.at(value);
  const Tensor* computed = nullptr;
  QRT_TRY(compute(value, &computed));
  Tensor reals = *computed;
  for (float& v : reals.reals)
    if (std::isnan(v)) v = 0;
  reals.shape = {static_cast<int64_t>(reals.reals.size())};
  CvmNumber x;
  QRT_TRY(as_byte(of, &x));
  CvmSymbol& symbol = numbers_.symbol();
  const Dims shape = numbers_.shape(x);
  const int most = symbol.add_parameter({1}, kCvmByte, {kMostCode});
  const int index = numbers_.add("broadcast_add", {x.entry, most}, shape, kCvmByte + 1);
  const CvmNumber results = numbers_.constant(reals, precision, step);
  *y = {numbers_.add("cvm_lut", {index, results.entry}, shape, precision,
                     {{"in_dim", std::to_string(reals.reals.size())}}),
        step,
        {},
        0};
  return {};
}

Status CvmValues::as(const std::string& value, double step, int precision, CvmNumber* y) {
  const auto key = std::make_tuple(value, step, precision);
  if (const auto known = made_.find(key); known != made_.end()) {
    *y = known->second;
    return {};
  }
  if (const Tensor* constant = model_.constant(value)) {
    *y = numbers_.constant(*constant, precision, step);
  } else if (const CvmNumber* x = number(value)) {
    *y = numbers_.requantised(*x, step, precision);
  } else if (is_function(value)) {
    QRT_TRY(table(value, step, precision, y));
  } else {
    return error(Code::kUnsupported, "'%s' has no integers", value.c_str());
  }
  made_[key] = *y;
  return {};
}

Status CvmValues::as_coded(const std::string& value, CvmNumber* y) {
  if (!is_coded(value)) return error(Code::kUnsupported, "'%s' is not quantised", value.c_str());
  return as(value, step(value), precision(value), y);
}

Status CvmValues::as_byte(const std::string& value, CvmNumber* y) {
  QRT_TRY(as_coded(value, y));
  const int32_t zero = parameters_.coding(placement_, value).zero_point;
  if (zero == 0) return {};
  const auto [known, is_new] = bytes_.try_emplace(value);
  if (is_new) known->second = numbers_.byte_with_zero(*y, zero);
  *y = known->second;
  return {};
}

Status CvmValues::range(const std::string& value, double* range) {
  const CvmNumber* x = number(value);
  if (const Tensor* constant = model_.constant(value)) {
    *range = greatest(*constant);
  } else if (is_coded(value)) {
    const Coding& coding = parameters_.coding(placement_, value);
    *range = static_cast<double>(std::max(-coding.low(), coding.high()));
  } else if (x) {
    *range = numbers_.bound(*x);
  } else {
    const Tensor* results = nullptr;
    if (!is_function(value))
      return error(Code::kUnsupported, "'%s' has no integers", value.c_str());
    QRT_TRY(compute(value, &results));
    *range = greatest(*results);
  }
  if (!(*range > 0)) *range = 1;
  return {};
}

Status CvmValues::as_int32(const std::string& value, CvmNumber* y) {
  const CvmNumber* x = number(value);
  if (x && !x->has_factors() && numbers_.precision(*x) <= kCvmWide) {
    *y = *x;
    return {};
  }
  double most;
  QRT_TRY(range(value, &most));
  return as(value, most / static_cast<double>(mrt::alpha(kCvmWide)), kCvmWide, y);
}

}  // namespace qrt::quantize
