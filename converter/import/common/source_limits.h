// SPDX-License-Identifier: Apache-2.0
// Limits of a source model. Real ones have some thousand nodes; a file that has more than any of these
// limits is refused at once, before time and memory go into it.
#ifndef QRT_CONVERTER_IMPORT_COMMON_SOURCE_LIMITS_H_
#define QRT_CONVERTER_IMPORT_COMMON_SOURCE_LIMITS_H_

#include <cstddef>

#include "runtime/status.h"

namespace qrt::convert {

// Twice the operators of a .qrt file: some nodes fold away.
constexpr size_t kMaxSourceNodes = size_t{1} << 16;

// Inputs and outputs of all nodes: real ones have two to ten each.
constexpr size_t kMaxSourceEdges = 8 * kMaxSourceNodes;

inline Status check_node_count(size_t nodes) {
  if (nodes <= kMaxSourceNodes) return Status();
  return error(Code::kUnsupported, "the model has %zu nodes, the limit is %zu", nodes,
               kMaxSourceNodes);
}

inline Status check_edge_count(size_t edges) {
  if (edges <= kMaxSourceEdges) return Status();
  return error(Code::kUnsupported,
               "the model's nodes have %zu inputs and outputs, the limit is %zu", edges,
               kMaxSourceEdges);
}

}  // namespace qrt::convert

#endif  // QRT_CONVERTER_IMPORT_COMMON_SOURCE_LIMITS_H_
