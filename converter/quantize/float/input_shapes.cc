// SPDX-License-Identifier: Apache-2.0
// Decides which dimensions of the inputs stay open, and the sizes at which a model is looked at.
#include <algorithm>
#include <numeric>
#include <set>

#include "converter/quantize/float/float_model.h"

namespace qrt::quantize {
namespace {

constexpr int64_t kMostSize = INT32_MAX;

Status check_fit(const Value& input, const Dims& sample) {
  bool fits = sample.size() == input.shape.size();
  for (size_t d = 0; fits && d < sample.size(); ++d)
    fits = input.shape[d] < 0 || input.shape[d] == sample[d];
  if (fits) return {};
  return error(Code::kInvalidModel, "samples for input '%s' have shape %s, the model has %s",
               input.name.c_str(), to_string(sample).c_str(), to_string(input.shape).c_str());
}

// Returns what a dimension is called: two of one name have the same size.
std::string name_of(const Value& input, size_t d) {
  const bool has_name = d < input.dim_names.size() && !input.dim_names[d].empty();
  return has_name ? input.dim_names[d] : input.name + "." + std::to_string(d);
}

// Sizes of open dimensions by their names.
using Sizes = std::map<std::string, int64_t>;

// Returns the sizes that a sample has. kInvalidModel where two dimensions of one name differ.
Status sizes_of(const FloatModel& model, const Shapes& sample, Sizes* sizes) {
  for (const Value& input : model.inputs) {
    const auto found = sample.find(input.name);
    for (size_t d = 1; found != sample.end() && d < input.shape.size(); ++d) {
      if (input.shape[d] >= 0) continue;
      const int64_t size = found->second[d];
      const auto [known, is_new] = sizes->emplace(name_of(input, d), size);
      if (!is_new && known->second != size)
        return error(
            Code::kInvalidModel,
            "a sample has a size of %lld and of %lld for '%s', the second one in the input "
            "'%s': one dimension has one size",
            static_cast<long long>(known->second), static_cast<long long>(size),
            known->first.c_str(), input.name.c_str());
    }
  }
  return {};
}

// Returns the shapes of inputs at other sizes than those of `sample`.
Shapes shapes_at(const FloatModel& model, const Shapes& sample, const Sizes& sizes) {
  Shapes shapes = sample;
  for (const Value& input : model.inputs)
    for (size_t d = 1; d < input.shape.size(); ++d)
      if (input.shape[d] < 0) shapes[input.name][d] = sizes.at(name_of(input, d));
  return shapes;
}

// Returns indices of samples, the first among them, so that every dimension has two sizes at least, its least and its
// greatest.
std::vector<size_t> telling_samples(const std::vector<Sizes>& sizes) {
  std::set<size_t> telling = {0};
  for (const auto& [name, first] : sizes[0]) {
    size_t least = 0, most = 0;
    for (size_t i = 1; i < sizes.size(); ++i) {
      if (sizes[i].at(name) < sizes[least].at(name)) least = i;
      if (sizes[i].at(name) > sizes[most].at(name)) most = i;
    }
    telling.insert({least, most});
  }
  return {telling.begin(), telling.end()};
}

// Returns two sets of sizes beyond those of all samples. Each size is a multiple of the greatest
// common divisor of its dimension's sizes, since a model may take no others.
std::vector<Sizes> larger_sizes(const std::vector<Sizes>& samples) {
  std::vector<Sizes> larger(2);
  int64_t number = 0;
  for (const auto& [name, first] : samples[0]) {
    int64_t divisor = 0, most = 0;
    for (const Sizes& sizes : samples) {
      divisor = std::gcd(divisor, sizes.at(name));
      most = std::max(most, sizes.at(name));
    }
    ++number;
    larger[0][name] = std::min(most + number * divisor, kMostSize);
    larger[1][name] = std::min(2 * most + number * divisor, kMostSize);
  }
  return larger;
}

}  // namespace

Status fix_input_shapes(const std::vector<Shapes>& samples, FloatModel* model) {
  bool stays_open = false;
  for (Value& input : model->inputs) {
    if (samples.empty() || samples[0].count(input.name) == 0) continue;
    const Dims& first = samples[0].at(input.name);
    for (const Shapes& sample : samples) QRT_TRY(check_fit(input, sample.at(input.name)));
    for (size_t d = 1; d < input.shape.size(); ++d) {
      const bool is_one = std::all_of(samples.begin(), samples.end(), [&](const Shapes& sample) {
        return sample.at(input.name)[d] == first[d];
      });
      if (is_one) input.shape[d] = first[d];
      stays_open |= !is_one;
    }
  }
  if (!stays_open) return {};
  std::vector<Sizes> sizes(samples.size());
  for (size_t i = 0; i < samples.size(); ++i) QRT_TRY(sizes_of(*model, samples[i], &sizes[i]));
  for (const size_t i : telling_samples(sizes)) model->sizes.push_back(samples[i]);
  model->sample_sizes = model->sizes.size();
  for (const Sizes& larger : larger_sizes(sizes))
    model->sizes.push_back(shapes_at(*model, samples[0], larger));
  return {};
}

}  // namespace qrt::quantize
