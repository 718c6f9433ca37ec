// SPDX-License-Identifier: Apache-2.0
// The tensors that the operators of a model wrote, as the source model has them.
#ifndef QRT_RUNTIME_TOOLS_SOURCE_TENSORS_H_
#define QRT_RUNTIME_TOOLS_SOURCE_TENSORS_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "qrt/qrt.hpp"
#include "qrt_model_generated.h"
#include "runtime/status.h"
#include "runtime/tools/source_order.h"

namespace qrt::tool {

struct SourceTensor {
  size_t op;                          // index of the operator that wrote it
  std::string name;                   // there
  std::vector<int64_t> dims;          // dimensions in the source's order
  qrt_tensor_info info;               // info.name is `name`, info.dims are `dims`
  Order order;                        // empty: elements are as they are here
  const uint8_t* stored;              // info.bytes, as the runtime has them
  std::vector<uint8_t> data() const;  // elements in the source's order
};

// Calls `use` with each after a run, in the order of the operators; ends at the first error.
// REQUIRES: `session` runs this file and keeps all its tensors (keep_all).
Status each_source_tensor(const fb::Model& file, const Session& session,
                          const std::function<Status(const SourceTensor&)>& use);

}  // namespace qrt::tool

#endif  // QRT_RUNTIME_TOOLS_SOURCE_TENSORS_H_
