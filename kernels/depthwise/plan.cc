// SPDX-License-Identifier: Apache-2.0
#include "kernels/depthwise/plan.h"

#include <numeric>

namespace qrt {
namespace {

// Beyond these the scalar kernel serves: scratch stays below 5 MB whatever a model file says.
constexpr size_t kMaxTaps = 1024, kMaxSpan = 256, kMaxStride = 16;

constexpr size_t kColumnBudget = 16 * 1024;  // bytes of interleaved columns: half of a small L1
constexpr size_t kStripBudget = 128 * 1024;  // bytes of input rows: half of a small L2

size_t ceil_div(size_t a, size_t b) { return (a + b - 1) / b; }

size_t span_of(const DepthwiseShape& s) { return (s.kernel_w - 1) * s.dilation_w + 1; }

// The layout of columns in a budget: from the first kernel column of the first output to the last
// of the last output, or, for each kernel column, those that the outputs take.
struct Columns {
  size_t tile_outputs, kernel_step, count;
  size_t runs, run_more;  // that are interleaved for a tile, and their columns beyond the outputs'

  // Returns whether it interleaves fewer columns for each output than `other`.
  bool is_cheaper(const Columns& other, const DepthwiseShape& s) const {
    return columns_of_tile(s) * other.outputs_of_tile(s) <
           other.columns_of_tile(s) * outputs_of_tile(s);
  }

