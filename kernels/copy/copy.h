// Contract of the copy family: moves of elements of 1, 2, 4 or 8 bytes. No arithmetic. Exactly the
// outputs are stored. Thread-safe.
#ifndef QRT_KERNELS_COPY_COPY_H_
#define QRT_KERNELS_COPY_COPY_H_

#include <cstddef>
#include <cstdint>

#include "kernels/isa.h"

namespace qrt {

constexpr size_t kMaxRank = 6;

// Output dimension i (size dims[i]) walks the input with stride[i] elements; output is dense. Unit
// dimensions are dropped and adjacent ones merged by plan_transpose().
struct TransposePlan {
  size_t rank;              // 0..kMaxRank after merging
  size_t dims[kMaxRank];    // of the output
  size_t stride[kMaxRank];  // of the input, elements
  size_t element_bytes;
};

// perm: output dimension i is input dimension perm[i].
TransposePlan plan_transpose(const int64_t* in_dims, size_t rank, const uint8_t* perm,
                             size_t element_bytes);

struct CopyKernel {
  const char* name;  // "copy_avx2"
  Isa isa;
  // Outermost output dimension from begin to end (whole: 0 to dims[0]; rank 0: one element).
  void (*transpose)(const TransposePlan& plan, const void* input, void* output, size_t begin,
                    size_t end);
  // rows runs of `bytes` bytes: a concatenation's or a slice's part
  void (*rows)(const void* input, size_t input_stride, void* output, size_t output_stride,
               size_t rows, size_t bytes);
};

const CopyKernel* copy_kernels(size_t* count);
const CopyKernel* select_copy(IsaSet isas);

}  // namespace qrt

#endif  // QRT_KERNELS_COPY_COPY_H_
