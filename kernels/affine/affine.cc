#include "kernels/affine/affine.h"

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
// single chain would wait for each of its additions and comparisons.
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

namespace {

// Whether channel c has the constants of the one before it. REQUIRES: kind kInt.
bool is_repeated(const Requant& r, size_t c) {
  for (int i = 0; i < r.stage_count; ++i) {
    const RequantStage& s = r.stages[i];
    if (s.multiplier[c] != s.multiplier[c - 1] || s.shift[c] != s.shift[c - 1]) return false;
  }
  return true;
}

const AffineKernel* select_affine(IsaSet isas) {
  size_t count;
  const AffineKernel* const kernels = affine_kernels(&count);
  for (size_t i = 0; i < count; ++i)
    if (has(isas, kernels[i].isa)) return &kernels[i];
  return nullptr;
}

// Channels until they are a block.
class Search {
 public:
  Search(const AffineKernel& kernel, const Requant& r, float* slope, float* intercept)
      : kernel_(kernel), r_(r), slope_(slope), intercept_(intercept) {}

  bool add(size_t c, const Exact& exact) {
    block_.multiplier[count_] = static_cast<int32_t>(exact.multiplier);
    block_.shift[count_] = exact.shift;
    block_.addend[count_] = exact.addend;
    channel_[count_] = c;
    return ++count_ < kAffineChannels || finish();
  }

  // False: a channel has none.
  bool finish() {
    for (size_t i = count_; i < kAffineChannels && count_ > 0; ++i) {
      block_.multiplier[i] = block_.multiplier[0];
      block_.shift[i] = block_.shift[0];
      block_.addend[i] = block_.addend[0];
    }
    float slope[kAffineChannels], intercept[kAffineChannels];
    const uint32_t fits = count_ > 0 ? kernel_.fn(block_, slope, intercept) : 0;
    for (size_t i = 0; i < count_; ++i) {
      const size_t c = channel_[i];
      if ((fits >> i & 1) != 0)
        slope_[c] = slope[i], intercept_[c] = intercept[i];
      else if (!requant_affine(r_, c, &slope_[c], &intercept_[c]))
        return false;
    }
    count_ = 0;
    return true;
  }

 private:
  const AffineKernel& kernel_;
  const Requant& r_;
  float *const slope_, *const intercept_;
  AffineBlock block_;
  size_t channel_[kAffineChannels], count_ = 0;
};

}  // namespace

bool requant_affine_fits(IsaSet isas, const Requant& r, size_t channels, float* slope,
                         float* intercept) {
  const AffineKernel* const kernel = select_affine(isas);
  if (kernel == nullptr) {
    for (size_t c = 0; c < channels; ++c)
      if (!requant_affine(r, c, &slope[c], &intercept[c])) return false;
    return true;
  }
  Search search(*kernel, r, slope, intercept);
  for (size_t c = 0; c < channels; ++c) {
    Exact exact;
    if (c > 0 && is_repeated(r, c)) continue;
    if (!as_exact(r, c, &exact)) return false;
    if (exact.multiplier == 0)
      slope[c] = intercept[c] = 0;
    else if (!search.add(c, exact))
      return false;
  }
  if (!search.finish()) return false;
  for (size_t c = 1; c < channels; ++c)
    if (is_repeated(r, c)) slope[c] = slope[c - 1], intercept[c] = intercept[c - 1];
  return true;
}

}  // namespace qrt
