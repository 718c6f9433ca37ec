// SPDX-License-Identifier: Apache-2.0
// Data movement: Reshape and similar operators, Transpose, Identity. They act on the integers,
// whatever these stand for.
#include "converter/import/onnx/move.h"

#include <algorithm>
#include <numeric>

#include "converter/import/onnx/file/fused.h"
#include "converter/import/onnx/ops/handlers.h"
#include "converter/import/onnx/remedies.h"

namespace qrt::convert::from_onnx {
namespace {

Status move_to(Importer& importer, const NodeView& node, const std::vector<int64_t>& dims) {
  std::vector<Movement> movements(1);
  QRT_TRY(reshaped(importer.input(node, 0).shape, dims, &movements[0]));
  return move(importer, node, std::move(movements));
}

}  // namespace

Status import_identity(Importer& importer, const NodeView& node) {
  if (node.op() == "Dropout") {
    if (node.has_output(1) && importer.uses(node.output(1)) > 0)
      return importer.refuse(node, "its mask is used", node.output(1),
                             "export the model for inference (in PyTorch model.eval())");
    if (node.has_input(2)) {
      const Tensor& training = importer.input(node, 2);
      const bool off = training.is_plain_constant() && training.constant->is_integer() &&
                       training.constant->elements() == 1 && training.constant->integer(0) == 0;
      if (!off)
        return importer.refuse(node, "it is in training mode", node.input(2),
                               "export the model for inference (in PyTorch model.eval())");
    }
  }
  pass_on(importer, node, 0);
  return Status();
}

void pass_on(Importer& importer, const NodeView& node, int i) {
  Tensor y = importer.input(node, i);
  if (y.is_pending()) {
    y.pending = own_pending(importer, node, i);
    y.pending->followers.push_back(node.index());
  }
  importer.set_output(node, 0, std::move(y));
}

namespace {

// Notes the least batch with which the input of a Reshape has `elements`, or a multiple of them, where
// it has not.
void note_batch(Importer& importer, const NodeView& node, bool is_multiple, int64_t elements) {
  const Tensor& x = importer.input(node, 0);
  if (!importer.graph().batch_is_symbolic || x.is_constant() || elements <= 0) return;
  const int64_t of_image = x.shape.elements() / importer.batch();
  if (of_image == 0 || of_image * importer.batch() != x.shape.elements()) return;
  const bool fits =
      is_multiple ? x.shape.elements() % elements == 0 : x.shape.elements() == elements;
  if (fits || (!is_multiple && elements % of_image != 0)) return;
  importer.note_batch(node, elements / (is_multiple ? std::gcd(elements, of_image) : of_image));
}

}  // namespace

Status import_reshape(Importer& importer, const NodeView& node) {
  const Tensor& target = importer.input(node, 1);
  if (!target.is_plain_constant() || target.type != kInt64 || target.shape.rank() != 1)
    return importer.refuse(node, "the target shape '" + node.input(1) + "' is not a constant",
                           node.input(1), remedy_for_constant(importer, node, 1));
  const Shape& from = importer.input(node, 0).shape;
  const bool keep_zero = node.integer("allowzero", 0) != 0;
  QRT_MODEL_CHECK(target.shape[0] <= 64, "the target shape has %lld dimensions",
                  static_cast<long long>(target.shape[0]));
  std::vector<int64_t> dims;
  int inferred = -1;
  int64_t known = 1;
  for (int i = 0; i < static_cast<int>(target.shape[0]); ++i) {
    int64_t d = target.constant->integer(i);
    if (d == 0 && !keep_zero) {
      QRT_MODEL_CHECK(i < from.rank(), "dimension %d of the target copies one that is not there",
                      i);
      d = from[i];
    }
    QRT_MODEL_CHECK(d >= -1 && (d != -1 || inferred < 0), "the target shape holds %lld",
                    static_cast<long long>(d));
    if (d == -1) inferred = i;
    QRT_MODEL_CHECK(d == -1 || !__builtin_mul_overflow(known, d, &known),
                    "the target shape is too large");
    dims.push_back(d);
  }
  note_batch(importer, node, inferred >= 0, known);
  if (inferred >= 0) {
    QRT_MODEL_CHECK(known > 0 && from.elements() % known == 0,
                    "shape %s has no whole dimension for -1", from.to_string().c_str());
    dims[static_cast<size_t>(inferred)] = from.elements() / known;
  }
  return move_to(importer, node, dims);
}

Status import_flatten(Importer& importer, const NodeView& node) {
  const Shape& from = importer.input(node, 0).shape;
  int64_t axis = node.integer("axis", 1);
  QRT_MODEL_CHECK(axis >= -from.rank() && axis <= from.rank(), "axis %lld is outside %d dimensions",
                  static_cast<long long>(axis), from.rank());
  if (axis < 0) axis += from.rank();
  int64_t outer = 1, inner = 1;
  for (int i = 0; i < from.rank(); ++i) (i < axis ? outer : inner) *= from[i];
  return move_to(importer, node, {outer, inner});
}

Status import_squeeze(Importer& importer, const NodeView& node) {
  const Shape& from = importer.input(node, 0).shape;
  std::vector<bool> drop;
  bool given, known;
  QRT_TRY(read_axes(importer, node, from.rank(), &drop, &given, &known));
  if (!known) return Status();
  std::vector<int64_t> dims;
  for (int i = 0; i < from.rank(); ++i) {
    const bool named = drop[static_cast<size_t>(i)];
    QRT_MODEL_CHECK(!named || from[i] == 1, "axis %d of %s is not 1", i, from.to_string().c_str());
    if (!(given ? named : from[i] == 1)) dims.push_back(from[i]);
  }
  return move_to(importer, node, dims);
}

Status import_unsqueeze(Importer& importer, const NodeView& node) {
  const Shape& from = importer.input(node, 0).shape;
  int64_t added = static_cast<int64_t>(node.integers("axes").size());
  if (node.has_input(1)) added = importer.input(node, 1).shape.elements();
  QRT_MODEL_CHECK(added <= 64, "it adds %lld dimensions", static_cast<long long>(added));
  std::vector<bool> fresh;
  bool given, known;
  QRT_TRY(read_axes(importer, node, from.rank() + static_cast<int>(added), &fresh, &given, &known));
  if (!known) return Status();
  std::vector<int64_t> dims;
  int next = 0;
  for (bool is_new : fresh) dims.push_back(is_new ? 1 : from[next++]);
  return move_to(importer, node, dims);
}

Status import_transpose(Importer& importer, const NodeView& node) {
  const Shape& from = importer.input(node, 0).shape;
  const int rank = from.rank();
  std::vector<int64_t> perm = node.integers("perm");
  if (node.has(kAxisOrder))
    perm = permutation_of(node.integer(kAxisOrder, 0), rank);
  else if (!node.has("perm"))
    for (int i = rank; i-- > 0;) perm.push_back(i);
  std::vector<bool> seen(static_cast<size_t>(rank), false);
  QRT_MODEL_CHECK(static_cast<int>(perm.size()) == rank,
                  "perm has %zu entries, its input %d dimensions", perm.size(), rank);
  for (int64_t p : perm) {
    QRT_MODEL_CHECK(p >= 0 && p < rank && !seen[static_cast<size_t>(p)],
                    "perm is not a permutation");
    seen[static_cast<size_t>(p)] = true;
  }
  return move(importer, node, {transposed(from, {perm.begin(), perm.end()})});
}

}  // namespace qrt::convert::from_onnx
