// SPDX-License-Identifier: Apache-2.0
// Long short-term memory: per cell eight dot products, four gates, and the cell's new content.
#include "kernels/recurrent/recurrent.h"

namespace qrt {
namespace {

enum Gate { kInput, kForget, kCell, kOutput };

// Returns row `row` of weights [rows, n] times x, plus its bias.
int64_t dot(const uint8_t* x, const int8_t* weights, size_t n, const void* bias, size_t row) {
  const int8_t* w = weights + row * n;
  uint32_t sum = static_cast<uint32_t>(static_cast<const int32_t*>(bias)[row]);
  for (size_t i = 0; i < n; ++i) sum += static_cast<uint32_t>(x[i] * w[i]);
  return static_cast<int32_t>(sum);
}

int64_t dot(const int16_t* x, const int8_t* weights, size_t n, const void* bias, size_t row) {
  constexpr size_t kBlock = 256;  // products of at most 2^22: their sum stays within int32
  const int8_t* w = weights + row * n;
  int64_t sum = static_cast<const int64_t*>(bias)[row];
  for (size_t begin = 0; begin < n; begin += kBlock) {
    const size_t end = n - begin < kBlock ? n : begin + kBlock;
    int32_t part = 0;
    for (size_t i = begin; i < end; ++i) part += x[i] * w[i];
    sum += part;
  }
  return sum;
}

int32_t saturate16(int32_t v) { return static_cast<int32_t>(clamp_int(v, -32768, 32767)); }

// Returns the argument of a gate's function, Q3.12.
template <class T>
int32_t gate(const LstmParams& p, const T* x, const T* hidden, Gate g, size_t cell) {
  const size_t row = static_cast<size_t>(g) * p.cells + cell;
  const int64_t a = dot(x, p.weights, p.in, p.bias, row);
  const int64_t b = dot(hidden, p.recurrent_weights, p.cells, p.recurrent_bias, row);
  return saturate16(saturate16(p.input_stages[g].apply(a)) +
                    saturate16(p.recurrent_stages[g].apply(b)));
}

template <class T>
void run_cells(const LstmParams& p, const T* x, const T* hidden, int16_t* cell, T* y, size_t begin,
               size_t end) {
  for (size_t c = begin; c < end; ++c) {
    const int32_t forget = sigmoid_q15(3 * gate(p, x, hidden, kForget, c));
    const int32_t input = sigmoid_q15(3 * gate(p, x, hidden, kInput, c));
    const int32_t update = tanh_q15(3 * gate(p, x, hidden, kCell, c));
    const int32_t output = sigmoid_q15(3 * gate(p, x, hidden, kOutput, c));
    int32_t content = saturate16(saturate16(p.keep_stages.apply(forget * cell[c])) +
                                 saturate16(p.add_stages.apply(input * update)));
    if (p.cell_clip > 0)
      content = static_cast<int32_t>(clamp_int(content, -p.cell_clip, p.cell_clip));
    cell[c] = static_cast<int16_t>(content);
    const int64_t t =
        rounding_shift(int64_t{content} * p.tanh_multiplier, p.tanh_shift, Round::kHalfUp);
    const int32_t v = tanh_q15(static_cast<int32_t>(clamp_int(t, -INT32_MAX, INT32_MAX))) * output;
    y[c] = static_cast<T>(requantize(p.requant, v, 0));
  }
}

}  // namespace

void lstm_cells(const LstmParams& p, const uint8_t* x, const uint8_t* hidden, int16_t* cell,
                uint8_t* y, size_t begin, size_t end) {
  run_cells(p, x, hidden, cell, y, begin, end);
}

void lstm_cells(const LstmParams& p, const int16_t* x, const int16_t* hidden, int16_t* cell,
                int16_t* y, size_t begin, size_t end) {
  run_cells(p, x, hidden, cell, y, begin, end);
}

}  // namespace qrt
