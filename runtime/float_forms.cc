// SPDX-License-Identifier: Apache-2.0
#include "runtime/float_forms.h"

#include <algorithm>
#include <map>
#include <utility>

#include "kernels/affine/affine.h"
#include "kernels/edge/numbers.h"
#include "kernels/requant_float.h"

namespace qrt {
namespace {

constexpr size_t kMostTerms = size_t{1} << 16;  // of at most 255 * 128: beyond, sums leave int32

// Returns the least and the greatest sum that channel c can have; the whole range of int32 where nothing bounds it.
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

// Finds the scale that requant_float() gives each channel, and the last channel's once more behind
// them. A channel whose factor has no scale for all sums of int32, such as a dead one, gets one for
// the sums that it can have. Returns false where a channel has none. REQUIRES: kind kInt, one stage.
bool float_scales(const Requant& r, size_t channels, const Sums* sums, PlanVector<float>* scale) {
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

// Moves the zero point into the bias of every channel (moved_zero_point()). Returns false where a
// channel has no such bias, or its sums might leave int32.
bool moved_biases(const Requant& r, size_t channels, const Sums& sums, PlanVector<int32_t>* moved) {
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
  PlanVector<float> scale(padded_channels(channels));
  const bool moves = !float_scales(r, channels, sums, &scale);
  if (moves) {
    PlanVector<int32_t> moved;
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
  PlanVector<float> slope(padded_channels(channels)), intercept(slope.size());
  if (!requant_affine_fits(isas, r, channels, slope.data(), intercept.data())) return;
  params->slope = std::move(slope);
  params->intercept = std::move(intercept);
  r.slope = params->slope.data();
  r.intercept = params->intercept.data();
}

}  // namespace qrt
