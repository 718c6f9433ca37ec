// SPDX-License-Identifier: Apache-2.0
// EmbedLayerNormalization of com.microsoft: rows of tables for words, positions and segments, their sum, and its normalisation.
// QEmbedLayerNormalization becomes one whose tables are dequantised (file/fused.h).
#include <cmath>

#include "converter/import/onnx/float_fallback/attention.h"
#include "converter/import/onnx/float_fallback/normalization.h"
#include "converter/import/onnx/ops/attention.h"
#include "converter/import/onnx/ops/handlers.h"
#include "converter/import/onnx/ops/integer.h"
#include "converter/import/onnx/run_integers.h"

namespace qrt::convert::from_onnx {
namespace {

using F = fb::FloatFunction;

// Takes rows of a table [n, h], input `table`, at the ids of a run, input `ids`. An id outside ends the run. A table of integers with
// one scale is dequantised behind it. *rows stays kNoValue where the node was refused.
Status rows_of_table(FloatGraph* f, int table, int ids, ValueId* rows) {
  Importer& importer = f->importer();
  const NodeView& node = f->node();
  Tensor codes = importer.input(node, table);
  const bool has_codes = codes.is_constant() && codes.quant && codes.quant->per_tensor();
  ValueId from;
  if (has_codes)
    from = stored_constant(importer, *codes.constant, *codes.quant, node.input(table));
  else if (!f->read(table, &from))
    return importer.refuse_float(node, table);
  if (!has_type(importer.input(node, ids), kInt32) && !has_type(importer.input(node, ids), kInt64))
    return importer.refuse_float(node, ids);
  const Shape s = f->shape_of(from);
  QRT_MODEL_CHECK(s.rank() == 2, "a table of shape %s", s.to_string().c_str());
  RunIntegers r(importer, node);
  ValueId index = r.to_int64(integer_value(importer, node, ids));
  index = r.unless(r.is_less(index, r.constant(0)), index);
  Shape shape = f->shape_of(index);
  QRT_MODEL_CHECK(shape.rank() == 2, "ids of shape %s", shape.to_string().c_str());
  shape.push_back(s[1]);
  const ValueId taken = f->builder().new_value("", f->builder().type_of(from), shape);
  f->builder().add<fb::TakeOptionsT>(node, {from, index}, taken).is_checked = true;
  *rows = taken;
  if (!has_codes) return Status();
  codes.kind = Tensor::Kind::kTable;
  codes.constant.reset();
  codes.value = taken;
  codes.shape = shape;
  return f->read_table(codes, rows) ? Status() : importer.refuse_float(node, table);
}

// Counts the ones of each row of a mask [b, s]: INT32 [b].
Status count_ones(FloatGraph* f, int mask, ValueId* counts) {
  Importer& importer = f->importer();
  const NodeView& node = f->node();
  RunIntegers r(importer, node);
  const ValueId ones = r.is_equal(r.to_int64(integer_value(importer, node, mask)), r.constant(1));
  std::vector<float> table(256, 1);
  table[0] = 0;
  const Shape s = f->shape_of(ones);
  ValueId sum = f->add(F::TABLE, {ones, f->constant({256}, table)}, s);
  QRT_TRY(f->rows(F::REDUCE_SUM, {false, true}, 0, sum, &sum));
  sum = f->builder().reshape(node, sum, {s[0]});
  *counts = f->builder().new_value("", DType::kInt32, {s[0]});
  f->builder().add<fb::CastOptionsT>(node, {sum}, *counts).is_float = true;
  return Status();
}

}  // namespace

Status import_embed_norm(Importer& importer, const NodeView& node) {
  if (!importer.allows_float()) return refuse_float_operator(importer, node);
  constexpr int kIds = 0, kSegments = 1, kWords = 2, kPositions = 3, kSegmentTable = 4, kScale = 5,
                kMask = 7, kPositionIds = 8;
  const float epsilon = node.real("epsilon", 1e-12f);
  QRT_MODEL_CHECK(epsilon >= 0 && std::isfinite(epsilon), "its epsilon is %g",
                  static_cast<double>(epsilon));
  const bool is_count_read = node.has_output(1) && importer.uses(node.output(1)) > 0;
  if (is_count_read && !node.has_input(kMask))
    return refuse_form(importer, node, "its lengths are read, and it has no mask");
  FloatGraph f(importer, node);
  ValueId sum = kNoValue, other = kNoValue;
  QRT_TRY(rows_of_table(&f, kWords, kIds, &sum));
  if (sum == kNoValue) return Status();
  if (node.has_input(kPositionIds)) {
    QRT_TRY(rows_of_table(&f, kPositions, kPositionIds, &other));
    if (other == kNoValue) return Status();
  } else {
    if (!f.read(kPositions, &other)) return importer.refuse_float(node, kPositions);
    const int64_t length = f.shape_of(sum)[1];
    const Shape table = f.shape_of(other);
    QRT_MODEL_CHECK(table.rank() == 2 && table[0] >= length, "%lld positions and a table %s",
                    static_cast<long long>(length), table.to_string().c_str());
    other = slice_along(&f, other, 0, 0, length);
  }
  QRT_TRY(f.binary(F::ADD, sum, other, &sum));
  if (node.has_input(kSegmentTable)) {
    other = kNoValue;
    if (!node.has_input(kSegments))
      return refuse_form(importer, node, "it has a table of segments and no ids for it");
    QRT_TRY(rows_of_table(&f, kSegmentTable, kSegments, &other));
    if (other == kNoValue) return Status();
    QRT_TRY(f.binary(F::ADD, sum, other, &sum));
  }
  ValueId y = kNoValue;
  QRT_TRY(layer_norm(&f, {false, false, true}, epsilon, {kScale, kScale + 1}, sum, &y));
  if (y == kNoValue) return importer.refuse_float(node, kScale);
  if (is_count_read) {
    if (!has_type(importer.input(node, kMask), kInt32)) return importer.refuse_float(node, kMask);
    ValueId counts = kNoValue;
    QRT_TRY(count_ones(&f, kMask, &counts));
    Tensor t;
    t.kind = Tensor::Kind::kValue;
    t.type = kInt32;
    t.value = counts;
    t.shape = f.shape_of(counts);
    importer.set_output(node, 1, std::move(t));
  }
  importer.became(node, "Float", "F");
  set_float_output(importer, node, 0, y);
  set_float_output(importer, node, 2, sum);
  return Status();
}

}  // namespace qrt::convert::from_onnx
