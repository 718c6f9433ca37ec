#include "converter/import/common/growth.h"

namespace qrt::convert {
namespace {

// What is made is packed, written and loaded again to check it: the process takes some four times as
// much, and keeps within 256 MB + 16 times the file.
constexpr uint64_t kAllowance = uint64_t{1} << 26, kFactor = 4;
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
  const uint64_t limit = kAllowance + kFactor * source_bytes;
  if (made_ <= limit) return Status();
  return error(Code::kUnsupported,
               "the model has %llu bytes, and what the operators make of it has grown to %llu by "
               "here, the limit is %llu",
               static_cast<unsigned long long>(source_bytes),
               static_cast<unsigned long long>(made_), static_cast<unsigned long long>(limit));
}

}  // namespace qrt::convert
