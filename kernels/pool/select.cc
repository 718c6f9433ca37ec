// SPDX-License-Identifier: Apache-2.0
// The pool family's table, and the choice of a row: the best one the caller's sets allow.
#include "kernels/select.h"

#include "kernels/built.h"
#include "kernels/pool/pool.h"

namespace qrt {

#define QRT_POOL(isa, suffix)                              \
  void max_pool_##suffix(const MaxPoolArgs& args);         \
  void average_pool_##suffix(const AveragePoolArgs& args); \
  void global_sum_##suffix(const GlobalSumArgs& args);     \
  void max_pool_int16_##suffix(const PoolInt16Args& args);
#include "kernels/pool/pool.inc"

namespace {

constexpr PoolKernel kKernels[] = {
#define QRT_POOL(isa, suffix)                                   \
  {"pool_u8_" #suffix,                                          \
   Isa::isa,                                                    \
   built::kMaxPool2D ? max_pool_##suffix : nullptr,             \
   built::kAveragePool2D ? average_pool_##suffix : nullptr,     \
   built::kGlobalAveragePool2D ? global_sum_##suffix : nullptr, \
   "pool_s16_" #suffix,                                         \
   built::kMaxPool2D && built::kInt16 ? max_pool_int16_##suffix : nullptr},
#include "kernels/pool/pool.inc"
};

}  // namespace

const PoolKernel* pool_kernels(size_t* count) { return all_rows(kKernels, count); }
const PoolKernel* select_pool(IsaSet isas) { return first_row(kKernels, isas); }

}  // namespace qrt
