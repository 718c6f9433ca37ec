// SPDX-License-Identifier: Apache-2.0
// Arithmetic of constants. With it exporters compute the targets of Reshape, Expand, Resize and Slice
// from shapes, which are all known at conversion, and limit or scale weights.
#include <algorithm>
#include <cmath>
#include <functional>

#include "converter/import/onnx/deferred/table.h"
#include "converter/import/onnx/folding/cast.h"
#include "converter/import/onnx/folding/constants.h"
#include "converter/import/onnx/move.h"
#include "converter/import/onnx/ops/handlers.h"
#include "converter/import/onnx/remedies.h"
#include "onnx/onnx_pb.h"

namespace qrt::convert::from_onnx {
namespace {

// Elements of a constant that are counted before they are made (Importer's growth).
constexpr int64_t kUncounted = 4096;

// Charges so many elements more. Returns false where there is no room for them.
bool reserve(Importer& importer, int64_t elements) {
  if (elements <= kUncounted) return elements >= 0;
  importer.tensors().charge(static_cast<uint64_t>(elements) * sizeof(int64_t));
  return importer.tensors().check_growth(importer.graph()).ok();
}

// A constant: integers (bool counts as one) or float32, which stands for a DequantizeLinear of
// constants, too.
struct Few {
  int type = kInt64;
  Shape shape;
  std::vector<int64_t> integers;
  std::vector<float> reals;

  bool is_real() const { return type == kFloat; }
};

bool read_few(Importer& importer, const Tensor& t, Few* few) {
  if (!t.is_constant() || !reserve(importer, t.constant->elements())) return false;
  const Constant& c = *t.constant;
  few->type = c.type;
  few->shape = c.shape;
  if (t.quant) {
    few->type = kFloat;
    return constant_floats(t, &few->reals);
  }
  const auto elements = static_cast<size_t>(c.elements());
  (few->is_real() ? few->reals.reserve(elements) : few->integers.reserve(elements));
  for (int64_t i = 0; i < c.elements(); ++i) {
    if (c.type == kFloat)
      few->reals.push_back(c.real(i));
    else if (c.is_integer())
      few->integers.push_back(c.integer(i));
    else
      return false;
  }
  return true;
}

Tensor tensor_of(const Few& few) {
  if (few.is_real()) return constant_tensor(make_constant(kFloat, few.shape, few.reals));
  if (few.type == kInt64 || few.type == kInt32 || few.type == kBool)
    return constant_tensor(integer_constant(few.type, few.shape, few.integers));
  const ConstantPtr wide = integer_constant(kInt64, few.shape, few.integers);
  return constant_tensor(cast_constant(*wide, few.type, true));
}

// Finds the shape that numpy's rules give. Returns false where there is none, or where it has too
// many elements.
bool broadcast(Importer& importer, const std::vector<Few>& in, Shape* shape) {
  int rank = 0;
  for (const Few& few : in) rank = std::max(rank, few.shape.rank());
  *shape = Shape();
  for (int d = 0; d < rank; ++d) {
    int64_t size = 1;
    for (const Few& few : in) {
      const int at = d - (rank - few.shape.rank());
      if (at < 0 || few.shape[at] == 1) continue;
      if (size != 1 && size != few.shape[at]) return false;
      size = few.shape[at];
    }
    shape->push_back(size);
  }
  return reserve(importer, shape->elements());
}

// Iterates over an operand's elements in the order of the shape that it is broadcast to.
class Walk {
 public:
  Walk(const Shape& operand, const Shape& shape) : shape_(shape) {
    int64_t stride = 1;
    for (int d = shape.rank(), own = operand.rank(); d-- > 0;) {
      const int64_t size = own > 0 ? operand[--own] : 1;
      strides_[d] = size == 1 ? 0 : stride;
      stride *= size;
    }
  }

