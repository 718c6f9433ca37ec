// SPDX-License-Identifier: Apache-2.0
#include "converter/import/onnx/run_lengths.h"

#include <algorithm>
#include <iterator>
#include <limits>

#include "converter/import/onnx/float_fallback/float_fallback.h"
#include "converter/import/onnx/float_fallback/float_graph.h"
#include "converter/import/onnx/move.h"
#include "converter/import/onnx/run_integers.h"

namespace qrt::convert::from_onnx {
namespace {

// Operators whose elements follow from those of the same place.
constexpr const char* kElementwise[] = {
    "Add", "Sub",     "Mul",  "Div", "Min",  "Max", "Pow",  "Where", "Relu",  "Clip", "Abs", "Sqrt",
    "Exp", "Sigmoid", "Tanh", "Erf", "Gelu", "Neg", "Cast", "Equal", "Floor", "Less", "Not"};
// Operators that keep the order of the elements.
constexpr const char* kLayouts[] = {"Identity", "Reshape", "Flatten", "Unsqueeze", "Squeeze"};
// Operators that move numbers of shapes.
constexpr const char* kOfNumbers[] = {"Gather",  "Slice", "Concat",   "Unsqueeze",
                                      "Squeeze", "Cast",  "Identity", "Reshape"};

template <size_t n>
bool is_one_of(const char* const (&ops)[n], const std::string& op) {
  return std::any_of(std::begin(ops), std::end(ops), [&](const char* o) { return op == o; });
}

// Returns the axis of `to` that the axis of `from` becomes where elements keep their order, or -1.
int axis_behind(const Shape& from, int axis, const Shape& to) {
  int64_t before = 1, at = 1;
  for (int d = 0; d < axis; ++d) before *= from[d];
  for (int d = 0; d < to.rank(); ++d) {
    if (at == before && to[d] == from[axis]) return d;
    at *= to[d];
  }
  return -1;
}

// Returns the value with elements of these bits beyond the length.
ValueId filled_beyond(Importer& importer, const NodeView& node, ValueId x, const RunLength& length,
                      int64_t fill) {
  GraphBuilder& builder = importer.builder();
  const Shape shape = builder.shape_of(x);
  IndexMaps maps(shape);
  Indices with_fill = stepped(0, shape[length.axis], 1);
  with_fill.push_back(-1);
  maps.keep(length.axis, std::move(with_fill));
  const ValueId all = builder.gather(node, x, maps, fill);
  const ValueId y = builder.new_value("", builder.type_of(x), shape);
  auto& o = builder.add<fb::TakeOptionsT>(node, {all, length.rows}, y);
  o.axis = static_cast<uint32_t>(length.axis);
  o.is_checked = true;
  return y;
}

// One node that reads tensors with lengths of a run, or numbers that stand for such lengths.
class Reader {
 public:
  Reader(Importer& importer, const NodeView& node)
      : importer_(importer), node_(node), lengths_(importer.run_lengths()) {}

  Status run() {
    const std::string& op = node_.op();
    const bool is_standard = node_.domain().empty() || node_.domain() == "ai.onnx";
    for (int i = 0; i < node_.input_count(); ++i) is_marked_ |= length_of_input(i) != nullptr;
    if (op == "Shape" || !is_marked_) return read_numbers(is_standard);
    if (!is_standard || reads_number_as_such() || !hide_beyond()) return refuse();
    QRT_TRY(assess());
    const Tensor& y = importer_.tensors().at(node_.output(0));
    if (y.is_refused()) {
      importer_.outcomes().refuse_float_form(node_.index());
      return Status();
    }
    RunLength length;
    bool has_length = true;
    if (!y.is_value() || !find_result(y.shape, &length, &has_length)) return refuse();
    if (!has_length) return Status();
    // An operator with further inputs, such as a Concat, may have an axis that the shape of this
    // result does not have.
    if (length.axis < 0 || length.axis >= y.shape.rank()) return refuse();
    if (importer_.is_output(node_.output(0))) return refuse();
    lengths_.tensors[node_.output(0)] = length;
    return Status();
  }

