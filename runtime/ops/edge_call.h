// SPDX-License-Identifier: Apache-2.0
// The common part of Quantize and Dequantize: how scales and zero points meet the elements, and
// where they come from.
#ifndef QRT_RUNTIME_OPS_EDGE_CALL_H_
#define QRT_RUNTIME_OPS_EDGE_CALL_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "kernels/edge/edge.h"
#include "runtime/op.h"
#include "runtime/ops/tasks.h"

namespace qrt {

// x as [outer][depth][inner], the middle one being the axis; index d of it belongs to block
// d / block. Element [o, d, i] has the scale of entry
//   per tensor: 0     per axis: d     in blocks: (o * blocks + d / block) * inner + i
// Per tensor: depth is all elements, outer and inner 1.
struct EdgeLayout {
  enum class Kind : uint8_t { kTensor, kAxis, kBlocks };

  Kind kind = Kind::kTensor;
  size_t outer = 1, depth = 1, inner = 1;
  size_t block = 1, blocks = 1;

  size_t entries() const {
    if (kind == Kind::kTensor) return 1;
    return kind == Kind::kAxis ? depth : outer * blocks * inner;
  }
  // Returns whether neighbouring elements have neighbouring entries, so that kernels take rows of
  // entries; otherwise they take runs of elements that share one entry.
  bool has_rows() const {
    return (kind == Kind::kAxis && inner == 1) || (kind == Kind::kBlocks && inner > 1);
  }
};

// Calls f(at, rows, count, entry, each) for the elements [begin, end) in order: rows * count
// elements from `at`, every row with the entries from `entry` (each), or all elements with that one.
template <class F>
void for_grid_spans(const EdgeLayout& l, size_t begin, size_t end, const F& f) {
  using Kind = EdgeLayout::Kind;
  if (l.kind == Kind::kTensor) return f(begin, 1, end - begin, 0, false);
  const size_t slab = l.depth * l.inner;  // elements of one index of outer
  while (begin < end) {
    const size_t o = begin / slab, d = begin % slab / l.inner;
    if (!l.has_rows()) {
      // A run: an index of the axis with all of inner, or a block of the last axis.
      const size_t first = l.kind == Kind::kAxis ? d : d / l.block * l.block;
      const size_t last = l.kind == Kind::kAxis ? d + 1 : std::min(l.depth, first + l.block);
      const size_t entry = l.kind == Kind::kAxis ? d : o * l.blocks + d / l.block;
      const size_t stop = std::min(end, o * slab + last * l.inner);
      f(begin, 1, stop - begin, entry, false);
      begin = stop;
      continue;
    }
    // Rows that share their entries: of the whole tensor, or of a block.
    const bool blocks = l.kind == Kind::kBlocks;
    const size_t width = blocks ? l.inner : l.depth;
    const size_t entry = blocks ? (o * l.blocks + d / l.block) * l.inner : 0;
    const size_t limit =
        blocks ? std::min(end, o * slab + std::min(l.depth, (d / l.block + 1) * l.block) * l.inner)
               : end;
    const size_t column = begin % width;
    size_t rows = 1, count = std::min(width - column, limit - begin);
    if (column == 0 && limit - begin >= width) rows = (limit - begin) / width, count = width;
    f(begin, rows, count, entry + column, true);
    begin += rows * count;
  }
}

// Returns scale and zero point of a span of for_grid_spans() as the kernels take them.
inline EdgeGrid grid_at(const EdgeGrid& all, size_t entry, bool each) {
  return {all.scale + entry, all.zero_point + entry, each};
}

struct EdgeCall {
  const EdgeKernel* kernel;
  EdgeLayout layout;
  size_t elements = 0, tasks = 1;
  // The scales and zero points of the options; empty where they are inputs.
  PlanVector<float> scale;
  PlanVector<int32_t> zero_point;
  DType scale_type = DType::kFloat32, zero_point_type = DType::kUInt8;
  bool has_zero_point = false;
  fb::Division division = fb::Division::F32;

  bool reads_inputs() const { return scale.empty(); }
  size_t scratch_bytes() const;
  // Returns the grid of this run. Parameters that are inputs are decoded into the step's scratch
  // memory, and scales are rounded to the type of the division.
  EdgeGrid grid(const Step& step, const RunContext& context) const;
};

// Elements that go through buffers on the stack at a time; a multiple of what fills whole bytes.
constexpr size_t kEdgeChunk = 2048;

// Checks shapes, types and values of scale and zero point: of the options (`*scale` etc., where
// `quantized` limits the zero points) or of the inputs. `quantized` is the type on the integer side.
Status check_edge(const InferContext& context, DType quantized,
                  const flatbuffers::Vector<uint32_t>* scale,
                  const flatbuffers::Vector<int32_t>* zero_point, int32_t axis, uint32_t block_size,
                  bool allow_infinite_scale);

// REQUIRES: check_edge() succeeded. kOutOfMemory.
Status make_edge(const PrepareContext& context, const flatbuffers::Vector<uint32_t>* scale,
                 const flatbuffers::Vector<int32_t>* zero_point, int32_t axis, uint32_t block_size,
                 fb::Division division, EdgeCall* step);

// Sets the limits of an integer type of up to 16 bits; 0 to 0 for other types.
void integer_range(DType dtype, int32_t* lo, int32_t* hi);
bool is_small_integer(DType dtype);  // has at most 16 bits
bool is_signed_integer(DType dtype);
// Finds the format of a FLOAT8* or FLOAT4E2M1 type. Returns false for the other types.
bool small_format(DType dtype, SmallFormat* format);

// Unpacks the elements [at, at + count) of x to `codes`, one per byte for packed types. REQUIRES:
// at is a multiple of 4.
void unpack_elements(DType dtype, const uint8_t* x, size_t at, size_t count, uint8_t* codes);

}  // namespace qrt

#endif  // QRT_RUNTIME_OPS_EDGE_CALL_H_
