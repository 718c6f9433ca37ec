// SPDX-License-Identifier: Apache-2.0
// Gather: y[i0, i1, ...] = x[map0[i0], map1[i1], ...] by constant index maps, with a fill value.
//
// The last axis with a map (or, without any, the last of all) makes the rows: its indices are
// blocks of the elements behind it. The axes in front of it only choose which row of x is read; the
// one next to the rows, where it has no map, is a loop of the kernel. A slice of every row of
// x may be a view.
#include <cstring>

#include "kernels/copy/copy.h"
#include "runtime/ops/check.h"
#include "runtime/ops/ops.h"
#include "runtime/ops/tasks.h"

namespace qrt {
namespace {

// The index map of an axis.
struct Map {
  const int32_t* index;
  int64_t count;
};

// Returns the map of axes[i] at the context's sizes.
Map map_of(const InferContext& context, uint32_t i) {
  if (const auto* sized = context.fields() != nullptr ? context.fields()->map(i) : nullptr)
    return {sized->data(), static_cast<int64_t>(sized->size())};
  const auto* index = context.op->options_as_Gather()->axes()->Get(i)->index();
  if (index == nullptr) return {nullptr, 0};
  return {index->data(), index->size()};
}

Status infer(const InferContext& context, TensorTypes* outputs) {
  const auto* options = context.op->options_as<fb::GatherOptions>();
  QRT_TRY(check_input_count(context, 1));
  const TensorType& x = context.inputs[0].type;
  QRT_TRY(check_whole_bytes(x));
  Shape shape = x.shape;
  int previous = -1;
  const uint32_t axes = options->axes() ? options->axes()->size() : 0;
  for (uint32_t i = 0; i < axes; ++i) {
    const int axis = options->axes()->Get(i)->axis();
    QRT_MODEL_CHECK(axis > previous && axis < x.shape.rank(),
                    "axis %u is %d, expected ascending axes below the rank %d", i, axis,
                    x.shape.rank());
    previous = axis;
    const auto [indices, count] = map_of(context, i);
    QRT_MODEL_CHECK(count > 0, "axis %d has no indices", axis);
    for (int64_t k = 0; k < count; ++k) {
      const int32_t index = indices[k];
      QRT_MODEL_CHECK(index >= -1 && index < x.shape[axis],
                      "index %lld of axis %d is %d, expected -1 to %lld", static_cast<long long>(k),
                      axis, index, static_cast<long long>(x.shape[axis] - 1));
    }
    shape[axis] = count;
  }
  return add_output(x.dtype, shape, outputs);
}

// An axis in front of the rows.
struct Outer {
  size_t size;           // of the output
  size_t input_bytes;    // from one index of x to the next
  const int32_t* index;  // null: all in order
};

struct Params {
  GatherRows row;
  PlanVector<GatherSpan> runs;
  Outer outer[kMaxTensorRank];
  size_t outer_count;
  // Rows that the kernel handles in one call. They share an index of the outer axes.
  size_t rows;
  size_t input_stride;  // of those
  size_t groups;        // product of the outer axes
  size_t tasks;
};

// Returns the offset of group g in x, in bytes, or -1: its rows are filled.
ptrdiff_t group_offset(const Params& p, size_t g) {
  size_t offset = 0;
  for (size_t i = p.outer_count; i-- > 0;) {
    const Outer& o = p.outer[i];
    const size_t at = g % o.size;
    g /= o.size;
    if (o.index && o.index[at] < 0) return -1;
    offset += (o.index ? static_cast<size_t>(o.index[at]) : at) * o.input_bytes;
  }
  return static_cast<ptrdiff_t>(offset);
}

void run(const Step& step, const RunContext& context) {
  const Params& p = step.as<Params>();
  for_chunks(*context.parallel, p.tasks, p.groups * p.rows, 1,
             [&](size_t, size_t begin, size_t end) {
               const size_t row_bytes = p.row.output_bytes;
               const uint8_t* x = context.in(step, 0);
               uint8_t* y = context.out(step, 0) + begin * row_bytes;
               // Offset in x of the group that lies whole right before y; -1: there is none.
               ptrdiff_t previous = -1;
               for (size_t at = begin; at < end;) {
                 const size_t first = at % p.rows, left = end - at;
                 const size_t rows = left < p.rows - first ? left : p.rows - first;
                 const size_t bytes = rows * row_bytes;
                 const ptrdiff_t offset = group_offset(p, at / p.rows);
                 if (offset < 0) {
                   fill_elements(p.row.fill, p.row.element_bytes, y, bytes / p.row.element_bytes);
                 } else if (offset == previous) {
                   memcpy(y, y - p.rows * row_bytes, bytes);
                 } else {
                   gather_rows(p.row, x + offset + first * p.input_stride, p.input_stride, y, rows);
                 }
                 previous = first == 0 ? offset : -1;
                 at += rows;
                 y += bytes;
               }
             });
}

// Cuts a map into runs: what is contiguous in x is copied at once, for all rows together; short
// pieces go block by block, but for the few of which many rows consist (a slice of channels).
// add(run) for each of them, in order.
template <class Add>
void for_gather_spans(const int32_t* index, size_t count, size_t block_bytes, size_t rows,
                      const Add& add) {
  constexpr size_t kShortBytes = 32, kMinBytes = 4, kMinRows = 8, kFew = 4;
  using Kind = GatherSpan::Kind;
  GatherSpan blocks = {Kind::kBlocks, 0, 0, nullptr};  // not added yet
  const auto add_blocks = [&] {
    if (blocks.count != 0) add(blocks);
    blocks.count = 0;
  };
  for (size_t i = 0; i < count;) {
    size_t n = 1;
    const bool fill = index[i] < 0;
    while (i + n < count && (fill ? index[i + n] < 0 : index[i + n] == index[i + n - 1] + 1)) ++n;
    Kind kind = fill ? Kind::kFill : Kind::kCopy;
    const bool is_large_part = rows >= kMinRows && n * kFew >= count;
    if (!fill && n * block_bytes < (is_large_part ? kMinBytes : kShortBytes)) kind = Kind::kBlocks;
    if (!fill && n == 1) kind = Kind::kBlocks;
    if (kind == Kind::kBlocks) {
      if (blocks.count == 0) blocks.first = index[i], blocks.index = index + i;
      blocks.count += static_cast<uint32_t>(n);
    } else {
      add_blocks();
      add(GatherSpan{kind, index[i], static_cast<uint32_t>(n), nullptr});
    }
    i += n;
  }
  add_blocks();
}

// Finds a view: y is a range of every row of x. The last axes are whole, the one before them is a
// range, then some may have a single index, and the others, whole again, are the rows.
void find_view(const int32_t* const* maps, const Shape& from, const Shape& to, size_t element_bytes,
               PlannedStep* step) {
  size_t begin = 0, stride = element_bytes, rows = 1;
  bool is_range = false;
  for (int d = to.rank() - 1; d >= 0; --d) {
    const int32_t first = maps[d] ? maps[d][0] : 0;
    if (first < 0) return;
    for (int64_t i = 1; maps[d] && i < to[d]; ++i)
      if (maps[d][i] != first + i) return;
    const bool is_whole = to[d] == from[d];
    if (is_range && !is_whole && (to[d] != 1 || rows != 1)) return;
    if (is_range && is_whole) rows *= static_cast<size_t>(to[d]);
    begin += static_cast<size_t>(first) * stride;
    stride *= static_cast<size_t>(from[d]);
    is_range |= !is_whole;
  }
  step->view_begin = begin;
  step->shared_rows = rows;
}

Status prepare(const PrepareContext& context, PlannedStep* step) {
  const auto* options = context.op->options_as<fb::GatherOptions>();
  const Shape& from = context.inputs[0].type.shape;
  const Shape& to = context.outputs[0].shape;
  const size_t element_bytes = dtype_bytes(context.outputs[0].dtype);
  const int32_t* maps[kMaxTensorRank] = {};
  int last = 0;
  if (options->axes()) {
    for (uint32_t i = 0; i < options->axes()->size(); ++i) {
      last = options->axes()->Get(i)->axis();
      maps[last] = map_of(context, i).index;
    }
  }
  find_view(maps, from, to, element_bytes, step);
  auto params = make_planned<Params>();
  Params& p = *params;
  size_t block = element_bytes;
  for (int d = last + 1; d < from.rank(); ++d) block *= static_cast<size_t>(from[d]);
  const auto size = [](const Shape& shape, int d) {
    return d < shape.rank() ? static_cast<size_t>(shape[d]) : 1;
  };
  // Joins adjacent axes without a map into one.
  size_t input_bytes = block * size(from, last);
  p.input_stride = input_bytes;
  p.rows = 1;
  int d = last - 1;
  for (; d >= 0 && !maps[d]; --d) {
    p.rows *= size(to, d);
    input_bytes *= size(from, d);
  }
  if (maps[last]) {
    size_t runs = 0;
    for_gather_spans(maps[last], size(to, last), block, p.rows, [&](const GatherSpan&) { ++runs; });
    QRT_TRY(context.take(runs * sizeof(GatherSpan)));
    p.runs.reserve(runs);
    for_gather_spans(maps[last], size(to, last), block, p.rows,
                     [&](const GatherSpan& run) { p.runs.push_back(run); });
  } else {
    p.runs.push_back({GatherSpan::Kind::kCopy, 0, static_cast<uint32_t>(size(to, last)), nullptr});
  }
  p.row = {p.runs.data(),
           p.runs.size(),
           block,
           block * size(to, last),
           static_cast<uint64_t>(options->fill()),
           element_bytes};

  Outer outer[kMaxTensorRank];
  p.groups = 1;
  p.outer_count = 0;
  for (; d >= 0; --d) {
    Outer* inner = p.outer_count > 0 ? &outer[p.outer_count - 1] : nullptr;
    if (!maps[d] && inner && !inner->index) {
      inner->size *= size(to, d);
    } else {
      outer[p.outer_count++] = {size(to, d), input_bytes, maps[d]};
    }
    p.groups *= size(to, d);
    input_bytes *= size(from, d);
  }
  for (size_t i = 0; i < p.outer_count; ++i) p.outer[i] = outer[p.outer_count - 1 - i];
  const size_t bytes = static_cast<size_t>(to.elements()) * element_bytes;
  p.tasks =
      task_count(static_cast<double>(bytes) / kCopyBytesPerNs, p.groups * p.rows, context.threads);
  step->kernel = "gather";
  step->run = run;
  step->reads_slack = false;
  step->params = std::move(params);
  return Status();
}

// Maps stand in the order of their axes.
bool keeps_images_apart(const fb::Operator& op, const BatchOperands&) {
  const auto* maps = op.options_as_Gather()->axes();
  return maps == nullptr || maps->size() == 0 || maps->Get(0)->axis() != 0;
}

}  // namespace

std::string describe_gather(const fb::Operator&) { return "move"; }

const OpDef kGatherOp = {"Gather",
                         fb::OpOptions::Gather,
                         infer,
                         prepare,
                         {Arithmetic::kMoves, integer_level, no_requant, keeps_images_apart,
                          LayoutRule::kAny, Broadcasting::kNone, ConstantRule::kFixed, true}};

}  // namespace qrt
