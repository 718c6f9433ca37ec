// SPDX-License-Identifier: Apache-2.0
// Nodes whose operators the interpreter has no form of, run one at a time by the converter and the runtime: whatever
// they take in float can be part of a float model. Their results have equal bits everywhere, as the runtime's float operators do.
#ifndef QRT_CONVERTER_QUANTIZE_FLOAT_RUNTIME_NODES_H_
#define QRT_CONVERTER_QUANTIZE_FLOAT_RUNTIME_NODES_H_

#include <functional>
#include <list>
#include <string>
#include <utility>
#include <vector>

#include "converter/quantize/float/integer_runner.h"

namespace qrt::quantize {

// Returns whether the converter knows an operator that no subgraph belongs to.
bool is_runtime_operator(const std::string& domain, const std::string& op);

class RuntimeNodes {
 public:
  // Says whether so many multiplications may be made.
  using Charge = std::function<Status(double macs)>;

  // Runs a node. inputs: null where absent; is_constant: those that are the same in every run. kUnsupported
  // where the converter refuses the node, by the rule it gives.
  Status run(const Node& node, const std::vector<const Tensor*>& inputs,
             const std::vector<bool>& is_constant, const Charge& charge,
             std::vector<Tensor>* outputs);

 private:
  Status find_runner(const std::string& document, IntegerRunner** runner);

  // Files of one node, as ONNX, with what runs them; the one that ran last in front.
  std::list<std::pair<std::string, IntegerRunner>> runners_;
  uint64_t kept_ = 0;  // their bytes
};

}  // namespace qrt::quantize

#endif  // QRT_CONVERTER_QUANTIZE_FLOAT_RUNTIME_NODES_H_
