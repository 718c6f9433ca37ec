// SPDX-License-Identifier: Apache-2.0
// The scalar gemm kernel: the reference of the family on every CPU, integer instructions only.
#include <cstddef>
#include <cstdint>

#include "kernels/gemm/kernels.h"
#include "kernels/requantize_scalar.h"

namespace qrt {
namespace {

constexpr size_t kBlock = 16;

const uint8_t* row_of(const GemmArgs& args, size_t i, size_t t) {
  if (args.indirection == nullptr) return args.a + i * args.a_stride + t * args.a_tap_stride;
  const uint8_t* row = args.indirection[i * args.taps + t];
  return row == args.zero ? row : row + args.a_offset;
}

// Returns a * w. Behind the last k the weights are zero and the row has undefined bytes, which the
// memory sanitizer would follow into the sum; so in its builds a product with 0 does not read them.
int product(uint8_t a, int8_t w) {
#if defined(__has_feature)
#if __has_feature(memory_sanitizer)
  if (w == 0) return 0;
#endif
#endif
  return a * w;
}

}  // namespace

void gemm_u8s8_1x16_k4_scalar(const GemmArgs& args) {
  const size_t block_bytes = args.taps * args.kc * kBlock;
  const RequantKind kind = args.requant.kind;
  const size_t element =
      kind == RequantKind::kAcc || kind == RequantKind::kFloat ? sizeof(int32_t) : 1;
  for (size_t j = 0; j < args.n; j += kBlock) {
    const int8_t* block = args.weights + j / kBlock * block_bytes;
    const size_t columns = args.n - j < kBlock ? args.n - j : kBlock;
    for (size_t i = 0; i < args.m; ++i) {
      uint32_t sum[kBlock];  // modulo 2^32
      for (size_t c = 0; c < kBlock; ++c)
        sum[c] = c < columns ? static_cast<uint32_t>(args.bias[j + c]) : 0;
      const int8_t* w = block;
      for (size_t t = 0; t < args.taps; ++t) {
        const uint8_t* a = row_of(args, i, t);
        for (size_t k = 0; k < args.kc; k += 4) {
          for (size_t c = 0; c < kBlock; ++c, w += 4) {
            sum[c] += static_cast<uint32_t>(product(a[k], w[0]) + product(a[k + 1], w[1]) +
                                            product(a[k + 2], w[2]) + product(a[k + 3], w[3]));
          }
        }
      }
      int32_t acc[kBlock];
      for (size_t c = 0; c < kBlock; ++c) acc[c] = static_cast<int32_t>(sum[c]);
      uint8_t* out = static_cast<uint8_t*>(args.c) + i * args.c_stride + j * element;
      requantize_scalar(args.requant, j, acc, kBlock, 1, columns, out, args.c_stride);
    }
  }
}

}  // namespace qrt
