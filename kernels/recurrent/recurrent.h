// SPDX-License-Identifier: Apache-2.0
// Layers that keep state: a time-delay layer (SVDF) and a sequence of long short-term memory cells
// (LSTM), in the integers of TFLite's reference kernels; formulas: schema/qrt_model.fbs,
// SvdfOptions and LstmOptions. One form for every instruction set. Sums are modulo 2^32, of int16
// activations of 64 bits. Thread-safe.
#ifndef QRT_KERNELS_RECURRENT_RECURRENT_H_
#define QRT_KERNELS_RECURRENT_RECURRENT_H_

#include <cstddef>
#include <cstdint>

#include "kernels/requant.h"

namespace qrt {

// Stages of channel 0.
struct Stages {
  const RequantStage* stages;
  int32_t count;  // 1..kMaxStages

  int32_t apply(int64_t v) const { return static_cast<int32_t>(apply_stages(stages, count, v, 0)); }
};

struct SvdfParams {
  size_t in, filters, rank, memory;  // filters a multiple of rank
  const int8_t* features;            // [filters, in]
  const int16_t* times;              // [filters, memory]
  const int32_t* bias;               // [filters / rank]
  int32_t input_zero_point;
  Stages feature_stages;
  int32_t state_lo, state_hi, state_zero_point;
  Requant requant;  // kInt; channel 0
};

// Computes the filters of the units [begin, end) of one row: x [in], state and next [filters,
// memory], which do not overlap, y [units].
void svdf_units(const SvdfParams& params, const uint8_t* x, const int16_t* state, int16_t* next,
                uint8_t* y, size_t begin, size_t end);

struct LstmParams {
  size_t in, cells;
  const int8_t* weights;            // [4, cells, in]
  const void* bias;                 // [4, cells] int32; of int16 activations int64
  const int8_t* recurrent_weights;  // [4, cells, cells]
  const void* recurrent_bias;       // [4, cells], likewise
  Stages input_stages[4], recurrent_stages[4];
  Stages keep_stages, add_stages;
  int32_t cell_clip;  // 0: none
  int32_t tanh_multiplier;
  int32_t tanh_shift;
  Requant requant;  // kInt; channel 0
};

// Computes the cells [begin, end) in one step of one row: x [in], hidden [cells] before the step, y
// [cells] after it, which do not overlap; cell [cells], changed in place.
void lstm_cells(const LstmParams& params, const uint8_t* x, const uint8_t* hidden, int16_t* cell,
                uint8_t* y, size_t begin, size_t end);
void lstm_cells(const LstmParams& params, const int16_t* x, const int16_t* hidden, int16_t* cell,
                int16_t* y, size_t begin, size_t end);

// Returns 1 / (1 + exp(-x / 8 / 3 * 2^-9)) as Q0.15 for an argument t = 3 * x of Q3.12 numbers x,
// by a table with linear interpolation; and tanh likewise. |t| < 2^31.
int32_t sigmoid_q15(int32_t t);
int32_t tanh_q15(int32_t t);

}  // namespace qrt

#endif  // QRT_KERNELS_RECURRENT_RECURRENT_H_
