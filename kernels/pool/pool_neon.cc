// Pools with 128-bit vectors of aarch64: 16 channels.
#include <arm_neon.h>
#include <string.h>

#include "kernels/isa/requantize_neon.h"
#include "kernels/pool/pool_loops.h"

namespace qrt {
namespace {

// The first n < 16 bytes.
void store_some(uint8_t* p, uint8x16_t v, size_t n) {
  uint64_t rest = vgetq_lane_u64(vreinterpretq_u64_u8(v), 0);
  if (n & 8) {
    memcpy(p, &rest, 8);
    rest = vgetq_lane_u64(vreinterpretq_u64_u8(v), 1);
    p += 8;
  }
  if (n & 4) {
    memcpy(p, &rest, 4);
    rest >>= 32;
    p += 4;
  }
  if (n & 2) {
    memcpy(p, &rest, 2);
    rest >>= 16;
    p += 2;
  }
  if (n & 1) *p = static_cast<uint8_t>(rest);
}

struct NeonWords {
  using Narrower = NoVectors;
  static constexpr size_t kBytes = 16;
  using Bytes = uint8x16_t;

  static Bytes zero() { return vreinterpretq_u8_s16(vdupq_n_s16(INT16_MIN)); }
  static Bytes load(const uint8_t* p) { return vld1q_u8(p); }
  static Bytes max(Bytes a, Bytes b) {
    return vreinterpretq_u8_s16(vmaxq_s16(vreinterpretq_s16_u8(a), vreinterpretq_s16_u8(b)));
  }
  static void store(uint8_t* p, Bytes v) { vst1q_u8(p, v); }
  static void store_part(uint8_t* p, Bytes v, size_t n) { store_some(p, v, n); }
};

struct Neon {
  using Words = NeonWords;
  using Narrower = NoVectors;
  using Lanes = neon::Lanes;
  static constexpr size_t kBytes = 16;
  using Bytes = uint8x16_t;

  static Bytes zero() { return vdupq_n_u8(0); }
  static Bytes load(const uint8_t* p) { return vld1q_u8(p); }
  static Bytes max(Bytes a, Bytes b) { return vmaxq_u8(a, b); }
  static void store(uint8_t* p, Bytes v) { vst1q_u8(p, v); }
  static void store_part(uint8_t* p, Bytes v, size_t n) { store_some(p, v, n); }

  struct Sums16 {
    uint16x8_t lo, hi;
  };
  struct Sums32 {
    uint32x4_t v[4];
  };
  static Sums16 zero16() { return {vdupq_n_u16(0), vdupq_n_u16(0)}; }
  static Sums32 zero32() {
    return {{vdupq_n_u32(0), vdupq_n_u32(0), vdupq_n_u32(0), vdupq_n_u32(0)}};
  }
  static void add16(Sums16& s, const uint8_t* p) {
    const uint8x16_t x = load(p);
    s.lo = vaddw_u8(s.lo, vget_low_u8(x));
    s.hi = vaddw_high_u8(s.hi, x);
  }
  static void flush(Sums32& s, const Sums16& t) {
    s.v[0] = vaddw_u16(s.v[0], vget_low_u16(t.lo));
    s.v[1] = vaddw_high_u16(s.v[1], t.lo);
    s.v[2] = vaddw_u16(s.v[2], vget_low_u16(t.hi));
    s.v[3] = vaddw_high_u16(s.v[3], t.hi);
  }
  static Bytes to_bytes(const Sums32& s, const SumScale& r) {
    const int32x4_t zero_sum = vdupq_n_s32(r.zero);
    const float32x4_t scale = vdupq_n_f32(r.scale);
    const float32x4_t lo = vdupq_n_f32(static_cast<float>(r.lo - r.zero_point));
    const float32x4_t hi = vdupq_n_f32(static_cast<float>(r.hi - r.zero_point));
    int32x4_t q[4];
#pragma GCC unroll 4
    for (int i = 0; i < 4; ++i) {
      const int32x4_t sum = vsubq_s32(vreinterpretq_s32_u32(s.v[i]), zero_sum);
      const float32x4_t real = vmulq_f32(vcvtq_f32_s32(sum), scale);
      q[i] = vcvtnq_s32_f32(vminq_f32(vmaxq_f32(real, lo), hi));
    }
    return narrow(q, static_cast<int16_t>(r.zero_point));
  }
  static void spill(const Sums32& s, int32_t* sums) {
    for (int v = 0; v < 4; ++v) vst1q_s32(sums + 4 * v, vreinterpretq_s32_u32(s.v[v]));
  }

