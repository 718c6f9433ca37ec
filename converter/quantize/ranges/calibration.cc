// SPDX-License-Identifier: Apache-2.0
#include "converter/quantize/ranges/calibration.h"

#include <set>

namespace qrt::quantize {

Status calibrate(const FloatModel& model, const Placement& placement, Interpreter* interpreter,
                 Samples* samples, const std::vector<std::vector<size_t>>& parts,
                 const Progress& progress, std::vector<Calibration>* calibrations) {
  calibrations->assign(parts.size(), {});
  Calibration* part = nullptr;
  // Every coded value counts as the one whose coding it shares.
  std::set<std::string> outputs;
  for (const Value& v : model.outputs) outputs.insert(v.name);
  const auto observe = [&](const std::string& name, const Tensor& value) {
    const auto coded = placement.coded.find(name);
    if (coded == placement.coded.end() && outputs.count(name) == 0) return;
    (*part)[coded == placement.coded.end() ? name : coded->second].add(value.reals.data(),
                                                                       value.reals.size());
  };
  size_t count = 0, done = 0;
  for (const std::vector<size_t>& which : parts) count += which.size();
  for (size_t p = 0; p < parts.size(); ++p) {
    part = &(*calibrations)[p];
    for (const size_t sample : parts[p]) {
      progress("ranges", static_cast<double>(done++) / static_cast<double>(count));
      Values feeds;
      QRT_TRY(samples->read(sample, &feeds));
      for (const Value& input : model.inputs) observe(input.name, feeds.at(input.name));
      QRT_TRY(interpreter->run(feeds, observe, nullptr));
    }
  }
  return {};
}

void add_calibration(const Calibration& part, Calibration* calibration) {
  for (const auto& [name, histogram] : part) (*calibration)[name].add(histogram);
}

Status check_values(const Calibration& calibration) {
  for (const auto& [name, histogram] : calibration) {
    const Extent& extent = histogram.extent();
    if (static_cast<double>(extent.bad) > kMostBad * static_cast<double>(extent.count))
      return error(Code::kInvalidModel,
                   "the tensor '%s' is NaN or infinite in %llu of %llu values: the float model "
                   "fails on these samples (are they prepared as in training?)",
                   name.c_str(), static_cast<unsigned long long>(extent.bad),
                   static_cast<unsigned long long>(extent.count));
  }
  return {};
}

}  // namespace qrt::quantize
