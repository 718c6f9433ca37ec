// SPDX-License-Identifier: Apache-2.0
// Random weights in blocks for models of tests, and the products that the definitions give.
#ifndef QRT_TESTS_SUPPORT_NBITS_H_
#define QRT_TESTS_SUPPORT_NBITS_H_

#include <algorithm>
#include <cmath>
#include <vector>

#include "kernels/nbits/nbits.h"
#include "kernels/nbits_seq.h"
#include "tests/support/model_builder.h"
#include "tests/support/random.h"

namespace qrt::testing {

struct RandomNBits {
  RandomNBits(size_t bits, size_t block, size_t k, size_t n, bool has_zero_points, Random* random) {
    weights.bits = bits;
    weights.block = block;
    weights.blocks = (k + block - 1) / block;
    weights.k = k;
    weights.n = n;
    panels = (n + kNBitsPanel - 1) / kNBitsPanel;
    codes.resize(panels * weights.blocks * 2 * block * bits);
    scales.resize(panels * weights.blocks * kNBitsPanel);
    for (uint8_t& v : codes) v = static_cast<uint8_t>(random->integer(0, 255));
    for (float& v : scales) v = random->real(0.01f, 0.1f);
    if (has_zero_points) zero_points.resize(scales.size());
    for (uint8_t& v : zero_points) v = static_cast<uint8_t>(random->integer(0, (1 << bits) - 1));
    weights.w = codes.data();
    weights.scales = scales.data();
    weights.zero_points = has_zero_points ? zero_points.data() : nullptr;
  }
  RandomNBits(const RandomNBits&) = delete;

  Shape each() const {
    return {static_cast<int64_t>(panels), static_cast<int64_t>(weights.blocks), 16};
  }
  // Adds w and scales to the model, and the zero points to `more` where there are any.
  std::vector<uint32_t> add_to(ModelBuilder* m, std::vector<uint32_t>* more) const {
    Shape lines = each();
    lines[2] = static_cast<int64_t>(2 * weights.block * weights.bits);
    if (!zero_points.empty())
      more->push_back(m->constant<uint8_t>(each(), DType::kUInt8, zero_points, "zero_points"));
    return {m->constant<uint8_t>(lines, DType::kUInt8, codes, "codes"),
            m->constant<float>(each(), DType::kFloat32, scales, "scales")};
  }

  float real(size_t o, size_t k) const {
    const size_t b = k / weights.block;
    return static_cast<float>(nbits_weight(weights, o, k) - nbits_zero_point(weights, o, b)) *
           nbits_scale(weights, o, b);
  }
  float product(const float* x, size_t o, bool in_float, const float* bias) const {
    const NBitsWeights& w = weights;
    float acc = 0;
    for (size_t b = 0; b < w.blocks; ++b) {
      const size_t begin = b * w.block, count = std::min(w.block, w.k - begin);
      if (in_float) {
        float sum = 0;
        for (size_t k = begin; k < begin + count; ++k) sum = std::fma(x[k], real(o, k), sum);
        acc += sum;
        continue;
      }
      int8_t q[kNBitsMostBlock];
      const NBitsBlock block = nbits_quantize(x + begin, count, q);
      int32_t dot = -nbits_zero_point(w, o, b) * block.sum;
      for (size_t i = 0; i < count; ++i) dot += q[i] * nbits_weight(w, o, begin + i);
      acc = nbits_add(acc, dot, block.scale, nbits_scale(w, o, b));
    }
    return nbits_end(acc, bias);
  }

  NBitsWeights weights = {};
  size_t panels;
  std::vector<uint8_t> codes, zero_points;
  std::vector<float> scales;
};

}  // namespace qrt::testing

#endif  // QRT_TESTS_SUPPORT_NBITS_H_
