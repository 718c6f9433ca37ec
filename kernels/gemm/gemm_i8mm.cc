// gemm on the Int8 matrix multiplication extension. USMMLA multiplies 2 rows x 8 k by 8 k x 2
// channels, twice the products of a dot product instruction, and takes the unsigned activations as
// they are. 6 x 16 tiles: three pairs of rows by eight pairs of channels.
//
// The packed form has 4 k of 16 channels in a line; ZIP of dwords makes 8 k of channel pairs from
// two lines. A last group of 4 k is multiplied with zeros. Products of few rows take the skeleton
// of gemm_tile.h with USDOT instead, as they are bound by the stream of weights.
#include "kernels/gemm/kernels.h"
#include "kernels/gemm/policy_neon.h"

namespace qrt {
namespace {

struct I8mm : PolicyDot {
  template <int NV>
  using Store = StoreNeon<I8mm>;

  QRT_INLINE Lhs splat_lhs(const uint8_t* p, int) { return splat(p); }
  // acc[c] += sum over j < 4 of a[j] * b[4 c + j], a repeated. Inline assembly for the reason given
  // in isa/avx512vnni.h.
  QRT_INLINE void dot(Acc& acc, Lhs a, Rhs b) {
    __asm__("usdot %0.4s, %1.16b, %2.16b" : "+w"(acc) : "w"(a), "w"(b));
  }
};

constexpr int kPairs = 3;  // of rows
constexpr int kTileRows = 2 * kPairs;
constexpr int kChannelPairs = 8;

// [row][channel] += [row][8 k] * [channel][8 k], 2 rows, 2 channels. "memory" keeps the loads where
// they are: clang 14 would load all lines before the first product, and spill accumulators for
// them.
QRT_INLINE void multiply(int32x4_t& acc, uint8x16_t a, int8x16_t b) {
  __asm__ volatile("usmmla %0.4s, %1.16b, %2.16b" : "+w"(acc) : "w"(a), "w"(b) : "memory");
}

// One line of weights (kWhole: two, 8 k) against the rows a[i] + k. Without a second line its
// weights are zero, and it does not matter what the rows have there.
template <bool kWhole, int P>
QRT_INLINE void multiply_step(int32x4_t (&acc)[P][kChannelPairs], const uint8_t* const (&a)[2 * P],
                              size_t k, const int8_t* w) {
  uint8x16_t x[P];
  QRT_UNROLL
  for (int p = 0; p < P; ++p) x[p] = vcombine_u8(vld1_u8(a[2 * p] + k), vld1_u8(a[2 * p + 1] + k));
  QRT_UNROLL
  for (int v = 0; v < 4; ++v) {
    const int32x4_t low = vreinterpretq_s32_s8(vld1q_s8(w + 16 * v));
    const int32x4_t high =
        kWhole ? vreinterpretq_s32_s8(vld1q_s8(w + 4 * kBlock + 16 * v)) : vdupq_n_s32(0);
    const int8x16_t b0 = vreinterpretq_s8_s32(vzip1q_s32(low, high));
    const int8x16_t b1 = vreinterpretq_s8_s32(vzip2q_s32(low, high));
    QRT_UNROLL
    for (int p = 0; p < P; ++p) {
      multiply(acc[p][2 * v], x[p], b0);
      multiply(acc[p][2 * v + 1], x[p], b1);
    }
  }
}

// Pairs of rows of one tile, `rows` of them valid (2 P or 2 P - 1), against a block of channels.
template <int P>
void run_pairs(const GemmArgs& g, const Output<I8mm>& output, size_t row, int rows, size_t channel,
               size_t columns, const int8_t* w) {
  int32x4_t acc[P][kChannelPairs];
  QRT_UNROLL
  for (int v = 0; v < kChannelPairs; ++v) {
    const int32x2_t bias = vld1_s32(g.bias + channel + 2 * static_cast<size_t>(v));
    QRT_UNROLL
    for (int p = 0; p < P; ++p) acc[p][v] = vcombine_s32(bias, bias);
  }
  const size_t kc = g.kc;
  for (size_t tap = 0; tap < g.taps; ++tap) {
    // An odd last row is its own partner; what it gives is not stored.
    const uint8_t* a[2 * P];
    QRT_UNROLL
    for (int i = 0; i < 2 * P; ++i) {
      const uint8_t* one[1];
      load_rows<1>(g, row + static_cast<size_t>(i < rows ? i : rows - 1), tap, one);
      a[i] = one[0];
    }
    size_t k = 0;
    for (; k + 8 <= kc; k += 8, w += 8 * kBlock) multiply_step<true, P>(acc, a, k, w);
    if (k < kc) {
      multiply_step<false, P>(acc, a, k, w);
      w += 4 * kBlock;
    }
  }
  // Rows of four channels, as StoreNeon and store_through_memory() take them.
  int32x4_t rows_of_four[2 * P][4];
  QRT_UNROLL
  for (int p = 0; p < P; ++p) {
    QRT_UNROLL
    for (int v = 0; v < 4; ++v) {
      const int64x2_t left = vreinterpretq_s64_s32(acc[p][2 * v]);
      const int64x2_t right = vreinterpretq_s64_s32(acc[p][2 * v + 1]);
      rows_of_four[2 * p][v] = vreinterpretq_s32_s64(vzip1q_s64(left, right));
      rows_of_four[2 * p + 1][v] = vreinterpretq_s32_s64(vzip2q_s64(left, right));
    }
  }
  uint8_t* c = static_cast<uint8_t*>(g.c) + row * g.c_stride;
  if (output.in_registers() == nullptr) {
    store_through_memory<I8mm, 2 * P, 4>(g, output, channel, columns, rows_of_four, c,
                                         static_cast<size_t>(rows));
    return;
  }
  StoreNeon<I8mm> store;
  store.set(*output.in_registers(), channel, columns);
  store.rows(rows_of_four, c + channel, g.c_stride, rows);
}

void run_tile(int rows, const GemmArgs& g, const Output<I8mm>& output, size_t row, size_t channel,
              size_t columns, const int8_t* w) {
  if (rows > 4) {
    run_pairs<3>(g, output, row, rows, channel, columns, w);
  } else if (rows > 2) {
    run_pairs<2>(g, output, row, rows, channel, columns, w);
  } else {
    run_pairs<1>(g, output, row, rows, channel, columns, w);
  }
}

}  // namespace

void gemm_u8s8_6x16_k8_i8mm(const GemmArgs& args) {
  const Output<I8mm> output(args);
  if (args.m <= I8mm::kFewRows) {
    const Column<I8mm> all = {&args, &output, 0, 1, 0, 0, args.n, args.weights, {}};
    return run_few_rows_of<I8mm, I8mm::kFewRows>(args.m, all);
  }
  const size_t block_bytes = args.taps * args.kc * kBlock;
  const size_t row_block = rows_of_block(args, kTileRows);
  for (size_t i = 0; i < args.m; i += row_block) {
    const size_t end = args.m - i < row_block ? args.m : i + row_block;
    for (size_t j = 0; j < args.n; j += kBlock) {
      const size_t columns = args.n - j < kBlock ? args.n - j : kBlock;
      for (size_t row = i; row < end; row += kTileRows) {
        const int rows = end - row < kTileRows ? static_cast<int>(end - row) : kTileRows;
        run_tile(rows, args, output, row, j, columns, args.weights + j / kBlock * block_bytes);
      }
    }
  }
}

}  // namespace qrt
