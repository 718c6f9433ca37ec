// SPDX-License-Identifier: Apache-2.0
// Pass: an operator on two operands that are functions of one tensor's bytes is a function of them
// itself: x * sigmoid(x) (SiLU), x * hardsigmoid(x), x * x become one Lut. Its table is what the
// runtime gives for the operators that it replaces, run on all 256 bytes.
#include <algorithm>
#include <numeric>

#include "converter/convert.h"
#include "converter/passes/def_use.h"
#include "converter/passes/passes.h"
#include "runtime/session.h"
#include "runtime/verify.h"

namespace qrt::convert {
namespace {

constexpr int64_t kCodes = 256;
constexpr size_t kMostFunctions = 8;  // between a tensor and an operand of it

bool is_byte_tensor(const Graph& graph, ValueId v) {
  return graph.values[v].type.dtype == DType::kUInt8 && !graph.values[v].is_constant;
}

// Returns whether the node is a Lut from bytes to bytes with one table for all channels.
bool is_function(const Graph& graph, int node) {
  if (node < 0) return false;
  const Node& n = graph.nodes[static_cast<size_t>(node)];
  const auto* lut = n.options.AsLut();
  return lut && !lut->per_channel && is_byte_tensor(graph, n.inputs[0]) &&
         is_byte_tensor(graph, n.outputs[0]);
}

// A tensor, and the functions (nodes) between it and an operand, the first one last.
struct Operand {
  ValueId root;
  std::vector<int> functions;
};

// The operand itself, what it is a function of, and so on.
std::vector<Operand> ways(const Graph& graph, const DefUse& def_use, ValueId operand) {
  std::vector<Operand> all = {{operand, {}}};
  while (all.size() <= kMostFunctions) {
    Operand next = all.back();
    const int node = def_use.producer[next.root];
    if (!is_function(graph, node)) break;
    next.functions.push_back(node);
    next.root = graph.nodes[static_cast<size_t>(node)].inputs[0];
    all.push_back(std::move(next));
  }
  return all;
}

// Both operands as functions of the same tensor, the nearest there is.
bool trace(const Graph& graph, const DefUse& def_use, const Node& node, Operand* a, Operand* b) {
  const std::vector<Operand> of_a = ways(graph, def_use, node.inputs[0]);
  for (const Operand& way : ways(graph, def_use, node.inputs[1])) {
    const auto same = std::find_if(of_a.begin(), of_a.end(),
                                   [&](const Operand& other) { return other.root == way.root; });
    if (same == of_a.end()) continue;
    *a = *same;
    *b = way;
    return true;
  }
  return false;
}

// Evaluates a chain of elementwise operators at every code: builds a model of them whose input has
// kCodes bytes, and runs it.
class Evaluator {
 public:
  explicit Evaluator(const Graph& source) : source_(source) {
    model_.source_format = source.source_format;
    model_.reference = source.reference;
  }

  // Computes the results of `last` for every byte of its operands' root.
  Status run(const Operand& a, const Operand& b, const Node& last, std::vector<uint8_t>* table) {
    const ValueId x = add_bytes(a.root);
    model_.inputs = {x};
    Node node = last;
    node.inputs[0] = add_functions(a, x);
    node.inputs[1] = add_functions(b, x);
    for (size_t i = 2; i < node.inputs.size(); ++i) node.inputs[i] = copy(node.inputs[i]);
    node.outputs = {add_bytes(last.outputs[0])};
    model_.outputs = node.outputs;
    model_.nodes.push_back(std::move(node));
    std::vector<uint8_t> file;
    QRT_TRY(write_model(model_, &file));
    auto bytes = ModelBytes::borrow(file.data(), file.size());
    QRT_TRY(std::move(bytes.status()));
    auto verified = verify(std::move(*bytes));
    QRT_TRY(std::move(verified.status()));
    auto session = Session::create(*verified, SessionOptions{});
    QRT_TRY(std::move(session.status()));
    uint8_t* const codes = (*session)->data((*verified)->file().inputs()->Get(0));
    std::iota(codes, codes + kCodes, uint8_t{0});
    QRT_TRY((*session)->run());
    const uint8_t* y = (*session)->data((*session)->plan().outputs[0].slot);
    table->assign(y, y + kCodes);
    return {};
  }

 private:
  ValueId copy(ValueId v) { return model_.add_value(source_.values[v]); }

  ValueId add_bytes(ValueId like) {
    Value v = source_.values[like];
    v.type.shape = {kCodes};
    v.source_order.clear();
    return model_.add_value(std::move(v));
  }

  ValueId add_functions(const Operand& operand, ValueId x) {
    for (size_t i = operand.functions.size(); i-- > 0;) {
      Node lut = source_.nodes[static_cast<size_t>(operand.functions[i])];
      lut.inputs = {x, copy(lut.inputs[1])};
      lut.outputs = {x = add_bytes(lut.outputs[0])};
      model_.nodes.push_back(std::move(lut));
    }
    return x;
  }

  const Graph& source_;
  Graph model_;
};

}  // namespace

void fuse_functions(Graph* graph) {
  const DefUse def_use(*graph);
  bool any = false;
  for (size_t i = 0; i < graph->nodes.size(); ++i) {
    const Node& node = graph->nodes[i];
    if (!broadcasts(node) || !is_byte_tensor(*graph, node.inputs[0]) ||
        !is_byte_tensor(*graph, node.inputs[1]) || !is_byte_tensor(*graph, node.outputs[0]))
      continue;
    Operand a, b;
    std::vector<uint8_t> table;
    if (!trace(*graph, def_use, node, &a, &b) || !Evaluator(*graph).run(a, b, node, &table).ok())
      continue;
    const ValueId y = node.outputs[0];
    Node lut = make_node<fb::LutOptionsT>(node.name, node.source_op, {a.root}, {y});
    for (const Operand* operand : {&a, &b})
      for (const int function : operand->functions)
        lut.source_op =
            joined_ops(graph->nodes[static_cast<size_t>(function)].source_op, lut.source_op);
    lut.inputs.push_back(
        graph->add_constant(graph->values[y].name + "/table", DType::kUInt8, {kCodes}, table));
    graph->nodes[i] = std::move(lut);
    any = true;
  }
  if (any) drop_dead(graph);
}

}  // namespace qrt::convert
