// SPDX-License-Identifier: Apache-2.0
// Pass: a Gather that only puts values around an image goes into the convolutions and pools behind
// it, where their own padding gives the same bits: a convolution's is its input zero point, an
// average's adds nothing where padding is counted, and nothing is below a maximum's 0.
#include <algorithm>

#include "converter/import/common/index_maps.h"
#include "converter/passes/def_use.h"
#include "converter/passes/passes.h"

namespace qrt::convert {
namespace {

constexpr int64_t kMaxPad = 65535;  // of the options' fields

struct Border {
  int64_t top = 0, left = 0, bottom = 0, right = 0;
};

// Indices 0..size-1 in order with fills before and after.
bool read_border(const IndexMaps& maps, int axis, int64_t* before, int64_t* after) {
  if (!maps.has(axis)) return true;
  const Indices& map = maps.at(axis);
  *before = std::find_if(map.begin(), map.end(), [](int32_t i) { return i >= 0; }) - map.begin();
  *after = static_cast<int64_t>(map.size()) - *before - maps.from()[axis];
  return *after >= 0 && map == padded(maps.from()[axis], *before, *after, PadMode::kConstant);
}

bool read_border(const IndexMaps& maps, Border* border) {
  const int rank = maps.from().rank(), height = rank - 3, width = rank - 2;
  for (int axis = 0; axis < rank; ++axis)
    if (axis != height && axis != width && maps.has(axis)) return false;
  return height >= 1 && read_border(maps, height, &border->top, &border->bottom) &&
         read_border(maps, width, &border->left, &border->right);
}

template <class Options>
Border widened(const Options& o, const Border& b) {
  return {o.pad_top + b.top, o.pad_left + b.left, o.pad_bottom + b.bottom, o.pad_right + b.right};
}

bool below(const Border& b, int64_t height, int64_t width) {
  return b.top < height && b.bottom < height && b.left < width && b.right < width;
}

// Returns whether the node's padding can take the border.
template <class Options>
bool takes(const Options& o, int64_t fill, const Border& all) {
  return fill == o.input_zero_point && below(all, kMaxPad + 1, kMaxPad + 1);
}

template <>
bool takes(const fb::MaxPool2DOptionsT& o, int64_t fill, const Border& all) {
  // Every window keeps a position inside.
  return fill == 0 && o.kernel_h != 0 && o.dilation_h == 1 && o.dilation_w == 1 &&
         below(all, std::min<int64_t>(o.kernel_h, kMaxPad + 1),
               std::min<int64_t>(o.kernel_w, kMaxPad + 1));
}

template <>
bool takes(const fb::AveragePool2DOptionsT& o, int64_t fill, const Border& all) {
  const bool unpadded = o.pad_top == 0 && o.pad_left == 0 && o.pad_bottom == 0 && o.pad_right == 0;
  return fill == o.input_zero_point && o.kind == fb::AverageKind::F32_ORDERED &&
         (o.count_include_pad || unpadded) &&
         below(all, std::min<int64_t>(o.kernel_h, kMaxPad + 1),
               std::min<int64_t>(o.kernel_w, kMaxPad + 1));
}

// With `write`, changes the options.
template <class Options>
bool widen(Options* o, int64_t fill, const Border& border, bool write) {
  if (!o) return false;
  const Border all = widened(*o, border);
  if (!takes(*o, fill, all)) return false;
  if (!write) return true;
  o->pad_top = static_cast<uint16_t>(all.top);
  o->pad_left = static_cast<uint16_t>(all.left);
  o->pad_bottom = static_cast<uint16_t>(all.bottom);
  o->pad_right = static_cast<uint16_t>(all.right);
  if constexpr (std::is_same_v<Options, fb::AveragePool2DOptionsT>) o->count_include_pad = true;
  return true;
}

bool widen(Node* node, int64_t fill, const Border& border, bool write) {
  // A layer with a zero point of the run has padding that is known only then.
  if (node->inputs.size() > 3) return false;
  fb::OpOptionsUnion& o = node->options;
  return widen(o.AsConv2D(), fill, border, write) ||
         widen(o.AsDepthwiseConv2D(), fill, border, write) ||
         widen(o.AsMaxPool2D(), fill, border, write) ||
         widen(o.AsAveragePool2D(), fill, border, write);
}

}  // namespace

void fold_pads(Graph* graph) {
  const DefUse def_use(*graph);
  for (Node& pad : graph->nodes) {
    const auto* gather = pad.options.AsGather();
    if (!gather) continue;
    const ValueId x = pad.inputs[0], y = pad.outputs[0];
    Border border;
    if (graph->values[x].type.dtype != DType::kUInt8 || def_use.is_output[y] ||
        !read_border(IndexMaps(graph->values[x].type.shape, *gather), &border))
      continue;
    const std::vector<int>& readers = def_use.consumers[y];
    const auto at = [&](int i) { return &graph->nodes[static_cast<size_t>(i)]; };
    const bool all = std::all_of(readers.begin(), readers.end(), [&](int i) {
      return at(i)->inputs[0] == y && widen(at(i), gather->fill, border, false);
    });
    if (!all) continue;
    for (int i : readers) {
      widen(at(i), gather->fill, border, true);
      at(i)->inputs[0] = x;
      at(i)->source_op = pad.source_op + "+" + at(i)->source_op;
    }
  }
  drop_dead(graph);
}

}  // namespace qrt::convert
