// SPDX-License-Identifier: Apache-2.0
// The floating-point state that a program may be in when it calls the library.
#ifndef QRT_TESTS_DIFFERENTIAL_FLOAT_MODE_H_
#define QRT_TESTS_DIFFERENTIAL_FLOAT_MODE_H_

#include <fenv.h>
#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

#include <cstdint>
#include <string>
#include <vector>

namespace qrt::differential {

struct FloatMode {
  int rounding = FE_TONEAREST;
  bool flushes = false;  // subnormals are 0, as operands and as results (x86-64 and aarch64)
};

// Returns all states, beginning with the one in which programs start.
inline std::vector<FloatMode> float_modes() {
  std::vector<FloatMode> modes;
  for (const bool flushes : {false, true})
    for (const int rounding : {FE_TONEAREST, FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO})
      modes.push_back({rounding, flushes});
  return modes;
}

inline std::string describe(const FloatMode& mode) {
  const char* name = mode.rounding == FE_TONEAREST  ? "to nearest"
                     : mode.rounding == FE_UPWARD   ? "upward"
                     : mode.rounding == FE_DOWNWARD ? "downward"
                                                    : "toward zero";
  return std::string(name) + (mode.flushes ? ", flushing" : "");
}

// Returns everything that a program may set, without the flags that operations raise.
inline uint64_t float_control() {
  uint64_t control = static_cast<uint64_t>(fegetround());
#if defined(__x86_64__)
  control |= uint64_t{_mm_getcsr() & ~0x3fu} << 32;
#elif defined(__aarch64__)
  uint64_t fpcr;
  __asm__ volatile("mrs %0, fpcr" : "=r"(fpcr));
  control |= fpcr << 32;
#endif
  return control;
}

inline void set_float_mode(const FloatMode& mode) {
  fesetround(mode.rounding);
#if defined(__x86_64__)
  constexpr unsigned kFlush = 0x8040;
  _mm_setcsr(mode.flushes ? _mm_getcsr() | kFlush : _mm_getcsr() & ~kFlush);
#elif defined(__aarch64__)
  constexpr uint64_t kFlush = uint64_t{1} << 24;
  uint64_t fpcr;
  __asm__ volatile("mrs %0, fpcr" : "=r"(fpcr));
  fpcr = mode.flushes ? fpcr | kFlush : fpcr & ~kFlush;
  __asm__ volatile("msr fpcr, %0" ::"r"(fpcr));
#endif
}

}  // namespace qrt::differential

#endif  // QRT_TESTS_DIFFERENTIAL_FLOAT_MODE_H_
