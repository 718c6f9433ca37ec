// SPDX-License-Identifier: Apache-2.0
// Requantisations and biases of layers; see layer_tables.h.
#include "runtime/ops/layer_tables.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "runtime/float_forms.h"

namespace qrt {
namespace {

constexpr size_t kReadAhead = 64;  // channels readable beyond the last

// Spreads groups x group values to groups x channel_stride(group) values and kReadAhead more.
template <class T>
PlanVector<T> repeat_for_groups(size_t channels, size_t group, const T* values) {
  const size_t stride = channel_stride(group), groups = channels / group;
  PlanVector<T> result(groups * stride + kReadAhead, values[channels - 1]);
  for (size_t g = 0; g < groups; ++g)
    std::copy_n(values + g * group, group, result.begin() + static_cast<ptrdiff_t>(g * stride));
  return result;
}

}  // namespace

std::shared_ptr<const LayerRequant> layer_requant(const LayerSource& source, bool knows_bias,
                                                  size_t channels, size_t group, IsaSet isas,
                                                  bool fits, SharedTables* shared) {
  TableKey key("requant");
  key.add(source.requant, source.bias, knows_bias, source.channels, source.terms, channels, group,
          isas, fits);
  return shared->get<LayerRequant>(key, [&] {
    auto made = std::make_shared<LayerRequant>();
    if (source.requant != nullptr)
      made->params = make_requant(*source.requant, channels, source.file_end);
    if (made->params.requant.kind == RequantKind::kInt) {
      PlanVector<int32_t> bias;
      if (knows_bias) bias = read_bias(source.bias, source.channels);
      const Sums sums = {&bias, source.terms};
      if (find_float_form(channels, &made->params, knows_bias ? &sums : nullptr))
        made->moved_bias = bias;
    }
    if (fits) find_affine_fits(channels, isas, &made->params);
    repeat_requant_for_groups(channels, group, &made->params);
    return made;
  });
}

std::shared_ptr<const PlanVector<int32_t>> layer_bias(const LayerSource& source,
                                                      const LayerRequant& requant, bool signed_lhs,
                                                      SharedTables* shared) {
  const bool is_moved = !requant.moved_bias.empty();
  TableKey key("bias");
  key.add(source.bias, source.weight_sum, source.channels, source.group, signed_lhs,
          is_moved ? source.requant : nullptr, is_moved ? source.terms : 0);
  return shared->get<PlanVector<int32_t>>(key, [&] {
    PlanVector<int32_t> bias =
        is_moved ? requant.moved_bias : read_bias(source.bias, source.channels);
    return std::make_shared<PlanVector<int32_t>>(
        fold_bias(std::move(bias), source.weight_sum, source.group, signed_lhs));
  });
}

Status make_padding(const PrepareContext& context, uint8_t zero_point, size_t bytes,
                    std::shared_ptr<const TableBytes>* row) {
  QRT_TRY(context.take(bytes));
  TableKey key("padding");
  key.add(zero_point, bytes);
  *row = context.shared->get_bytes(key, bytes,
                                   [&](uint8_t* data) { memset(data, zero_point, bytes); });
  return {};
}

uint64_t layer_bias_bytes(const fb::Requant* requant, size_t groups, size_t group) {
  const bool may_move = requant != nullptr && requant->kind() == fb::RequantKind::INT;
  const uint64_t values = uint64_t{groups} * channel_stride(group) + kReadAhead;
  return values * sizeof(int32_t) * (may_move ? 2 : 1) + kSharedTableBytes;
}

PlanVector<int32_t> read_bias(const uint8_t* bias, size_t channels) {
  PlanVector<int32_t> values;
  values.reserve(channel_stride(channels) + kReadAhead);
  values.resize(channels);
  if (bias != nullptr) memcpy(values.data(), bias, channels * sizeof(int32_t));
  return values;
}

PlanVector<int32_t> fold_bias(PlanVector<int32_t> bias,
                              const flatbuffers::Vector<int32_t>* weight_sum, size_t group,
                              bool signed_lhs) {
  for (size_t c = 0; signed_lhs && c < bias.size(); ++c) {
    const uint32_t sum = static_cast<uint32_t>(weight_sum->Get(static_cast<uint32_t>(c)));
    bias[c] = static_cast<int32_t>(static_cast<uint32_t>(bias[c]) + 128 * sum);
  }
  if (bias.size() != group) return repeat_for_groups(bias.size(), group, bias.data());
  bias.reserve(channel_stride(group) + kReadAhead);
  bias.resize(channel_stride(group) + kReadAhead, int32_t{bias.back()});
  return bias;
}

void repeat_requant_for_groups(size_t channels, size_t group, RequantParams* params) {
  if (channels == group) return;
  const auto to_groups = [channels, group](auto& values, const auto*& pointer) {
    if (pointer == nullptr) return;
    values = repeat_for_groups(channels, group, pointer);
    pointer = values.data();
  };
  Requant& r = params->requant;
  to_groups(params->scale, r.scale);
  for (int i = 0; i < r.stage_count; ++i) {
    to_groups(params->multiplier[i], r.stages[i].multiplier);
    to_groups(params->shift[i], r.stages[i].shift);
  }
  to_groups(params->slope, r.slope);
  to_groups(params->intercept, r.intercept);
}

}  // namespace qrt
