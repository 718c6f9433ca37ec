// SPDX-License-Identifier: Apache-2.0
// Tables of softmax_bounds.h, the choice of a kernel, and what the kernels leave.
#include "kernels/softmax/softmax_bounds.h"

#include "kernels/select.h"
#include "kernels/softmax/softmax_bounds_entry.h"

namespace qrt {
namespace {

constexpr SoftmaxBoundsKernel kKernels[] = {
#define QRT_SOFTMAX_BOUNDS(isa, suffix) {"softmax_u8_" #suffix, Isa::isa, softmax_bounds_##suffix},
#include "kernels/softmax/softmax_bounds.inc"
    {nullptr, Isa::kScalar, nullptr},
};

// Without kernels the array has its end alone.
constexpr bool kHasKernels = sizeof kKernels > sizeof kKernels[0];

bool make_bounds(const SoftmaxParams& params, size_t n, SoftmaxBounds* bounds) {
  constexpr double kOne = 16777215, kMaxSum = 3e38;
  constexpr float kMaxK = 32000;  // and a zero point
  const float most = params.table[255];
  if (n > kMaxBoundedRow || params.k > kMaxK ||
      static_cast<double>(n) * static_cast<double>(most) > kMaxSum)
    return false;
  const double to_units = kOne / static_cast<double>(most);
  constexpr float kLeastShown = 0.49f * static_cast<float>(kOne);  // of w it is much less than 0.01
  bounds->shown = 0;
  for (size_t d = 0; d < 256; ++d) {
    const float e = params.table[255 - d], scaled = e * params.k;
    if (e > most) return false;
    const auto t = static_cast<uint32_t>(static_cast<double>(e) * to_units + 0.5);
    for (int i = 0; i < 3; ++i) bounds->bytes[i][d] = static_cast<uint8_t>(t >> 8 * i);
    bounds->share[d] = static_cast<float>(static_cast<double>(scaled) * to_units);
    if (bounds->share[d] >= kLeastShown) bounds->shown = d + 1;
  }
  bounds->zero_point = params.zero_point;
  return true;
}

}  // namespace

const SoftmaxBoundsKernel* softmax_bounds_kernels(size_t* count) {
  return all_rows(kKernels, count);
}

const SoftmaxBoundsKernel* plan_softmax_bounds(IsaSet isas, const SoftmaxParams& params, size_t n,
                                               SoftmaxBounds* bounds) {
  if constexpr (!kHasKernels) return nullptr;
  const SoftmaxBoundsKernel* const kernel = first_row(kKernels, isas);
  return kernel->rows != nullptr && make_bounds(params, n, bounds) ? kernel : nullptr;
}

void softmax_rows_by_bounds(const SoftmaxBoundsKernel& kernel, const SoftmaxBounds& bounds,
                            const SoftmaxParams& params, const EdgeKernel& edge,
                            const LutKernel& lut, const uint8_t* x, uint8_t* y, size_t rows,
                            size_t n) {
  if constexpr (!kHasKernels) return;
  for (size_t begin = 0; begin < rows; begin += kBoundedRows) {
    const size_t group = rows - begin < kBoundedRows ? rows - begin : kBoundedRows;
    uint64_t open = kernel.rows(bounds, x + begin * n, y + begin * n, group, n);
    // Sums adjacent rows that are still to be made together.
    while (open != 0) {
      const int first = __builtin_ctzll(open), count = __builtin_ctzll(~(open >> first));
      const size_t at = (begin + static_cast<size_t>(first)) * n;
      softmax_rows(params, edge, lut, x + at, y + at, static_cast<size_t>(count), n);
      open &= ~uint64_t{0} << (first + count);
    }
  }
}

}  // namespace qrt