 private:
  size_t outputs_of_tile(const DepthwiseShape& s) const {
    return s.out_w < tile_outputs ? s.out_w : tile_outputs;
  }
  size_t columns_of_tile(const DepthwiseShape& s) const {
    return runs * ((outputs_of_tile(s) - 1) * s.stride_w + run_more);
  }
};

Columns together(const DepthwiseShape& s, size_t budget) {
  const size_t span = span_of(s), least = span + (kDepthwiseMaxOutputs - 1) * s.stride_w;
  const size_t columns = budget < least ? least : budget;
  return {(columns - span) / s.stride_w + 1, s.dilation_w, columns, 1, span};
}

Columns apart(const DepthwiseShape& s, size_t budget) {
  const size_t least = (kDepthwiseMaxOutputs - 1) * s.stride_w + 1;
  const size_t columns = budget / s.kernel_w < least ? least : budget / s.kernel_w;
  return {(columns - 1) / s.stride_w + 1, columns, columns * s.kernel_w, s.kernel_w, 1};
}

// Images of many rows have fewer outputs for what a row takes beside them.
constexpr size_t kLongPhase = 16, kShortPhase = 4;
// From this dilation on each column of a line gets a run of its own (is_far): the pixels of a phase
// are so far apart that reading contiguous pixels a few times, once for each column, takes less
// time.
constexpr size_t kSparse = 16;

// Returns the line of a shape that is one and is faster so; otherwise a line without columns.
DepthwiseRow row_of(const DepthwiseTile& tile, const DepthwiseShape& s) {
  if (s.terms > 1) return {};
  const bool is_column = depthwise_is_column(s);
  if (is_column ? s.kernel_h == 1 : s.kernel_h != 1 || s.kernel_w == 1) return {};
  const DepthwiseShape row = is_column ? depthwise_as_row(s) : s;
  if (row.stride_w > kMaxStride) return {};
  const size_t step = tile.group_rows * row.dilation_w, common = std::gcd(row.stride_w, step);
  const size_t columns = ceil_div(row.kernel_w, tile.group_rows), phases = step / common;
  const size_t outputs = row.out_w / phases;
  if (row.out_h > 1 && (columns < 3 || outputs < kLongPhase)) return {};
  const bool is_dilated = row.dilation_w > 1, is_sparse = row.dilation_w >= kSparse && columns <= 3;
  const bool is_far = is_dilated && (outputs < kShortPhase || is_sparse);
  return {columns, step, phases, row.stride_w / common, is_far, is_column};
}

// REQUIRES: the shape of a line is that of an undilated row in whole columns.
DepthwisePlan plan_of(const DepthwiseTile& tile, const DepthwiseShape& s,
                      const DepthwiseRow& line) {
  DepthwisePlan p;
  p.line = line;
  p.groups = ceil_div(s.kernel_h, tile.group_rows);
  const bool is_dilated = s.dilation_h > 1;
  const bool two = (!is_dilated || (tile.pairs && s.stride_h == 1)) && s.stride_h < 4 &&
                   s.kernel_h + s.stride_h <= p.groups * tile.group_rows;
  p.pass_rows = two ? 2 : 1;
  p.row_step = two && is_dilated ? s.dilation_h : 1;
  p.column_bytes = p.groups * 4 * tile.quad_bytes;
  const size_t budget = kColumnBudget / p.column_bytes;
  Columns columns = together(s, budget);
  p.is_apart = false;
  if (s.dilation_w > 1) {
    const Columns far = apart(s, budget);
    p.is_apart = span_of(s) > kMaxSpan || far.is_cheaper(columns, s);
    if (p.is_apart) columns = far;
  }
  p.is_paired = tile.pairs && p.groups == 2 && s.dilation_w == 1 && s.multiplier == 1 &&
                s.kernel_h + (p.pass_rows - 1) * s.stride_h <= 6;
  p.tile_outputs = p.line.is_far ? columns.count / p.line.columns : columns.tile_outputs;
  p.kernel_step = columns.kernel_step;
  const size_t row_bytes = s.in_w * s.in_c;
  p.strip_rows = kStripBudget / s.stride_h / (row_bytes ? row_bytes : 1);
  p.strip_rows = p.strip_rows < 8 ? 8 : p.strip_rows / 8 * 8;  // whole passes of all bands
  p.weights_offset = 4 * 4 * 16 * tile.lanes;
  p.weight_row_bytes = s.terms * s.kernel_w * p.groups * 4 * tile.quad_bytes;
  p.columns_offset = p.weights_offset + p.pass_rows * p.weight_row_bytes;
  p.columns_offset = ceil_div(p.columns_offset, 64) * 64;
  p.scratch_bytes = p.columns_offset + ceil_div(columns.count * p.column_bytes, 64) * 64;
  return p;
}

}  // namespace

bool depthwise_is_column(const DepthwiseShape& s) {
  return s.in_w == 1 && s.out_w == 1 && s.kernel_w == 1 && s.pad_left == 0;
}

DepthwiseShape depthwise_as_row(const DepthwiseShape& s) {
  return {{1, s.in_h, 1, s.out_h, 1, s.kernel_h, 1, s.stride_h, 1, s.dilation_h, 0, s.pad_top},
          s.in_c,
          s.multiplier};
}

bool depthwise_tile_supports(const DepthwiseTile& tile, const DepthwiseShape& s) {
  if (tile.lanes == 0) return true;
  return s.kernel_h <= kMaxTaps && s.kernel_w <= kMaxSpan && s.kernel_h * s.kernel_w <= kMaxTaps &&
         s.stride_w <= kMaxStride && (s.dilation_w == 1 || s.kernel_w * s.stride_w <= kMaxTaps);
}

DepthwisePlan depthwise_plan(const DepthwiseTile& tile, const DepthwiseShape& shape) {
  const DepthwiseRow line = row_of(tile, shape);
  if (line.columns == 0) return plan_of(tile, shape, line);
  DepthwiseShape s = line.is_packed ? depthwise_as_row(shape) : shape;
  // The rows of the plan are taps: as many as the line's last column has. With stride 1 the taps of
  // a second output begin one place further, and may end in the same column.
  s.kernel_h = (s.kernel_w - 1) % tile.group_rows + 1;
  s.stride_h = s.stride_w == 1 ? 1 : tile.group_rows;
  s.kernel_w = line.columns;
  s.stride_w = line.stride;
  s.dilation_h = s.dilation_w = 1;
  s.out_w = ceil_div(s.out_w, line.phases);
  return plan_of(tile, s, line);
}

}  // namespace qrt
