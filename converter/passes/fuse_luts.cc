// Pass: a Lut behind a Lut becomes one table; a Lut that maps every value to itself goes. Tables of
// bytes only.
#include <algorithm>

#include "converter/passes/links.h"
#include "converter/passes/passes.h"

namespace qrt::convert {
namespace {

bool is_byte_lut(const Graph& graph, const Node& node) {
  return node.options.AsLut() && dtype_bytes(graph.values[node.inputs[0]].type.dtype) == 1;
}

const std::vector<uint8_t>& table_of(const Graph& graph, const Node& node) {
  return graph.values[node.inputs[1]].data;
}

// Tables of `second`, of entries of `width` bytes, after `first`: 256 entries each; one for each
// channel if either has that.
std::vector<uint8_t> chain(const std::vector<uint8_t>& first, const std::vector<uint8_t>& second,
                           size_t width) {
  const size_t second_entries = second.size() / width;
  const size_t entries = std::max(first.size(), second_entries);
  std::vector<uint8_t> table(entries * width);
  for (size_t i = 0; i < entries; ++i) {
    const size_t channel = i / 256 * 256;
    const uint8_t mid = first[first.size() == 256 ? i % 256 : i];
    const size_t from = (second_entries == 256 ? 0 : channel) + mid;
    std::copy_n(second.begin() + static_cast<ptrdiff_t>(from * width), width,
                table.begin() + static_cast<ptrdiff_t>(i * width));
  }
  return table;
}

// And means the same by it: operators behind it may read the zero point of its output.
bool maps_to_itself(const Graph& graph, const Node& node) {
  const Value &in = graph.values[node.inputs[0]], &out = graph.values[node.outputs[0]];
  if (in.type.dtype != out.type.dtype || in.quantization.zero_point != out.quantization.zero_point)
    return false;
  const auto& table = table_of(graph, node);
  for (size_t i = 0; i < table.size(); ++i)
    if (table[i] != i % 256) return false;
  return true;
}

}  // namespace

void fuse_luts(Graph* graph) {
  Joiner joiner(graph);
  auto& nodes = graph->nodes;
  for (size_t i = 0; i < nodes.size(); ++i) {
    if (!is_byte_lut(*graph, nodes[i])) continue;
    const ValueId in = joiner.resolve(nodes[i].inputs[0]);
    nodes[i].inputs[0] = in;
    const int before = joiner.producer(in);
    if (before >= 0 && is_byte_lut(*graph, nodes[static_cast<size_t>(before)]) &&
        joiner.readers(in) == 1 && !joiner.is_output(in)) {
      const Node& first = nodes[static_cast<size_t>(before)];
      const size_t width = options<fb::LutOptionsT>(nodes[i]).to_float ? sizeof(float) : 1;
      const auto table = chain(table_of(*graph, first), table_of(*graph, nodes[i]), width);
      nodes[i].inputs[1] =
          graph->add_constant(graph->values[nodes[i].outputs[0]].name + "/table", DType::kUInt8,
                              {static_cast<int64_t>(table.size())}, table);
      nodes[i].source_op = first.source_op + "+" + nodes[i].source_op;
      options<fb::LutOptionsT>(nodes[i]).per_channel = table.size() / width > 256;
      joiner.replace(static_cast<size_t>(before), i);
    }
    if (maps_to_itself(*graph, nodes[i])) joiner.join(i);
  }
  joiner.finish();
}

}  // namespace qrt::convert
