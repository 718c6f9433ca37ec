// SPDX-License-Identifier: Apache-2.0
#include "runtime/layout.h"

#include <cstdint>

#include "runtime/traits.h"

namespace qrt {
namespace {

constexpr uint32_t kNoInput = UINT32_MAX;

bool takes_images(const fb::Operator& op) {
  return traits_of(op.options_type()).layout == LayoutRule::kImages;
}

// Returns true if an operator's output has the dimensions of its first input in their order.
bool keeps_order(const fb::Operator& op) {
  return traits_of(op.options_type()).layout == LayoutRule::kAny ||
         op.options_type() == fb::OpOptions::DynamicQuantize;  // its other outputs are scalars
}

// [n, c, ...] to [n, ..., c]
bool moves_channels_last(const fb::Operator& op) {
  const auto* options = op.options_as_Transpose();
  if (options == nullptr || options->perm() == nullptr) return false;
  const auto& perm = *options->perm();
  const uint32_t rank = perm.size();
  if (rank < 3 || perm.Get(0) != 0 || perm.Get(rank - 1) != 1) return false;
  for (uint32_t i = 1; i + 1 < rank; ++i)
    if (perm.Get(i) != i + 1) return false;
  return true;
}

}  // namespace

std::vector<qrt_layout> input_layouts(const fb::Model& model) {
  std::vector<qrt_layout> layouts(model.inputs()->size(), QRT_LAYOUT_NONE);
  // By tensor: the input that it is a form of, perhaps with other values or another type.
  std::vector<uint32_t> input_of(model.tensors()->size(), kNoInput);
  for (uint32_t i = 0; i < layouts.size(); ++i) input_of[model.inputs()->Get(i)] = i;
  for (const fb::Operator* op : *model.operators()) {
    if (op->inputs()->size() == 0 || op->outputs()->size() == 0) continue;
    const uint32_t input = input_of[op->inputs()->Get(0)];
    if (input == kNoInput) continue;
    if (keeps_order(*op)) {
      input_of[op->outputs()->Get(0)] = input;
    } else if (layouts[input] == QRT_LAYOUT_NONE) {
      if (takes_images(*op)) layouts[input] = QRT_CHANNELS_LAST;
      if (moves_channels_last(*op)) layouts[input] = QRT_CHANNELS_FIRST;
    }
  }
  return layouts;
}

}  // namespace qrt
