// SPDX-License-Identifier: Apache-2.0
#include "kernels/requant_float.h"

#include <cmath>

namespace qrt {
namespace {

// Returns whether acc * scale in float32, rounded half to even, is at least k.
bool reaches(int64_t acc, float scale, int32_t k) {
  const float v = static_cast<float>(acc) * scale, tie = static_cast<float>(k) - 0.5f;
  return v > tie || (v == tie && k % 2 == 0);
}

int64_t ceil_div(int64_t a, int64_t b) { return a / b + (a % b > 0); }

// The smallest accumulator whose stage gives at least k; shift at most kMaxShift.
constexpr int kMaxShift = 48;
int64_t threshold(int64_t multiplier, int shift, Round round, int64_t k) {
  if (shift == 0) return ceil_div(k, multiplier);
  if (round == Round::kFloor) return ceil_div(k * (int64_t{1} << shift), multiplier);
  const int64_t tie = (2 * k - 1) * (int64_t{1} << (shift - 1));
  const int64_t t = ceil_div(tie, multiplier);
  if (t * multiplier != tie) return t;
  const bool up = round == Round::kHalfUp || (round == Round::kHalfEven && k % 2 == 0) ||
                  (round == Round::kHalfAway && k > 0);
  return up ? t : t + 1;
}

// Returns whether `scale` gives the bytes of `r` for channel c. Both functions rise with the
// accumulator, so it is enough to compare the accumulators at which each output begins.
bool serves(const Requant& r, size_t c, const SumRange& range, float scale) {
  const int64_t least = range.least, most = range.most;
  const RequantStage& s = r.stages[0];
  for (int32_t k = r.lo - r.zero_point + 1; k <= r.hi - r.zero_point; ++k) {
    const int64_t t = threshold(s.multiplier[c], s.shift[c], s.round, k);
    if (t <= most && !reaches(t < least ? least : t, scale, k)) return false;
    if (t > least && reaches(t > most ? most : t - 1, scale, k)) return false;
  }
  return true;
}

}  // namespace

bool requant_float(const Requant& r, size_t c, const SumRange& range, float* scale) {
  if (kIntegerOnly || r.kind != RequantKind::kInt || r.stage_count != 1) return false;
  const RequantStage& s = r.stages[0];
  const int32_t m = s.multiplier[c];
  if (m <= 0 || static_cast<int64_t>(static_cast<float>(m)) != m) return false;
  if (s.shift[c] > kMaxShift || s.clip_lo != INT32_MIN || s.clip_hi != INT32_MAX) return false;
  const float exact = std::ldexp(static_cast<float>(m), -s.shift[c]);
  // The next one lifts ties above 0 over the edge, as half up does.
  const float candidates[] = {exact, std::nextafter(exact, HUGE_VALF)};
  for (const float candidate : candidates) {
    if (!serves(r, c, range, candidate)) continue;
    *scale = candidate;
    return true;
  }
  return false;
}

bool moved_zero_point(const Requant& r, size_t c, int32_t* addend) {
  if (r.kind != RequantKind::kInt || r.stage_count != 1 || r.zero_point < 0) return false;
  const RequantStage& s = r.stages[0];
  // The even one of a tie's two neighbours must stay even.
  const bool moves =
      s.round == Round::kHalfUp || (s.round == Round::kHalfEven && r.zero_point % 2 == 0);
  if (!moves || s.multiplier[c] <= 0 || s.shift[c] > kMaxShift) return false;
  const int64_t whole = r.zero_point * (int64_t{1} << s.shift[c]), moved = whole / s.multiplier[c];
  *addend = static_cast<int32_t>(moved);
  return whole % s.multiplier[c] == 0 && moved <= INT32_MAX;
}

}  // namespace qrt
