// SPDX-License-Identifier: Apache-2.0
// Digests of what each operator of a model reads and writes for the test values that its file holds:
// another device, or a damaged file, is told by the first operator that differs.
// qrt_convert --digests puts them into the file, qrt_run --check compares them.
#ifndef QRT_RUNTIME_TOOLS_DIGESTS_H_
#define QRT_RUNTIME_TOOLS_DIGESTS_H_

#include <string>
#include <vector>

#include "qrt/qrt.hpp"
#include "qrt_model_generated.h"
#include "runtime/status.h"

namespace qrt::tool {

// 64-bit FNV-1a, 16 digits each.
struct OperatorDigest {
  std::string constants;  // the bytes of its constant inputs and tables, as the file has them
  std::string outputs;    // the bytes of all tensors that it writes, as the runtime has them
};

// Computes the digests of all operators, after a run. REQUIRES: `session` runs this file and keeps
// all its tensors (keep_all).
Status operator_digests(const fb::Model& file, const Session& session,
                        std::vector<OperatorDigest>* digests);

// The file's metadata of this key: "CONSTANTS:OUTPUTS CONSTANTS:OUTPUTS ...".
constexpr char kDigestsKey[] = "digests";
std::string text_of(const std::vector<OperatorDigest>& digests);
// Reads the digests of a verified model; none where the file holds none. kInvalidModel: they are malformed.
Status find_digests(const fb::Model& file, std::vector<OperatorDigest>* digests);

}  // namespace qrt::tool

#endif  // QRT_RUNTIME_TOOLS_DIGESTS_H_
