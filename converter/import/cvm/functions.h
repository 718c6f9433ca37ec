// SPDX-License-Identifier: Apache-2.0
// CVM's operators: one row each, with what infers its outputs and what imports it.
#ifndef QRT_CONVERTER_IMPORT_CVM_FUNCTIONS_H_
#define QRT_CONVERTER_IMPORT_CVM_FUNCTIONS_H_

#include <cstdint>
#include <string>

#include "runtime/status.h"

namespace qrt::convert::from_cvm {

class Inference;
class Importer;
struct Op;

struct Function {
  // Checks attributes and inputs, and infers the outputs (infer.h).
  Status (*infer)(Inference* inference);
  // Adds the operator to the graph (importer.h). REQUIRES: infer() succeeded.
  Status (*import)(Importer& importer, const Op& op);
  const char* name;
  int least_inputs, most_inputs;
  uint32_t outputs;
};

// Returns the function of this name, or null.
const Function* find_function(const std::string& name);

}  // namespace qrt::convert::from_cvm

#endif  // QRT_CONVERTER_IMPORT_CVM_FUNCTIONS_H_
