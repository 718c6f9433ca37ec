// SPDX-License-Identifier: Apache-2.0
// The floating-point state that everything in the library relies on: rounding to nearest even,
// subnormals kept, no traps. Every function of qrt.h that computes sets it on entry, whatever state
// the caller's thread is in, and restores the caller's before it returns (qrt_c.h); so do the threads
// and tasks of pools. Takes about 5 ns where the state is right already.
#ifndef QRT_RUNTIME_FLOAT_ENV_H_
#define QRT_RUNTIME_FLOAT_ENV_H_

#include <cstdint>
#if defined(__x86_64__)
#include <xmmintrin.h>
#else
#include <fenv.h>
#endif

namespace qrt {

class ScopedFloatEnv {
 public:
  ScopedFloatEnv() : saved_(read()) {
    if ((saved_ & kControl) != kWanted) write((saved_ & ~kControl) | kWanted);
  }
  ~ScopedFloatEnv() {
    if ((saved_ & kControl) != kWanted) write(saved_);
  }
  ScopedFloatEnv(const ScopedFloatEnv&) = delete;
  ScopedFloatEnv& operator=(const ScopedFloatEnv&) = delete;

 private:
#if defined(__x86_64__)
  // MXCSR: bit 15 flush to zero, 14-13 rounding, 12-7 exception masks, 6 denormals are zero.
  using Word = uint32_t;
  static constexpr Word kControl = 0xffc0, kWanted = 0x1f80;
  static Word read() { return _mm_getcsr(); }
  static void write(Word word) { _mm_setcsr(word); }
#elif defined(__aarch64__)
  // FPCR: bit 26 AHP, 25 DN, 24 FZ, 23-22 rounding, 19 FZ16, 15 and 12-8 trap enables, 2 NEP, 1 AH,
  // 0 FIZ.
  using Word = uint64_t;
  static constexpr Word kControl = 0x07c89f07, kWanted = 0;
  static Word read() {
    Word word;
    __asm__ volatile("mrs %0, fpcr" : "=r"(word));
    return word;
  }
  static void write(Word word) { __asm__ volatile("msr fpcr, %0" ::"r"(word)); }
#elif defined(__arm__) && defined(__ARM_FP)
  // FPSCR: bit 26 AHP, 25 DN, 24 FZ, 23-22 rounding, 21-20 and 18-16 vectors, 15 and 12-8 trap enables.
  using Word = uint32_t;
  static constexpr Word kControl = 0x07f79f00, kWanted = 0;
  static Word read() {
    Word word;
    __asm__ volatile("vmrs %0, fpscr" : "=r"(word));
    return word;
  }
  static void write(Word word) { __asm__ volatile("vmsr fpscr, %0" ::"r"(word)); }
#elif defined(__riscv_flen)
  // The word holds the rounding mode, the only state.
  using Word = uint32_t;
  static constexpr Word kControl = 7, kWanted = 0;
  static Word read() {
    Word word;
    __asm__ volatile("frrm %0" : "=r"(word));
    return word;
  }
  static void write(Word word) { __asm__ volatile("fsrm %0" ::"r"(word)); }
#else
  // The word holds the rounding mode, the only state that standard C can set.
  using Word = int;
  static constexpr Word kControl = -1, kWanted = FE_TONEAREST;
  static Word read() { return fegetround(); }
  static void write(Word word) { fesetround(word); }
#endif

  Word saved_;
};

}  // namespace qrt

#endif  // QRT_RUNTIME_FLOAT_ENV_H_
