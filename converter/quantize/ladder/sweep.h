// SPDX-License-Identifier: Apache-2.0
// One pass over the model, node by node, with the float and the quantised values of some dozens of
// samples side by side. At each tensor everything in front of it is quantised already. There its coding
// is chosen by the error that it causes behind the layers that read it, and a layer's bias is corrected
// by the mean of the remaining error. Memory: the values of the samples that are alive at a node.
#ifndef QRT_CONVERTER_QUANTIZE_LADDER_SWEEP_H_
#define QRT_CONVERTER_QUANTIZE_LADDER_SWEEP_H_

#include <map>
#include <string>
#include <vector>

#include "converter/quantize/float/interpreter.h"
#include "converter/quantize/ladder/simulation.h"
#include "converter/quantize/ranges/calibration.h"
#include "converter/quantize/ranges/rules.h"
#include "converter/quantize/samples/samples.h"
#include "converter/quantize/schemes/parameters.h"

namespace qrt::quantize {

// The effect of rounding on one tensor, over the samples of a sweep.
struct TensorError {
  double alone = 0;       // noise : signal of its own rounding
  double cumulative = 0;  // noise : signal of its value in the quantised model
  // Mean error of the quantised values, in standard deviations of the real ones.
  double mean_shift = 0;
};

class Sweep {
 public:
  // Root -> its choices, least error first.
  using Choices = std::map<std::string, std::vector<RangeChoice>>;

  // The tasks of a sweep beside measuring.
  struct Work {
    const char* name = "errors";
    const Choices* choices = nullptr;  // choose each coding among these
    bool round_weights = false;        // together, as their inputs go together (float/hessian.h)
    bool correct_biases = false;
  };

  Sweep(const FloatModel& model, const Placement& placement, const Scheme& scheme,
        Interpreter* interpreter)
      : model_(model), placement_(placement), scheme_(scheme), interpreter_(interpreter) {}

  // Sweeps over so many of `which` samples as the memory allows, evenly taken.
  Status run(Samples* samples, const std::vector<size_t>& which, const Work& work,
             const Progress& progress, Parameters* parameters);

  const std::map<std::string, TensorError>& errors() const { return errors_; }
  // Returns the rules of the codings that were chosen, by root.
  const std::map<std::string, Rule>& rules() const { return rules_; }

 private:
  struct Outputs {
    std::vector<Tensor> real, rounded;  // indexed by sample
  };
  struct Behind;

  size_t sample_count(size_t available) const;
  Status load(Samples* samples, const std::vector<size_t>& which);
  Status visit(size_t i, const Work& work, Parameters* parameters);
  Status run_node(size_t i, const RoundedConstants* constants, bool is_real,
                  std::vector<std::vector<Tensor>>* outputs);
  Status round_layer(const Layer& layer, Parameters* parameters);
  void correct_bias(const Layer& layer, Outputs* y, Parameters* parameters);
  Status settle(const std::string& name, const Work& work, Parameters* parameters, Outputs* pair);
  Status choose(const std::string& name, const std::vector<RangeChoice>& choices,
                const Outputs& pair, RangeChoice* best);
  Status layers_behind(const std::string& name, const Outputs& pair, size_t n,
                       std::vector<Behind>* behind);
  Status error_behind(const Coding& coding, const Outputs& pair, size_t n, bool only_layers,
                      const std::vector<Behind>& behind, double* error);
  void release(size_t i);

  const FloatModel& model_;
  const Placement& placement_;
  const Scheme& scheme_;
  Interpreter* interpreter_;
  std::map<std::string, Outputs> live_;
  std::map<std::string, std::vector<size_t>> readers_;
  std::map<std::string, TensorError> errors_;
  std::map<std::string, Rule> rules_;
  std::set<std::string> settled_;  // roots whose coding is chosen
  size_t samples_ = 0;
};

}  // namespace qrt::quantize

#endif  // QRT_CONVERTER_QUANTIZE_LADDER_SWEEP_H_
