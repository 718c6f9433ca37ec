// SPDX-License-Identifier: Apache-2.0
// The two operators of detectors.
#include "converter/import/cvm/ops/ops.h"

namespace qrt::convert::from_cvm {
namespace {

const Storage kWide{DType::kInt32, 0};

Status read_threshold(const Attributes& a, int64_t* threshold) {
  QRT_TRY(a.check_names({"score_threshold"}));
  return a.integer("score_threshold", INT32_MIN, INT32_MAX, threshold);
}

}  // namespace

Status infer_get_valid_counts(Inference* inference) {
  const Form& x = inference->input();
  int64_t threshold = 0;
  QRT_TRY(read_threshold(inference->attributes(), &threshold));
  QRT_MODEL_CHECK(x.shape.rank() == 3 && x.shape[2] >= 2 && x.shape[2] < 32,
                  "its input has the shape %s, expected [n, rows, 2 to 31]",
                  x.shape.to_string().c_str());
  QRT_TRY(inference->output({x.shape[0]},
                            mrt::bits(static_cast<uint64_t>(x.shape[1] * x.shape[2] + 1)) + 1));
  return inference->output(x.shape, x.precision);
}

Status import_get_valid_counts(Importer& importer, const Op& op) {
  int64_t threshold = 0;
  QRT_TRY(read_threshold(Attributes(op.node.attributes), &threshold));
  const Shape x = importer.shape(op.input());
  const Range values = either(importer.range(op.input()), {-1, -1});
  const ValueId from = importer.stored_int32(op.input());
  const ValueId count = importer.new_value("", kWide, {x[0]});
  const ValueId rows = importer.new_value("", kWide, x);
  importer.add_node<fb::ValidBoxesOptionsT>(op, {from}, count).threshold =
      static_cast<int32_t>(threshold);
  importer.graph().nodes.back().outputs.push_back(rows);
  importer.set_output(op, {count, kWide, {0, x[1]}}, "ValidBoxes", 0);
  importer.set_output(op, {rows, kWide, values}, "ValidBoxes", 1);
  return Status();
}

namespace {

struct Suppression {
  int64_t iou_threshold = 50, max_outputs = -1, top_k = -1;
  bool any_class = false;
};

// Attributes that have a single accepted value are checked and not kept.
Status read_suppression(const Attributes& a, Suppression* s) {
  QRT_TRY(
      a.check_names({"iou_threshold", "max_output_size", "top_k", "force_suppress", "coord_start",
                     "score_index", "id_index", "return_indices", "invalid_to_bottom"}));
  QRT_TRY(a.integer("iou_threshold", 1, INT32_MAX, &s->iou_threshold));
  QRT_TRY(a.integer("max_output_size", INT32_MIN, INT32_MAX, &s->max_outputs));
  QRT_TRY(a.integer("top_k", INT32_MIN, INT32_MAX, &s->top_k));
  QRT_TRY(a.boolean("force_suppress", &s->any_class));
  int64_t fixed = 0;
  bool indices = false, bottom = true;
  QRT_TRY(a.integer("coord_start", 2, 2, &fixed));
  QRT_TRY(a.integer("score_index", 1, 1, &fixed));
  QRT_TRY(a.integer("id_index", 0, 0, &fixed));
  QRT_TRY(a.boolean("return_indices", &indices));
  QRT_TRY(a.boolean("invalid_to_bottom", &bottom));
  QRT_MODEL_CHECK(!indices && bottom,
                  "return_indices and invalid_to_bottom take only False and True");
  return Status();
}

}  // namespace

Status infer_non_max_suppression(Inference* inference) {
  Suppression s;
  QRT_TRY(read_suppression(inference->attributes(), &s));
  const Shape &x = inference->input(0).shape, &count = inference->input(1).shape;
  QRT_MODEL_CHECK(x.rank() == 3 && x[2] == 6 && count == Shape{x[0]},
                  "its inputs have the shapes %s and %s, expected [n, rows, 6] and [n]",
                  x.to_string().c_str(), count.to_string().c_str());
  return inference->output(x, inference->input(0).precision);
}

Status import_non_max_suppression(Importer& importer, const Op& op) {
  Suppression s;
  QRT_TRY(read_suppression(Attributes(op.node.attributes), &s));
  const Range values = either(importer.range(op.input()), {-1, -1});
  const ValueId x = importer.stored_int32(op.input(0)), count = importer.stored_int32(op.input(1));
  const ValueId made = importer.new_value("", kWide, importer.shape(op.output()));
  auto& o = importer.add_node<fb::SuppressBoxesOptionsT>(op, {x, count}, made);
  o.iou_threshold = static_cast<int32_t>(s.iou_threshold);
  o.max_outputs = static_cast<int32_t>(s.max_outputs);
  o.top_k = static_cast<int32_t>(s.top_k);
  o.any_class = s.any_class;
  importer.set_output(op, {made, kWide, values}, "SuppressBoxes");
  return Status();
}

}  // namespace qrt::convert::from_cvm
