// SPDX-License-Identifier: Apache-2.0
// The last step of the depthwise kernels for WebAssembly: the sums of a block of 16 channels to bytes.
#ifndef QRT_KERNELS_DEPTHWISE_DEPTHWISE_WASM_H_
#define QRT_KERNELS_DEPTHWISE_DEPTHWISE_WASM_H_

#include "kernels/depthwise/depthwise.h"
#include "kernels/isa/in_registers_wasm128.h"
#include "kernels/isa/requantize_wasm128.h"

namespace qrt {
namespace {

class DepthwiseStore {
 public:
  // Keeps the address of `args`.
  explicit DepthwiseStore(const DepthwiseArgs& args)
      : requant_(args.requant),
        channels_(args.shape.in_c),
        is_in_registers_(Registers::handles(requant_, channels_)) {
    if (is_in_registers_) registers_ = Registers::make(requant_, args.bias, channels_, 0);
  }

  // Returns whether sums become bytes without passing through memory.
  bool is_in_registers() const { return is_in_registers_; }

  // Goes on with the 16 channels from c on, or those of them that there are.
  void set_channels(size_t c) {
    c_ = c;
    count_ = channels_ - c < 16 ? channels_ - c : 16;
    if (is_in_registers_) {
      for (size_t q = 0; q < 4; ++q) constants_[q] = registers_.constants(c + 4 * q);
    } else {
      forms_ = forms_of(requant_, c, count_);
    }
  }

  // Stores a pixel's sums.
  __attribute__((always_inline)) void pixel(const v128_t (&acc)[4], uint8_t* out) const {
    if (is_in_registers_) {
      wasm128::store_bytes(out, registers_.bytes(acc, constants_), count_);
      return;
    }
    alignas(16) int32_t sums[16];
    QRT_UNROLL
    for (size_t q = 0; q < 4; ++q) wasm_v128_store(sums + 4 * q, acc[q]);
    requantize_tile<wasm128::Lanes>(requant_, forms_, c_, sums, 1, 16, count_, out, 0);
  }

  // The constants of the lower or upper half of the channels, once for each of two pixels.
  struct Half {
    wasm128::ChannelConstants constants[4];
    size_t count;  // channels that are stored
  };
  Half half(size_t h) const {
    const auto &low = constants_[2 * h], &high = constants_[2 * h + 1];
    const size_t count = count_ - 8 * h;
    return {{low, high, low, high}, count < 8 ? count : 8};
  }
  // Stores the sums of half the channels of two pixels, or of the first of them. REQUIRES: is_in_registers().
  __attribute__((always_inline)) void pixels(const v128_t (&acc)[4], const Half& half, bool both,
                                             uint8_t* out, size_t step) const {
    const v128_t bytes = registers_.bytes(acc, half.constants);
    wasm128::store_bytes(out, bytes, half.count);
    if (both) wasm128::store_bytes(out + step, wasm_i64x2_shuffle(bytes, bytes, 1, 1), half.count);
  }

 private:
  using Registers = wasm128::RequantInRegisters;

  const Requant& requant_;
  const size_t channels_;
  const bool is_in_registers_;
  Registers registers_ = {};
  size_t c_ = 0, count_ = 0;
  wasm128::ChannelConstants constants_[4] = {};
  StageForms forms_ = {};
};

}  // namespace
}  // namespace qrt

#endif  // QRT_KERNELS_DEPTHWISE_DEPTHWISE_WASM_H_
