// SPDX-License-Identifier: Apache-2.0
// Requantisations of layers with up to 64 channels, as converters write them.
#ifndef QRT_TESTS_SUPPORT_LAYER_REQUANTS_H_
#define QRT_TESTS_SUPPORT_LAYER_REQUANTS_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "kernels/requant.h"
#include "tests/support/random.h"

namespace qrt::testing {

// Returns ONNX Runtime's, to all 256 values. `scale` must outlive what is returned.
inline Requant float_requant(const std::vector<float>& scale, int32_t zero_point) {
  Requant r = {};
  r.kind = RequantKind::kF32;
  r.round = Round::kHalfEven;
  r.scale = scale.data();
  r.zero_point = zero_point;
  r.lo = 0, r.hi = 255;
  return r;
}

// Random numbers of each channel. The requantisations that the functions return hold until the
// numbers are drawn again.
class LayerRequants {
 public:
  explicit LayerRequants(Random* random) : random_(random) {
    for (size_t c = 0; c < kChannels; ++c) {
      scale_[c] = random->scale(-24);
      multiplier_[c] = static_cast<int32_t>(random->integer(1 << 30, INT32_MAX));
    }
  }
  LayerRequants(const LayerRequants&) = delete;

  Requant in_float(int32_t zero_point) const { return float_requant(scale_, zero_point); }
  void limit_scales(float most) {
    for (float& s : scale_) s = std::min(s, most);
  }

  // Shifts by 31 and least .. least + 7 bits.
  void draw_shifts(int least) {
    for (size_t c = 0; c < kChannels; ++c) {
      last_[c] = static_cast<uint8_t>(random_->integer(least, least + 7));
      shift_[c] = static_cast<uint8_t>(31 + last_[c]);
    }
  }
  Requant one_stage(Round round, int32_t zero_point) const {
    Requant r = in_integers(zero_point);
    r.stage_count = 1;
    r.stages[0] = {multiplier_.data(), shift_.data(), round, INT32_MIN, INT32_MAX};
    return r;
  }
  // TFLite's two roundings.
  Requant two_stages(int32_t zero_point) const {
    Requant r = in_integers(zero_point);
    r.stage_count = 2;
    r.stages[0] = {multiplier_.data(), by_31_.data(), Round::kHalfUp, INT32_MIN, INT32_MAX};
    r.stages[1] = {ones_.data(), last_.data(), Round::kHalfAway, INT32_MIN, INT32_MAX};
    return r;
  }

 private:
  static constexpr size_t kChannels = 64;

  static Requant in_integers(int32_t zero_point) {
    Requant r = {};
    r.kind = RequantKind::kInt;
    r.zero_point = zero_point;
    r.lo = 0, r.hi = 255;
    return r;
  }

  Random* random_;
  std::vector<float> scale_ = std::vector<float>(kChannels);
  std::vector<int32_t> multiplier_ = std::vector<int32_t>(kChannels);
  std::vector<int32_t> ones_ = std::vector<int32_t>(kChannels, 1);
  std::vector<uint8_t> by_31_ = std::vector<uint8_t>(kChannels, 31);
  std::vector<uint8_t> last_ = std::vector<uint8_t>(kChannels);
  std::vector<uint8_t> shift_ = std::vector<uint8_t>(kChannels);
};

}  // namespace qrt::testing

#endif  // QRT_TESTS_SUPPORT_LAYER_REQUANTS_H_
