// SPDX-License-Identifier: Apache-2.0
// The vector kernels' plan of a depthwise shape: how it is cut into passes, and the layout of their
// scratch memory. Built with baseline flags: select.cc asks for sizes before any kernel may run.
//
// A block is 16 * lanes output channels. Per block, `columns` are interleaved into scratch memory
//
//   [column][group][4 quads q][lanes][4 channels][group_rows]
//
// where lane l of quad q holds channels 16 * l + 4 * q + 0..3, the order in which in-lane unpacks
// leave them and in-lane packs take them back. A group is `group_rows` image rows one dilation
// apart: 4 for byte dot products, 2 for VPMADDWD, 1 for widening multiplies. The columns are all
// those from the first to the last that a tile of outputs reads. If a far dilated kernel reads few
// of these, they are instead the columns that each kernel column reads, one kernel column after the
// other (is_apart). The weights of the block are copied to the same order,
//
//   [row of the pass][term][kx][group][q][lanes][4 channels][group_rows]
//
// One pass computes one output row, or two rows if the input rows of both fit in the groups of one,
// so that each interleaved column is used twice. With a dilated kernel the two rows are a dilation
// apart.
//
// A line is a kernel of one row whose weights have one term, or of one column on an image of one
// column, which is a row in the same memory. One image row would leave most of a group empty, so
// the rows of a line's groups are taps, which are pixels of the image row a dilation apart. An
// output reads ceil(taps / group_rows) columns, each group_rows dilations behind the previous one.
// If phases are long, the columns of a phase are adjacent; otherwise each column of an output is in
// a run of its own (is_far). The bands of a line are adjacent outputs, and the two rows of a pass
// are two outputs a dilation apart.
//
// If a pass reads six image rows (5x5), the second group would be half empty. Its quads then hold
// the last two rows of a column and of the next one, [2 columns][2 rows], and every other kernel
// column uses them: 8 products for 25 taps, not 10. The weights of the second group follow all
// those of group 0.
#ifndef QRT_KERNELS_DEPTHWISE_PLAN_H_
#define QRT_KERNELS_DEPTHWISE_PLAN_H_

#include <cstddef>
#include <cstdint>

#include "kernels/depthwise/depthwise.h"

namespace qrt {

struct DepthwiseTile {
  size_t lanes;       // 16-channel lanes of a register; 0: the scalar kernel, no scratch, any shape
  size_t group_rows;  // 1, 2 or 4
  size_t quad_bytes;  // size of one [lanes][4][group_rows] cell
  bool pairs;  // whether a pass may have two rows that are a dilation apart, and columns may be
               // paired (is_paired)
};

constexpr DepthwiseTile kDepthwiseZmm = {4, 4, 64, true};
constexpr DepthwiseTile kDepthwiseYmm = {2, 4, 32, true};
constexpr DepthwiseTile kDepthwiseYmmWords = {2, 2, 32, false};
constexpr DepthwiseTile kDepthwiseNeonDot = {1, 4, 16, false};
constexpr DepthwiseTile kDepthwiseNeon = {1, 1, 8, false};
constexpr DepthwiseTile kDepthwiseScalar = {0, 0, 0, false};

constexpr size_t kDepthwiseMaxOutputs = 4;  // computed together in one row

struct DepthwiseRow {
  size_t columns;  // columns that an output reads; 0: the shape is not computed as a line
  size_t step;     // image pixels from one column to the next
  size_t phases;   // number of phases: outputs o, o + phases, o + 2 * phases ... form one
  size_t stride;   // columns from one output of a phase to the next
  bool is_far;     // each column has a run of its own: phases are short, or pixels far apart
  bool is_packed;  // taps are rows of the packed weights, as in a kernel of one column
};

struct DepthwisePlan {
  DepthwiseRow line;
  size_t groups;
  size_t pass_rows;  // output rows of one pass: 1 or 2
  // Distance of the two output rows of a pass: 1, or the dilation, at which both read the same
  // input rows.
  size_t row_step;
  // Columns from one kernel column to the next: the dilation, or with is_apart the number of
  // columns that each kernel column has.
  size_t kernel_step;
  bool is_apart;        // each kernel column has columns of its own
  bool is_paired;       // the second group holds two image rows of two columns each
  size_t column_bytes;  // size of one interleaved column
  size_t tile_outputs;  // outputs whose columns are interleaved at a time
  size_t strip_rows;    // output rows that are computed for all channels before the next ones, to
                        // keep the input in cache
  size_t weight_row_bytes;  // bytes of the weights of one row of the pass
  // Offsets into scratch: the constants of a block (bias and three of the epilogue's) first, then
  // weights, then columns.
  size_t weights_offset, columns_offset, scratch_bytes;
};

// Returns whether the shape is one column of an image of one column, which depthwise_as_row() makes a row.
bool depthwise_is_column(const DepthwiseShape& shape);
DepthwiseShape depthwise_as_row(const DepthwiseShape& column);

bool depthwise_tile_supports(const DepthwiseTile& tile, const DepthwiseShape& shape);

// REQUIRES: depthwise_tile_supports(tile, shape), tile.lanes > 0.
DepthwisePlan depthwise_plan(const DepthwiseTile& tile, const DepthwiseShape& shape);

}  // namespace qrt

#endif  // QRT_KERNELS_DEPTHWISE_PLAN_H_
