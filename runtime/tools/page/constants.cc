// SPDX-License-Identifier: Apache-2.0
#include "runtime/tools/page/constants.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <tuple>

#include "runtime/infer.h"
#include "runtime/tools/elements.h"

namespace qrt::tool {
namespace {

using nlohmann::ordered_json;

constexpr size_t kMostValues = 16;  // that are listed one by one
// The most values of a file that are counted; of a larger file it is every second, third ... value.
constexpr size_t kMostCounted = size_t{1} << 26;

// The stored numbers of these tensors are summands or digits of weights (qrt_model.fbs).
std::set<uint32_t> tensors_of_split_files(const fb::Model& file) {
  std::set<uint32_t> result;
  for (const fb::Operator* op : *file.operators()) {
    int parts = 1;
    if (const auto* conv = op->options_as_Conv2D())
      parts = conv->terms() * conv->digits();
    else if (const auto* depthwise = op->options_as_DepthwiseConv2D())
      parts = depthwise->terms();
    else if (const auto* full = op->options_as_FullyConnected())
      parts = full->terms() * full->digits();
    if (parts != 1 && op->inputs() != nullptr && op->inputs()->size() > 1)
      result.insert(op->inputs()->Get(1));
  }
  return result;
}

// Counts of `values` that lie between `from` and `to`, in at most kMostColumns columns of equal width. Integers that are
// few have a column each.
class Columns {
 public:
  Columns(double from, double to, bool is_integer) : from_(from) {
    const double span = to - from;
    if (is_integer)
      width_ = std::max(1.0, std::ceil((span + 1) / kMostColumns));
    else
      width_ = span > 0 ? span / kMostColumns : 1;
    const double columns = is_integer ? std::floor(span / width_) + 1 : span > 0 ? kMostColumns : 1;
    counts_.resize(static_cast<size_t>(columns));
  }

  void add(double value, uint64_t count) {
    const auto column = static_cast<size_t>((value - from_) / width_);
    counts_[std::min(column, counts_.size() - 1)] += count;
  }

  const std::vector<uint64_t>& counts() const { return counts_; }

 private:
  double from_, width_;
  std::vector<uint64_t> counts_;
};

ordered_json histogram_json(double from, double to, const Columns& columns, size_t step) {
  return {{"from", from}, {"to", to}, {"counts", columns.counts()}, {"step", step}};
}

// Returns the histogram of packed weights, which are int8, with zeros where the packing has no weight.
ordered_json packed_histogram(const uint8_t* data, size_t bytes, size_t elements) {
  uint64_t counts[256] = {};
  for (size_t i = 0; i < bytes; ++i) ++counts[data[i] ^ 0x80];
  counts[128] -= std::min<uint64_t>(counts[128], bytes - std::min(bytes, elements));
  int from = 0, to = 255;
  while (from < to && counts[from] == 0) ++from;
  while (to > from && counts[to] == 0) --to;
  Columns columns(from - 128, to - 128, true);
  for (int code = from; code <= to; ++code) columns.add(code - 128, counts[code]);
  return histogram_json(from - 128, to - 128, columns, 1);
}

ordered_json plain_histogram(const Elements& elements, bool is_integer, size_t step) {
  double from = HUGE_VAL, to = -HUGE_VAL;
  for (size_t i = 0; i < elements.size(); i += step) {
    const double value = elements.value(i);
    if (!std::isfinite(value)) continue;
    from = std::min(from, value);
    to = std::max(to, value);
  }
  if (from > to || !std::isfinite(to - from)) return nullptr;
  Columns columns(from, to, is_integer);
  for (size_t i = 0; i < elements.size(); i += step)
    if (const double value = elements.value(i); std::isfinite(value)) columns.add(value, 1);
  return histogram_json(from, to, columns, step);
}

// Makes the distributions of the constants' values that the page shows. A buffer that several tensors
// share is counted once for each type and shape that they read it with, up to a limit for all.
class Distributions {
 public:
  explicit Distributions(const Plan& plan)
      : plan_(plan),
        in_split_files_(tensors_of_split_files(plan.model->file())),
        left_(16 * static_cast<uint64_t>(plan.model->file_bytes())) {
    step_ = 1 + plan.model->file_bytes() / kMostCounted;
  }

