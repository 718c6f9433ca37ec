// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "converter/quantize/samples/labels.h"
#include "converter/quantize/steps/work.h"
#include "runtime/tools/budget.h"
#include "runtime/tools/files.h"

namespace qrt::quantize {
namespace {

// Every so many samples one is held out for the report.
constexpr size_t kHeldOutEvery = 10;
// Where fewer are held out, all samples judge the steps, in so many folds.
constexpr size_t kEnoughHeldOut = 16, kFolds = 4;
// Each fold has integers of its own for all weights, so that larger models do without.
constexpr int64_t kMostWeights = 8 << 20;

Status check_weights(const FloatModel& model) {
  for (const auto& [name, t] : model.constants)
    for (const float v : t.reals)
      if (v != v)
        return error(Code::kInvalidModel,
                     "the constant '%s' holds NaN: the training of this model failed, or its file "
                     "is damaged",
                     name.c_str());
  return {};
}

// Fixes the dimensions in which all samples have one size. Where others are left, the scheme's arithmetic has to take them.
Status fix_shapes(Work* work) {
  const bool may_differ =
      std::any_of(work->model.inputs.begin(), work->model.inputs.end(), [](const Value& input) {
        return !input.shape.empty() && std::any_of(input.shape.begin() + 1, input.shape.end(),
                                                   [](int64_t d) { return d < 0; });
      });
  std::vector<Shapes> shapes(may_differ ? work->samples->count() : 1);
  for (size_t i = 0; i < shapes.size(); ++i) QRT_TRY(work->samples->read_shapes(i, &shapes[i]));
  QRT_TRY(fix_input_shapes(shapes, &work->model));
  if (work->model.sizes.empty() || !(work->scheme.is_cvm || work->scheme.power_of_two)) return {};
  return error(Code::kUnsupported,
               "the samples are of differing sizes, and a model of the scheme %s has one: give "
               "samples of one size, or use ort-u8 or ort-s8",
               work->scheme.name);
}

// Makes folds where the samples that are held out are too few to judge by.
void divide(Work* work) {
  int64_t weights = 0;
  for (const auto& [name, t] : work->model.constants) weights += t.is_real() ? t.size() : 0;
  const size_t n = work->samples->count(), folds = std::min(kFolds, n);
  if (work->fit.judged.size() >= kEnoughHeldOut || weights > kMostWeights) return;
  work->folds.resize(folds);
  for (size_t f = 0; f < folds; ++f)
    for (size_t i = 0; i < n; ++i)
      (i % folds == f ? work->folds[f].judged : work->folds[f].used).push_back(i);
}

Status prepare(Work* work) {
  QRT_TRY(fix_shapes(work));
  QRT_TRY(simplify(&work->model));
  QRT_TRY(check_weights(work->model));
  return work->interpreter.create(work->model, work->settings.threads);
}

}  // namespace

Status read_again(Work* work) {
  const RunLimits limits = work->model.limits;
  work->model = FloatModel();
  QRT_TRY(read_float_model(work->settings.model, &work->model, work->settings.edges));
  work->model.limits = limits;
  return prepare(work);
}

Status read_inputs(Work* work) {
  QRT_TRY(read_float_model(work->settings.model, &work->model, work->settings.edges));
  QRT_TRY(tool::check_outputs(work->settings.outputs, work->model.files));
  std::vector<std::string> files = work->model.files;
  work->model.limits =
      RunLimits::of_files(Budget::of_files(files).file_bytes(), work->settings.budget);
  QRT_TRY(
      open_samples(work->settings.calibration, work->settings.images, work->model, &work->samples));
  for (const std::string& file : work->samples->files()) files.push_back(file);
  work->model.limits =
      RunLimits::of_files(Budget::of_files(files).file_bytes(), work->settings.budget);
  const size_t n = work->samples->count();
  if (n < 2)
    return error(Code::kInvalidModel,
                 "--calibration: %zu sample: give at least 2, better some hundred, of what the "
                 "model will see",
                 n);
  QRT_TRY(read_labels(work->settings.labels, n, &work->labels));
  const size_t every = std::min(kHeldOutEvery, n);
  for (size_t i = 0; i < n; ++i)
    (i % every == every - 1 ? work->fit.judged : work->fit.used).push_back(i);
  QRT_TRY(prepare(work));
  divide(work);
  return {};
}

Status check_classes(Work* work) {
  if (work->labels.empty()) return {};
  Values sample, made;
  QRT_TRY(work->samples->read(0, &sample));
  const Values* outputs;
  QRT_TRY(real_outputs(work, 0, sample, &made, &outputs));
  const Dims& shape = outputs->at(work->output()).shape;
  if (shape.size() != 2)
    return error(Code::kInvalidArgument,
                 "--labels: the model's output '%s' has %zu dimensions, expected [batch, classes]",
                 work->output().c_str(), shape.size());
  return check_labels(work->settings.labels, work->labels, shape[1]);
}

}  // namespace qrt::quantize
