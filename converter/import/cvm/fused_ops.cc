// SPDX-License-Identifier: Apache-2.0
// Ranges of steps, and chains of them as requantisations.
#include "converter/import/cvm/fused_ops.h"

#include <algorithm>

#include "kernels/requant.h"

namespace qrt::convert::from_cvm {
namespace {

using F = fb::FormulaFunction;

int64_t shifted(int64_t v, int shift) { return rounding_shift(v, shift, Round::kHalfUp); }

int32_t bit_count(int64_t v) {
  int32_t n = 1;
  for (uint64_t u = static_cast<uint64_t>(v < 0 ? -v : v); u >>= 1;) ++n;
  return n;
}

int64_t greatest(const Requantization::Stage& s) {
  return *std::max_element(s.multiplier.begin(), s.multiplier.end());
}

// Replaces *range by the range of a stage's results, over all channels. Returns false where
// products may leave 62 bits.
bool bound_after(const Requantization::Stage& s, Range* range) {
  const int64_t m = greatest(s), reach = std::max(-range->lo, range->hi);
  if (m != 0 && reach > (int64_t{1} << 61) / m) return false;
  const int64_t least = *std::min_element(s.multiplier.begin(), s.multiplier.end());
  const auto at = [&](int64_t v) {
    return Range{shifted(std::min(v * least, v * m), s.shift),
                 shifted(std::max(v * least, v * m), s.shift)};
  };
  const Range r = either(at(range->lo), at(range->hi));
  *range = {std::clamp(r.lo, s.clip_lo, s.clip_hi), std::clamp(r.hi, s.clip_lo, s.clip_hi)};
  return true;
}

bool clips(const Requantization::Stage& s) {
  return s.clip_lo != INT32_MIN || s.clip_hi != INT32_MAX;
}

// Limits of all stages but the last move behind the stages that follow them.
void move_clips(std::vector<Requantization::Stage>* stages) {
  for (size_t i = 0; i + 1 < stages->size(); ++i) {
    Requantization::Stage& from = (*stages)[i];
    Requantization::Stage& to = (*stages)[i + 1];
    if (!clips(from) || to.multiplier.size() != 1) continue;
    // int64 holds this: limits and multipliers are below 2^31.
    const auto carried = [&](int64_t v) {
      return std::clamp(shifted(v * to.multiplier[0], to.shift), to.clip_lo, to.clip_hi);
    };
    const int64_t lo = carried(from.clip_lo), hi = carried(from.clip_hi);
    if (from.clip_lo != INT32_MIN) to.clip_lo = lo;
    if (from.clip_hi != INT32_MAX) to.clip_hi = hi;
    from.clip_lo = INT32_MIN, from.clip_hi = INT32_MAX;
  }
}

// Products that nothing was rounded or limited after become one.
void merge_products(std::vector<Requantization::Stage>* stages) {
  for (size_t i = 0; i + 1 < stages->size();) {
    Requantization::Stage& first = (*stages)[i];
    Requantization::Stage& second = (*stages)[i + 1];
    const bool one_channel = first.multiplier.size() == 1 || second.multiplier.size() == 1;
    if (first.shift != 0 || clips(first) || !one_channel ||
        (greatest(second) != 0 && greatest(first) > INT32_MAX / greatest(second))) {
      ++i;
      continue;
    }
    std::vector<int64_t> product =
        first.multiplier.size() == 1 ? second.multiplier : first.multiplier;
    const int64_t other = first.multiplier.size() == 1 ? first.multiplier[0] : second.multiplier[0];
    for (int64_t& m : product) m *= other;
    second.multiplier = std::move(product);
    stages->erase(stages->begin() + static_cast<ptrdiff_t>(i));
  }
}

// Multipliers from 2^30 on: what the kernels' fastest forms take.
void normalise(Requantization::Stage* s) {
  if (s->shift == 0 || s->multiplier.size() != 1 || s->multiplier[0] == 0) return;
  while (s->multiplier[0] < (int64_t{1} << 30) && s->shift < 62) {
    s->multiplier[0] *= 2;
    ++s->shift;
  }
}

template <class T>
std::vector<uint8_t> as_bytes(const std::vector<int32_t>& values, int32_t zero_point) {
  std::vector<uint8_t> bytes(values.size() * sizeof(T));
  for (size_t i = 0; i < values.size(); ++i) {
    const T v = static_cast<T>(values[i] + zero_point);
    __builtin_memcpy(bytes.data() + i * sizeof(T), &v, sizeof(T));
  }
  return bytes;
}

}  // namespace

bool is_scalar(const std::vector<ElementOp>& element_ops) {
  return std::all_of(element_ops.begin(), element_ops.end(),
                     [](const ElementOp& l) { return l.by_channel.empty(); });
}

std::vector<uint8_t> stored_bytes(const std::vector<int32_t>& values, Storage storage) {
  if (storage.dtype == DType::kUInt8) return as_bytes<uint8_t>(values, storage.zero_point);
  if (storage.dtype == DType::kInt16) return as_bytes<int16_t>(values, storage.zero_point);
  return as_bytes<int32_t>(values, 0);
}

Range range_of(const std::vector<int32_t>& values) {
  if (values.empty()) return {};
  const auto [lo, hi] = std::minmax_element(values.begin(), values.end());
  return {*lo, *hi};
}

Storage storage_for(Range range) {
  if (range.within(0, 255)) return {DType::kUInt8, 0};
  if (range.within(-128, 127)) return {DType::kUInt8, 128};
  if (range.within(INT16_MIN, INT16_MAX)) return {DType::kInt16, 0};
  if (range.within(0, UINT16_MAX)) return {DType::kInt16, INT16_MIN};
  return {DType::kInt32, 0};
}

std::string describe(Storage storage, Range range) {
  std::string text = dtype_name(storage.dtype);
  if (storage.zero_point != 0) text += storage.zero_point > 0 ? " (+128)" : " (-32768)";
  return text + ", values " + std::to_string(range.lo) + " to " + std::to_string(range.hi);
}

ElementOp clamp_to(int32_t lo, int32_t hi) {
  ElementOp operation;
  operation.function = F::CLAMP;
  operation.value = lo;
  operation.high = hi;
  return operation;
}

Range range_after(const ElementOp& operation, Range r, bool* wraps) {
  const auto checked = [&](Range made) {
    if (made.is_int32()) return made;
    *wraps = true;
    return kAnyInt32;
  };
  switch (operation.function) {
    case F::ADD: return checked({r.lo + operation.value, r.hi + operation.value});
    case F::MULTIPLY: {
      std::vector<int32_t> factors = operation.by_channel;
      if (factors.empty()) factors.push_back(operation.value);
      Range made{INT64_MAX, INT64_MIN};
      for (int64_t k : factors)
        made = either(made, {std::min(r.lo * k, r.hi * k), std::max(r.lo * k, r.hi * k)});
      return checked(made);
    }
    case F::SHIFT_LEFT:
      return checked(
          {r.lo * (int64_t{1} << operation.value), r.hi * (int64_t{1} << operation.value)});
    case F::SHIFT_RIGHT:
      // Halving INT32_MAX adds 1 to it.
      if (operation.value == 1 && r.hi == INT32_MAX) {
        *wraps = true;
        return {INT32_MIN / 2, INT32_MAX / 2};
      }
      return {shifted(r.lo, operation.value), shifted(r.hi, operation.value)};
    case F::CLAMP:
      return {std::clamp<int64_t>(r.lo, operation.value, operation.high),
              std::clamp<int64_t>(r.hi, operation.value, operation.high)};
    case F::NEGATE: return checked({-r.hi, -r.lo});
    case F::ABS:
      if (r.lo >= 0) return r;
      return checked({r.hi < 0 ? -r.hi : 0, std::max(-r.lo, r.hi)});
    case F::BITS: return {1, std::max(bit_count(r.lo), bit_count(r.hi))};
    case F::NOT_ZERO: return {0, 1};
  }
  return kAnyInt32;
}

int32_t apply(const ElementOp& operation, int32_t v) {
  const auto u = static_cast<uint32_t>(v), k = static_cast<uint32_t>(operation.value);
  switch (operation.function) {
    case F::ADD: return static_cast<int32_t>(u + k);
    case F::MULTIPLY: return static_cast<int32_t>(u * k);
    case F::SHIFT_LEFT: return static_cast<int32_t>(u << k);
    case F::SHIFT_RIGHT:
      if (operation.value == 32) return 0;
      return static_cast<int32_t>(static_cast<uint32_t>(v >> (k - 1)) + 1) >> 1;
    case F::CLAMP: return std::clamp(v, operation.value, operation.high);
    case F::NEGATE: return static_cast<int32_t>(0 - u);
    case F::ABS: return v < 0 ? static_cast<int32_t>(0 - u) : v;
    case F::BITS: return bit_count(v);
    case F::NOT_ZERO: return v != 0;
  }
  return 0;
}

std::optional<Requantization> requantization(const std::vector<ElementOp>& element_ops,
                                             size_t count, Range range) {
  std::vector<Requantization::Stage> stages(1);
  stages[0].multiplier = {1};
  Range now = range;
  for (size_t i = 0; i < count; ++i) {
    const ElementOp& operation = element_ops[i];
    bool wraps = false;
    const Range next = range_after(operation, now, &wraps);
    if (wraps) return std::nullopt;
    Requantization::Stage stage;
    stage.multiplier = {1};
    switch (operation.function) {
      case F::MULTIPLY:
        if (operation.by_channel.empty())
          stage.multiplier = {operation.value};
        else
          stage.multiplier.assign(operation.by_channel.begin(), operation.by_channel.end());
        break;
      case F::SHIFT_LEFT:
        if (operation.value == 31) return std::nullopt;
        stage.multiplier = {int64_t{1} << operation.value};
        break;
      case F::SHIFT_RIGHT: stage.shift = operation.value; break;
      case F::CLAMP:
        if (now.within(operation.value, operation.high)) continue;
        stages.back().clip_lo =
            std::clamp<int64_t>(stages.back().clip_lo, operation.value, operation.high);
        stages.back().clip_hi =
            std::clamp<int64_t>(stages.back().clip_hi, operation.value, operation.high);
        now = next;
        continue;
      default: return std::nullopt;
    }
    if (*std::min_element(stage.multiplier.begin(), stage.multiplier.end()) < 0)
      return std::nullopt;
    stages.push_back(std::move(stage));
    now = next;
  }
  move_clips(&stages);
  merge_products(&stages);
  if (stages.size() > kMaxStages) return std::nullopt;
  Range bound = range;
  for (const auto& stage : stages) {
    if (!bound_after(stage, &bound) || !bound.is_int32()) return std::nullopt;
  }
  for (auto& stage : stages) {
    const bool is_shift = stages.size() == 2 && &stage == stages.data() &&
                          stage.multiplier.size() == 1 && stage.multiplier[0] == 1;
    if (!is_shift) normalise(&stage);
  }
  return Requantization{std::move(stages), now};
}

std::unique_ptr<fb::RequantT> Requantization::options(Storage storage) const {
  auto r = std::make_unique<fb::RequantT>();
  r->kind = fb::RequantKind::INT;
  r->zero_point = storage.zero_point;
  r->lo = static_cast<int32_t>(range.lo) + storage.zero_point;
  r->hi = static_cast<int32_t>(range.hi) + storage.zero_point;
  for (size_t i = 0; i < stages.size(); ++i) {
    auto stage = std::make_unique<fb::RequantStageT>();
    for (int64_t m : stages[i].multiplier) {
      stage->multiplier.push_back(static_cast<int32_t>(m));
      stage->shift.push_back(static_cast<uint8_t>(stages[i].shift));
    }
    stage->rounding = fb::Rounding::HALF_UP;
    // The last stage's limits are the requantisation's own.
    if (i + 1 < stages.size()) {
      stage->clip_lo = static_cast<int32_t>(stages[i].clip_lo);
      stage->clip_hi = static_cast<int32_t>(stages[i].clip_hi);
    }
    r->stages.push_back(std::move(stage));
  }
  return r;
}

std::vector<std::unique_ptr<fb::FormulaStepT>> formula_steps(
    const std::vector<ElementOp>& element_ops) {
  std::vector<std::unique_ptr<fb::FormulaStepT>> steps;
  for (const ElementOp& operation : element_ops) {
    auto step = std::make_unique<fb::FormulaStepT>();
    step->function = operation.function;
    step->value = operation.value;
    step->high = operation.high;
    steps.push_back(std::move(step));
  }
  return steps;
}

}  // namespace qrt::convert::from_cvm
