// The pool family's table, and the choice of a row: the best one the caller's sets allow.
#include "kernels/select.h"

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
#define QRT_POOL(isa, suffix)                     \
  {"pool_u8_" #suffix,     Isa::isa,              \
   max_pool_##suffix,      average_pool_##suffix, \
   global_sum_##suffix,    "pool_s16_" #suffix,   \
   max_pool_int16_##suffix},
#include "kernels/pool/pool.inc"
};

}  // namespace

const PoolKernel* pool_kernels(size_t* count) { return all_rows(kKernels, count); }
const PoolKernel* select_pool(IsaSet isas) { return first_row(kKernels, isas); }

}  // namespace qrt
