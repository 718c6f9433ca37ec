// SPDX-License-Identifier: Apache-2.0
// The copy family's table, and the choice of a row: the best one the caller's sets allow.
#include "kernels/select.h"

#include "kernels/built.h"
#include "kernels/copy/copy.h"
#include "kernels/copy/transpose.h"

namespace qrt {

#define QRT_COPY(isa, suffix, interleave)                                             \
  void transpose_##suffix(const TransposePlan& plan, const void* input, void* output, \
                          size_t begin, size_t end);
#include "kernels/copy/copy.inc"

namespace {

constexpr CopyKernel kKernels[] = {
#define QRT_COPY(isa, suffix, interleave) \
  {"copy_" #suffix, Isa::isa, transpose_##suffix, copy_rows, built::kConcat ? interleave : nullptr},
#include "kernels/copy/copy.inc"
};

}  // namespace

const CopyKernel* copy_kernels(size_t* count) { return all_rows(kKernels, count); }
const CopyKernel* select_copy(IsaSet isas) { return first_row(kKernels, isas); }

}  // namespace qrt
