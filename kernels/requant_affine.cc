#include "kernels/requant_affine.h"

#include <algorithm>
#include <cmath>

namespace qrt {
namespace {

constexpr int kOutputs = 255;  // beside 0
constexpr int kMaxShift = 10;  // beyond, float32 is too coarse to meet the thresholds

// y = floor((acc * multiplier + addend) / 2^shift) for acc >= 0, at most 0 below.
struct Exact {
  int64_t multiplier, addend;
  int shift;
};

bool as_exact(const Requant& r, size_t c, Exact* exact) {
  if (!is_fixed_point(r) || r.zero_point != 0 || r.lo != 0 || r.hi != 255) return false;
  const RequantStage &first = r.stages[0], &second = r.stages[1];
  const bool two = r.stage_count == 2;
  if (two && (first.shift[c] != 31 || second.multiplier[c] != 1)) return false;
  exact->multiplier = first.multiplier[c];
  exact->shift = first.shift[c] + (two ? second.shift[c] : 0);
  if (exact->shift < 32 || exact->shift > 31 + kMaxShift) return false;
  exact->addend = (int64_t{1} << (exact->shift - 1)) + (two ? int64_t{1} << 30 : 0);
  return exact->multiplier == 0 || exact->multiplier >= int64_t{1} << 30;
}

// Where the output rises, in kChains dependency chains, each one output ahead of the one before: a
// session looks for thousands of fits, and a single chain would wait for each of its additions and
// comparisons.
constexpr int kChains = 4, kRounds = (kOutputs + kChains - 1) / kChains;
struct Thresholds {
  double at[kRounds][kChains];  // of output 1 + kChains * round + chain
};

// The smallest accumulators with these outputs: ceil((k * 2^shift - addend) / multiplier).
void find_thresholds(const Exact& exact, Thresholds* thresholds) {
  const int64_t m = exact.multiplier, whole = int64_t{1} << exact.shift;
  const int64_t advance = kChains * whole / m, rest_advance = kChains * whole % m;
  int64_t t[kChains], rest[kChains];
  for (int j = 0; j < kChains; ++j) {
    const int64_t first = (j + 1) * whole - exact.addend + m - 1;
    t[j] = first / m;
    rest[j] = first % m;
  }
  for (auto& round : thresholds->at) {
    for (int j = 0; j < kChains; ++j) {
      round[j] = static_cast<double>(t[j]);
      rest[j] += rest_advance;
      const bool carries = rest[j] >= m;
      t[j] += advance + carries;
      rest[j] -= carries ? m : 0;
    }
  }
}

// Every product and difference here is exact in double: thresholds have 19 bits, slopes 24. The last
// round holds that of 256, too, which no output shows; a fit keeps it as well.
bool find_intercept(const Thresholds& thresholds, float slope, float* intercept) {
  const double a = static_cast<double>(slope);
  double least[kChains], most[kChains];  // of the intercept
  for (int j = 0; j < kChains; ++j) least[j] = most[j] = j + 1 - a * thresholds.at[0][j];
  double k = 1;
  for (const auto& round : thresholds.at) {
    for (int j = 0; j < kChains; ++j) {
      const double v = k + j - a * round[j];
      least[j] = v > least[j] ? v : least[j];
      most[j] = v < most[j] ? v : most[j];
    }
    k += kChains;
  }
  for (int j = 1; j < kChains; ++j) {
    least[0] = least[j] > least[0] ? least[j] : least[0];
    most[0] = most[j] < most[0] ? most[j] : most[0];
  }
  most[0] += a;
  *intercept = static_cast<float>((least[0] + most[0]) / 2);
  const double b = static_cast<double>(*intercept);
  return b >= least[0] && b < most[0];
}

// The same without the thresholds, for most slopes: with the real factor multiplier / 2^shift,
// k - factor * T(k) is (addend - rest(k)) / 2^shift, where rest(k) = T(k) * multiplier + addend -
// k * 2^shift, in 0..multiplier-1, falls by a constant modulo the multiplier; what the slope is
// beside the factor moves that by at most as much times T(256). False: the intercept's bounds found
// so leave none. All of it is exact: multiples of 2^-41 below 2.
bool find_intercept_by_rests(const Exact& exact, float slope, float* intercept) {
  constexpr int kRests = 16;  // at a time
  const int32_t m = static_cast<int32_t>(exact.multiplier);
  const int64_t whole = int64_t{1} << exact.shift;
  const int32_t fall = static_cast<int32_t>(whole % m);
  const int32_t falls = static_cast<int32_t>(int64_t{kRests} * fall % m);
  const auto next = [m](int32_t rest, int32_t by) {
    rest -= by;
    return rest + (rest < 0 ? m : 0);
  };
  int32_t rest[kRests];
  float least[kRests], most[kRests];  // rounded: within kRounding
  constexpr int32_t kRounding = 64;
  rest[0] = m - 1 - static_cast<int32_t>((whole - exact.addend + m - 1) % m);
  for (int j = 1; j < kRests; ++j) rest[j] = next(rest[j - 1], fall);
  for (int j = 0; j < kRests; ++j) least[j] = most[j] = static_cast<float>(rest[j]);
  for (int i = kRests; i <= kOutputs; i += kRests) {
    for (int j = 0; j < kRests; ++j) {
      rest[j] = next(rest[j], falls);
      const float v = static_cast<float>(rest[j]);
      least[j] = v < least[j] ? v : least[j];
      most[j] = v > most[j] ? v : most[j];
    }
  }
  const int64_t smallest =
      static_cast<int64_t>(*std::min_element(least, least + kRests)) - kRounding;
  const int64_t greatest = static_cast<int64_t>(*std::max_element(most, most + kRests)) + kRounding;
  const double unit = 1 / static_cast<double>(whole), a = static_cast<double>(slope);
  const double last = static_cast<double>((kOutputs + 1) * whole / m + 1);
  const double drift = (a - static_cast<double>(m) * unit) * last;
  const double low = static_cast<double>(exact.addend - smallest) * unit + std::max(0.0, -drift);
  const double high =
      static_cast<double>(exact.addend - greatest) * unit + std::min(0.0, -drift) + a;
  *intercept = static_cast<float>((low + high) / 2);
  const double b = static_cast<double>(*intercept);
  return b >= low && b < high;
}

}  // namespace

bool requant_affine(const Requant& r, size_t c, float* slope, float* intercept) {
  Exact exact;
  if (kIntegerOnly || !as_exact(r, c, &exact)) return false;
  if (exact.multiplier == 0) {
    *slope = *intercept = 0;
    return true;
  }
  const float nearest =
      static_cast<float>(exact.multiplier) / static_cast<float>(int64_t{1} << exact.shift);
  if (find_intercept_by_rests(exact, nearest, intercept)) {
    *slope = nearest;
    return true;
  }
  Thresholds thresholds;
  find_thresholds(exact, &thresholds);
  const float slopes[] = {nearest, std::nextafter(nearest, 1.0f), std::nextafter(nearest, 0.0f)};
  for (float a : slopes) {
    if (!find_intercept(thresholds, a, intercept)) continue;
    *slope = a;
    return true;
  }
  return false;
}

}  // namespace qrt
