// SPDX-License-Identifier: Apache-2.0
// The rules that several operators share; see traits.h.
#include "runtime/traits.h"

#include <algorithm>

namespace qrt {

bool always_apart(const fb::Operator&, const BatchOperands&) { return true; }

bool never_apart(const fb::Operator&, const BatchOperands&) { return false; }

bool rows_apart(const fb::Operator&, const BatchOperands& operands) {
  return operands.inputs[0].shape.rank() >= 2;
}

bool operands_apart(const fb::Operator&, const BatchOperands& operands) {
  const int rank = operands.output.rank();
  return std::all_of(operands.inputs.begin(), operands.inputs.begin() + 2,
                     [&](const BatchOperands::Input& input) {
                       const Shape& s = input.shape;
                       if (input.is_constant) return s.rank() < rank || s[0] == 1;
                       return s.rank() == rank;
                     });
}

}  // namespace qrt
