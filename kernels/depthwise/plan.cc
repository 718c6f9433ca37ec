#include "kernels/depthwise/plan.h"

namespace qrt {
namespace {

// Beyond these the scalar kernel serves: scratch stays below 5 MB whatever a model file says.
constexpr size_t kMaxTaps = 1024, kMaxSpan = 256, kMaxStride = 16;

constexpr size_t kColumnBudget = 16 * 1024;  // bytes of interleaved columns: half of a small L1
constexpr size_t kStripBudget = 128 * 1024;  // bytes of input rows: half of a small L2

size_t ceil_div(size_t a, size_t b) { return (a + b - 1) / b; }

}  // namespace

bool depthwise_tile_supports(const DepthwiseTile& tile, const DepthwiseShape& s) {
  if (tile.lanes == 0) return true;
  return s.kernel_h <= kMaxTaps && s.kernel_w <= kMaxSpan && s.kernel_h * s.kernel_w <= kMaxTaps &&
         s.stride_w <= kMaxStride && s.dilation_w <= kMaxSpan &&
         (s.kernel_w - 1) * s.dilation_w < kMaxSpan;
}

DepthwisePlan depthwise_plan(const DepthwiseTile& tile, const DepthwiseShape& s) {
  DepthwisePlan p;
  p.groups = ceil_div(s.kernel_h, tile.group_rows);
  const bool two =
      s.dilation_h == 1 && s.stride_h < 4 && s.kernel_h + s.stride_h <= p.groups * tile.group_rows;
  p.pass_rows = two ? 2 : 1;
  p.span = (s.kernel_w - 1) * s.dilation_w + 1;
  p.column_bytes = p.groups * 4 * tile.quad_bytes;
  const size_t least = p.span + (kDepthwiseMaxOutputs - 1) * s.stride_w;
  size_t columns = kColumnBudget / p.column_bytes;
  if (columns < least) columns = least;
  p.tile_outputs = (columns - p.span) / s.stride_w + 1;
  const size_t row_bytes = s.in_w * s.in_c;
  p.strip_rows = kStripBudget / s.stride_h / (row_bytes ? row_bytes : 1);
  p.strip_rows = p.strip_rows < 8 ? 8 : p.strip_rows / 8 * 8;  // whole passes of all bands
  p.weights_offset = 4 * 4 * 16 * tile.lanes;
  p.weight_row_bytes = s.kernel_w * p.groups * 4 * tile.quad_bytes;
  p.columns_offset = p.weights_offset + p.pass_rows * p.weight_row_bytes;
  p.columns_offset = ceil_div(p.columns_offset, 64) * 64;
  p.scratch_bytes = p.columns_offset + ceil_div(columns * p.column_bytes, 64) * 64;
  return p;
}

}  // namespace qrt
