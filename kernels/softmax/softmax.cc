// Softmax by table. The float sum is sequential by definition, so its latency bounds one row: four
// rows are summed side by side, each in its own order.
#include "kernels/softmax/softmax.h"

#include "kernels/integer_only.h"
#include "kernels/soft_float.h"

namespace qrt {
namespace {

struct Range {
  uint8_t least, greatest;
};

Range range_of(const uint8_t* x, size_t n) {
  Range r = {255, 0};
  for (size_t i = 0; i < n; ++i) {
    r.least = x[i] < r.least ? x[i] : r.least;
    r.greatest = x[i] > r.greatest ? x[i] : r.greatest;
  }
  return r;
}

constexpr size_t kBlock = 32;

// y = clamp(HE(fl32(fl32(e * k) / sum)) + zero_point, 0, 255)
void quantize_block(const SoftmaxParams& params, const float* e, float sum, int32_t* y) {
  const float lo = static_cast<float>(-params.zero_point);
  const float hi = static_cast<float>(255 - params.zero_point);
  // Added to |v| < 2^22 it leaves an integer, rounded half to even.
  constexpr float kRound = 12582912.0f;
  for (size_t i = 0; i < kBlock; ++i) {
    float r = e[i] * params.k / sum;
    r = r > lo ? r : lo;
    r = r < hi ? r : hi;
    y[i] = static_cast<int32_t>(r + kRound) - static_cast<int32_t>(kRound) + params.zero_point;
  }
}

// Element by element.
void store_row(const SoftmaxParams& params, const float* e, float sum, const uint8_t* x, uint8_t* y,
               size_t n) {
  for (size_t begin = 0; begin < n; begin += kBlock) {
    const size_t block = n - begin < kBlock ? n - begin : kBlock;
    float v[kBlock] = {};
    for (size_t i = 0; i < block; ++i) v[i] = e[x[begin + i]];
    int32_t q[kBlock];
    quantize_block(params, v, sum, q);
    for (size_t i = 0; i < block; ++i) y[begin + i] = static_cast<uint8_t>(q[i]);
  }
}

// By the row's own table, from byte to byte: of no more values than the row has, without a look-up
// of each exponential.
void map_row(const SoftmaxParams& params, const LutKernel& lut, Range range, float sum,
             const uint8_t* x, uint8_t* y, size_t n) {
  // Indexed as params.table; the look-up takes 256 from the place of x = 0 on.
  uint8_t bytes[512] = {};
  const size_t first = 255u - range.greatest + range.least;
  for (size_t end = 256; end > first; end -= kBlock) {
    int32_t q[kBlock];
    quantize_block(params, params.table + end - kBlock, sum, q);
    for (size_t i = 0; i < kBlock; ++i) bytes[end - kBlock + i] = static_cast<uint8_t>(q[i]);
  }
  lut.map(bytes + 255 - range.greatest, x, y, n);
}

// The same in integers.
void softmax_row_soft(const SoftmaxParams& params, const uint8_t* x, uint8_t* y, size_t n) {
  const float* e = params.table + 255 - range_of(x, n).greatest;
  const soft::Bits k = soft::bits_of(params.k);
  soft::Bits sum = 0;
  for (size_t i = 0; i < n; ++i) sum = soft::add(sum, soft::bits_of(e[x[i]]));
  for (size_t i = 0; i < n; ++i) {
    const soft::Bits v = soft::div(soft::mul(soft::bits_of(e[x[i]]), k), sum);
    const int64_t q = soft::to_int(v) + params.zero_point;
    y[i] = static_cast<uint8_t>(q < 0 ? 0 : q > 255 ? 255 : q);
  }
}

void softmax_rows_float(const SoftmaxParams& params, const LutKernel& lut, const uint8_t* x,
                        uint8_t* y, size_t rows, size_t n) {
  constexpr size_t kRows = 4;
  for (size_t row = 0; row < rows; row += kRows) {
    const size_t count = rows - row < kRows ? rows - row : kRows;
    const uint8_t* in[kRows];
    Range range[kRows];
    const float* e[kRows];  // indexed by x_j
    for (size_t r = 0; r < kRows; ++r) {
      in[r] = x + (row + (r < count ? r : 0)) * n;
      range[r] = range_of(in[r], n);
      e[r] = params.table + 255 - range[r].greatest;
    }
    float sum[kRows] = {};
    for (size_t i = 0; i < n; ++i)
      for (size_t r = 0; r < kRows; ++r) sum[r] = sum[r] + e[r][in[r][i]];
    for (size_t r = 0; r < count; ++r) {
      uint8_t* const to = y + (row + r) * n;
      const size_t values = 1u + range[r].greatest - range[r].least;
      if (values <= n)
        map_row(params, lut, range[r], sum[r], in[r], to, n);
      else
        store_row(params, e[r], sum[r], in[r], to, n);
    }
  }
}

}  // namespace

void softmax_rows(const SoftmaxParams& params, const LutKernel& lut, const uint8_t* x, uint8_t* y,
                  size_t rows, size_t n) {
  if (kIntegerOnly) {
    for (size_t row = 0; row < rows; ++row, x += n, y += n) softmax_row_soft(params, x, y, n);
  } else {
    softmax_rows_float(params, lut, x, y, rows, n);
  }
}

}  // namespace qrt
