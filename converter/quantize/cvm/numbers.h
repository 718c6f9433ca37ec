// SPDX-License-Identifier: Apache-2.0
// Integers of a CVM model and the reals that they stand for. Every operation adds CVM's operators
// for it, with the precision that a runtime infers for them; none can overflow int32.
#ifndef QRT_CONVERTER_QUANTIZE_CVM_NUMBERS_H_
#define QRT_CONVERTER_QUANTIZE_CVM_NUMBERS_H_

#include <string>
#include <vector>

#include "converter/quantize/cvm/symbol.h"

namespace qrt::quantize {

// real = (integer - zero) * step, or integer * factor[c] * step with c the index of dimension 1.
struct CvmNumber {
  int entry = -1;
  double step = 1;
  std::vector<int32_t> factor;  // > 0; empty: all 1
  int32_t zero = 0;             // nonzero only for bytes, which layers and tables read

  bool has_factors() const { return !factor.empty(); }
};

// Bits of the operands of sums, and of tables that no layer reads; and bits of the operands of
// layers.
constexpr int kCvmWide = 16;
constexpr int kCvmByte = 8;

class CvmNumbers {
 public:
  explicit CvmNumbers(CvmSymbol* symbol) : symbol_(*symbol) {}

  const Dims& shape(const CvmNumber& x) const { return symbol_.entry(x.entry).shape; }
  int precision(const CvmNumber& x) const { return symbol_.entry(x.entry).precision; }
  // Returns an upper bound of the magnitudes of x's real values.
  double bound(const CvmNumber& x) const;

  // Sets the name of the source's node for operators that are added from now on.
  void set_name(std::string name) { name_ = std::move(name); }
  CvmSymbol& symbol() { return symbol_; }

  int add(const std::string& function, const std::vector<int>& inputs, const Dims& shape,
          int precision, const CvmSymbol::Attributes& attributes = {}) {
    return symbol_.add(function, name_, inputs, shape, precision, attributes);
  }
  // Adds reals as a parameter of at most `precision` bits, whose step makes the greatest magnitude
  // alpha(precision).
  CvmNumber constant(const Tensor& reals, int precision);
  // Adds reals as a parameter with a given step.
  CvmNumber constant(const Tensor& reals, int precision, double step);

  // Returns x in steps of `step`, with `precision`: rounded half up, limited to +-(2^(precision-1) - 1).
  CvmNumber requantised(const CvmNumber& x, double step, int precision);
  // Returns x with one step for all channels, as fine as 32 bits allow.
  CvmNumber without_factors(const CvmNumber& x);

  // Returns x clipped to `precision` bits, or x itself where it has no more.
  CvmNumber clipped(const CvmNumber& x, int precision);
  // Returns x as bytes with a zero point, limited to their range. REQUIRES: no factors.
  CvmNumber byte_with_zero(const CvmNumber& x, int32_t zero);
  CvmNumber relu(const CvmNumber& x);
  CvmNumber limited(const CvmNumber& x, double lo, double hi);  // REQUIRES: no factors
  // Return a + b (or a - b) and a * b. REQUIRES: no factors; a and b of sum() have one step.
  CvmNumber sum(const CvmNumber& a, const CvmNumber& b, bool is_difference, const Dims& shape);
  CvmNumber product(const CvmNumber& a, const CvmNumber& b, const Dims& shape);
  // Moves data: the same integers at other places.
  CvmNumber moved(const std::string& function, const CvmNumber& x, const Dims& shape,
                  const CvmSymbol::Attributes& attributes);
  CvmNumber reshaped(const CvmNumber& x, const Dims& shape);

 private:
  CvmNumber shifted(const CvmNumber& x, int shift, int precision);
  CvmNumber times(const CvmNumber& x, const std::vector<int32_t>& factors);
  bool requantised_by_channel(const CvmNumber& x, double step, int precision, CvmNumber* y);

  CvmSymbol& symbol_;
  std::string name_;
};

}  // namespace qrt::quantize

#endif  // QRT_CONVERTER_QUANTIZE_CVM_NUMBERS_H_