 private:
  const RunLength* length_of_input(int i) const { return length_of(node_.input(i)); }
  const RunLength* length_of(const std::string& tensor) const {
    const auto found = lengths_.tensors.find(tensor);
    return found == lengths_.tensors.end() ? nullptr : &found->second;
  }

  Status assess() {
    QRT_TRY(importer_.assess(node_));
    return retry_in_float(importer_, node_).at("node " + node_.label());
  }

  Status refuse() {
    std::string name;
    for (int i = 0; i < node_.input_count() && name.empty(); ++i)
      if (length_of_input(i) != nullptr || lengths_.numbers.count(node_.input(i)) != 0)
        name = node_.input(i);
    importer_.outcomes().refuse_float_form(node_.index());
    return importer_.refuse(node_,
                            "it depends on '" + name +
                                "', of which a run decides a length, other "
                                "than by a product, a Softmax or element by element",
                            name, "export the model with a cache that is used whole with a mask");
  }

  // Returns the length that an element of a known integer tensor stands for, or null. *known: false where that cannot be told.
  const RunLength* length_of_number(const std::string& tensor, int64_t element, bool* known) {
    *known = lengths_.numbers.count(tensor) == 0;
    RunOffset origin;
    if (*known || !find_origin(importer_, tensor, element, &origin)) return nullptr;
    const NodeView* maker = importer_.producer(origin.base);
    *known = maker == nullptr || lengths_.numbers.count(origin.base) == 0;
    if (*known || maker->op() != "Shape") return nullptr;
    const int64_t start = maker->integer("start", 0);
    const RunLength* length = length_of(maker->input(0));
    *known =
        start == 0 && length != nullptr && (origin.element != length->axis || origin.offset == 0);
    return *known && origin.element == length->axis ? length : nullptr;
  }

  // Judges a Shape, or a node that reads numbers only: constants, some of which stand for a length.
  Status read_numbers(bool is_standard) {
    const bool is_shape = node_.op() == "Shape";
    if (!is_standard || !(is_shape || is_one_of(kOfNumbers, node_.op()))) return refuse();
    // Only the first input may be numbers of shapes: which elements are taken, or how many there are, must not follow from a length.
    for (int i = 1; i < node_.input_count() && node_.op() != "Concat"; ++i)
      if (lengths_.numbers.count(node_.input(i)) != 0) return refuse();
    QRT_TRY(assess());
    if (is_shape && !is_marked_) return Status();
    const std::string& name = node_.output(0);
    const Tensor& y = importer_.tensors().at(name);
    if (y.is_refused()) return Status();
    if (!y.is_plain_constant() || importer_.is_output(name)) return refuse();
    lengths_.numbers.insert(name);
    constexpr int64_t kFew = 16;
    if (y.shape.elements() > kFew) return Status();
    for (int64_t i = 0; i < y.shape.elements(); ++i) {
      bool known;
      if (length_of_number(name, i, &known) != nullptr || !known) return Status();
    }
    lengths_.numbers.erase(name);
    return Status();
  }

  // Returns whether the node, which reads a length as a number, uses it other than as a shape.
  bool reads_number_as_such() const {
    const bool takes_shape = node_.op() == "Reshape" || node_.op() == "Expand";
    for (int i = 0; i < node_.input_count(); ++i)
      if (lengths_.numbers.count(node_.input(i)) != 0 && !(takes_shape && i == 1)) return true;
    return false;
  }

  // Puts a fill beyond the length of input i, for this node alone.
  bool hide(int i, float fill) {
    const RunLength& length = *length_of_input(i);
    if (fill == 0 && length.is_zero_beyond) return true;
    ValueId x;
    if (!FloatGraph(importer_, node_).read(i, &x)) return false;
    Tensor t = importer_.input(node_, i);
    t.kind = Tensor::Kind::kValue;
    t.type = kFloat;
    t.value = filled_beyond(importer_, node_, x, length, float_bits(fill));
    views_.emplace_back(&importer_.tensors(), node_.input(i), std::move(t));
    return true;
  }

