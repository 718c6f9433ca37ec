// SPDX-License-Identifier: Apache-2.0
#include "runtime/parts.h"

#include <algorithm>

#include "runtime/ops/conv2d_forms.h"
#include "runtime/sizes.h"

namespace qrt {
namespace {

constexpr Part kInt16Part = {"Int16", built::kInt16};
constexpr Part kSmallFloatsPart = {"SmallFloats", built::kSmallFloats};
constexpr Part kDynamicLayersPart = {"DynamicLayers", built::kDynamicLayers};
constexpr Part kOpenDimsPart = {"OpenDims", built::kOpenDims};
constexpr Part kPermutationsPart = {"Permutations", built::kPermutations};

// Channels last or first, of several images, are planes of strides (kernels/copy/transpose.h).
bool may_permute(const fb::Operator& op) {
  const auto* o = op.options_as_Transpose();
  if (o == nullptr || o->perm() == nullptr) return false;
  // Axes that stay together are one; the first one may stay where it is.
  uint32_t moved = 1;
  for (uint32_t i = 1; i < o->perm()->size(); ++i)
    moved += o->perm()->Get(i) != o->perm()->Get(i - 1) + 1;
  const bool keeps_images = o->perm()->size() > 0 && o->perm()->Get(0) == 0;
  return moved > (keeps_images ? 3u : 2u);
}

}  // namespace

const Part* part_of(DType dtype) {
  switch (dtype) {
    case DType::kUInt16:
    case DType::kInt16: return &kInt16Part;
    case DType::kFloat16:
    case DType::kBFloat16:
    case DType::kFloat8E4M3FN:
    case DType::kFloat8E4M3FNUZ:
    case DType::kFloat8E5M2:
    case DType::kFloat8E5M2FNUZ:
    case DType::kFloat8E8M0:
    case DType::kFloat4E2M1: return &kSmallFloatsPart;
    default: return nullptr;
  }
}

const Part* part_of(const fb::Operator& op) {
  const bool is_layer = op.options_type() == fb::OpOptions::Conv2D ||
                        op.options_type() == fb::OpOptions::FullyConnected;
  return is_layer && op.inputs()->size() > 3 ? &kDynamicLayersPart : nullptr;
}

const Part* part_of_sizes(const fb::Model& model) {
  const auto has = [](const auto* table) { return table->sizes() != nullptr; };
  const bool has_sizes = symbol_count(model) != 0 ||
                         std::any_of(model.tensors()->begin(), model.tensors()->end(), has) ||
                         std::any_of(model.operators()->begin(), model.operators()->end(), has);
  return has_sizes ? &kOpenDimsPart : nullptr;
}

std::vector<const Part*> parts_of(const fb::Model& model) {
  std::vector<const Part*> parts;
  const auto add = [&](const Part* part) {
    if (part != nullptr && std::find(parts.begin(), parts.end(), part) == parts.end())
      parts.push_back(part);
  };
  add(part_of_sizes(model));
  for (const fb::Tensor* tensor : *model.tensors())
    add(part_of(static_cast<DType>(tensor->dtype())));
  for (const fb::Operator* op : *model.operators()) {
    add(part_of(*op));
    if (const auto* options = op->options_as_Conv2D()) {
      const Shape weights = stored_type(*model.tensors()->Get(op->inputs()->Get(1)), 0).shape;
      for (const Conv2DForm& form : kConv2DForms)
        if (form.may_take(*options, weights)) add(&form.part);
    }
    if (may_permute(*op)) add(&kPermutationsPart);
  }
  return parts;
}

}  // namespace qrt
