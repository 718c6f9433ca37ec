// Checks and expands fb::Requant.
#include "runtime/requant_params.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <utility>

#include "kernels/affine/affine.h"
#include "kernels/edge/numbers.h"
#include "kernels/requant_float.h"
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
  // Thousands of channels in every session: asked one by one only where one is known to be wrong.
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

// Kernels read whole registers of up to 64 channels from any multiple of 16 on, and go by all values
// of 16 channels, be they real or not.
constexpr size_t kRegister = 16;
size_t padded(size_t channels) { return round_up(channels, kRegister) + 64 - kRegister; }

// One value per channel and, beyond the last, copies of it; in the file, or else in `own`.
template <class T, class Vector>
const T* spread(const Vector& source, size_t channels, const uint8_t* file_end,
                std::vector<T>* own) {
  static_assert(sizeof(T) == sizeof(source.Get(0)));
  const uint8_t* const stored = source.Data();
  const size_t bytes = padded(channels) * sizeof(T);
  if (file_end != nullptr && source.size() == channels && channels % kRegister == 0 &&
      bytes <= static_cast<size_t>(file_end - stored))
    return reinterpret_cast<const T*>(stored);
  own->resize(padded(channels));
  memcpy(own->data(), stored, source.size() * sizeof(T));
  std::fill(own->begin() + source.size(), own->end(), (*own)[source.size() - 1]);
  return own->data();
}

constexpr size_t kMostTerms = size_t{1} << 16;  // of at most 255 * 128: beyond, sums leave int32

// Of the sums that take the requantisation of channel c.
SumRange range_of(const Sums* sums, size_t channels, size_t c) {
  if (sums == nullptr || sums->terms >= kMostTerms) return {};
  const int64_t reach = static_cast<int64_t>(sums->terms) * 255 * 128;
  int64_t least = INT64_MAX, most = INT64_MIN;
  for (size_t i = c; i < sums->bias->size(); i += channels) {
    const int64_t bias = (*sums->bias)[i];
    least = std::min(least, bias - reach);
    most = std::max(most, bias + reach);
  }
  if (least < INT32_MIN || most > INT32_MAX) return {};
  return {static_cast<int32_t>(least), static_cast<int32_t>(most)};
}

// requant_float() of every channel, and of the last one behind it; of channels whose factor has no
// scale for all of int32, as those of dead channels have not, for the sums that they can have.
// REQUIRES: kind kInt, one stage.
bool float_scales(const Requant& r, size_t channels, const Sums* sums, std::vector<float>* scale) {
  const RequantStage& s = r.stages[0];
  // Scales that are powers of two are few, and each is looked for at length. 0: there is none.
  std::map<std::pair<int32_t, int>, float> known;
  for (size_t c = 0; c < channels; ++c) {
    const auto [found, is_new] = known.try_emplace({s.multiplier[c], s.shift[c]}, 0.0f);
    if (is_new && !requant_float(r, c, {}, &found->second)) found->second = 0;
    (*scale)[c] = found->second;
    if (found->second != 0) continue;
    const SumRange range = range_of(sums, channels, c);
    if (!requant_float(r, c, range, &(*scale)[c])) return false;
  }
  std::fill(scale->begin() + static_cast<ptrdiff_t>(channels), scale->end(),
            (*scale)[channels - 1]);
  return true;
}

// moved_zero_point() of every channel's sums, none of which may leave int32.
bool moved_biases(const Requant& r, size_t channels, const Sums& sums,
                  std::vector<int32_t>* moved) {
  if (sums.terms >= kMostTerms) return false;
  const int64_t reach = static_cast<int64_t>(sums.terms) * 255 * 128;
  for (size_t i = 0; i < sums.bias->size(); ++i) {
    const int64_t bias = (*sums.bias)[i];
    int32_t addend;
    if (!moved_zero_point(r, i % channels, &addend)) return false;
    if (bias - reach < INT32_MIN || bias + reach + addend > INT32_MAX) return false;
    moved->push_back(static_cast<int32_t>(bias + addend));
  }
  return true;
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
  return uint64_t{padded(channels)} * each;
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
    p.requant.scale = spread(*r.scale(), channels, file_end, &p.scale);
    return p;
  }
  p.requant.stage_count = static_cast<int32_t>(r.stages()->size());
  for (uint32_t i = 0; i < r.stages()->size(); ++i) {
    const fb::RequantStage& s = *r.stages()->Get(i);
    p.requant.stages[i] = {spread(*s.multiplier(), channels, file_end, &p.multiplier[i]),
                           spread(*s.shift(), channels, file_end, &p.shift[i]),
                           static_cast<Round>(s.rounding()), s.clip_lo(), s.clip_hi()};
  }
  return p;
}

bool find_float_form(size_t channels, RequantParams* params, const Sums* sums) {
  Requant& r = params->requant;
  if (r.kind != RequantKind::kInt) return false;
  RequantStage& last = r.stages[r.stage_count - 1];
  const int64_t zero_point = r.zero_point, lo = r.lo, hi = r.hi;
  r.lo = static_cast<int32_t>(clamp_int(zero_point + last.clip_lo, lo, hi));
  r.hi = static_cast<int32_t>(clamp_int(zero_point + last.clip_hi, lo, hi));
  last.clip_lo = INT32_MIN;
  last.clip_hi = INT32_MAX;
  if (r.stage_count != 1) return false;
  std::vector<float> scale(padded(channels));
  const bool moves = !float_scales(r, channels, sums, &scale);
  if (moves) {
    std::vector<int32_t> moved;
    if (sums == nullptr || !moved_biases(r, channels, *sums, &moved)) return false;
    Requant from_zero = r;
    from_zero.zero_point = 0;
    const Sums moved_sums = {&moved, sums->terms};
    if (!float_scales(from_zero, channels, &moved_sums, &scale)) return false;
    *sums->bias = std::move(moved);
    r.zero_point = 0;
  }
  r.kind = RequantKind::kF32;
  r.round = Round::kHalfEven;
  r.stage_count = 0;
  r.stages[0] = {};
  params->multiplier[0] = {};
  params->shift[0] = {};
  params->scale = std::move(scale);
  r.scale = params->scale.data();
  return moves;
}

bool may_fit(size_t outputs, IsaSet isas) {
  constexpr size_t kFewOutputs = 128;
  return has(isas, Isa::kAvx512Vnni) && outputs >= kFewOutputs;
}

void find_affine_fits(size_t channels, IsaSet isas, RequantParams* params) {
  Requant& r = params->requant;
  std::vector<float> slope(padded(channels)), intercept(slope.size());
  if (!requant_affine_fits(isas, r, channels, slope.data(), intercept.data())) return;
  params->slope = std::move(slope);
  params->intercept = std::move(intercept);
  r.slope = params->slope.data();
  r.intercept = params->intercept.data();
}

}  // namespace qrt