  // Returns whether a product sums over a length of the run, which both operands have.
  bool contracts() const {
    const RunLength *a = length_of_input(0), *b = length_of_input(1);
    const int rank_a = importer_.input(node_, 0).shape.rank();
    const int rank_b = importer_.input(node_, 1).shape.rank();
    return a != nullptr && b != nullptr && rank_a >= 2 && rank_b >= 2 && a->axis == rank_a - 1 &&
           b->axis == rank_b - 2 && a->number == b->number;
  }

  // Returns the axis of a Softmax that reads along one axis only, or -1.
  int softmax_axis() const {
    const int rank = importer_.input(node_, 0).shape.rank();
    const bool is_old = importer_.opset(node_) < 13;
    int axis;
    if (!read_axis(node_.integer("axis", is_old ? 1 : -1), rank, &axis).ok()) return -1;
    return is_old && axis != rank - 1 ? -1 : axis;
  }

  // Puts what has no effect beyond the lengths that the node sums or compares over. Returns false where it is no such node.
  bool hide_beyond() {
    const RunLength* x = length_of_input(0);
    if (node_.op() == "Softmax" && x == nullptr) return false;
    if (node_.op() == "Softmax" && softmax_axis() == x->axis)
      return hide(0, -std::numeric_limits<float>::infinity());
    // Without axes a Squeeze would remove the dimension of the length, too, where that is 1.
    if (node_.op() == "Squeeze" && !node_.has_input(1) && node_.integers("axes").empty())
      return false;
    if (node_.op() == "MatMul" && contracts()) return hide(0, 0) && hide(1, 0);
    return node_.op() == "Softmax" || node_.op() == "MatMul" || node_.op() == "Transpose" ||
           node_.op() == "Expand" || is_one_of(kElementwise, node_.op()) ||
           is_one_of(kLayouts, node_.op());
  }

  // Says which length the node's result of this shape has; *has_length: whether it has one.
  bool find_result(const Shape& y, RunLength* length, bool* has_length) {
    if (node_.op() == "MatMul") return find_product(y, length, has_length);
    if (is_one_of(kElementwise, node_.op())) return find_elements(y, length);
    const RunLength* x = length_of_input(0);
    if (x == nullptr) return false;
    *length = *x;
    const Shape& from = importer_.input(node_, 0).shape;
    if (node_.op() == "Softmax") {
      length->is_zero_beyond = softmax_axis() == x->axis;
      return softmax_axis() >= 0;
    }
    if (node_.op() == "Transpose") {
      const std::vector<int64_t> perm = node_.integers("perm");
      const auto at = std::find(perm.begin(), perm.end(), x->axis);
      length->axis = perm.empty() ? from.rank() - 1 - x->axis : static_cast<int>(at - perm.begin());
      return true;
    }
    length->axis =
        node_.op() == "Expand" ? y.rank() - from.rank() + x->axis : axis_behind(from, x->axis, y);
    if (length->axis < 0) return false;
    return (node_.op() != "Reshape" && node_.op() != "Expand") ||
           names_length(*x, *length, y.rank());
  }

  // Returns whether input 1, the shape of a result of so many dimensions, gives axis y.axis the length of x, and no other one a
  // length.
  bool names_length(const RunLength& x, const RunLength& y, int rank) {
    const Tensor& shape = importer_.input(node_, 1);
    const bool expands = node_.op() == "Expand";
    if (!shape.is_plain_constant() || !shape.constant->is_integer()) return false;
    // The shape of an Expand may have fewer dimensions, which are the last ones.
    const int64_t first = expands ? rank - shape.shape.elements() : 0;
    for (int64_t i = 0; i < shape.shape.elements(); ++i) {
      bool known;
      const int64_t d = first + i;
      const RunLength* named = length_of_number(node_.input(1), i, &known);
      if (!known || (named != nullptr && (d != y.axis || !(named->number == x.number))))
        return false;
      if (named != nullptr) continue;
      const int64_t number = shape.constant->integer(i);
      const bool copies_length = !expands && number == 0 && i == x.axis;
      if (d != y.axis && copies_length) return false;
      if (d == y.axis && !(expands ? number == 1 : number == -1 || copies_length)) return false;
    }
    return true;
  }

