// SPDX-License-Identifier: Apache-2.0
// The quantised model in float: every operator runs as it is, on weights and tensors rounded to what
// their integers stand for. Near the integer model, and it can leave out any of the roundings.
#ifndef QRT_CONVERTER_QUANTIZE_LADDER_SIMULATION_H_
#define QRT_CONVERTER_QUANTIZE_LADDER_SIMULATION_H_

#include <functional>
#include <set>
#include <string>

#include "converter/quantize/float/interpreter.h"
#include "converter/quantize/samples/samples.h"
#include "converter/quantize/schemes/parameters.h"

namespace qrt::quantize {

// Rounds a tensor in place.
void round_tensor(const Coding& coding, Tensor* t);

// The constants that a node's weights and bias become; those that stay as they are, are missing.
class RoundedConstants {
 public:
  RoundedConstants() = default;
  // Rounds the constants of all nodes.
  RoundedConstants(const FloatModel& model, const Placement& placement,
                   const Parameters& parameters, bool with_weights);
  // Adds those of one more node.
  void add(size_t node, const FloatModel& model, const Placement& placement,
           const Parameters& parameters, bool with_weights);
  // Leaves input k of a node as the model has it.
  void remove(size_t node, size_t k) { tensors_.erase({node, k}); }
  // Returns the rounded constant that is input k of a node; null where the model's own input stays.
  const Tensor* find(size_t node, size_t k) const;

 private:
  std::map<std::pair<size_t, size_t>, Tensor> tensors_;
};

class Simulation {
 public:
  struct Options {
    bool weights = true, activations = true;
    // Values left in float, each named by the one whose coding they share.
    std::set<std::string> exact;
    std::set<size_t> exact_weights = {};  // indices of layers whose weights stay in float
  };
  Simulation(const FloatModel& model, const Placement& placement, const Parameters& parameters,
             Interpreter* interpreter, Options options);

  Status run(const Values& feeds, Values* outputs);

 private:
  bool is_rounded(const std::string& value) const;
  Status run_node(size_t i, Values* live);

  const FloatModel& model_;
  const Placement& placement_;
  const Parameters& parameters_;
  Interpreter* interpreter_;
  Options options_;
  RoundedConstants constants_;
  std::map<std::string, size_t> last_reader_;
};

}  // namespace qrt::quantize

#endif  // QRT_CONVERTER_QUANTIZE_LADDER_SIMULATION_H_
