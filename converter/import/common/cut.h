// SPDX-License-Identifier: Apache-2.0
// The tensors at which a model is ended instead of its own outputs (qrt_convert --outputs).
#ifndef QRT_CONVERTER_IMPORT_COMMON_CUT_H_
#define QRT_CONVERTER_IMPORT_COMMON_CUT_H_

#include <string>

#include "runtime/status.h"

namespace qrt::convert {

// Checks an output that the caller names. Fails with kInvalidArgument where the model has no tensor
// of that name, or it was named before.
inline Status check_cut(const std::string& name, bool exists, bool named_before) {
  if (!exists)
    return error(Code::kInvalidArgument, "--outputs: the model has no tensor '%s'", name.c_str());
  if (named_before)
    return error(Code::kInvalidArgument, "--outputs names '%s' twice", name.c_str());
  return Status();
}

}  // namespace qrt::convert

#endif  // QRT_CONVERTER_IMPORT_COMMON_CUT_H_