  bool find_elements(const Shape& y, RunLength* length) {
    int from_end = 0;
    for (int i = 0; i < node_.input_count(); ++i) {
      const RunLength* x = length_of_input(i);
      if (x == nullptr) continue;
      const int own = importer_.input(node_, i).shape.rank() - x->axis;
      if (from_end != 0 && (own != from_end || !(x->number == length->number))) return false;
      from_end = own;
      *length = *x;
    }
    for (int i = 0; i < node_.input_count(); ++i) {
      const Shape& shape = importer_.input(node_, i).shape;
      const int d = shape.rank() - from_end;
      if (node_.has_input(i) && length_of_input(i) == nullptr && d >= 0 && shape[d] != 1)
        return false;
    }
    length->axis = y.rank() - from_end;
    length->is_zero_beyond &= node_.op() == "Cast";
    return true;
  }

  bool find_product(const Shape& y, RunLength* length, bool* has_length) {
    *has_length = !contracts();
    if (!*has_length) return true;
    const RunLength *a = length_of_input(0), *b = length_of_input(1);
    if (a != nullptr && b != nullptr) return false;
    *length = a != nullptr ? *a : *b;
    const Shape& x = importer_.input(node_, a != nullptr ? 0 : 1).shape;
    length->is_zero_beyond = false;
    if (y.rank() < 2 || x.rank() < 2 ||
        importer_.input(node_, a != nullptr ? 1 : 0).shape.rank() < 2)
      return false;
    // The rows of the first operand and the columns of the second are those of the product.
    const bool is_row = a != nullptr && length->axis == x.rank() - 2;
    const bool is_column = a == nullptr && length->axis == x.rank() - 1;
    length->axis = y.rank() - (is_row ? 2 : 1);
    return is_row || is_column;
  }

  Importer& importer_;
  const NodeView& node_;
  RunLengths& lengths_;
  bool is_marked_ = false;  // it reads a tensor with a length of the run
  std::vector<TensorView> views_;
};

}  // namespace

bool RunLengths::are_read_by(const NodeView& node) const {
  if (tensors.empty()) return false;
  for (int i = 0; i < node.input_count(); ++i)
    if (tensors.count(node.input(i)) != 0 || numbers.count(node.input(i)) != 0) return true;
  return false;
}

ValueId cut_in_run(Importer& importer, const NodeView& node, ValueId x, int axis, ValueId end,
                   const RunOffset& number) {
  RunIntegers r(importer, node);
  GraphBuilder& builder = importer.builder();
  const int64_t n = builder.shape_of(x)[axis];
  const ValueId zero = r.constant(0), capacity = r.number(n);
  // A negative end counts from the last index.
  const ValueId from_start = r.add(end, r.multiply(r.to_int64(r.is_less(end, zero)), capacity));
  const ValueId length = r.least(from_start, capacity);
  const ValueId at = r.indices(n);
  const ValueId beyond = r.to_int64(r.is_at_most(length, at));
  const ValueId rows = r.add(at, r.multiply(beyond, r.subtract(capacity, at)));
  RunLength cut{axis, number, r.unless(r.is_less(length, r.constant(1)), rows), true};
  const ValueId y = filled_beyond(importer, node, x, cut, 0);
  if (n > 1) importer.run_lengths().tensors[node.output(0)] = cut;
  return y;
}

Status assess_run_lengths(Importer& importer, const NodeView& node) {
  return Reader(importer, node).run();
}

}  // namespace qrt::convert::from_onnx