  void add(uint32_t index, ordered_json* json) {
    const fb::Tensor& tensor = plan_.model->tensor(index);
    if (tensor.packing() != fb::Packing::NONE) {
      add_packed(index, tensor, json);
      return;
    }
    const auto* data = plan_.model->file().buffers()->Get(tensor.buffer())->data();
    const TensorType& type = plan_.types[index];
    const auto count = static_cast<size_t>(std::max<int64_t>(0, type.shape.elements()));
    if (data == nullptr || tensor_bytes(type) > data->size() || count == 0) return;
    if (count <= kMostValues) {
      const Elements elements(type.dtype, data->data(), count);
      auto values = ordered_json::array();
      for (size_t i = 0; i < count; ++i) values.push_back(elements.text(i));
      (*json)["values"] = std::move(values);
      return;
    }
    const Form form{tensor.buffer(), static_cast<int>(type.dtype), count};
    put(form, count, json, [&] {
      return plain_histogram(Elements(type.dtype, data->data(), count), !holds_reals(type.dtype),
                             step_);
    });
  }

 private:
  using Form = std::tuple<uint32_t, int, size_t>;  // buffer, type (-1: packed), elements

  void add_packed(uint32_t index, const fb::Tensor& tensor, ordered_json* json) {
    if (in_split_files_.count(index) != 0) return;
    const UnpackedWeights::View view = plan_.model->unpacked().of(index);
    const auto* stored = plan_.model->file().buffers()->Get(tensor.buffer())->data();
    if (stored == nullptr) return;
    const uint8_t* data = view.data != nullptr ? view.data : stored->data();
    const size_t bytes = view.data != nullptr ? view.bytes : stored->size();
    const auto elements =
        static_cast<size_t>(std::max<int64_t>(0, plan_.types[index].shape.elements()));
    const int type = view.data != nullptr ? -2 - static_cast<int>(index) : -1;
    put({tensor.buffer(), type, elements}, bytes, json,
        [&] { return packed_histogram(data, bytes, elements); });
  }

  template <class Make>
  void put(const Form& form, uint64_t cost, ordered_json* json, Make make) {
    auto known = made_.find(form);
    if (known == made_.end()) {
      if (cost > left_) return;
      left_ -= cost;
      known = made_.emplace(form, make()).first;
    }
    if (!known->second.is_null()) (*json)["histogram"] = known->second;
  }

  const Plan& plan_;
  const std::set<uint32_t> in_split_files_;
  uint64_t left_;  // values that may still be counted
  size_t step_;
  std::map<Form, ordered_json> made_;
};

// Adds a chart of the scales. Where there are many, neighbouring channels share a column, of their
// greatest scale.
void add_scales(const fb::Tensor& tensor, ordered_json* json) {
  const auto* quantization = tensor.quantization();
  if (quantization == nullptr || quantization->scale() == nullptr ||
      quantization->scale()->size() < 2)
    return;
  const auto& scales = *quantization->scale();
  const size_t group = (scales.size() + kMostColumns - 1) / kMostColumns;
  std::vector<float> groups;
  for (uint32_t i = 0; i < scales.size(); ++i) {
    if (i % group == 0) groups.push_back(0);
    groups.back() = std::max(groups.back(), scales[i]);
  }
  (*json)["scales"] = {{"axis", quantization->axis()},
                       {"least", *std::min_element(scales.begin(), scales.end())},
                       {"greatest", *std::max_element(scales.begin(), scales.end())},
                       {"groups", groups}};
}

}  // namespace

void add_distributions(const Plan& plan, ordered_json* tensors) {
  Distributions distributions(plan);
  uint32_t index = 0;
  for (ordered_json& json : *tensors) {
    add_scales(plan.model->tensor(index), &json);
    if (is_constant(plan.model->tensor(index))) distributions.add(index, &json);
    ++index;
  }
}

}  // namespace qrt::tool
