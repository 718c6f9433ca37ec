// SPDX-License-Identifier: Apache-2.0
// Checks and expands fb::Requant.
#include "runtime/requant_params.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "kernels/edge/numbers.h"
#include "kernels/stage_bound.h"
#include "runtime/checked.h"

namespace qrt {
namespace {

constexpr uint32_t kSmallestNormal = 0x00800000, kLargestFinite = 0x7f7fffff;  // float32 bits

template <class Vector>
size_t length(const Vector* v) {
  return v != nullptr ? v->size() : 0;
}

Status check_length(const char* what, const char* field, size_t n, size_t channels) {
  QRT_MODEL_CHECK(n == 1 || (n != 0 && n == channels),
                  "%s.%s has %zu values, expected 1 or one per output channel (%zu)", what, field,
                  n, channels);
  return {};
}

Status check_f32(const fb::Requant& r, size_t channels) {
  QRT_TRY(check_length("requant", "scale", length(r.scale()), channels));
  for (uint32_t i = 0; i < r.scale()->size(); ++i) {
    const uint32_t bits = r.scale()->Get(i);
    QRT_MODEL_CHECK(bits >= kSmallestNormal && bits <= kLargestFinite,
                    "requant.scale[%u] has the bits 0x%08x, expected a positive normal float32", i,
                    bits);
  }
  QRT_MODEL_CHECK(r.rounding() == fb::Rounding::HALF_EVEN || r.rounding() == fb::Rounding::HALF_UP,
                  "requant.rounding is %d, F32 takes HALF_EVEN (0) and HALF_UP (1)",
                  static_cast<int>(r.rounding()));
  QRT_MODEL_CHECK(r.zero_point_before() || !r.fused(),
                  "requant.fused is set without zero_point_before");
  QRT_MODEL_CHECK(r.offset() == 0 || (r.zero_point_before() && r.offset() == 128),
                  "requant.offset is %d, expected 0, or 128 with zero_point_before", r.offset());
  QRT_MODEL_CHECK(r.zero_point() >= -r.offset() && r.zero_point() <= 255 - r.offset(),
                  "requant.zero_point is %d, expected %d to %d", r.zero_point(), -r.offset(),
                  255 - r.offset());
  return {};
}

Status check_stage(const char* what, const fb::RequantStage& s, size_t channels) {
  QRT_TRY(check_length(what, "multiplier", length(s.multiplier()), channels));
  QRT_MODEL_CHECK(length(s.shift()) == s.multiplier()->size(),
                  "%s.shift has %zu values, expected as many as multiplier (%u)", what,
                  length(s.shift()), s.multiplier()->size());
  // Every session checks thousands of channels, so channels are checked together, and one by one
  // only where something is wrong.
  int32_t signs = 0;
  uint8_t most = 0;
  for (uint32_t i = 0; i < s.multiplier()->size(); ++i) {
    signs |= s.multiplier()->Get(i);
    most = std::max(most, s.shift()->Get(i));
  }
  for (uint32_t i = 0; i < s.multiplier()->size() && (signs < 0 || most > 62); ++i) {
    QRT_MODEL_CHECK(s.multiplier()->Get(i) >= 0, "%s.multiplier[%u] is %d, expected >= 0", what, i,
                    s.multiplier()->Get(i));
    QRT_MODEL_CHECK(s.shift()->Get(i) <= 62, "%s.shift[%u] is %d, expected 0 to 62", what, i,
                    s.shift()->Get(i));
  }
  QRT_MODEL_CHECK(s.rounding() <= fb::Rounding::FLOOR, "%s.rounding is %d, expected 0 to 3", what,
                  static_cast<int>(s.rounding()));
  QRT_MODEL_CHECK(s.clip_lo() <= s.clip_hi(), "%s clip limits are %d to %d, not a range", what,
                  s.clip_lo(), s.clip_hi());
  return {};
}

struct Limits {
  int32_t lo, hi;
};

Limits limits_of(DType dtype) {
  if (dtype == DType::kInt16) return {INT16_MIN, INT16_MAX};
  if (dtype == DType::kInt32) return {INT32_MIN, INT32_MAX};
  return {0, 255};
}

Status check_int(const fb::Requant& r, size_t channels, Limits limits) {
  const size_t stages = length(r.stages());
  QRT_MODEL_CHECK(stages >= 1 && stages <= kMaxStages,
                  "requant.stages has %zu stages, expected 1 to %d", stages, kMaxStages);
  QRT_TRY(check_stages("requant.stages", r.stages(), channels));
  QRT_MODEL_CHECK(r.zero_point() >= limits.lo && r.zero_point() <= limits.hi,
                  "requant.zero_point is %d, expected %d to %d", r.zero_point(), limits.lo,
                  limits.hi);
  return {};
}

// Returns an array of padded_channels() readable values, the first of which are those of the channels.
// It is the file's own array where that has a value for each channel and enough of the file follows
// it; otherwise it is a copy in `own`, filled up with copies of the last value.
template <class T, class Vector>
const T* for_each_channel(const Vector& source, size_t channels, const uint8_t* file_end,
                          PlanVector<T>* own) {
  static_assert(sizeof(T) == sizeof(source.Get(0)));
  const uint8_t* const stored = source.Data();
  const size_t bytes = padded_channels(channels) * sizeof(T);
  if (file_end != nullptr && source.size() == channels && channels % kRequantRegister == 0 &&
      bytes <= static_cast<size_t>(file_end - stored))
    return reinterpret_cast<const T*>(stored);
  own->resize(padded_channels(channels));
  memcpy(own->data(), stored, source.size() * sizeof(T));
  std::fill(own->begin() + source.size(), own->end(), (*own)[source.size() - 1]);
  return own->data();
}

}  // namespace

Status check_stages(const char* what, const StageVector* stages, size_t channels) {
  QRT_MODEL_CHECK(length(stages) <= kMaxStages, "%s has %zu stages, expected at most %d", what,
                  length(stages), kMaxStages);
  for (uint32_t i = 0; i < length(stages); ++i)
    QRT_TRY(check_stage(what, *stages->Get(i), channels));
  return {};
}

Status check_tensor_stages(const char* what, const StageVector* stages) {
  QRT_MODEL_CHECK(length(stages) >= 1, "%s has no stages, expected 1 to %d", what, kMaxStages);
  return check_stages(what, stages, 1);
}

Status check_stages_keep_zero(const char* what, const StageVector* stages) {
  QRT_TRY(check_tensor_stages(what, stages));
  for (const fb::RequantStage* s : *stages)
    QRT_MODEL_CHECK(s->clip_lo() <= 0 && s->clip_hi() >= 0,
                    "%s clip limits are %d to %d, expected 0 within them", what, s->clip_lo(),
                    s->clip_hi());
  return Status();
}

Status check_int_requant(const fb::Requant* requant, DType output) {
  QRT_TRY(check_requant(requant, 1, /*allow_acc=*/false, output));
  QRT_MODEL_CHECK(requant->kind() == fb::RequantKind::INT,
                  "requant.kind is %d, this operator takes INT (2)",
                  static_cast<int>(requant->kind()));
  return {};
}

StageParams::StageParams(const StageVector* source) {
  for (uint32_t i = 0; i < length(source); ++i, ++count) {
    const fb::RequantStage& s = *source->Get(i);
    multiplier[i] = s.multiplier()->Get(0);
    shift[i] = s.shift()->Get(0);
    stages[i] = {&multiplier[i], &shift[i], static_cast<Round>(s.rounding()), s.clip_lo(),
                 s.clip_hi()};
  }
}

int64_t StageParams::bound(int64_t bound) const {
  for (int i = 0; i < count; ++i) bound = bound_of_clipped_stage(stages[i], bound);
  return bound;
}

Status check_requant(const fb::Requant* requant, size_t channels, bool allow_acc, DType output) {
  QRT_MODEL_CHECK(requant != nullptr, "requant is missing");
  const fb::Requant& r = *requant;
  QRT_MODEL_CHECK(r.kind() <= fb::RequantKind::INT, "requant.kind is %d, expected 0 to 2",
                  static_cast<int>(r.kind()));
  if (r.kind() == fb::RequantKind::ACC) {
    QRT_MODEL_CHECK(allow_acc, "requant.kind is ACC, which this operator does not have");
    return {};
  }
  const Limits limits = limits_of(output);
  QRT_MODEL_CHECK(r.lo() >= limits.lo && r.lo() <= r.hi() && r.hi() <= limits.hi,
                  "requant limits are %d to %d, expected a range within %d to %d", r.lo(), r.hi(),
                  limits.lo, limits.hi);
  QRT_MODEL_CHECK(r.kind() == fb::RequantKind::INT || output == DType::kUInt8,
                  "requant.kind is F32 and the output %s, expected INT or uint8",
                  dtype_name(output));
  return r.kind() == fb::RequantKind::F32 ? check_f32(r, channels) : check_int(r, channels, limits);
}

bool is_per_tensor(const fb::Requant& r) {
  if (r.kind() == fb::RequantKind::ACC) return false;
  if (r.kind() == fb::RequantKind::F32) return r.scale()->size() == 1;
  for (const fb::RequantStage* s : *r.stages())
    if (s->multiplier()->size() != 1) return false;
  return true;
}

uint64_t requant_bytes(const fb::Requant& r, size_t channels) {
  if (r.kind() == fb::RequantKind::ACC) return 0;
  // A scale of its own or of the float form; multiplier and shift of every stage; the affine fit.
  size_t each = sizeof(float);
  if (r.kind() == fb::RequantKind::INT)
    each += r.stages()->size() * (sizeof(int32_t) + sizeof(uint8_t)) + 2 * sizeof(float);
  return uint64_t{padded_channels(channels)} * each;
}

RequantParams make_requant(const fb::Requant& r, size_t channels, const uint8_t* file_end) {
  RequantParams p;
  p.requant.kind = static_cast<RequantKind>(r.kind());
  if (r.kind() == fb::RequantKind::ACC) return p;
  p.requant.round = static_cast<Round>(r.rounding());
  p.requant.zero_point = r.zero_point();
  p.requant.lo = r.lo();
  p.requant.hi = r.hi();
  if (r.kind() == fb::RequantKind::F32) {
    p.requant.zero_point_before = r.zero_point_before();
    p.requant.fused = r.fused();
    p.requant.offset = r.offset();
    p.requant.scale = for_each_channel(*r.scale(), channels, file_end, &p.scale);
    return p;
  }
  p.requant.stage_count = static_cast<int32_t>(r.stages()->size());
  for (uint32_t i = 0; i < r.stages()->size(); ++i) {
    const fb::RequantStage& s = *r.stages()->Get(i);
    p.requant.stages[i] = {for_each_channel(*s.multiplier(), channels, file_end, &p.multiplier[i]),
                           for_each_channel(*s.shift(), channels, file_end, &p.shift[i]),
                           static_cast<Round>(s.rounding()), s.clip_lo(), s.clip_hi()};
  }
  return p;
}

}  // namespace qrt