  // q + offset as bytes; q within int16.
  static uint8x16_t narrow(const int32x4_t (&q)[4], int16_t offset) {
    const int16x8_t o = vdupq_n_s16(offset);
    const int16x8_t low = vaddq_s16(vmovn_high_s32(vmovn_s32(q[0]), q[1]), o);
    const int16x8_t high = vaddq_s16(vmovn_high_s32(vmovn_s32(q[2]), q[3]), o);
    return vqmovun_high_s16(vqmovun_s16(low), high);
  }

  class Average {
   public:
    static constexpr size_t kVectors = 2;
    struct Sum {
      float32x4_t v[4];
    };

    explicit Average(const AveragePoolArgs& args)
        : input_zero_point_(vdup_n_u8(static_cast<uint8_t>(args.input_zero_point))),
          input_scale_(vdupq_n_f32(args.input_scale)),
          output_scale_(vdupq_n_f32(args.output_scale)),
          output_zero_point_(vdupq_n_f32(static_cast<float>(args.output_zero_point))),
          lo_(vdupq_n_f32(static_cast<float>(-args.output_offset))),
          hi_(vdupq_n_f32(static_cast<float>(255 - args.output_offset))),
          offset_(static_cast<int16_t>(args.output_offset)) {}

    static Sum zero() {
      const float32x4_t z = vdupq_n_f32(0);
      return {{z, z, z, z}};
    }
    Sum add(Sum sum, const uint8_t* p) const {
      const uint8x16_t x = load(p);
      const int16x8_t low = vreinterpretq_s16_u16(vsubl_u8(vget_low_u8(x), input_zero_point_));
      const int16x8_t high = vreinterpretq_s16_u16(vsubl_u8(vget_high_u8(x), input_zero_point_));
      return {{vaddq_f32(sum.v[0], value(vmovl_s16(vget_low_s16(low)))),
               vaddq_f32(sum.v[1], value(vmovl_high_s16(low))),
               vaddq_f32(sum.v[2], value(vmovl_s16(vget_low_s16(high)))),
               vaddq_f32(sum.v[3], value(vmovl_high_s16(high)))}};
    }
    uint8x16_t finish(const Sum& sum, float count) const {
      int32x4_t q[4];
#pragma GCC unroll 4
      for (int i = 0; i < 4; ++i) {
        const float32x4_t mean = vdivq_f32(sum.v[i], vdupq_n_f32(count));
        const float32x4_t v = vaddq_f32(vdivq_f32(mean, output_scale_), output_zero_point_);
        q[i] = vcvtnq_s32_f32(vminq_f32(vmaxq_f32(v, lo_), hi_));
      }
      return narrow(q, offset_);
    }
    static void store16(uint8_t* p, uint8x16_t v) { store(p, v); }
    static void store16_part(uint8_t* p, uint8x16_t v, size_t n) { store_part(p, v, n); }

   private:
    float32x4_t value(int32x4_t x) const { return vmulq_f32(input_scale_, vcvtq_f32_s32(x)); }

    uint8x8_t input_zero_point_;
    float32x4_t input_scale_, output_scale_, output_zero_point_, lo_, hi_;
    int16_t offset_;
  };
};

}  // namespace

void max_pool_neon(const MaxPoolArgs& args) { max_pool<Neon>(args); }
void average_pool_neon(const AveragePoolArgs& args) { average_pool<Neon>(args); }
void global_sum_neon(const GlobalSumArgs& args) { global_sum<Neon>(args); }
void max_pool_int16_neon(const PoolInt16Args& args) { max_pool_int16<Neon>(args); }

}  // namespace qrt
