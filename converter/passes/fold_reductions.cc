// SPDX-License-Identifier: Apache-2.0
// Pass: Transpose + Reshapes + a pool over the whole image. Where what the pool reduces also stands
// together before the Transpose, and what it keeps stands in the same order, the pool reads the
// Transpose's input as an image of other sides, and the Transpose goes: ReduceMax or ReduceMean of
// [n, c, h, w] behind a convolution.
#include <algorithm>

#include "converter/passes/def_use.h"
#include "converter/passes/passes.h"

namespace qrt::convert {
namespace {

// Channels that are enough for a pool: with fewer than that and than behind the Transpose, it would take
// longer than both.
constexpr int64_t kEnoughChannels = 16;

bool is_global_pool(const Node& node) {
  const auto* max = node.options.AsMaxPool2D();
  return node.options.AsGlobalAveragePool2D() || (max && max->kernel_h == 0 && max->kernel_w == 0);
}

// Splits the dimensions of `shape`, but those of 1, into runs of which pool [outer, h, w, inner] keeps,
// reduces and keeps. False where there are none such.
bool split(const Shape& shape, const Shape& pool, std::vector<int> (&runs)[3]) {
  const int64_t sizes[3] = {pool[0], pool[1] * pool[2], pool[3]};
  int d = 0;
  for (int i = 0; i < 3; ++i) {
    for (int64_t size = 1; size != sizes[i]; ++d) {
      if (d == shape.rank() || shape[d] == 0) return false;
      if (shape[d] == 1) continue;
      size *= shape[d];
      if (size > sizes[i]) return false;
      runs[i].push_back(d);
    }
  }
  return true;
}

// Returns the sides [outer, n, 1, inner] by which a pool reduces x, of which transpose(x, perm) is
// a pool's [outer, h, w, inner]; of rank 0 where there are none.
Shape sides_before(const Shape& x, const std::vector<uint8_t>& perm, const Shape& pool) {
  Shape transposed;
  for (uint8_t from : perm) transposed.push_back(x[from]);
  std::vector<int> runs[3];
  if (!split(transposed, pool, runs)) return {};
  Shape sides = {1, 1, 1, 1};
  int last_kept = -1;
  enum { kBefore, kWithin, kBehind } at = kBefore;
  for (int d = 0; d < x.rank(); ++d) {
    const int to = static_cast<int>(std::find(perm.begin(), perm.end(), d) - perm.begin());
    if (x[d] == 1) continue;
    if (std::count(runs[1].begin(), runs[1].end(), to) > 0) {
      if (at == kBehind) return {};
      at = kWithin;
      sides[1] *= x[d];
      continue;
    }
    if (to < last_kept) return {};
    last_kept = to;
    if (at == kWithin) at = kBehind;
    const int side = at == kBefore ? 0 : 3;
    sides[side] *= x[d];
  }
  return sides;
}

Node reshape(const Node& of, ValueId from, ValueId to, const Shape& shape) {
  Node node = make_node<fb::ReshapeOptionsT>(of.name, of.source_op, {from}, {to});
  options<fb::ReshapeOptionsT>(node).shape.assign(shape.begin(), shape.end());
  return node;
}

}  // namespace

void fold_reductions(Graph* graph) {
  const DefUse def_use(*graph);
  const auto producer = [&](ValueId value) -> const Node* {
    const int i = def_use.producer[value];
    return i < 0 ? nullptr : &graph->nodes[static_cast<size_t>(i)];
  };
  struct Fold {
    size_t node;
    ValueId x;  // of the Transpose
    Shape sides;
  };
  std::vector<Fold> folds;
  for (size_t i = 0; i < graph->nodes.size(); ++i) {
    const Node& node = graph->nodes[i];
    const Node* before = is_global_pool(node) ? producer(node.inputs[0]) : nullptr;
    while (before && before->options.AsReshape()) before = producer(before->inputs[0]);
    const auto* transpose = before ? before->options.AsTranspose() : nullptr;
    if (!transpose) continue;
    const ValueId x = before->inputs[0];
    const Shape& pooled = graph->values[node.inputs[0]].type.shape;
    const Shape sides = sides_before(graph->values[x].type.shape, transpose->perm, pooled);
    if (sides.rank() > 0 && sides[3] >= std::min(kEnoughChannels, pooled[3]))
      folds.push_back({i, x, sides});
  }
  if (folds.empty()) return;
  std::vector<Node> nodes;
  auto fold = folds.begin();
  for (size_t i = 0; i < graph->nodes.size(); ++i) {
    Node& node = graph->nodes[i];
    if (fold == folds.end() || fold->node != i) {
      nodes.push_back(std::move(node));
      continue;
    }
    const ValueId in = node.inputs[0], out = node.outputs[0];
    const Shape sides = fold->sides, result = graph->values[out].type.shape;
    Value from = graph->values[in], to = graph->values[out];
    for (Value* value : {&from, &to}) {
      value->name.clear();
      value->source_order.clear();
    }
    from.type.shape = sides;
    to.type.shape = {sides[0], 1, 1, sides[3]};
    node.inputs[0] = graph->add_value(std::move(from));
    node.outputs[0] = graph->add_value(std::move(to));
    nodes.push_back(reshape(node, fold->x, node.inputs[0], sides));
    Node after = reshape(node, node.outputs[0], out, result);
    nodes.push_back(std::move(node));
    nodes.push_back(std::move(after));
    ++fold;
  }
  graph->nodes = std::move(nodes);
  drop_dead(graph);
}

}  // namespace qrt::convert
