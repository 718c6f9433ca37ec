// SPDX-License-Identifier: Apache-2.0
// Weights of 2, 4 or 8 bits in blocks along k, as MatMulNBits and GatherNBits of schema/qrt_model.fbs read them.
#ifndef QRT_CONVERTER_IMPORT_COMMON_BLOCK_WEIGHTS_H_
#define QRT_CONVERTER_IMPORT_COMMON_BLOCK_WEIGHTS_H_

#include <algorithm>
#include <cstdint>
#include <vector>

#include "converter/import/common/float_builder.h"

namespace qrt::convert {

class BlockWeights {
 public:
  // Returns whether the runtime has kernels for such blocks.
  static bool has_form(int64_t bits, int64_t block);

  // Returns how many bytes such weights take, for which n and k have to be at most 2^30.
  static uint64_t bytes_of(int64_t n, int64_t k, int64_t bits, int64_t block);

  // REQUIRES: has_form(bits, block); n and k are at least 1.
  BlockWeights(int64_t n, int64_t k, int64_t bits, int64_t block);

  int64_t blocks() const { return (k_ + block_ - 1) / block_; }
  // Sets the weights of output o: code(k) for every k, of which each is asked once.
  template <class Code>
  void set_row(int64_t o, const Code& code) {
    const int64_t each = 32 / bits_;
    uint8_t* line = w_.data() + o / 16 * blocks() * 2 * block_ * bits_ + o % 16 * 4;
    for (int64_t block = 0; block < k_; block += block_)
      for (int64_t first = block; first < block + block_; first += each, line += 64)
        for (int64_t k = first; k < std::min(first + each, k_); ++k) {
          const int64_t i = k - first;
          line[i % 4] = static_cast<uint8_t>(line[i % 4] | code(k) << (i / 4 * bits_));
        }
  }
  void set_scale(int64_t o, int64_t b, float scale) { scales_[at(o, b)] = scale; }
  void set_zero_point(int64_t o, int64_t b, uint32_t z) {
    zero_points_[at(o, b)] = static_cast<uint8_t>(z);
  }

  // Multiplies x by the weights and adds `bias`, unless that is empty.
  ValueId multiply(FloatBuilder* f, ValueId x, const std::vector<float>& bias, bool in_float) const;
  // Takes the rows at the indices.
  ValueId gather(FloatBuilder* f, ValueId index) const;

 private:
  size_t at(int64_t o, int64_t b) const {
    return static_cast<size_t>((o / 16 * blocks() + b) * 16 + o % 16);
  }
  // Adds w and scales, and the zero points to `more`, where they are not 2^(bits - 1).
  std::vector<ValueId> add_constants(FloatBuilder* f, std::vector<ValueId>* more) const;

  const int64_t n_, k_, bits_, block_;
  std::vector<uint8_t> w_, zero_points_;
  std::vector<float> scales_;
};

}  // namespace qrt::convert

#endif  // QRT_CONVERTER_IMPORT_COMMON_BLOCK_WEIGHTS_H_