  // Returns the index of the operand's element.
  size_t at() const { return static_cast<size_t>(at_); }
  void next() {
    for (int d = shape_.rank(); d-- > 0;) {
      at_ += strides_[d];
      if (++index_[d] < shape_[d]) return;
      at_ -= index_[d] * strides_[d];
      index_[d] = 0;
    }
  }

 private:
  const Shape& shape_;
  int64_t strides_[kMaxTensorRank] = {}, index_[kMaxTensorRank] = {}, at_ = 0;
};

using IntegerPair = bool (*)(int64_t a, int64_t b, int64_t* y);

// Returns the function that computes an operator's integer, or says that there is none.
IntegerPair integer_pair(const std::string& op) {
  if (op == "Add")
    return [](int64_t a, int64_t b, int64_t* y) { return !__builtin_add_overflow(a, b, y); };
  if (op == "Sub")
    return [](int64_t a, int64_t b, int64_t* y) { return !__builtin_sub_overflow(a, b, y); };
  if (op == "Mul")
    return [](int64_t a, int64_t b, int64_t* y) { return !__builtin_mul_overflow(a, b, y); };
  if (op == "Div")
    return [](int64_t a, int64_t b, int64_t* y) { return b > 0 && (*y = a / b, true); };
  if (op == "Mod")
    return [](int64_t a, int64_t b, int64_t* y) { return b > 0 && (*y = ((a % b) + b) % b, true); };
  if (op == "Min")
    return [](int64_t a, int64_t b, int64_t* y) { return *y = std::min(a, b), true; };
  return [](int64_t a, int64_t b, int64_t* y) { return *y = std::max(a, b), true; };
}

using RealPair = float (*)(float a, float b);

RealPair real_pair(const std::string& op) {
  if (op == "Add") return [](float a, float b) { return a + b; };
  if (op == "Sub") return [](float a, float b) { return a - b; };
  if (op == "Mul") return [](float a, float b) { return a * b; };
  if (op == "Div") return [](float a, float b) { return a / b; };
  if (op == "Min") return [](float a, float b) { return std::min(a, b); };
  return [](float a, float b) { return std::max(a, b); };
}

template <class T>
using Comparison = bool (*)(T a, T b);

template <class T>
Comparison<T> comparison(const std::string& op) {
  if (op == "Equal") return [](T a, T b) { return a == b; };
  if (op == "Less") return [](T a, T b) { return a < b; };
  if (op == "LessOrEqual") return [](T a, T b) { return a <= b; };
  if (op == "Greater") return [](T a, T b) { return a > b; };
  if (op == "GreaterOrEqual") return [](T a, T b) { return a >= b; };
  if (op == "And") return [](T a, T b) { return a != T{0} && b != T{0}; };
  return [](T a, T b) { return a != T{0} || b != T{0}; };
}

bool is_one_of(const std::string& op, std::initializer_list<const char*> names) {
  return std::any_of(names.begin(), names.end(), [&](const char* name) { return op == name; });
}

// The least and the greatest number of a constant. REQUIRES: it has one.
struct Extremes {
  double least, most;
};

Extremes extremes_of(const Few& few) {
  if (few.is_real()) {
    const auto [least, most] = std::minmax_element(few.reals.begin(), few.reals.end());
    return {*least, *most};
  }
  const auto [least, most] = std::minmax_element(few.integers.begin(), few.integers.end());
  return {static_cast<double>(*least), static_cast<double>(*most)};
}

// Notes a distance; those of reals in parts of 1024.
void note(Importer& importer, const NodeView& node, double distance, bool is_real) {
  constexpr double kMost = int64_t{1} << 40;
  if (is_real) distance *= 1024;
  if (distance > -kMost && distance < kMost)
    importer.note_distance(node, static_cast<int64_t>(std::floor(distance)));
}

// Notes how far the operands of a comparison, or of what is a comparison in part, are apart: by element where there
// are few, at the most otherwise.
void note_difference(Importer& importer, const NodeView& node, const Few& a, const Few& b) {
  constexpr int64_t kEach = 8;
  Shape shape;
  if (!importer.has_open_sizes() || a.is_real() != b.is_real() || a.shape.elements() == 0 ||
      b.shape.elements() == 0)
    return;
  if (std::max(a.shape.elements(), b.shape.elements()) <= kEach &&
      broadcast(importer, {a, b}, &shape) && shape.elements() <= kEach) {
    const auto number = [](const Few& few, size_t at) {
      return few.is_real() ? static_cast<double>(few.reals[at])
                           : static_cast<double>(few.integers[at]);
    };
    Walk at_a(a.shape, shape), at_b(b.shape, shape);
    for (int64_t i = 0; i < shape.elements(); ++i, at_a.next(), at_b.next())
      note(importer, node, number(a, at_a.at()) - number(b, at_b.at()), a.is_real());
    return;
  }
  const Extremes x = extremes_of(a), y = extremes_of(b);
  note(importer, node, x.least - y.most, a.is_real());
  note(importer, node, x.most - y.least, a.is_real());
}

bool fold_pair(Importer& importer, const std::string& op, bool with_fmod, const Few& a,
               const Few& b, Few* y) {
  if (a.type != b.type || !broadcast(importer, {a, b}, &y->shape)) return false;
  const bool compares = !is_one_of(op, {"Add", "Sub", "Mul", "Div", "Mod", "Min", "Max"});
  if (op == "Mod" && (a.is_real() || with_fmod)) return false;
  y->type = compares ? static_cast<int>(kBool) : a.type;
  Walk at_a(a.shape, y->shape), at_b(b.shape, y->shape);
  // Calls `set` with both indices of each element, until it fails.
  const auto each = [&](const auto& set) {
    for (int64_t i = 0; i < y->shape.elements(); ++i, at_a.next(), at_b.next())
      if (!set(at_a.at(), at_b.at())) return false;
    return true;
  };
  const auto elements = static_cast<size_t>(y->shape.elements());
  if (!compares && a.is_real()) {
    const RealPair pair = real_pair(op);
    y->reals.reserve(elements);
    return each([&](size_t ia, size_t ib) {
      y->reals.push_back(pair(a.reals[ia], b.reals[ib]));
      return true;
    });
  }
  y->integers.reserve(elements);
  if (!compares) {
    const IntegerPair pair = integer_pair(op);
    return each([&](size_t ia, size_t ib) {
      return pair(a.integers[ia], b.integers[ib], &y->integers.emplace_back());
    });
  }
  const Comparison<float> of_reals = comparison<float>(op);
  const Comparison<int64_t> of_integers = comparison<int64_t>(op);
  return each([&](size_t ia, size_t ib) {
    y->integers.push_back(a.is_real() ? of_reals(a.reals[ia], b.reals[ib])
                                      : of_integers(a.integers[ia], b.integers[ib]));
    return true;
  });
}

bool fold_where(Importer& importer, const std::vector<Few>& in, Few* y) {
  const Few &condition = in[0], &a = in[1], &b = in[2];
  if (condition.type != kBool || a.type != b.type || !broadcast(importer, in, &y->shape))
    return false;
  y->type = a.type;
  Walk at_condition(condition.shape, y->shape), at_a(a.shape, y->shape), at_b(b.shape, y->shape);
  const auto elements = static_cast<size_t>(y->shape.elements());
  (a.is_real() ? y->reals.reserve(elements) : y->integers.reserve(elements));
  for (size_t i = 0; i < elements; ++i, at_condition.next(), at_a.next(), at_b.next()) {
    const bool first = condition.integers[at_condition.at()] != 0;
    const Few& from = first ? a : b;
    const size_t at = first ? at_a.at() : at_b.at();
    if (from.is_real())
      y->reals.push_back(from.reals[at]);
    else
      y->integers.push_back(from.integers[at]);
  }
  return true;
}

// Joins tensors of one type along an axis: vectors, and integers of any shape. Tables of floats are left to the graph, where each
// follows sizes by itself.
bool fold_concat(Importer& importer, const NodeView& node, const std::vector<Few>& in, Few* y) {
  y->type = in[0].type;
  y->shape = in[0].shape;
  const int rank = y->shape.rank();
  int64_t axis = node.integer("axis", 0), total = 0, outer = 1;
  if (axis < 0) axis += rank;
  if (axis < 0 || axis >= rank) return false;
  const int at = static_cast<int>(axis);
  for (const Few& few : in) {
    if (few.type != y->type || few.shape.rank() != rank || (few.is_real() && rank != 1))
      return false;
    for (int d = 0; d < rank; ++d)
      if (d != at && few.shape[d] != y->shape[d]) return false;
    total += few.shape[at];
  }
  y->shape[at] = total;
  if (!reserve(importer, y->shape.elements())) return false;
  for (int d = 0; d < at; ++d) outer *= y->shape[d];
  for (int64_t o = 0; o < outer; ++o)
    for (const Few& few : in) {
      const int64_t n = few.shape.elements() / outer, begin = o * n;
      if (few.is_real())
        y->reals.insert(y->reals.end(), few.reals.begin() + begin, few.reals.begin() + begin + n);
      else
        y->integers.insert(y->integers.end(), few.integers.begin() + begin,
                           few.integers.begin() + begin + n);
    }
  return true;
}

bool fold_range(const std::vector<Few>& in, Few* y) {
  const Few &start = in[0], &limit = in[1], &delta = in[2];
  if (start.type != limit.type || start.type != delta.type || start.shape.elements() != 1 ||
      limit.shape.elements() != 1 || delta.shape.elements() != 1)
    return false;
  y->type = start.type;
  if (start.is_real()) {
    const float step = delta.reals[0];
    const float count = std::ceil((limit.reals[0] - start.reals[0]) / step);
    if (!(count <= static_cast<float>(kMaxFolded))) return false;
    for (int64_t i = 0; i < static_cast<int64_t>(std::max(count, 0.0f)); ++i)
      y->reals.push_back(start.reals[0] + static_cast<float>(i) * step);
  } else {
    const int64_t step = delta.integers[0], last = limit.integers[0];
    if (step == 0) return false;
    for (int64_t v = start.integers[0]; step > 0 ? v < last : v > last;) {
      y->integers.push_back(v);
      if (static_cast<int64_t>(y->integers.size()) > kMaxFolded ||
          __builtin_add_overflow(v, step, &v))
        return false;
    }
  }
  y->shape = {static_cast<int64_t>(y->integers.size() + y->reals.size())};
  return true;
}

// Computes min(max(x, lower), upper), whose limits are inputs or, before opset 11, attributes.
// Returns false where a limit is not known.
bool fold_clip(const NodeView& node, const std::vector<Few>& in, Few* y) {
  *y = in[0];
  for (int i = 1; i <= 2; ++i) {
    const char* attribute = i == 1 ? "min" : "max";
    const auto limit = [&](auto value, auto* elements) {
      for (auto& v : *elements) v = i == 1 ? std::max(v, value) : std::min(v, value);
    };
    if (node.has_input(i)) {
      const Few& given = in[static_cast<size_t>(i)];
      if (given.type != y->type || given.shape.elements() != 1) return false;
      if (y->is_real())
        limit(given.reals[0], &y->reals);
      else
        limit(given.integers[0], &y->integers);
    } else if (node.has(attribute)) {
      if (!y->is_real()) return false;
      limit(node.real(attribute, 0), &y->reals);
    }
  }
  return true;
}

bool fold_unary(const std::string& op, const Few& x, Few* y) {
  *y = x;
  if (op == "Not") {
    for (int64_t& v : y->integers) v = v == 0;
    return x.type == kBool;
  }
  if (!x.is_real()) {
    if (x.type != kInt64 && x.type != kInt32) return false;
    for (int64_t& v : y->integers) {
      if (op == "Sign") v = (v > 0) - (v < 0);
      const bool is_negated = op == "Neg" || (op == "Abs" && v < 0);
      if (is_negated && __builtin_sub_overflow(int64_t{0}, v, &v)) return false;
      if (is_negated && x.type == kInt32 && v > INT32_MAX) return false;
    }
    return is_one_of(op, {"Neg", "Abs", "Sign"});
  }
  for (float& v : y->reals) {
    if (op == "Neg") v = -v;
    if (op == "Abs") v = std::fabs(v);
    if (op == "Sign") v = static_cast<float>((v > 0) - (v < 0));
    if (op == "Floor") v = std::floor(v);
    if (op == "Ceil") v = std::ceil(v);
    if (op == "Round") v = std::nearbyint(v);
  }
  return true;
}

// Folds ReduceProd of a whole vector.
bool fold_product(const NodeView& node, const Few& x, Few* y) {
  if (x.is_real() || x.shape.rank() != 1) return false;
  y->type = x.type;
  if (node.integer("keepdims", 1) != 0) y->shape = {1};
  y->integers = {1};
  for (int64_t v : x.integers)
    if (__builtin_mul_overflow(y->integers[0], v, &y->integers[0])) return false;
  return true;
}

// Returns whether a few floats that follow from sizes are multiplied or divided by what is no small multiple of 1/64.
bool scales_inexactly(const Importer& importer, const NodeView& node, const std::vector<Few>& in) {
  constexpr int64_t kFew = 8;
  constexpr float kParts = 64.0f;
  const bool differs[] = {importer.may_differ_at_other_sizes(node, 0),
                          importer.may_differ_at_other_sizes(node, 1)};
  if (!in[0].is_real() || std::max(in[0].shape.elements(), in[1].shape.elements()) > kFew ||
      !(differs[0] || differs[1]))
    return false;
  if (differs[0] && differs[1]) return node.op() == "Div";
  const std::vector<float>& scales = in[differs[0] ? 1 : 0].reals;
  return std::any_of(scales.begin(), scales.end(), [&](float scale) {
    const float parts = kParts * (node.op() == "Div" && differs[0] ? 1 / scale : scale);
    return parts != std::floor(parts);
  });
}

}  // namespace

// Notes how far the operands are from where the operator gives another number by another way.
void note_distances(Importer& importer, const NodeView& node, const std::vector<Few>& in) {
  const std::string& op = node.op();
  const bool compares = is_one_of(op, {"Min", "Max", "Div", "Mod", "Equal", "Less", "LessOrEqual",
                                       "Greater", "GreaterOrEqual", "Clip"});
  if (compares)
    for (size_t i = 1; i < in.size(); ++i)
      if (op != "Clip" || node.has_input(static_cast<int>(i)))
        note_difference(importer, node, in[0], in[i]);
  if (op == "Range" && in.size() == 3) note_difference(importer, node, in[1], in[0]);
  if (is_one_of(op, {"Abs", "Sign"}) && in.size() == 1 && importer.has_open_sizes() &&
      in[0].shape.elements() > 0) {
    const Extremes x = extremes_of(in[0]);
    note(importer, node, x.least, in[0].is_real());
    note(importer, node, x.most, in[0].is_real());
  }
  if (is_one_of(op, {"Mul", "Div"}) && in.size() == 2 && scales_inexactly(importer, node, in))
    importer.graph().rounds_floats = true;
  // Below 1 (Round: half of 1) all magnitudes are rounded to one number.
  if (is_one_of(op, {"Floor", "Ceil", "Round"}) && in.size() == 1 && in[0].is_real() &&
      importer.has_open_sizes() && !in[0].reals.empty())
    note(importer, node, extremes_of(in[0]).most - (op == "Round" ? 0.5 : 1.0), true);
}

bool fold_node(Importer& importer, const NodeView& node) {
  std::vector<Few> in(static_cast<size_t>(node.input_count()));
  const std::string& op = node.op();
  const auto is_absent = [&](size_t i) {
    return op == "Clip" && !node.has_input(static_cast<int>(i));
  };
  for (size_t i = 0; i < in.size(); ++i)
    if (!is_absent(i) && !importer.input(node, static_cast<int>(i)).is_constant()) return false;
  for (size_t i = 0; i < in.size(); ++i)
    if (!is_absent(i) && !read_few(importer, importer.input(node, static_cast<int>(i)), &in[i]))
      return false;
  note_distances(importer, node, in);
  Few y;
  bool done = false;
  if (op == "Clip") {
    done = fold_clip(node, in, &y);
  } else if (op == "Concat") {
    done = !in.empty() && fold_concat(importer, node, in, &y);
  } else if (op == "Where" || op == "Range") {
    done = in.size() == 3 && (op == "Where" ? fold_where(importer, in, &y) : fold_range(in, &y));
  } else if (op == "ReduceProd") {
    done = fold_product(node, in[0], &y);
  } else if (is_one_of(op, {"Not", "Floor", "Ceil", "Round", "Neg", "Abs", "Sign"})) {
    done = in.size() == 1 && fold_unary(op, in[0], &y);
  } else if (is_one_of(op, {"Min", "Max"})) {
    y = in[0];
    done = true;
    for (size_t i = 1; done && i < in.size(); ++i) {
      const Few before = std::move(y);
      y = Few();
      done = fold_pair(importer, op, false, before, in[i], &y);
    }
  } else if (is_one_of(op, {"Add", "Sub", "Mul", "Div", "Mod", "Equal", "Less", "LessOrEqual",
                            "Greater", "GreaterOrEqual", "And", "Or"})) {
    done =
        in.size() == 2 && fold_pair(importer, op, node.integer("fmod", 0) != 0, in[0], in[1], &y);
  }
  if (done) importer.set_output(node, 0, tensor_of(y));
  return done;
}

Status import_folded(Importer& importer, const NodeView& node) {
  if (fold_node(importer, node)) return Status();
  return importer.refuse(node, "qrt computes this operator only on small constants", node.output(0),
                         remedy_for_constant(importer, node, 0));
}

Status import_size(Importer& importer, const NodeView& node) {
  importer.set_output(
      node, 0,
      constant_tensor(integer_constant(kInt64, {}, {importer.input(node, 0).shape.elements()})));
  return Status();
}

Status import_constant_of_shape(Importer& importer, const NodeView& node) {
  std::vector<int64_t> dims;
  if (!constant_integers(importer, node, 0, &dims)) return Status();
  auto constant = std::make_shared<Constant>();
  QRT_TRY(make_shape(dims, &constant->shape));
  ConstantPtr value = make_constant(kFloat, {1}, std::vector<float>{0});
  if (const onnx::TensorProto* tensor = node.tensor("value"))
    QRT_TRY(importer.tensors().read(*tensor, &value));
  QRT_MODEL_CHECK(value->elements() == 1, "its value has %lld elements, expected 1",
                  static_cast<long long>(value->elements()));
  IndexMaps maps({1});
  const int64_t n = constant->elements();
  QRT_TRY(check_index_count(n));
  QRT_TRY(importer.tensors().reserve(
      static_cast<uint64_t>(n) * (sizeof(int32_t) + element_bytes(value->type)), importer.graph()));
  maps.set(0, Indices(static_cast<size_t>(n), 0));
  constant->type = value->type;
  constant->data = maps.apply(value->data.data(), value->data.size(), 0);
  importer.set_output(node, 0, constant_tensor(std::move(constant)));
  return Status();
}

}  // namespace qrt::convert::from_onnx
