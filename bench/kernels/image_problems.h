// SPDX-License-Identifier: Apache-2.0
// A convolution of bench/shapes for one kernel of those that take an image by rows or tiles: its memory,
// filled, and the calls that compute it.
#ifndef QRT_BENCH_KERNELS_IMAGE_PROBLEMS_H_
#define QRT_BENCH_KERNELS_IMAGE_PROBLEMS_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "bench/kernels/problems.h"
#include "kernels/grouped/grouped.h"
#include "kernels/narrow/narrow.h"
#include "kernels/stem/stem.h"
#include "kernels/winograd/winograd.h"

namespace qrt::bench {

// The common part of problems on images.
class ImageProblem {
 public:
  // Returns the multiply-accumulates of the definition; bytes are those of the input, the weights
  // and the output.
  Work work() const;

 protected:
  ImageProblem(const Layer& layer, Isa isa);

  // Returns the weights as gemm_pack() leaves them, group by group.
  std::vector<int8_t> packed(size_t taps, size_t k) const;
  // Sets what all arguments have; the kernel's weights are still to be made.
  template <class Args>
  void make(uint64_t weight_bytes, uint64_t scratch_bytes, Args* args);
  template <class Args>
  static void run_row_ranges(void (*kernel)(const Args&), Args args, size_t strip_rows);

  int8_t* weights() const { return reinterpret_cast<int8_t*>(weights_->data()); }

 private:
  const Layer& layer_;
  const Isa isa_;
  std::unique_ptr<Buffer> weights_, input_, output_, scratch_;
  std::vector<int32_t> bias_;
  std::vector<float> scale_;
};

GroupedShape grouped_shape(const Layer& layer);

// A grouped convolution. As with all problems here, `layer` and `kernel` outlive the problem.
class GroupedProblem : public ImageProblem {
 public:
  // REQUIRES: a grouped layer, kernel.group == layer.group.
  GroupedProblem(const Layer& layer, const GroupedKernel& kernel);
  void run() const { run_row_ranges(kernel_.fn, args_, strip_rows_); }

 private:
  const GroupedKernel& kernel_;
  GroupedArgs args_{};
  size_t strip_rows_;
};

class NarrowProblem : public ImageProblem {
 public:
  // REQUIRES: a convolution, takes().
  NarrowProblem(const Layer& layer, const NarrowKernel& kernel);
  static bool takes(const Layer& layer);
  void run() const { run_row_ranges(kernel_.fn, args_, strip_rows_); }

 private:
  const NarrowKernel& kernel_;
  NarrowArgs args_{};
  std::vector<WindowOffset> window_offsets_;
  size_t strip_rows_;
};

class StemProblem : public ImageProblem {
 public:
  // REQUIRES: a convolution, takes().
  StemProblem(const Layer& layer, const StemKernel& kernel);
  static bool takes(const Layer& layer);
  void run() const { run_row_ranges(kernel_.fn, args_, strip_rows_); }

 private:
  const StemKernel& kernel_;
  StemArgs args_{};
  std::vector<uint32_t> offsets_;
  size_t strip_rows_;
};

class WinogradProblem : public ImageProblem {
 public:
  // REQUIRES: a convolution, takes(), kernel.kernel_h == 3.
  WinogradProblem(const Layer& layer, const WinogradKernel& kernel);
  static bool takes(const Layer& layer);
  void run() const;

 private:
  const WinogradKernel& kernel_;
  WinogradArgs args_{};
  std::vector<uint8_t> zero_;
};

}  // namespace qrt::bench

#endif  // QRT_BENCH_KERNELS_IMAGE_PROBLEMS_H_
