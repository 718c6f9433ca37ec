// SPDX-License-Identifier: Apache-2.0
// Softmax by table. The float sum is sequential by definition, so its latency bounds one row: four
// rows are summed side by side, each in its own order.
#include "kernels/softmax/softmax.h"

#include <string.h>

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

// The common data of a call's rows: e_j * k is quantised by the sum as its scale.
struct Job {
  Job(const SoftmaxParams& p, const EdgeKernel& e, const LutKernel& l)
      : params(p), edge(e), lut(l) {
    for (size_t i = 0; i < 256; ++i) scaled[i] = params.table[i] * params.k;
  }
  Job(const Job&) = delete;

  void quantize(const float* e, size_t n, float sum, uint8_t* y) const {
    edge.quantize(e, n, sum, params.zero_point, 0, 255, y);
  }

  const SoftmaxParams& params;
  const EdgeKernel& edge;
  const LutKernel& lut;
  float scaled[256 + 16] = {};  // and what the edge may read
  // The table of a row, at the places of `scaled`. The look-up reads 256 bytes from that of x = 0 on.
  uint8_t bytes[512] = {};
};

// Element by element.
void store_row(const Job& job, Range range, float sum, const uint8_t* x, uint8_t* y, size_t n) {
  constexpr size_t kBlock = 256;
  const float* const e = job.scaled + 255 - range.greatest;
  float v[kBlock + 16] = {};
  for (size_t begin = 0; begin < n; begin += kBlock) {
    const size_t block = n - begin < kBlock ? n - begin : kBlock;
    for (size_t i = 0; i < block; ++i) v[i] = e[x[begin + i]];
    job.quantize(v, block, sum, y + begin);
  }
}

// Maps a row by a table of its own, from byte to byte: of no more values than the row has, without
// a look-up of each exponential.
void map_row(Job* job, Range range, float sum, const uint8_t* x, uint8_t* y, size_t n) {
  const size_t values = 1u + range.greatest - range.least, first = 256 - values;
  job->quantize(job->scaled + first, values, sum, job->bytes + first);
  job->lut.map(job->bytes + 255 - range.greatest, x, y, n);
}

// Computes a row's softmax in integers.
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

void softmax_rows_float(Job* job, const uint8_t* x, uint8_t* y, size_t rows, size_t n) {
  constexpr size_t kRows = 4;
  for (size_t row = 0; row < rows; row += kRows) {
    const size_t count = rows - row < kRows ? rows - row : kRows;
    const uint8_t* in[kRows];
    Range range[kRows];
    const float* e[kRows];  // indexed by x_j
    for (size_t r = 0; r < kRows; ++r) {
      in[r] = x + (row + (r < count ? r : 0)) * n;
      range[r] = range_of(in[r], n);
      e[r] = job->params.table + 255 - range[r].greatest;
    }
    float sum[kRows] = {};
    for (size_t i = 0; i < n; ++i)
      for (size_t r = 0; r < kRows; ++r) sum[r] = sum[r] + e[r][in[r][i]];
    for (size_t r = 0; r < count; ++r) {
      uint8_t* const to = y + (row + r) * n;
      const size_t values = 1u + range[r].greatest - range[r].least;
      if (values <= n)
        map_row(job, range[r], sum[r], in[r], to, n);
      else
        store_row(*job, range[r], sum[r], in[r], to, n);
    }
  }
}

// Computes a row's table: floor(e_j * r + 1/2) of every value in its range.
void reciprocal_bytes(const float* table, float scale, Range range, const uint8_t* x, size_t n,
                      uint8_t* bytes) {
  const float* const e = table + 255 - range.greatest;
  float sum = 0;
  for (size_t i = 0; i < n; ++i) sum = sum + e[x[i]];
  const float r = 1.0f / (sum * scale);
  for (int v = range.least; v <= range.greatest; ++v) {
    const float share = e[v] * r;
    const float above = share + 0.5f;
    bytes[v] = static_cast<uint8_t>(above < 255.0f ? above : 255.0f);
  }
}

// Computes a row's softmax in integers.
void reciprocal_bytes_soft(const float* table, float scale, Range range, const uint8_t* x, size_t n,
                           uint8_t* bytes) {
  const float* const e = table + 255 - range.greatest;
  const soft::Bits half = soft::bits_of(0.5f), minus_half = soft::bits_of(-0.5f);
  soft::Bits sum = 0;
  for (size_t i = 0; i < n; ++i) sum = soft::add(sum, soft::bits_of(e[x[i]]));
  const soft::Bits r = soft::div(soft::bits_of(1.0f), soft::mul(sum, soft::bits_of(scale)));
  for (int v = range.least; v <= range.greatest; ++v) {
    const soft::Bits above = soft::add(soft::mul(soft::bits_of(e[v]), r), half);
    const int64_t q = soft::to_int(soft::add(above, minus_half), true);  // floor(above)
    bytes[v] = static_cast<uint8_t>(q > 255 ? 255 : q);
  }
}

}  // namespace

void softmax_reciprocal_rows(const float* table, float output_scale, const uint8_t* x, uint8_t* y,
                             size_t rows, size_t n) {
  uint8_t bytes[256];
  for (size_t row = 0; row < rows; ++row, x += n, y += n) {
    (kIntegerOnly ? reciprocal_bytes_soft : reciprocal_bytes)(table, output_scale, range_of(x, n),
                                                              x, n, bytes);
    for (size_t i = 0; i < n; ++i) y[i] = bytes[x[i]];
  }
}

namespace {

// Computes a row's quotients e_j / sum of every value in its range.
void pair_quotients(const float* e, Range range, const uint8_t* x, size_t n, float* quotients) {
  float sum = 0;
  for (size_t i = 0; i < n; ++i) sum = sum + e[x[i]];
  for (int v = range.least; v <= range.greatest; ++v) quotients[v] = e[v] / sum;
}

// Computes a row's softmax in integers.
void pair_quotients_soft(const float* e, Range range, const uint8_t* x, size_t n,
                         float* quotients) {
  soft::Bits sum = 0;
  for (size_t i = 0; i < n; ++i) sum = soft::add(sum, soft::bits_of(e[x[i]]));
  for (int v = range.least; v <= range.greatest; ++v) {
    const soft::Bits quotient = soft::div(soft::bits_of(e[v]), sum);
    memcpy(quotients + v, &quotient, sizeof(quotient));
  }
}

}  // namespace

void softmax_pair_rows(const float* table, const uint8_t* x, float* y, size_t rows, size_t n) {
  float quotients[256];
  for (size_t row = 0; row < rows; ++row, x += n, y += n) {
    const Range range = range_of(x, n);
    (kIntegerOnly ? pair_quotients_soft : pair_quotients)(table + 256 * range.greatest, range, x, n,
                                                          quotients);
    for (size_t i = 0; i < n; ++i) y[i] = quotients[x[i]];
  }
}

void softmax_rows(const SoftmaxParams& params, const EdgeKernel& edge, const LutKernel& lut,
                  const uint8_t* x, uint8_t* y, size_t rows, size_t n) {
  if (kIntegerOnly) {
    for (size_t row = 0; row < rows; ++row, x += n, y += n) softmax_row_soft(params, x, y, n);
  } else {
    Job job(params, edge, lut);
    softmax_rows_float(&job, x, y, rows, n);
  }
}

}  // namespace qrt
