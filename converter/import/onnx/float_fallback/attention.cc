// SPDX-License-Identifier: Apache-2.0
#include "converter/import/onnx/float_fallback/attention.h"

#include <limits>

#include "converter/import/onnx/float_fallback/products.h"

namespace qrt::convert::from_onnx {

using F = fb::FloatFunction;

ValueId split_heads(FloatGraph* f, ValueId x, int64_t heads) {
  const Shape s = f->shape_of(x);
  x = f->builder().reshape(f->node(), x, {s[0], s[1], heads, s[2] / heads});
  return f->builder().transpose(f->node(), x, {0, 2, 1, 3});
}

ValueId join_heads(FloatGraph* f, ValueId x) {
  const Shape s = f->shape_of(x);
  x = f->builder().transpose(f->node(), x, {0, 2, 1, 3});
  return f->builder().reshape(f->node(), x, {s[0], s[2], s[1] * s[3]});
}

ValueId slice_along(FloatGraph* f, ValueId x, int axis, int64_t begin, int64_t count,
                    int64_t step) {
  IndexMaps maps(f->shape_of(x));
  if (count == maps.from()[axis] && step == 1) return x;
  maps.set(axis, stepped(begin, count, step));
  return f->builder().gather(f->node(), x, maps, 0);
}

Status rotate(FloatGraph* f, ValueId cos, ValueId sin, bool is_interleaved, ValueId x, ValueId* y) {
  const Shape s = f->shape_of(x), angles = f->shape_of(cos);
  const int64_t r = angles[3];
  const ValueId a = slice_along(f, x, 3, 0, r, is_interleaved ? 2 : 1);
  const ValueId b = slice_along(f, x, 3, is_interleaved ? 1 : r, r, is_interleaved ? 2 : 1);
  ValueId ac, bs, bc, as, first, second;
  QRT_TRY(f->binary(F::MUL, a, cos, &ac));
  QRT_TRY(f->binary(F::MUL, b, sin, &bs));
  QRT_TRY(f->binary(F::SUB, ac, bs, &first));
  QRT_TRY(f->binary(F::MUL, b, cos, &bc));
  QRT_TRY(f->binary(F::MUL, a, sin, &as));
  QRT_TRY(f->binary(F::ADD, bc, as, &second));
  GraphBuilder& builder = f->builder();
  ValueId turned;
  if (is_interleaved) {
    const Shape one = {s[0], s[1], s[2], r, 1};
    turned = builder.concat(
        f->node(),
        {builder.reshape(f->node(), first, one), builder.reshape(f->node(), second, one)}, 4);
    turned = builder.reshape(f->node(), turned, {s[0], s[1], s[2], 2 * r});
  } else {
    turned = builder.concat(f->node(), {first, second}, 3);
  }
  *y = 2 * r == s[3]
           ? turned
           : builder.concat(f->node(), {turned, slice_along(f, x, 3, 2 * r, s[3] - 2 * r)}, 3);
  return Status();
}

namespace {

constexpr float kLeast = std::numeric_limits<float>::lowest();

// Returns a tensor of the least float where a key is masked, and of infinity elsewhere.
ValueId limits_of(FloatGraph* f, ValueId visible) {
  std::vector<float> table(256, std::numeric_limits<float>::infinity());
  table[0] = kLeast;
  return f->add(F::TABLE, {visible, f->constant({256}, table)}, f->shape_of(visible));
}

// Sets to 0 the rows of *y for which `mask` has the least float everywhere, since it hides all
// keys.
Status clear_hidden(FloatGraph* f, ValueId mask, ValueId* y) {
  std::vector<bool> last(static_cast<size_t>(f->shape_of(mask).rank()), false);
  QRT_MODEL_CHECK(!last.empty(), "a mask is one number");
  last.back() = true;
  ValueId most, counts;
  QRT_TRY(f->rows(F::REDUCE_MAX, last, 0, mask, &most));
  QRT_TRY(f->binary(F::LESS, f->constant({}, {kLeast}), most, &counts));
  return f->binary(F::MUL, *y, counts, y);
}

}  // namespace

Status attend(FloatGraph* f, ValueId q, ValueId k, ValueId v, AttentionForm* form, ValueId* y) {
  GraphBuilder& builder = f->builder();
  const Shape sq = f->shape_of(q), sk = f->shape_of(k), sv = f->shape_of(v);
  const bool is_grouped = sq[1] != sk[1];
  const Shape rows = {sk[0], sk[1], sq[1] / sk[1] * sq[2], sq[3]};
  const ValueId turned = builder.transpose(f->node(), k, {0, 1, 3, 2});
  ValueId scores = kNoValue, product = kNoValue;
  float_matmul(f, is_grouped ? builder.reshape(f->node(), q, rows) : q, turned, &scores);
  const Shape all = {sq[0], sq[1], sq[2], sk[2]};
  if (is_grouped) scores = builder.reshape(f->node(), scores, all);
  if (form->scale != 1) QRT_TRY(f->binary(F::MUL, scores, f->constant({}, {form->scale}), &scores));
  if (form->softcap > 0) {
    QRT_TRY(f->binary(F::DIV, scores, f->constant({}, {form->softcap}), &scores));
    scores = f->add(F::ORT_TANH, {scores}, f->shape_of(scores));
    QRT_TRY(f->binary(F::MUL, scores, f->constant({}, {form->softcap}), &scores));
  }
  ValueId mask = kNoValue;
  if (form->bias != kNoValue) {
    mask = form->bias;
    // Keeps rows from being -infinity throughout, for which a softmax gives NaN.
    if (form->hides_queries) QRT_TRY(f->binary(F::MAXIMUM, f->constant({}, {kLeast}), mask, &mask));
    QRT_TRY(f->binary(F::ADD, scores, mask, &scores));
  }
  if (form->visible != kNoValue) {
    // Sets masked scores to the least float and keeps all others, NaN included.
    const ValueId limits = limits_of(f, form->visible);
    QRT_TRY(f->binary(F::MINIMUM, limits, scores, &scores));
    if (mask == kNoValue)
      mask = limits;
    else if (form->hides_queries)
      QRT_TRY(f->binary(F::MINIMUM, limits, mask, &mask));
  }
  QRT_MODEL_CHECK(f->shape_of(scores) == all, "a mask has more than the %s scores",
                  all.to_string().c_str());
  form->probabilities = f->add(F::LANE_SOFTMAX, {scores}, all);
  ValueId weights = form->probabilities;
  if (is_grouped) weights = builder.reshape(f->node(), weights, {rows[0], rows[1], rows[2], sk[2]});
  float_matmul(f, weights, v, &product);
  if (is_grouped) product = builder.reshape(f->node(), product, {sq[0], sq[1], sq[2], sv[3]});
  if (form->hides_queries) QRT_TRY(clear_hidden(f, mask, &product));
  *y = product;
  return Status();
}

}  // namespace qrt::convert::from_onnx
