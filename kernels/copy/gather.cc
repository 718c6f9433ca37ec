// SPDX-License-Identifier: Apache-2.0
// Rows of gathered blocks, and fills.
#include <string.h>

#include "kernels/copy/copy.h"
#include "kernels/copy/transpose.h"

namespace qrt {
namespace {

template <class T>
void fill_as(uint64_t bits, void* output, size_t count) {
  T* out = static_cast<T*>(output);
  const T value = static_cast<T>(bits);
  for (size_t i = 0; i < count; ++i) out[i] = value;
}

// Blocks of kBytes: the compiler turns the copies into loads and stores.
template <size_t kBytes>
void blocks_of(const uint8_t* input, const int32_t* index, size_t count, uint8_t* output) {
  for (size_t i = 0; i < count; ++i)
    memcpy(output + i * kBytes, input + static_cast<size_t>(index[i]) * kBytes, kBytes);
}

void copy_blocks(const uint8_t* input, const int32_t* index, size_t count, size_t bytes,
                 uint8_t* output) {
  switch (bytes) {
    case 1: return blocks_of<1>(input, index, count, output);
    case 2: return blocks_of<2>(input, index, count, output);
    case 3: return blocks_of<3>(input, index, count, output);
    case 4: return blocks_of<4>(input, index, count, output);
    case 8: return blocks_of<8>(input, index, count, output);
    case 16: return blocks_of<16>(input, index, count, output);
    case 32: return blocks_of<32>(input, index, count, output);
    case 64: return blocks_of<64>(input, index, count, output);
    default: break;
  }
  for (size_t i = 0; i < count; ++i)
    memcpy(output + i * bytes, input + static_cast<size_t>(index[i]) * bytes, bytes);
}

}  // namespace

void fill_elements(uint64_t bits, size_t element_bytes, void* output, size_t count) {
  switch (element_bytes) {
    case 1: memset(output, static_cast<int>(bits & 255), count); return;
    case 2: return fill_as<uint16_t>(bits, output, count);
    case 4: return fill_as<uint32_t>(bits, output, count);
    default: return fill_as<uint64_t>(bits, output, count);
  }
}

void gather_rows(const GatherRows& plan, const void* input, size_t input_stride, void* output,
                 size_t rows) {
  const uint8_t* in = static_cast<const uint8_t*>(input);
  uint8_t* out = static_cast<uint8_t*>(output);
  for (size_t r = 0; r < plan.run_count; ++r) {
    const GatherSpan& run = plan.runs[r];
    const size_t bytes = run.count * plan.block_bytes;
    switch (run.kind) {
      case GatherSpan::Kind::kCopy:
        copy_rows(in + static_cast<size_t>(run.first) * plan.block_bytes, input_stride, out,
                  plan.output_bytes, rows, bytes);
        break;
      case GatherSpan::Kind::kFill:
        for (size_t i = 0; i < rows; ++i)
          fill_elements(plan.fill, plan.element_bytes, out + i * plan.output_bytes,
                        bytes / plan.element_bytes);
        break;
      case GatherSpan::Kind::kBlocks:
        for (size_t i = 0; i < rows; ++i)
          copy_blocks(in + i * input_stride, run.index, run.count, plan.block_bytes,
                      out + i * plan.output_bytes);
        break;
    }
    out += bytes;
  }
}

}  // namespace qrt
