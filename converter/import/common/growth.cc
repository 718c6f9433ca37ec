// SPDX-License-Identifier: Apache-2.0
#include "converter/import/common/growth.h"

#include "runtime/tools/budget.h"

namespace qrt::convert {
namespace {

// The number of copies of a model in memory: it is packed, written, and loaded again to check it.
constexpr uint64_t kCopies = 3;
// Steps for each byte of a constant that an operator reads. Some read it several times.
constexpr uint64_t kStepsPerByte = 8;
// About what an operator takes with its value, names and links between them.
constexpr uint64_t kNodeBytes = 512;

uint64_t bytes_of(const Node& node) {
  uint64_t bytes = kNodeBytes;
  if (const auto* gather = node.options.AsGather())
    for (const auto& map : gather->axes) bytes += map->index.size() * sizeof(map->index[0]);
  return bytes;
}

}  // namespace

Status Growth::check(const Graph& graph, uint64_t source_bytes) {
  for (; values_ < graph.values.size(); ++values_) charge(graph.values[values_].data.size());
  for (; nodes_ < graph.nodes.size(); ++nodes_) charge(bytes_of(graph.nodes[nodes_]));
  Budget budget(source_bytes);
  QRT_TRY(budget.reserve(kCopies * made_));
  return budget.charge(kStepsPerByte * read_);
}

Status Growth::reserve(uint64_t bytes, const Graph& graph, uint64_t source_bytes) {
  read_ += bytes;
  made_ += bytes;
  Status status = check(graph, source_bytes);
  made_ -= bytes;
  return status;
}

}  // namespace qrt::convert
