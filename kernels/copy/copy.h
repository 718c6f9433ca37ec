// SPDX-License-Identifier: Apache-2.0
// Contract of the copy family: moves of elements of 1, 2, 4 or 8 bytes, aligned to their size. No
// arithmetic. Exactly the outputs are stored, which overlap no input. Thread-safe.
#ifndef QRT_KERNELS_COPY_COPY_H_
#define QRT_KERNELS_COPY_COPY_H_

#include <cstddef>
#include <cstdint>

#include "kernels/isa.h"

namespace qrt {

constexpr size_t kMaxRank = 6;

// A transposition. Output dimension i (size dims[i]) has a stride of stride[i] input elements; the
// output is dense. plan_transpose() drops unit dimensions and merges adjacent ones.
struct TransposePlan {
  size_t rank;              // 0..kMaxRank after merging
  size_t dims[kMaxRank];    // dimensions of the output
  size_t stride[kMaxRank];  // strides in the input, elements
  size_t element_bytes;
};

// Plans a transposition: output dimension i is input dimension perm[i].
TransposePlan plan_transpose(const int64_t* in_dims, size_t rank, const uint8_t* perm,
                             size_t element_bytes);

// A row of gathered blocks (block_bytes each) is a list of runs, each one kind of work for many
// blocks.
struct GatherSpan {
  enum class Kind : uint8_t { kCopy, kFill, kBlocks };
  Kind kind;
  int32_t first;         // kCopy: the input's first block
  uint32_t count;        // number of blocks
  const int32_t* index;  // kBlocks: the input's block of each output block
};

struct GatherRows {
  const GatherSpan* runs;
  size_t run_count;
  size_t block_bytes;
  size_t output_bytes;  // size of an output row
  uint64_t fill;        // an element's bits
  size_t element_bytes;
};

// Copies `rows` rows, `input_stride` bytes apart in the input and dense in the output. Compiled
// once, for every instruction set.
void gather_rows(const GatherRows& plan, const void* input, size_t input_stride, void* output,
                 size_t rows);

// Fills `count` elements of element_bytes (1, 2, 4 or 8) with the low bytes of `bits`.
void fill_elements(uint64_t bits, size_t element_bytes, void* output, size_t count);

struct CopyKernel {
  const char* name;  // "copy_avx2"
  Isa isa;
  // Outermost output dimension from begin to end (whole: 0 to dims[0]; rank 0: one element).
  void (*transpose)(const TransposePlan& plan, const void* input, void* output, size_t begin,
                    size_t end);
  // rows runs of `bytes` bytes: a concatenation's or a slice's part
  void (*rows)(const void* input, size_t input_stride, void* output, size_t output_stride,
               size_t rows, size_t bytes);
  // output[(row * n + i) * groups + k] = parts[k][row * step[k] + i] for i < n, row < rows: two to
  // kMaxInterleaved parts of each row interleaved. Null where that is no faster than to lay the parts
  // side by side and to transpose.
  void (*interleave)(const uint8_t* const* parts, const size_t* step, size_t groups, size_t rows,
                     size_t n, uint8_t* output);
};
constexpr size_t kMaxInterleaved = 4;

const CopyKernel* copy_kernels(size_t* count);
const CopyKernel* select_copy(IsaSet isas);

}  // namespace qrt

#endif  // QRT_KERNELS_COPY_COPY_H_
