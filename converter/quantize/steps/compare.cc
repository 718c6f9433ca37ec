// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "converter/quantize/ladder/simulation.h"
#include "converter/quantize/report/graph.h"
#include "converter/quantize/report/pictures.h"
#include "converter/quantize/report/report.h"
#include "converter/quantize/report/tensors.h"
#include "converter/quantize/schemes/qdq_writer.h"
#include "converter/quantize/steps/metric.h"
#include "runtime/tools/files.h"

namespace qrt::quantize {
namespace {

// The number of calibration samples, at most, that are run again to compare outputs.
constexpr size_t kMostCompared = 64;
// The number of samples on which weights-only and activations-only are simulated.
constexpr size_t kMostSimulated = 16;
// The number of pictures in the report.
constexpr size_t kMostPictures = 3;

// Adds a sample to the report's pictures where it is one.
void add_picture(Work* work, const Values& feeds, const Tensor& real, const Tensor& got) {
  std::vector<PictureFinding>& pictures = work->findings().pictures;
  for (const Value& input : work->model.inputs) {
    if (pictures.size() == kMostPictures || !is_picture(feeds.at(input.name))) continue;
    pictures.push_back(picture_finding(feeds.at(input.name), real, got));
    if (!has_classes(*work)) pictures.back().real_class = pictures.back().got_class = -1;
    return;
  }
}

Status compare_set(Work* work, const std::vector<size_t>& which, IntegerRunner* integers,
                   Findings::Set* set) {
  Simulation weights(work->model, work->placement, work->fit.parameters, &work->interpreter,
                     {true, false, {}});
  Simulation activations(work->model, work->placement, work->fit.parameters, &work->interpreter,
                         {false, true, {}});
  const std::string& output = work->output();
  const size_t n = std::min(which.size(), kMostCompared);
  for (size_t i = 0; i < n; ++i) {
    work->progress("report", static_cast<double>(i) / static_cast<double>(n));
    Values feeds, made, got;
    QRT_TRY(work->samples->read(which[i], &feeds));
    const Values* real;
    QRT_TRY(real_outputs(work, which[i], feeds, &made, &real));
    const int64_t label = work->label(which[i]);
    QRT_TRY(integers->run(feeds, &got));
    set->all.add(real->at(output), got[output], label);
    if (set == &work->findings().held_out) add_picture(work, feeds, real->at(output), got[output]);
    for (size_t k = 1; k < work->model.outputs.size(); ++k) {
      const std::string& other = work->model.outputs[k].name;
      set->others.resize(work->model.outputs.size() - 1);
      set->others[k - 1].first = other;
      set->others[k - 1].second.add(real->at(other), got[other]);
    }
    if (i >= kMostSimulated) continue;
    QRT_TRY(weights.run(feeds, &got));
    set->weights.add(real->at(output), got[output], label);
    QRT_TRY(activations.run(feeds, &got));
    set->activations.add(real->at(output), got[output], label);
  }
  return {};
}

}  // namespace

Status write_document(const Work& work, const Placement& placement, const Parameters& parameters,
                      Document* document) {
  *document = Document();
  return work.scheme.is_cvm
             ? write_cvm(work.model, placement, parameters, work.interpreter, &document->cvm)
             : write_qdq(work.model, placement, parameters, &document->qdq);
}

Status convert_parameters(const Work& work, const Parameters& parameters, Document* document,
                          Conversion* conversion) {
  QRT_TRY(write_document(work, work.placement, parameters, document));
  std::map<std::string, std::string> notes = {
      {"quantized_by", std::string("qrt_quantize ") + work.scheme.name}};
  if (work.is_random()) notes["calibration"] = "random: for timing only";
  return convert_document(*document, work.arithmetic, notes, conversion);
}

Status build(Work* work) {
  Conversion conversion;
  QRT_TRY(convert_parameters(*work, work->fit.parameters, &work->result.document, &conversion));
  work->result.bytes = std::move(conversion.bytes);
  work->findings().nodes = std::move(conversion.report);
  work->result.ranges = save_ranges(work->fit.parameters.codings, work->is_equalised);
  return {};
}

Status find_errors(Work* work) {
  work->findings().remedies = {work->settings.ladder >= Ladder::kFast,
                               work->scheme.bits == 8 && !work->scheme.is_cvm, has_classes(*work)};
  Sweep walk(work->model, work->placement, work->scheme, &work->interpreter);
  Parameters unchanged = work->fit.parameters;
  QRT_TRY(walk.run(work->samples.get(), work->fit.used, {}, work->progress, &unchanged));
  work->findings().tensors =
      tensor_findings(work->model, work->placement, work->fit.parameters, work->fit.calibration,
                      work->fit.rules, walk.errors(), work->findings().remedies);
  work->findings().graph = graph_finding(work->model, work->findings().tensors);
  return {};
}

bool has_classes(const Work& work) {
  if (work.settings.task != Task::kAuto) return work.settings.task == Task::kClasses;
  if (!work.labels.empty()) return true;
  const auto value = work.model.values.find(work.output());
  constexpr int64_t kFew = 4;  // angles, coordinates
  if (value == work.model.values.end() || value->second.shape.size() != 2 ||
      value->second.shape[1] >= kFew)
    return true;
  return std::any_of(work.model.nodes.begin(), work.model.nodes.end(), [&](const Node& n) {
    return n.op == "Softmax" && n.outputs[0] == work.output();
  });
}

Status compare(Work* work) {
  IntegerRunner integers;
  QRT_TRY(integers.create(work->result.bytes, static_cast<size_t>(work->settings.threads)));
  Findings& f = work->findings();
  f.model = tool::with_stdin_named(work->settings.model);
  f.scheme = work->scheme.name;
  f.is_random = work->is_random();
  f.calibration_samples = work->fit.used.size();
  f.held_out_samples = work->fit.judged.size();
  f.float_nodes = count_float_nodes(f.nodes);
  for (const convert::Finding& n : f.nodes.findings()) f.integer_nodes += n.is_node;
  f.integer_nodes -= f.float_nodes;
  f.judged_samples = 0;
  for (const Fit* fit : work->judges()) f.judged_samples += fit->judged.size();
  f.min_sqnr = work->settings.min_sqnr;
  f.metric.program = work->settings.metric;
  f.metric.max_loss = work->settings.max_loss;
  if (!f.metric.program.empty()) QRT_TRY(measure(work, &work->fit.parameters, &f.metric.got));
  QRT_TRY(compare_set(work, work->fit.used, &integers, &f.calibration));
  QRT_TRY(compare_set(work, work->fit.judged, &integers, &f.held_out));
  if (has_classes(*work)) return {};
  for (Findings::Set* set : {&f.calibration, &f.held_out})
    for (Comparison* c : {&set->weights, &set->activations, &set->all}) c->forget_classes();
  return {};
}

}  // namespace qrt::quantize
