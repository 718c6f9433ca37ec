// SPDX-License-Identifier: Apache-2.0
// Tries the real scale and scales next to it on all 65,536 pairs of bytes. Most give the same bytes
// as the integers; a scale fails where its roundings move a product across a tie.
#include "runtime/ops/mul_in_float.h"

#include <cmath>
#include <cstring>

#include "kernels/stage_factor.h"
#include "runtime/op.h"

namespace qrt {
namespace {

// A call multiplies all bytes of b by so many bytes of a.
constexpr size_t kBytes = 256, kValues = 16;
constexpr size_t kPairs = kBytes * kValues;
constexpr int kTries = 7;

struct CodePairs {
  CodePairs() {
    for (size_t i = 0; i < kPairs; ++i) b[i] = static_cast<uint8_t>(i % kBytes);
  }
  alignas(kAlignment) uint8_t a[kPairs + kSlack], b[kPairs + kSlack], want[kPairs], got[kPairs];
};

bool serves(const MulParams& params, const ElementwiseKernel& kernel,
            const ScaledProductKernel& cheaper, const ScaledProduct& product, CodePairs* pairs) {
  uint8_t *a = pairs->a, *b = pairs->b;
  for (size_t value = 0; value < kBytes; value += kValues) {
    for (size_t i = 0; i < kValues; ++i)
      memset(a + i * kBytes, static_cast<int>(value + i), kBytes);
    kernel.mul(params, {a, b, false, false, pairs->want, kPairs});
    cheaper.run(product, {a, b, false, false, pairs->got, kPairs, 1, 0, 0, 0});
    if (memcmp(pairs->want, pairs->got, kPairs) != 0) return false;
    // Multiplies all rows of a by the one row of b.
    cheaper.run(product, {a, b, false, false, pairs->got, kBytes, kValues, kBytes, 0, kBytes});
    if (memcmp(pairs->want, pairs->got, kPairs) != 0) return false;
  }
  return true;
}

}  // namespace

bool mul_in_float(const MulParams& params, const ElementwiseKernel& kernel,
                  const ScaledProductKernel& cheaper, ScaledProduct* product) {
  const Requant& r = params.requant;
  const bool is_float = r.kind == RequantKind::kF32;
  const float scale =
      is_float ? *r.scale : static_cast<float>(factor_of_stages(r.stages, r.stage_count));
  // Sums have to leave the upper half of 1.5 * 2^23 alone.
  if (!(scale < 0.49f)) return false;
  constexpr float kRounder = 0x1.8p23f;
  const int32_t more = r.zero_point + (is_float && r.zero_point_before ? r.offset : 0);
  CodePairs pairs;
  float above = scale, below = scale;
  for (int i = 0; i < kTries; ++i) {
    const bool up = i % 2 == 1;
    if (i > 0) (up ? above : below) = std::nextafter(up ? above : below, up ? 1.0f : 0.0f);
    *product = {params.a_zero_point,        params.b_zero_point,
                up ? above : below,         kRounder + static_cast<float>(more),
                static_cast<uint8_t>(r.lo), static_cast<uint8_t>(r.hi)};
    if (serves(params, kernel, cheaper, *product, &pairs)) return true;
  }
  return false;
}

}  // namespace qrt
