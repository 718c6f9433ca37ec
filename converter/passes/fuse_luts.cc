// SPDX-License-Identifier: Apache-2.0
// Pass: a Lut behind a Lut becomes one table; a Lut that maps every value to itself goes.
#include <algorithm>

#include "converter/passes/def_use.h"
#include "converter/passes/passes.h"

namespace qrt::convert {
namespace {

// A Lut's table: entries of `width` bytes, one for each of `codes` inputs, or that many for each
// channel.
struct Table {
  const std::vector<uint8_t>& data;
  size_t width, codes;

  size_t entries() const { return data.size() / width; }
  size_t tables() const { return entries() / codes; }
  const uint8_t* entry(size_t table, size_t code) const {
    return data.data() + ((tables() == 1 ? 0 : table * codes) + code) * width;
  }
};

Table table_of(const Graph& graph, const Node& node) {
  const bool is_int16 = graph.values[node.inputs[0]].type.dtype == DType::kInt16;
  return {graph.values[node.inputs[1]].data, dtype_bytes(graph.values[node.outputs[0]].type.dtype),
          is_int16 ? size_t{65536} : size_t{256}};
}

// Returns the code of an entry as the input of a table: a byte, or int16 counted from its lowest.
size_t code_of(const Table& table, const uint8_t* entry) {
  return table.width == 1 ? entry[0] : ((size_t{entry[1]} << 8) | entry[0]) ^ 0x8000;
}

// `second` after `first`.
std::vector<uint8_t> composed(const Table& first, const Table& second) {
  const size_t tables = std::max(first.tables(), second.tables());
  std::vector<uint8_t> data;
  data.reserve(tables * first.codes * second.width);
  for (size_t t = 0; t < tables; ++t)
    for (size_t c = 0; c < first.codes; ++c) {
      const uint8_t* entry = second.entry(t, code_of(first, first.entry(t, c)));
      data.insert(data.end(), entry, entry + second.width);
    }
  return data;
}

// Tables of 16 bits are one for the whole tensor.
bool can_compose(const Table& first, const Table& second) {
  const bool is_int16 = first.codes > 256 || first.width > 1 || second.width == 2;
  return !is_int16 || (first.tables() == 1 && second.tables() == 1);
}

// Returns whether the table gives back every code, with its meaning unchanged: operators behind it
// may read the zero point of its output.
bool maps_to_itself(const Graph& graph, const Node& node) {
  const Value &in = graph.values[node.inputs[0]], &out = graph.values[node.outputs[0]];
  if (in.type.dtype != out.type.dtype || in.quantization.zero_point != out.quantization.zero_point)
    return false;
  const Table table = table_of(graph, node);
  for (size_t t = 0; t < table.tables(); ++t)
    for (size_t c = 0; c < table.codes; ++c)
      if (code_of(table, table.entry(t, c)) != c) return false;
  return true;
}

}  // namespace

void fuse_luts(Graph* graph) {
  Joiner joiner(graph);
  auto& nodes = graph->nodes;
  // Drops a table that no node reads any more: long sequences would keep one for each of their nodes.
  const size_t first_new = graph->values.size();
  const auto drop_table = [&](ValueId table) {
    if (table >= first_new || joiner.readers(table) <= 1)
      std::vector<uint8_t>().swap(graph->values[table].data);
  };
  for (size_t i = 0; i < nodes.size(); ++i) {
    if (!nodes[i].options.AsLut()) continue;
    const ValueId in = joiner.resolve(nodes[i].inputs[0]);
    nodes[i].inputs[0] = in;
    const int before = joiner.producer(in);
    if (before >= 0 && nodes[static_cast<size_t>(before)].options.AsLut() &&
        joiner.readers(in) == 1 && !joiner.is_output(in) &&
        can_compose(table_of(*graph, nodes[static_cast<size_t>(before)]),
                    table_of(*graph, nodes[i]))) {
      const Node& first = nodes[static_cast<size_t>(before)];
      const Table from = table_of(*graph, first), to = table_of(*graph, nodes[i]);
      const auto table = composed(from, to);
      options<fb::LutOptionsT>(nodes[i]).per_channel = std::max(from.tables(), to.tables()) > 1;
      drop_table(first.inputs[1]);
      drop_table(nodes[i].inputs[1]);
      nodes[i].inputs[1] =
          graph->add_constant(graph->values[nodes[i].outputs[0]].name + "/table", DType::kUInt8,
                              {static_cast<int64_t>(table.size())}, table);
      nodes[i].source_op = joined_ops(first.source_op, nodes[i].source_op);
      joiner.replace(static_cast<size_t>(before), i);
    }
    if (maps_to_itself(*graph, nodes[i])) joiner.join(i);
  }
  joiner.finish();
}

}  // namespace qrt::convert
