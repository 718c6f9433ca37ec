// SPDX-License-Identifier: Apache-2.0
// A quantisation on its way: what the steps hand on to each other, and the steps, in their order.
#ifndef QRT_CONVERTER_QUANTIZE_STEPS_WORK_H_
#define QRT_CONVERTER_QUANTIZE_STEPS_WORK_H_

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "converter/quantize/float/interpreter.h"
#include "converter/quantize/ladder/sweep.h"
#include "converter/quantize/ladder/verdict.h"
#include "converter/quantize/quantize.h"

namespace qrt::quantize {

// Some of the samples, what was learnt from them, and the samples that judge it.
struct Fit {
  std::vector<size_t> used, judged;
  Calibration calibration;
  Sweep::Choices choices;
  Parameters parameters;
  std::map<std::string, Rule> rules;  // value -> the rule that chose its coding
};

struct Work {
  Work(const Settings& s, const Progress& p, Quantised* r)
      : settings(s), scheme(s.scheme), progress(p), result(*r) {}

  const Settings& settings;
  const Scheme& scheme;
  const Progress& progress;
  Quantised& result;

  FloatModel model;
  Interpreter interpreter;  // runs `model`
  std::unique_ptr<Samples> samples;
  std::vector<int64_t> labels;  // a label for each sample, or none

  Placement placement;
  bool is_equalised = false;     // the model was equalised and is no longer the file's
  std::set<std::string> forced;  // quantised because the converter asks for it
  // The user's overrides, for the model at hand: nodes that stay in float; bits and ranges by root; layers with
  // weights of 16 bits.
  std::set<size_t> excluded;
  std::map<std::string, int> bits;
  std::map<std::string, GivenRange> given;
  std::set<size_t> int16_weights;
  Arithmetic arithmetic;

  // The fit that ships. Where it holds out few samples, folds judge the steps in its place: each sample is judged
  // by the fold that has not used it.
  Fit fit;
  std::vector<Fit> folds;

  std::map<size_t, Values> judged;  // the float model's outputs for samples that are judged by
  size_t judged_bytes = 0;

  Findings& findings() { return result.findings; }
  std::vector<Fit*> judges() {
    if (folds.empty()) return {&fit};
    std::vector<Fit*> all;
    for (Fit& fold : folds) all.push_back(&fold);
    return all;
  }
  const std::string& output() const { return model.outputs[0].name; }
  int64_t label(size_t sample) const { return labels.empty() ? -1 : labels[sample]; }
  bool is_random() const { return settings.calibration == std::vector<std::string>{"random"}; }
};

// read.cc: reads the model, simplified, and samples and labels, and decides which samples are held out.
Status read_inputs(Work* work);
// Checks that the labels are classes of the first output, whose value for a sample tells how many there are.
Status check_classes(Work* work);
// Reads the model once more, as it was before any step changed it.
Status read_again(Work* work);

// place.cc: decides where quantisation is put, for the scheme's own arithmetic, or where that has
// no form of some node, for ONNX's. Fails with kUnsupported where a node has no form at all.
Status make_placement(Work* work);
Placement placed(const Work& work, const std::set<std::string>& forced);

// override.cc: find the nodes and tensors that the user's overrides name. Fail with
// kInvalidArgument where the model has none of the name.
Status find_excluded(Work* work);
Status find_overrides(Work* work);  // REQUIRES: a placement
int bits_of(const Work& work, const std::string& root);

// start.cc: chooses codings by the ranges of at most `most` of the samples that each fit uses, and
// quantises weights for them.
Status start(Work* work, size_t most = SIZE_MAX);
// Parameters of plain ranges: all values seen, and all weights.
Parameters plain_parameters(const Work& work, const Fit& fit);
// Checks that there are samples, and that the model can be quantised at all. REQUIRES: start().
Status check_calibration(Work* work);
// Results of a Softmax that are coded have the coding of ONNX Runtime's kernel.
void fix_codings(const Work& work, std::map<std::string, Coding>* codings);
Coding constant_coding(const Work& work, const std::string& constant);

// climb.cc: climbs the ladder, rung by rung.
Status climb(Work* work);
// Equalises the model as it was when the given ranges were saved.
Status equalise_as_saved(Work* work);
// Points *outputs at the float model's outputs for a sample: kept in `work` up to a number of bytes, else in *made.
Status real_outputs(Work* work, size_t sample, const Values& feeds, Values* made,
                    const Values** outputs);
// Judges how the integer model of some parameters does on some samples, and the cost of a run.
Status judge(Work* work, const Parameters& parameters, const std::vector<size_t>& which,
             Judgement* judgement, Cost* cost = nullptr);

// Returns the outputs' noise before and after a rung, for the report.
RungFinding rung_finding(const Work& work, const char* name, const Judgement& before,
                         const Judgement& after, const Verdict& verdict);

// search.cc: searches, for one tensor after another, the coding with which the outputs are nearest
// to the float model's.
Status search_codings(Work* work, const Fit& fit, Parameters* parameters,
                      std::map<std::string, Rule>* rules);

// promote.cc: gives the worst tensors and weights 16 bits, until --max-drop and --min-sqnr are met.
Status promote(Work* work);
// Estimates, for the report, the gain and cost of 16 bits for 1, 2, 4 and 8 of the worst tensors.
// REQUIRES: find_errors().
Status try_int16(Work* work);

// compare.cc: writes the final model, and compares it with the float model for the report.
Status write_document(const Work& work, const Placement& placement, const Parameters& parameters,
                      Document* document);
Status convert_parameters(const Work& work, const Parameters& parameters, Document* document,
                          Conversion* conversion);
Status build(Work* work);
Status find_errors(Work* work);
Status compare(Work* work);
// Returns whether the first output is a row of classes.
bool has_classes(const Work& work);

}  // namespace qrt::quantize

#endif  // QRT_CONVERTER_QUANTIZE_STEPS_WORK_H_
