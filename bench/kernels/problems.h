// SPDX-License-Identifier: Apache-2.0
// One layer of bench/shapes for one kernel of ours: its memory, filled, and the calls that compute
// it.
#ifndef QRT_BENCH_KERNELS_PROBLEMS_H_
#define QRT_BENCH_KERNELS_PROBLEMS_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "bench/kernels/layers.h"
#include "bench/kernels/measure.h"
#include "kernels/depthwise/depthwise.h"
#include "kernels/gemm/gemm.h"

namespace qrt::bench {

constexpr uint8_t kInputZeroPoint = 128;
constexpr size_t kSlack = 64;      // readable bytes behind tensors
constexpr size_t kReadAhead = 64;  // channels readable beyond the last

// Returns int8 weights over half of their range, so that sums of pairs stay in int16 and every
// kernel may run on them.
std::vector<int8_t> some_weights(size_t count);
Requant some_requant(const float* scale);

// A product by strides, a convolution by indirection, a convolution of few channels by kernel rows
// over a padded image, as the runtime does it.
class GemmProblem {
 public:
  // REQUIRES: not a depthwise layer. `kernel` outlives this.
  GemmProblem(const Layer& layer, const GemmKernel& kernel);

  // Returns the work; bytes are those of the input, the packed weights and the output.
  Work work() const;
  void run() const;

  // Return the operands, for a peer that computes the same.
  const int8_t* weights() const {
    return reinterpret_cast<const int8_t*>(weights_->data());
  }  // packed
  const Requant& requant() const { return args_.requant; }
  size_t taps() const { return args_.taps; }
  size_t k() const { return k_; }

 private:
  void make_constants();
  void make_input(size_t bytes);
  void make_padded_image(const Layer& layer);
  void make_indirection(const Layer& layer);

  const GemmKernel& kernel_;
  GemmArgs args_{};
  size_t k_, rows_, calls_ = 1, call_stride_ = 0, input_bytes_ = 0;
  std::unique_ptr<Buffer> input_, output_;
  std::unique_ptr<Buffer> weights_;  // aligned, as in a file
  size_t weight_bytes_ = 0;
  std::vector<int32_t> bias_;
  std::vector<float> scale_;
  std::vector<uint8_t> zero_;
  std::vector<const uint8_t*> pointers_;
};

DepthwiseShape depthwise_shape(const Layer& layer);

class DepthwiseProblem {
 public:
  // REQUIRES: kernel.supports(depthwise_shape(layer)). `kernel` outlives this.
  DepthwiseProblem(const Layer& layer, const DepthwiseKernel& kernel);

  Work work() const;
  void run() const { kernel_.fn(args_); }

  const int8_t* weights() const {
    return reinterpret_cast<const int8_t*>(weights_->data());
  }  // packed
  const Requant& requant() const { return args_.requant; }

 private:
  const DepthwiseKernel& kernel_;
  DepthwiseArgs args_{};
  std::unique_ptr<Buffer> weights_;  // aligned, as in a file
  size_t weight_bytes_ = 0;
  std::vector<int32_t> bias_;
  std::vector<float> scale_;
  std::vector<uint8_t> zero_;
  std::unique_ptr<Buffer> input_, output_, scratch_;
};

}  // namespace qrt::bench

#endif  // QRT_BENCH_KERNELS_PROBLEMS_H_
