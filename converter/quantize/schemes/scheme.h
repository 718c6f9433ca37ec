// SPDX-License-Identifier: Apache-2.0
// Number formats of a quantised model, one row each: what integers activations and weights become,
// and which scales they may have.
#ifndef QRT_CONVERTER_QUANTIZE_SCHEMES_SCHEME_H_
#define QRT_CONVERTER_QUANTIZE_SCHEMES_SCHEME_H_

#include <cstdint>
#include <string>
#include <vector>

namespace qrt::quantize {

// The coding of one tensor's reals as integers: q = clamp(round(x / scale) + zero_point, lowest, highest).
struct Coding {
  float scale = 1;
  int32_t zero_point = 0;
  int bits = 8;  // 8 or 16
  bool is_signed = false;
  bool is_narrow = false;  // signed, and -2^(bits-1) does not occur

  int32_t lowest() const { return is_signed ? -(1 << (bits - 1)) + (is_narrow ? 1 : 0) : 0; }
  int32_t highest() const { return is_signed ? (1 << (bits - 1)) - 1 : (1 << bits) - 1; }
  float low() const { return static_cast<float>(lowest() - zero_point) * scale; }
  float high() const { return static_cast<float>(highest() - zero_point) * scale; }

  int32_t code(float x) const;
  // Returns the real that x's integer stands for.
  float rounded(float x) const { return static_cast<float>(code(x) - zero_point) * scale; }

  friend bool operator==(const Coding& a, const Coding& b) {
    return a.scale == b.scale && a.zero_point == b.zero_point && a.bits == b.bits &&
           a.is_signed == b.is_signed && a.is_narrow == b.is_narrow;
  }
};

struct Scheme {
  const char* name;
  int bits;           // size of activations' codes
  bool is_signed;     // activations have signed types
  bool is_symmetric;  // activations have zero point 0
  bool power_of_two;  // every scale is 2^n
  bool per_channel;   // weights have a scale for each output channel
  int weight_bits;
  // MRT's: written as a CVM model, not as ONNX. Activations that layers read may have a zero point all
  // the same (schemes/cvm.h).
  bool is_cvm = false;
  bool whole_weights = false;  // scales reach to the greatest weight, whatever the rounding costs
};

const std::vector<Scheme>& schemes();
const Scheme* find_scheme(const std::string& name);  // null: unknown

// A real interval that holds zero, as a quantiser chooses it.
struct Range {
  float lo = 0, hi = 0;
};

// Returns the coding of `scheme`, in `bits`, whose integers cover `range`. A range without extent
// has scale 1 (power of two or not): what is zero stays zero.
Coding coding_for(const Scheme& scheme, int bits, Range range);

// Returns a scale of `scheme` not below `scale`, which is positive.
float allowed_scale(const Scheme& scheme, float scale);

}  // namespace qrt::quantize

#endif  // QRT_CONVERTER_QUANTIZE_SCHEMES_SCHEME_H_
