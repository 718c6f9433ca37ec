// SPDX-License-Identifier: Apache-2.0
#include "kernels/affine/affine.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <iterator>

namespace qrt {
namespace {

constexpr int kOutputs = 255;  // beside 0
constexpr int kMaxShift = 10;  // beyond, float32 is too coarse to meet the thresholds

// Returns the rounding constant of the first of two stages; `addend` contains it beside half a unit
// of the last stage.
int32_t extra_of(const Requant& r) { return r.stage_count == 2 ? 1 << 30 : 0; }

bool is_tried(const Requant& r) {
  return is_fixed_point(r) && r.zero_point == 0 && r.lo == 0 && r.hi == 255;
}

// Reads `count` channels from c on. Returns false where a shift is out of range, or where two
// stages are not half up by 2^31 and then half away.
bool read_channels(const Requant& r, size_t c, size_t count, int32_t* multiplier, int32_t* shift) {
  const RequantStage &first = r.stages[0], &second = r.stages[1];
  bool serves = true;
  for (size_t i = 0; i < count; ++i) {
    multiplier[i] = first.multiplier[c + i];
    shift[i] = first.shift[c + i];
  }
  for (size_t i = 0; i < count && r.stage_count == 2; ++i) {
    serves &= shift[i] == 31 && second.multiplier[c + i] == 1;
    shift[i] += second.shift[c + i];
  }
  for (size_t i = 0; i < count; ++i) {
    serves &= shift[i] >= 32 && shift[i] <= 31 + kMaxShift;
    serves &= multiplier[i] == 0 || multiplier[i] >= 1 << 30;
  }
  return serves;
}

// y = floor((acc * multiplier + addend) / 2^shift) for acc >= 0, at most 0 below.
struct Exact {
  int64_t multiplier, addend;
  int shift;
};

// The accumulators at which the output rises, in kChains dependency chains, each one output ahead
// of its neighbour: a single chain would wait for each of its additions and comparisons.
constexpr int kChains = 4, kRounds = (kOutputs + kChains - 1) / kChains;
struct Thresholds {
  double at[kRounds][kChains];  // of output 1 + kChains * round + chain
};

// Computes the smallest accumulators with these outputs: ceil((k * 2^shift - addend) / multiplier).
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

// Finds an intercept with which the slope meets all thresholds. Every product and difference is
// exact in double: thresholds have 19 bits, slopes 24. The last round holds the threshold of 256,
// too, which no output shows; a fit keeps that as well.
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
  int32_t multiplier, shift;
  if (kIntegerOnly || !is_tried(r) || !read_channels(r, c, 1, &multiplier, &shift)) return false;
  if (multiplier == 0) {
    *slope = *intercept = 0;
    return true;
  }
  const Exact exact = {multiplier, (int64_t{1} << (shift - 1)) + extra_of(r), shift};
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

const AffineKernel* select_affine(IsaSet isas) {
  size_t count;
  const AffineKernel* const kernels = affine_kernels(&count);
  for (size_t i = 0; i < count; ++i)
    if (has(isas, kernels[i].isa)) return &kernels[i];
  return nullptr;
}

bool is_same(const AffineBlock& a, const AffineBlock& b) {
  return memcmp(a.multiplier, b.multiplier, sizeof a.multiplier) == 0 &&
         memcmp(a.shift, b.shift, sizeof a.shift) == 0;
}

// Fits `count` channels from c on. Returns false where one of them has no fit.
bool find_block(const AffineKernel& kernel, const Requant& r, size_t c, size_t count,
                const AffineBlock& channels, float* slope, float* intercept) {
  AffineBlock block = channels;
  for (int32_t& m : block.multiplier) m = m == 0 ? 1 << 30 : m;
  const uint32_t fits = kernel.fn(block, slope, intercept);
  for (size_t i = 0; i < count; ++i) {
    const bool fit = channels.multiplier[i] != 0 && (fits >> i & 1) != 0;
    if (!fit && !requant_affine(r, c + i, &slope[i], &intercept[i])) return false;
  }
  return true;
}

}  // namespace

bool requant_affine_fits(IsaSet isas, const Requant& r, size_t channels, float* slope,
                         float* intercept) {
  const AffineKernel* const kernel = select_affine(isas);
  if (kernel == nullptr) {
    for (size_t c = 0; c < channels; ++c)
      if (!requant_affine(r, c, &slope[c], &intercept[c])) return false;
    return true;
  }
  if (!is_tried(r)) return false;
  // A block of the same channels as the one before it has the same fits.
  AffineBlock last = {};
  float slopes[kAffineChannels] = {}, intercepts[kAffineChannels] = {};
  for (size_t c = 0; c < channels; c += kAffineChannels) {
    AffineBlock block;
    block.extra = extra_of(r);
    const size_t count = std::min(channels - c, kAffineChannels);
    if (!read_channels(r, c, count, block.multiplier, block.shift)) return false;
    std::fill(block.multiplier + count, std::end(block.multiplier), block.multiplier[0]);
    std::fill(block.shift + count, std::end(block.shift), block.shift[0]);
    if (!is_same(block, last) && !find_block(*kernel, r, c, count, block, slopes, intercepts))
      return false;
    std::copy_n(slopes, count, slope + c);
    std::copy_n(intercepts, count, intercept + c);
    last = block;
  }
  return true;
}

}  // namespace qrt
