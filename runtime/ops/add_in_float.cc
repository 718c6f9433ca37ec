// Tries floats near the real factors of an integer add on all pairs of bytes.
#include "runtime/ops/add_in_float.h"

#include <cmath>
#include <cstring>
#include <vector>

#include "runtime/float_env.h"

namespace qrt {
namespace {

constexpr size_t kPairs = 65536, kPart = 4096;

// The product of the stages' factors.
double factor(const RequantStage* stages, int32_t count) {
  double f = 1;
  for (int32_t i = 0; i < count; ++i)
    f *= std::ldexp(static_cast<double>(stages[i].multiplier[0]), -stages[i].shift[0]);
  return f;
}

// Near the real sum: what the integer stages round off moves it by about a unit of theirs.
constexpr float kNudges[] = {0.0f, 0x1p-19f, -0x1p-19f, 0x1p-17f, -0x1p-17f, 0x1p-16f, -0x1p-16f};

}  // namespace

bool add_in_float(const AddIntParams& p, const ElementwiseKernel& kernel, AddParams* add) {
  if (kIntegerOnly) return false;
  const Requant& r = p.requant;
  const double scale = std::ldexp(factor(r.stages, r.stage_count), p.left_shift);
  const double a_scale = scale * factor(p.a_stages, p.a_stage_count);
  const double b_scale = scale * factor(p.b_stages, p.b_stage_count) * (p.subtract ? -1 : 1);
  // Operands and output less 128: the smaller the numbers, the finer float32 is.
  constexpr int32_t kMiddle = 128;
  const double constant = (kMiddle - p.a_zero_point) * a_scale +
                          (kMiddle - p.b_zero_point) * b_scale + r.zero_point - kMiddle;
  if (!(std::fabs(a_scale) + std::fabs(b_scale) < 1024)) return false;

  std::vector<uint8_t> bytes(3 * kPairs);
  uint8_t *a = bytes.data(), *b = a + kPairs, *want = b + kPairs;
  for (size_t i = 0; i < kPairs; ++i) {
    a[i] = static_cast<uint8_t>(i / 256);
    b[i] = static_cast<uint8_t>(i);
  }
  const ScopedFloatEnv environment;
  kernel.add_int(p, {a, b, false, false, want, kPairs});
  for (float nudge : kNudges) {
    *add = {static_cast<float>(a_scale),
            static_cast<float>(b_scale),
            static_cast<float>(constant) + nudge,
            false,
            true,
            -kMiddle,
            -kMiddle,
            kMiddle,
            r.lo,
            r.hi};
    bool equal = true;
    for (size_t i = 0; equal && i < kPairs; i += kPart) {
      uint8_t got[kPart];
      kernel.add(*add, {a + i, b + i, false, false, got, kPart});
      equal = std::memcmp(got, want + i, kPart) == 0;
    }
    if (equal) return true;
  }
  return false;
}

}  // namespace qrt
