// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "converter/quantize/float/graph.h"
#include "converter/quantize/float/passes.h"

namespace qrt::quantize {
namespace {

const Tensor* constant(const FloatModel& model, const Node& node, size_t i) {
  return node.has_input(i) ? model.constant(node.inputs[i]) : nullptr;
}

// Pads of all dimensions, where a Pad puts zeros around images.
bool read_zeros(const FloatModel& model, const Node& pad, size_t rank, Dims* begin, Dims* end) {
  const Tensor* pads = constant(model, pad, 1);
  if (pad.op != "Pad" || pad.text("mode", "constant") != "constant" || !pads) return false;
  if (pad.has_input(2)) {
    const Tensor* value = constant(model, pad, 2);
    if (!value || !value->is_real() || value->reals.size() != 1 || value->reals[0] != 0)
      return false;
  }
  Dims axes;
  if (pad.has_input(3)) {
    if (!constant(model, pad, 3)) return false;
    axes = constant(model, pad, 3)->integers;
  } else {
    for (size_t d = 0; d < rank; ++d) axes.push_back(static_cast<int64_t>(d));
  }
  begin->assign(rank, 0);
  end->assign(rank, 0);
  for (size_t i = 0; i < axes.size(); ++i) {
    const auto d =
        static_cast<size_t>(axes[i] < 0 ? axes[i] + static_cast<int64_t>(rank) : axes[i]);
    (*begin)[d] = pads->integers[i];
    (*end)[d] = pads->integers[axes.size() + i];
  }
  const auto is_none = [](int64_t p) { return p == 0; };
  const auto is_negative = [](int64_t p) { return p < 0; };
  return std::all_of(begin->begin(), begin->begin() + 2, is_none) &&
         std::all_of(end->begin(), end->begin() + 2, is_none) &&
         std::none_of(begin->begin(), begin->end(), is_negative) &&
         std::none_of(end->begin(), end->end(), is_negative);
}

bool is_never_negative(const FloatModel& model, const GraphEditor& editor, const std::string& x) {
  const int w = editor.writer(x);
  if (w < 0) return false;
  const Node& node = model.nodes[static_cast<size_t>(w)];
  const Tensor* lo = node.op == "Clip" ? constant(model, node, 1) : nullptr;
  return node.op == "Relu" || (lo && lo->is_real() && lo->reals.size() == 1 && lo->reals[0] >= 0);
}

// Returns whether the node counts the zeros of its own border as it counts those of its input.
bool takes_border(const FloatModel& model, const GraphEditor& editor, const Node& pad,
                  const Node& node) {
  const std::string automatic = node.text("auto_pad", "NOTSET");
  if (node.inputs[0] != pad.outputs[0] || (automatic != "NOTSET" && automatic != "VALID"))
    return false;
  const auto own = node.integers("pads");
  const bool has_own = automatic == "NOTSET" &&
                       std::any_of(own.begin(), own.end(), [](int64_t p) { return p != 0; });
  if (node.op == "Conv") return true;
  if (node.integer("ceil_mode", 0) != 0) return false;
  if (node.op == "AveragePool") return !has_own || node.integer("count_include_pad", 0) != 0;
  // The border of a MaxPool never wins, which zeros do not either beside what is not negative.
  return node.op == "MaxPool" && is_never_negative(model, editor, pad.inputs[0]);
}

}  // namespace

void merge_pads(FloatModel* model) {
  GraphEditor editor(model);
  for (size_t i = 0; i < model->nodes.size(); ++i) {
    const Node pad = model->nodes[i];
    if (pad.op != "Pad") continue;
    const auto found = model->values.find(pad.outputs[0]);
    const size_t rank = found == model->values.end() ? 0 : found->second.shape.size();
    Dims begin, end;
    if (rank < 3 || !read_zeros(*model, pad, rank, &begin, &end)) continue;
    const Reads readers = editor.readers(pad.outputs[0]);
    for (const Read& r : readers) {
      Node& node = model->nodes[r.node];
      if (!takes_border(*model, editor, pad, node)) continue;
      const auto kernel = node.op == "Conv" && constant(*model, node, 1)
                              ? Dims(constant(*model, node, 1)->shape.begin() + 2,
                                     constant(*model, node, 1)->shape.end())
                              : node.integers("kernel_shape");
      Dims pads = node.text("auto_pad", "NOTSET") == "VALID" ? Dims() : node.integers("pads");
      if (pads.empty()) pads.assign(2 * (rank - 2), 0);
      bool fits = kernel.size() == rank - 2;
      for (size_t d = 0; fits && d + 2 < rank; ++d) {
        pads[d] += begin[d + 2];
        pads[rank - 2 + d] += end[d + 2];
        // A pool may have no window that lies within the padding alone.
        fits = node.op == "Conv" || (pads[d] < kernel[d] && pads[rank - 2 + d] < kernel[d]);
      }
      if (!fits) continue;
      node.attributes.erase("auto_pad");
      node.set("pads", pads);
      if (node.op == "AveragePool") node.set("count_include_pad", int64_t{1});
      editor.set_input(r.node, 0, pad.inputs[0]);
    }
  }
  editor.finish();
}

}  // namespace qrt::quantize
