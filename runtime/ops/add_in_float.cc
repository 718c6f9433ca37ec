// SPDX-License-Identifier: Apache-2.0
// Tries floats near the real factors of an integer add on the pairs of bytes whose real sum is close
// to a tie. For all other pairs, the float and the integer arithmetic round to the same side.
#include "runtime/ops/add_in_float.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "kernels/integer_build.h"
#include "kernels/stage_factor.h"
#include "runtime/op.h"

namespace qrt {
namespace {

constexpr size_t kBytes = 256;

// The integer terms of an operand, for each of its bytes in units of the output, and how far they are
// from their real line.
struct Terms {
  Terms(const RequantStage* stages, int32_t count, int32_t zero_point, int32_t left_shift,
        double unit, double slope) {
    for (size_t i = 0; i < kBytes; ++i) {
      const int64_t x = static_cast<int64_t>(i) - zero_point;
      const int64_t v = apply_stages(stages, count, x * (int64_t{1} << left_shift), 0);
      values[i] = static_cast<double>(v) * unit;
      error = std::max(error, std::fabs(values[i] - static_cast<double>(x) * slope));
    }
  }

  double values[kBytes], error = 0;
};

// Returns v less the greatest integer up to it, |v| < 2^62. On its own, std::floor would be a call.
double fraction(double v) {
  const double rest = v - static_cast<double>(static_cast<int64_t>(v));
  return rest < 0 ? rest + 1 : rest;
}

// Pairs of bytes, with what kernels may read behind them.
struct CodePairs {
  // Lists the pairs whose sum of terms is within `reach` of an integer and a half, and some more.
  CodePairs(const Terms& a_terms, const Terms& b_terms, double reach) {
    if (reach >= 0.5) {
      for (size_t i = 0; i < kBytes * kBytes; ++i) push(i / kBytes, i % kBytes);
    } else {
      // Sorts b into buckets by its fractions: bucket i, from first[i] on, has fractions from i / 256 on.
      size_t bucket[kBytes], first[kBytes + 1] = {}, next[kBytes], order[kBytes];
      for (size_t i = 0; i < kBytes; ++i) {
        bucket[i] = bucket_of(fraction(b_terms.values[i]));
        ++first[bucket[i] + 1];
      }
      for (size_t i = 0; i < kBytes; ++i) first[i + 1] += next[i] = first[i];
      for (size_t i = 0; i < kBytes; ++i) order[next[bucket[i]]++] = i;
      // The buckets within `reach`, and one more at each end, as rounding may move a fraction across a border.
      const size_t width = std::min(kBytes, static_cast<size_t>(2 * reach * kBytes) + 4);
      for (size_t i = 0; i < kBytes; ++i) {
        const size_t begin = bucket_of(fraction(0.5 - a_terms.values[i] - reach)) + kBytes - 1;
        for (size_t k = 0; k < width; ++k) {
          const size_t at = (begin + k) % kBytes;
          for (size_t j = first[at]; j < first[at + 1]; ++j) push(i, order[j]);
        }
      }
    }
    count = a.size();
    a.resize(count + kSlack);
    b.resize(count + kSlack);
  }

  static size_t bucket_of(double f) { return static_cast<size_t>(f * kBytes) % kBytes; }
  void push(size_t x, size_t y) {
    a.push_back(static_cast<uint8_t>(x));
    b.push_back(static_cast<uint8_t>(y));
  }

  PlanVector<uint8_t> a, b;
  size_t count;
};

// Constants near the real sum's: the rounding of the integer stages shifts it by about one of their units.
constexpr float kNudges[] = {0.0f, 0x1p-19f, -0x1p-19f, 0x1p-17f, -0x1p-17f, 0x1p-16f, -0x1p-16f};
constexpr int kTries = 9 * (sizeof(kNudges) / sizeof(kNudges[0]));
constexpr double kGreatestNudge = 0x1p-16;

// Returns the float nearest to v, or one beside it: 0, 1, 2.
float near(double v, int which) {
  const float nearest = static_cast<float>(v);
  return which == 0 ? nearest : std::nextafter(nearest, which == 1 ? INFINITY : -INFINITY);
}

}  // namespace

bool add_in_float(const AddIntParams& p, const ElementwiseKernel& kernel, AddParams* add) {
  if (is_integer_build()) return false;
  const Requant& r = p.requant;
  const double unit = factor_of_stages(r.stages, r.stage_count), b_unit = p.subtract ? -unit : unit;
  const double scale = std::ldexp(unit, p.left_shift);
  const double a_scale = scale * factor_of_stages(p.a_stages, p.a_stage_count);
  const double b_scale =
      scale * factor_of_stages(p.b_stages, p.b_stage_count) * (p.subtract ? -1 : 1);
  // Operands and output less 128: the smaller the numbers, the finer float32 is.
  constexpr int32_t kMiddle = 128;
  const double constant = (kMiddle - p.a_zero_point) * a_scale +
                          (kMiddle - p.b_zero_point) * b_scale + r.zero_point - kMiddle;
  if (!(std::fabs(a_scale) + std::fabs(b_scale) < 1024)) return false;

  const Terms a(p.a_stages, p.a_stage_count, p.a_zero_point, p.left_shift, unit, a_scale);
  const Terms b(p.b_stages, p.b_stage_count, p.b_zero_point, p.left_shift, b_unit, b_scale);
  // The float sums err by scales that are up to three halves of a last place off, four roundings and
  // the constant's two, each of at most 2^-24 of the greatest value; 2^-20 are 16 of those.
  const double greatest =
      kMiddle * (std::fabs(a_scale) + std::fabs(b_scale)) + std::fabs(constant) + 1;
  const double reach = kGreatestNudge + 0x1p-20 * greatest + a.error + b.error + error_of_stages(r);
  const CodePairs pairs(a, b, reach);

  PlanVector<uint8_t> want(pairs.count), got(pairs.count);
  kernel.add_int(p, {pairs.a.data(), pairs.b.data(), false, false, want.data(), pairs.count});
  for (int i = 0; i < kTries; ++i) {
    *add = {near(a_scale, i % 3),
            near(b_scale, i / 3 % 3),
            static_cast<float>(constant) + kNudges[i / 9],
            false,
            true,
            -kMiddle,
            -kMiddle,
            kMiddle,
            r.lo,
            r.hi};
    kernel.add(*add, {pairs.a.data(), pairs.b.data(), false, false, got.data(), pairs.count});
    if (got == want) return true;
  }
  return false;
}

}  // namespace qrt
