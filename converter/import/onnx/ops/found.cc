// SPDX-License-Identifier: Apache-2.0
// NonMaxSuppression and NonZero: how many entries they find only a run knows, and their outputs have room for all.
#include <algorithm>
#include <string>

#include "converter/import/onnx/deferred/table.h"
#include "converter/import/onnx/float_fallback/float_graph.h"
#include "converter/import/onnx/folding/constants.h"
#include "converter/import/onnx/ops/attention.h"
#include "converter/import/onnx/ops/handlers.h"
#include "converter/import/onnx/ops/integer.h"
#include "converter/import/onnx/ops/take.h"
#include "converter/import/onnx/remedies.h"

namespace qrt::convert::from_onnx {
namespace {

// Returns whether operators of the model read a tensor.
bool is_read_in_model(const Importer& importer, const std::string& tensor) {
  return importer.uses(tensor) > (importer.is_output(tensor) ? 1 : 0);
}

// Refuses a node whose result other operators read.
Status refuse_to_be_read(Importer& importer, const NodeView& node) {
  return importer.refuse(
      node, "other operators read what it finds, and how much that is only a run knows",
      node.output(0),
      "end the model with its result, --outputs '" + node.output(0) +
          "', and compute the rest elsewhere, of as many entries as "
          "qrt_session_output_count() says");
}

// Reads a threshold, an input of one float that may be missing. *known is false where the node was refused.
Status read_threshold(Importer& importer, const NodeView& node, int i, float* value, bool* known) {
  *known = true;
  if (!node.has_input(i)) return Status();
  const Tensor& t = importer.input(node, i);
  std::vector<float> real;
  *known = t.is_plain_constant() && constant_floats(t, &real) && real.size() == 1;
  if (*known) *value = real[0];
  return *known ? Status()
                : importer.refuse(node, "'" + node.input(i) + "' is not a constant", node.input(i),
                                  remedy_for_constant(importer, node, i));
}

}  // namespace

Status import_non_max_suppression(Importer& importer, const NodeView& node) {
  if (is_read_in_model(importer, node.output(0))) return refuse_to_be_read(importer, node);
  if (!node.has_input(2))
    return importer.refuse(node, "it has no max_output_boxes_per_class, and selects no box",
                           node.output(0), "give it the greatest number of boxes of a class");
  const Tensor& most = importer.input(node, 2);
  if (!most.is_plain_constant() || !most.constant->is_integer() || most.constant->elements() != 1)
    return importer.refuse(node,
                           "max_output_boxes_per_class, '" + node.input(2) +
                               "', is not a constant: the output would have no bound",
                           node.input(2), remedy_for_constant(importer, node, 2));
  const int64_t count = most.constant->integer(0);
  if (count < 1)
    return importer.refuse(node, "max_output_boxes_per_class is 0, and it selects no box",
                           node.input(2), "give it the greatest number of boxes of a class");
  float most_overlap = 0, least_score = 0;
  bool known;
  QRT_TRY(read_threshold(importer, node, 3, &most_overlap, &known));
  if (!known) return Status();
  QRT_TRY(read_threshold(importer, node, 4, &least_score, &known));
  if (!known) return Status();
  QRT_MODEL_CHECK(most_overlap >= 0 && most_overlap <= 1, "iou_threshold is %g, expected 0 to 1",
                  static_cast<double>(most_overlap));
  QRT_MODEL_CHECK(least_score == least_score, "score_threshold is NaN");
  FloatGraph f(importer, node);
  ValueId boxes, scores;
  if (!f.read(0, &boxes)) return importer.refuse_float(node, 0);
  if (!f.read(1, &scores)) return importer.refuse_float(node, 1);
  const Shape b = f.shape_of(boxes), s = f.shape_of(scores);
  QRT_MODEL_CHECK(
      b.rank() == 3 && s.rank() == 3 && b[2] == 4 && b[0] == s[0] && b[1] == s[2],
      "boxes have shape %s and scores %s, expected [n, boxes, 4] and [n, classes, boxes]",
      b.to_string().c_str(), s.to_string().c_str());
  const ValueId y = importer.builder().new_value(node.output(0), DType::kInt64,
                                                 {s[0] * s[1] * std::min(count, b[1]), 3});
  auto& o = importer.builder().add<fb::SelectBoxesOptionsT>(node, {boxes, scores}, y);
  o.most = static_cast<uint32_t>(std::min<int64_t>(count, INT32_MAX));
  o.max_overlap = float_bits(most_overlap);
  o.has_least_score = node.has_input(4);
  o.least_score = float_bits(least_score);
  o.is_centered = node.integer("center_point_box", 0) != 0;
  importer.became(node, "SelectBoxes", "edge");
  set_value(importer, node, kInt64, y);
  return Status();
}

namespace {

// Returns whether nothing reads the node's result but Transposes that end the model.
bool is_last_but_for_transposes(const Importer& importer, const NodeView& node) {
  const std::string& result = node.output(0);
  const std::vector<int>& readers = importer.model().readers(result);
  const int outputs = importer.is_output(result) ? 1 : 0;
  if (static_cast<int>(readers.size()) + outputs != importer.uses(result)) return false;
  return std::all_of(readers.begin(), readers.end(), [&](int reader) {
    const NodeView& next = importer.node(reader);
    return next.op() == "Transpose" && !is_read_in_model(importer, next.output(0));
  });
}

// Returns the indices [rank, count] of the elements of a constant that are not 0.
ConstantPtr positions_in_constant(const Constant& c) {
  const int rank = c.shape.rank();
  std::vector<int64_t> positions;
  for (int64_t i = 0; i < c.elements(); ++i)
    if (c.is_integer() ? c.integer(i) != 0 : !(c.real(i) == 0)) positions.push_back(i);
  const auto count = static_cast<int64_t>(positions.size());
  std::vector<int64_t> indices(positions.size() * static_cast<size_t>(rank));
  for (size_t found = 0; found < positions.size(); ++found) {
    int64_t left = positions[found];
    for (int d = rank; d-- > 0; left /= c.shape[d])
      indices[static_cast<size_t>(d) * positions.size() + found] = left % c.shape[d];
  }
  return integer_constant(kInt64, {rank, count}, indices);
}

}  // namespace

Status import_non_zero(Importer& importer, const NodeView& node) {
  const Tensor& x = importer.input(node, 0);
  const int rank = x.shape.rank();
  if (rank == 0) return refuse_form(importer, node, "its input has no dimensions");
  if (x.is_plain_constant()) {
    const auto elements = static_cast<uint64_t>(x.shape.elements());
    QRT_TRY(importer.tensors().reserve(elements * 8 * static_cast<uint64_t>(rank + 1),
                                       importer.graph()));
    importer.set_output(node, 0, constant_tensor(positions_in_constant(*x.constant)));
    return Status();
  }
  if (!is_last_but_for_transposes(importer, node)) return refuse_to_be_read(importer, node);
  int type;
  const ValueId value = value_of(importer, node, 0, &type);
  if (value == kNoValue) return importer.refuse_float(node, 0);
  if (type != kFloat && type != kInt32 && type != kInt64 && type != kBool && type != kUint8)
    return refuse_types(importer, node, type);
  const ValueId y = importer.builder().new_value("", DType::kInt64, {rank, x.shape.elements()});
  importer.builder().add<fb::NonZeroOptionsT>(node, {value}, y);
  importer.became(node, "NonZero", "I0");
  set_value(importer, node, kInt64, y);
  return Status();
}

}  // namespace qrt::convert::from_onnx
