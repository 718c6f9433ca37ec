#include "converter/quantize/ranges/calibration.h"

#include <algorithm>

namespace qrt::quantize {
namespace {

// Shows every coded value to `see`, as the one whose coding it shares, and every output.
Status run_all(const FloatModel& model, const Placement& placement, Interpreter* interpreter,
               Samples* samples, const std::vector<size_t>& which, const char* step,
               const Progress& progress,
               const std::function<void(const std::string&, const Tensor&)>& see) {
  const auto observe = [&](const std::string& name, const Tensor& value) {
    const auto coded = placement.coded.find(name);
    if (coded != placement.coded.end())
      see(coded->second, value);
    else if (std::any_of(model.outputs.begin(), model.outputs.end(),
                         [&](const Value& v) { return v.name == name; }))
      see(name, value);
  };
  for (size_t i = 0; i < which.size(); ++i) {
    progress(step, static_cast<double>(i) / static_cast<double>(which.size()));
    Values feeds;
    QRT_TRY(samples->read(which[i], &feeds));
    for (const Value& input : model.inputs) observe(input.name, feeds.at(input.name));
    QRT_TRY(interpreter->run(feeds, observe, nullptr));
  }
  return {};
}

}  // namespace

Status calibrate(const FloatModel& model, const Placement& placement, Interpreter* interpreter,
                 Samples* samples, const std::vector<size_t>& which, const Progress& progress,
                 Calibration* calibration) {
  *calibration = Calibration();
  QRT_TRY(run_all(model, placement, interpreter, samples, which, "ranges", progress,
                  [&](const std::string& name, const Tensor& v) {
                    calibration->extents[name].add(v.reals.data(), v.reals.size());
                  }));
  for (const auto& [name, extent] : calibration->extents) {
    if (static_cast<double>(extent.bad) > kMostBad * static_cast<double>(extent.count))
      return error(Code::kInvalidModel,
                   "the tensor '%s' is NaN or infinite in %llu of %llu values: the float model "
                   "fails on these samples (are they prepared as in training?)",
                   name.c_str(), static_cast<unsigned long long>(extent.bad),
                   static_cast<unsigned long long>(extent.count));
    calibration->histograms.emplace(name, Histogram(extent));
  }
  return run_all(model, placement, interpreter, samples, which, "histograms", progress,
                 [&](const std::string& name, const Tensor& v) {
                   calibration->histograms[name].add(v.reals.data(), v.reals.size());
                 });
}

}  // namespace qrt::quantize
