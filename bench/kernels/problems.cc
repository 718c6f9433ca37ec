// SPDX-License-Identifier: Apache-2.0
// Memory of benchmarked layers; see problems.h.
#include "bench/kernels/problems.h"

#include <algorithm>

#include "kernels/depthwise/pack.h"
#include "kernels/gemm/pack.h"

namespace qrt::bench {

std::vector<int8_t> some_weights(size_t count) {
  std::vector<int8_t> weights(count);
  for (size_t i = 0; i < count; ++i)
    weights[i] = static_cast<int8_t>(static_cast<int>(i * 2654435761u >> 13 & 127) - 64);
  return weights;
}

Requant some_requant(const float* scale) {
  Requant requant{};
  requant.kind = RequantKind::kF32;
  requant.zero_point = 120;
  requant.hi = 255;
  requant.scale = scale;
  return requant;
}

GemmProblem::GemmProblem(const Layer& layer, const GemmKernel& kernel) : kernel_(kernel) {
  const bool is_conv = layer.kind == Layer::Kind::kConv;
  const bool by_rows = is_conv && layer.in_c <= 4;
  k_ = by_rows ? layer.kernel * layer.in_c : is_conv ? layer.in_c : layer.k;
  args_.taps = by_rows ? layer.kernel : is_conv ? layer.kernel * layer.kernel : 1;
  args_.kc = (k_ + 3) / 4 * 4;
  args_.n = is_conv ? layer.out_c : layer.n;
  rows_ = is_conv ? layer.out_h() * layer.out_w() : layer.m;
  make_constants();
  if (by_rows) {
    make_padded_image(layer);
  } else if (is_conv) {
    make_indirection(layer);
  } else {
    make_input(layer.m * layer.k);
    args_.a_stride = layer.k;
    args_.m = layer.m;
  }
  output_ = std::make_unique<Buffer>(rows_ * args_.n + kSlack);
  args_.c = output_->data();
  args_.c_stride = args_.n;
}

Work GemmProblem::work() const {
  return {static_cast<double>(rows_ * args_.n * args_.taps * k_),
          static_cast<double>(input_bytes_ + weight_bytes_ + rows_ * args_.n),
          &peak_loop(kernel_.isa, kernel_.pair_safe_only)};
}

void GemmProblem::run() const {
  GemmArgs args = args_;
  for (size_t i = 0; i < calls_; ++i) {
    kernel_.fn(args);
    args.a += call_stride_;
    args.c = static_cast<uint8_t*>(args.c) + args.m * args.c_stride;
  }
}

void GemmProblem::make_constants() {
  const size_t n = args_.n, taps = args_.taps;
  const std::vector<int8_t> weights = some_weights(n * taps * k_);
  weight_bytes_ = gemm_packed_bytes(n, taps, k_);
  weights_ = std::make_unique<Buffer>(weight_bytes_ + kSlack);
  gemm_pack(weights.data(), n, taps, k_, reinterpret_cast<int8_t*>(weights_->data()));
  bias_.assign(n + kReadAhead, 1000);
  scale_.assign(n + kReadAhead, 1.0f / static_cast<float>(16 * taps * k_));
  args_.weights = this->weights();
  args_.bias = bias_.data();
  args_.requant = some_requant(scale_.data());
}

void GemmProblem::make_input(size_t bytes) {
  input_bytes_ = bytes;
  input_ = std::make_unique<Buffer>(bytes + kSlack);
  fill(input_->data(), bytes);
  args_.a = input_->data();
}

void GemmProblem::make_padded_image(const Layer& layer) {
  const size_t row = (layer.in_w + 2 * layer.pad) * layer.in_c;
  make_input((layer.in_h + 2 * layer.pad) * row);
  args_.a_stride = layer.stride * layer.in_c;
  args_.a_tap_stride = row;
  args_.m = layer.out_w();
  calls_ = layer.out_h();
  call_stride_ = layer.stride * row;
}

void GemmProblem::make_indirection(const Layer& layer) {
  make_input(layer.in_h * layer.in_w * layer.in_c);
  zero_.assign(args_.kc + kSlack, kInputZeroPoint);
  for (size_t i = 0; i < rows_; ++i) {
    for (size_t t = 0; t < args_.taps; ++t) {
      // Positions before the image wrap around to values beyond its size.
      const size_t y = i / layer.out_w() * layer.stride + t / layer.kernel - layer.pad;
      const size_t x = i % layer.out_w() * layer.stride + t % layer.kernel - layer.pad;
      const bool inside = y < layer.in_h && x < layer.in_w;
      pointers_.push_back(inside ? args_.a + (y * layer.in_w + x) * layer.in_c : zero_.data());
    }
  }
  args_.indirection = pointers_.data();
  args_.zero = zero_.data();
  args_.m = rows_;
}

DepthwiseShape depthwise_shape(const Layer& l) { return {l.window(), l.in_c, 1}; }

DepthwiseProblem::DepthwiseProblem(const Layer& layer, const DepthwiseKernel& kernel)
    : kernel_(kernel) {
  const DepthwiseShape shape = depthwise_shape(layer);
  const size_t c = shape.in_c, taps = shape.kernel_h * shape.kernel_w;
  const size_t input_bytes = shape.in_h * shape.in_w * c;
  const std::vector<int8_t> weights = some_weights(taps * c);
  weight_bytes_ = depthwise_packed_bytes(c, shape.kernel_h, shape.kernel_w);
  weights_ = std::make_unique<Buffer>(weight_bytes_ + kSlack);
  depthwise_pack(weights.data(), c, shape.kernel_h, shape.kernel_w,
                 reinterpret_cast<int8_t*>(weights_->data()));
  bias_.assign(c + kReadAhead, 1000);
  scale_.assign(c + kReadAhead, 1.0f / static_cast<float>(16 * taps));
  zero_.assign(c + kSlack, kInputZeroPoint);
  input_ = std::make_unique<Buffer>(input_bytes + kSlack);
  fill(input_->data(), input_bytes);
  output_ = std::make_unique<Buffer>(shape.out_h * shape.out_w * c + kSlack);
  scratch_ = std::make_unique<Buffer>(kernel.scratch_bytes(shape) + kSlack);
  args_.shape = shape;
  args_.input = input_->data();
  args_.zero = zero_.data();
  args_.weights = this->weights();
  args_.bias = bias_.data();
  args_.requant = some_requant(scale_.data());
  args_.output = output_->data();
  args_.row_end = shape.out_h;
  args_.scratch = scratch_->data();
}

Work DepthwiseProblem::work() const {
  const DepthwiseShape& s = args_.shape;
  const size_t outputs = s.out_h * s.out_w * s.in_c;
  return {static_cast<double>(outputs * s.kernel_h * s.kernel_w),
          static_cast<double>(s.in_h * s.in_w * s.in_c + weight_bytes_ + outputs),
          &peak_loop(kernel_.isa, false)};
}

}  // namespace qrt::bench
