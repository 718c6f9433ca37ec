// SPDX-License-Identifier: Apache-2.0
// Weights of 2, 4 or 8 bits in blocks along k, as MatMulNBits and GatherNBits of schema/qrt_model.fbs read them.
#ifndef QRT_CONVERTER_IMPORT_ONNX_OPS_NBITS_H_
#define QRT_CONVERTER_IMPORT_ONNX_OPS_NBITS_H_

#include <algorithm>
#include <cstdint>
#include <vector>

#include "converter/import/onnx/float_fallback/float_graph.h"

namespace qrt::convert::from_onnx {

class BlockWeights {
 public:
  // Returns whether the runtime has kernels for such blocks.
  static bool has_form(int64_t bits, int64_t block);

  // REQUIRES: has_form(bits, block); n and k are at least 1. Fails where the weights would outgrow the source.
  static Status make(Importer& importer, int64_t n, int64_t k, int64_t bits, int64_t block,
                     BlockWeights* made);

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
  ValueId multiply(FloatGraph* f, ValueId x, const std::vector<float>& bias, bool in_float) const;
  // Takes the rows at the indices.
  ValueId gather(FloatGraph* f, ValueId index) const;

 private:
  size_t at(int64_t o, int64_t b) const {
    return static_cast<size_t>((o / 16 * blocks() + b) * 16 + o % 16);
  }
  // Adds w and scales, and the zero points to `more`, where they are not 2^(bits - 1).
  std::vector<ValueId> add_constants(FloatGraph* f, std::vector<ValueId>* more) const;

  int64_t n_ = 1, k_ = 1, bits_ = 4, block_ = 32;
  std::vector<uint8_t> w_, zero_points_;
  std::vector<float> scales_;
};

// Returns whether products of such weights run in float, where the source names this accuracy_level (0: none). At level 4 they
// do where ONNX Runtime has no other kernels: of 2 bits in blocks of less than 32 or more than 128.
bool blocks_in_float(const Importer& importer, int64_t accuracy_level, int64_t bits, int64_t block);

// Multiplies x by b where b is a constant [k, n] that a DequantizeLinear in the graph makes of blocks along k. *y stays
// kNoValue where it is something else.
Status multiply_by_blocks(FloatGraph* f, ValueId x, ValueId b, ValueId* y);

}  // namespace qrt::convert::from_onnx

#endif  // QRT_CONVERTER_IMPORT_ONNX_OPS_NBITS_H_
