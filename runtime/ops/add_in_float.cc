// Tries floats near the real factors of an integer add on all pairs of bytes.
#include "runtime/ops/add_in_float.h"

#include <cmath>
#include <cstring>
#include <vector>

#include "kernels/integer_build.h"
#include "runtime/float_env.h"

namespace qrt {
namespace {

constexpr size_t kPairLutEntries = 65536, kPart = 4096;

// The product of the stages' factors.
double factor(const RequantStage* stages, int32_t count) {
  double f = 1;
  for (int32_t i = 0; i < count; ++i)
    f *= std::ldexp(static_cast<double>(stages[i].multiplier[0]), -stages[i].shift[0]);
  return f;
}

// Near the real sum: what the integer stages round off moves it by about a unit of theirs.
constexpr float kNudges[] = {0.0f, 0x1p-19f, -0x1p-19f, 0x1p-17f, -0x1p-17f, 0x1p-16f, -0x1p-16f};
constexpr int kTries = 9 * (sizeof(kNudges) / sizeof(kNudges[0]));

// The float nearest to v, or one beside it: 0, 1, 2.
float near(double v, int which) {
  const float nearest = static_cast<float>(v);
  return which == 0 ? nearest : std::nextafter(nearest, which == 1 ? INFINITY : -INFINITY);
}

}  // namespace

bool add_in_float(const AddIntParams& p, const ElementwiseKernel& kernel, AddParams* add) {
  if (is_integer_build()) return false;
  const Requant& r = p.requant;
  const double scale = std::ldexp(factor(r.stages, r.stage_count), p.left_shift);
  const double a_scale = scale * factor(p.a_stages, p.a_stage_count);
  const double b_scale = scale * factor(p.b_stages, p.b_stage_count) * (p.subtract ? -1 : 1);
  // Operands and output less 128: the smaller the numbers, the finer float32 is.
  constexpr int32_t kMiddle = 128;
  const double constant = (kMiddle - p.a_zero_point) * a_scale +
                          (kMiddle - p.b_zero_point) * b_scale + r.zero_point - kMiddle;
  if (!(std::fabs(a_scale) + std::fabs(b_scale) < 1024)) return false;

  std::vector<uint8_t> bytes(3 * kPairLutEntries);
  uint8_t *a = bytes.data(), *b = a + kPairLutEntries, *want = b + kPairLutEntries;
  for (size_t i = 0; i < kPairLutEntries; ++i) {
    a[i] = static_cast<uint8_t>(i / 256);
    b[i] = static_cast<uint8_t>(i);
  }
  const ScopedFloatEnv environment;
  kernel.add_int(p, {a, b, false, false, want, kPairLutEntries});
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
    bool equal = true;
    for (size_t at = 0; equal && at < kPairLutEntries; at += kPart) {
      uint8_t got[kPart];
      kernel.add(*add, {a + at, b + at, false, false, got, kPart});
      equal = std::memcmp(got, want + at, kPart) == 0;
    }
    if (equal) return true;
  }
  return false;
}

}  // namespace qrt
