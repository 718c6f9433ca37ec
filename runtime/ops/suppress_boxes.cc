// SPDX-License-Identifier: Apache-2.0
// SuppressBoxes: non-maximum suppression of boxes with integer corners, as CVM defines it.
#include <algorithm>
#include <cstring>

#include "runtime/checked.h"
#include "runtime/ops/check.h"
#include "runtime/ops/ops.h"
#include "runtime/ops/tasks.h"

namespace qrt {
namespace {

// A row: id, score, left, top, right, bottom.
constexpr size_t kBox = 6;

Status infer(const InferContext& context, TensorTypes* outputs) {
  const auto* o = context.op->options_as<fb::SuppressBoxesOptions>();
  QRT_TRY(check_input_count(context, 2));
  QRT_TRY(check_dtype(context, 0, "x", DType::kInt32));
  QRT_TRY(check_dtype(context, 1, "count", DType::kInt32));
  QRT_TRY(check_rank(context, 0, "x", 3, "[n, rows, 6]"));
  QRT_TRY(check_rank(context, 1, "count", 1, "[n]"));
  const Shape& x = context.inputs[0].type.shape;
  QRT_MODEL_CHECK(x[2] == kBox && context.inputs[1].type.shape[0] == x[0],
                  "x is %s and count %s, expected [n, rows, 6] and [n]", x.to_string().c_str(),
                  context.inputs[1].type.shape.to_string().c_str());
  QRT_TRY(check_range("iou_threshold", o->iou_threshold(), 1, INT32_MAX));
  return add_output(DType::kInt32, x, outputs);
}

struct Params {
  size_t images, rows, tasks;
  int32_t iou_threshold, max_outputs, top_k;
  bool any_class;
};

// Sides of up to 2^32 make areas beyond 64 bits, and sums of two beyond 65: two's complement in 128.
struct Area {
  int64_t high;
  uint64_t low;

  Area operator-() const { return {-high - (low != 0), 0 - low}; }
  Area operator+(const Area& other) const {
    const uint64_t sum = low + other.low;
    return {high + other.high + (sum < low), sum};
  }
  bool is_positive() const { return high > 0 || (high == 0 && low != 0); }
};

// Returns the product of two sides, each below 2^32 in size.
Area product(int64_t width, int64_t height) {
  const auto size = [](int64_t v) { return static_cast<uint64_t>(v < 0 ? -v : v); };
  const Area area = {0, size(width) * size(height)};
  return (width < 0) != (height < 0) ? -area : area;
}

Area area(const int32_t* box) {
  return product(int64_t{box[4]} - box[2], int64_t{box[5]} - box[3]);
}

int64_t iou(const int32_t* a, const int32_t* b) {
  const int64_t width = int64_t{std::min(a[4], b[4])} - std::max(a[2], b[2]);
  const int64_t height = int64_t{std::min(a[5], b[5])} - std::max(a[3], b[3]);
  const Area common = product(std::max(width, int64_t{0}), std::max(height, int64_t{0}));
  const Area sum = area(a) + area(b), both = sum + -common;
  if (!sum.is_positive() || !both.is_positive()) return 0;
  const uint64_t overlap = common.low;
  if (overlap <= INT64_MAX / 100)
    return both.high > 0 ? 0 : static_cast<int64_t>(overlap * 100 / both.low);
  // A hundredth of both; 2^64 is 100 * kHundredth + kRest.
  constexpr uint64_t kHundredth = UINT64_MAX / 100, kRest = UINT64_MAX % 100 + 1;
  const auto high = static_cast<uint64_t>(both.high);
  const uint64_t part = high * kHundredth + both.low / 100 + (high * kRest + both.low % 100) / 100;
  if (part == 0) return 0;
  return static_cast<int64_t>(std::min(overlap / part, uint64_t{INT64_MAX}));
}

// `order`: scratch of `rows` indices.
void suppress(const Params& p, const int32_t* x, int32_t count, int32_t* y, uint32_t* order) {
  const size_t valid = count < 0 ? 0 : std::min(static_cast<size_t>(count), p.rows);
  for (size_t i = 0; i < valid; ++i) order[i] = static_cast<uint32_t>(i);
  std::sort(order, order + valid, [&](uint32_t i, uint32_t j) {
    const int32_t u = x[i * kBox + 1], v = x[j * kBox + 1];
    return u != v ? u > v : i < j;
  });
  const size_t taken = p.top_k < 0 ? valid : std::min(static_cast<size_t>(p.top_k), valid);
  const size_t most =
      p.max_outputs < 0 ? p.rows : std::min(static_cast<size_t>(p.max_outputs), p.rows);
  size_t kept = 0;
  for (size_t i = 0; i < taken && kept < most; ++i) {
    const int32_t* box = x + order[i] * kBox;
    if (box[0] < 0) continue;
    bool is_free = true;
    for (size_t k = 0; k < kept && is_free; ++k) {
      const int32_t* other = y + k * kBox;
      is_free = (!p.any_class && other[0] != box[0]) || iou(box, other) < p.iou_threshold;
    }
    if (is_free) memcpy(y + kept++ * kBox, box, kBox * sizeof(int32_t));
  }
  std::fill(y + kept * kBox, y + p.rows * kBox, -1);
}

// Runs the step. Its scratch holds indices of the rows, for each task.
void run(const Step& step, const RunContext& context) {
  const Params& p = step.as<Params>();
  const int32_t* x = reinterpret_cast<const int32_t*>(context.in(step, 0));
  const int32_t* counts = reinterpret_cast<const int32_t*>(context.in(step, 1));
  int32_t* y = reinterpret_cast<int32_t*>(context.out(step, 0));
  for_chunks(*context.parallel, p.tasks, p.images, 1, [&](size_t task, size_t begin, size_t end) {
    uint32_t* order = reinterpret_cast<uint32_t*>(context.scratch) + task * p.rows;
    for (size_t i = begin; i < end; ++i)
      suppress(p, x + i * p.rows * kBox, counts[i], y + i * p.rows * kBox, order);
  });
}

Status prepare(const PrepareContext& context, PlannedStep* step) {
  const auto* o = context.op->options_as<fb::SuppressBoxesOptions>();
  const Shape& x = context.inputs[0].type.shape;
  auto params = make_planned<Params>();
  params->images = static_cast<size_t>(x[0]);
  params->rows = static_cast<size_t>(x[1]);
  params->iou_threshold = o->iou_threshold();
  params->max_outputs = o->max_outputs();
  params->top_k = o->top_k();
  params->any_class = o->any_class();
  params->tasks =
      task_count(100 * static_cast<double>(x.elements()), params->images, context.threads);
  step->scratch_bytes = product_or_most({params->tasks, params->rows, sizeof(uint32_t)});
  step->kernel = "suppress_boxes_scalar";
  step->run = run;
  step->params = std::move(params);
  return Status();
}

}  // namespace

std::string describe_suppress_boxes(const fb::Operator&) { return "int64 overlaps"; }

const OpDef kSuppressBoxesOp = {"SuppressBoxes",
                                fb::OpOptions::SuppressBoxes,
                                infer,
                                prepare,
                                {Arithmetic::kSelects, integer_level, no_requant, always_apart,
                                 LayoutRule::kOwn, Broadcasting::kNone, ConstantRule::kFixed}};

}  // namespace qrt
