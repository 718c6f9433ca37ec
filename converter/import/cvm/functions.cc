// SPDX-License-Identifier: Apache-2.0
// The table of operators, made from functions.inc.
#include "converter/import/cvm/functions.h"

#include <climits>

#include "converter/import/cvm/ops/ops.h"

namespace qrt::convert::from_cvm {
namespace {

constexpr Function kFunctions[] = {
#define QRT_CVM_FUNCTION(infer, import, name, ...) {infer, import, name, __VA_ARGS__},
#include "converter/import/cvm/functions.inc"
};

}  // namespace

const Function* find_function(const std::string& name) {
  for (const Function& f : kFunctions)
    if (name == f.name) return &f;
  return nullptr;
}

}  // namespace qrt::convert::from_cvm
