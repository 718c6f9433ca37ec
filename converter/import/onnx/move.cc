// SPDX-License-Identifier: Apache-2.0
#include "converter/import/onnx/move.h"

#include <algorithm>
#include <cstring>
#include <string>

#include "converter/import/onnx/deferred/pending.h"
#include "converter/import/onnx/deferred/table.h"
#include "converter/import/onnx/file/borders.h"
#include "converter/import/onnx/float_fallback/float_fallback.h"
#include "converter/import/onnx/folding/constants.h"
#include "converter/import/onnx/remedies.h"

namespace qrt::convert::from_onnx {
namespace {

// Returns the axis that `axis` becomes, or -1 where a Reshape does not keep it whole.
int moved_axis(const Movement& m, int axis) {
  if (m.maps) return axis;
  if (!m.perm.empty())
    return static_cast<int>(std::find(m.perm.begin(), m.perm.end(), axis) - m.perm.begin());
  int64_t before = 1, passed = 1;
  for (int i = 0; i < axis; ++i) before *= m.from[i];
  for (int i = 0; i < m.to.rank(); passed *= m.to[i++])
    if (passed == before && m.to[i] == m.from[axis]) return i;
  return -1;
}

// Maps values that stand for the indices of an axis, `each` per index, to the new indices. Returns
// false where some of the new indices have no value.
template <class T>
bool gather_parameters(const Indices& map, size_t each, std::vector<T>* values) {
  std::vector<T> result;
  for (int32_t i : map) {
    if (i < 0) return false;
    const auto from = values->begin() + static_cast<ptrdiff_t>(static_cast<size_t>(i) * each);
    result.insert(result.end(), from, from + static_cast<ptrdiff_t>(each));
  }
  *values = std::move(result);
  return true;
}

// Moves parameters that exist per index of an axis with the data. Returns false where that is not possible.
bool move_parameters(const Movement& m, Tensor* t) {
  if (t->quant && t->quant->axis >= 0) {
    Quant& q = *t->quant;
    if (m.maps && m.maps->has(q.axis) &&
        !(gather_parameters(m.maps->at(q.axis), 1, &q.scale) &&
          gather_parameters(m.maps->at(q.axis), 1, &q.zero_point)))
      return false;
    q.axis = moved_axis(m, q.axis);
    if (q.axis < 0) return false;
  }
  if (t->table_axis >= 0) {
    if (m.maps && m.maps->has(t->table_axis)) {
      auto table = std::make_shared<std::vector<float>>(*t->table);
      if (!gather_parameters(m.maps->at(t->table_axis), t->quant->codes(), table.get()))
        return false;
      t->table = std::move(table);
    }
    t->table_axis = moved_axis(m, t->table_axis);
    if (t->table_axis < 0) return false;
  }
  return true;
}

Status move_constant(Importer& importer, const Movement& m, ConstantPtr* constant) {
  const Constant& c = **constant;
  const size_t bytes = element_bytes(c.type);
  auto moved = std::make_shared<Constant>();
  moved->type = c.type;
  moved->shape = m.to;
  if (m.maps) {
    QRT_TRY(m.maps->check_constant(bytes));
    QRT_TRY(importer.tensors().reserve(static_cast<uint64_t>(m.to.elements()) * bytes,
                                       importer.graph()));
    moved->data = m.maps->apply(c.data.data(), bytes, m.fill);
  } else {
    moved->data = c.data;
  }
  if (!m.perm.empty() && !c.data.empty()) {
    const size_t rank = m.perm.size();
    std::vector<int64_t> stride(rank, 1), step(rank), index(rank, 0);
    for (size_t i = rank; i-- > 1;) stride[i - 1] = stride[i] * c.shape[static_cast<int>(i)];
    for (size_t i = 0; i < rank; ++i) step[i] = stride[static_cast<size_t>(m.perm[i])];
    int64_t at = 0;
    for (size_t n = 0; n < static_cast<size_t>(c.elements()); ++n) {
      memcpy(moved->data.data() + n * bytes, c.data.data() + static_cast<size_t>(at) * bytes,
             bytes);
      for (size_t i = rank; i-- > 0;) {
        at += step[i];
        if (++index[i] < m.to[static_cast<int>(i)]) break;
        at -= step[i] * index[i];
        index[i] = 0;
      }
    }
  }
  *constant = std::move(moved);
  return Status();
}

ValueId move_value(Importer& importer, const NodeView& node, const Movement& m, ValueId x) {
  if (m.maps) return importer.builder().gather(node, x, *m.maps, m.fill);
  return m.perm.empty() ? importer.builder().reshape(node, x, m.to)
                        : importer.builder().transpose(node, x, m.perm);
}

const char* operator_name(const Movement& m) {
  if (m.maps) return "Gather";
  return m.perm.empty() ? "Reshape" : "Transpose";
}

}  // namespace

bool copies_pairs(const Importer& importer, const NodeView& node) {
  constexpr int64_t kFirstMaxPool = 12;
  return node.domain().empty() && is_copied_across(node.op()) &&
         (node.op() != "MaxPool" || importer.opset(node) >= kFirstMaxPool);
}

bool Movement::is_nothing() const {
  if (maps) return maps->is_identity();
  if (perm.empty()) return from == to;
  return std::is_sorted(perm.begin(), perm.end());
}

Status reshaped(const Shape& from, const std::vector<int64_t>& dims, Movement* m) {
  m->from = from;
  QRT_TRY(make_shape(dims, &m->to));
  QRT_MODEL_CHECK(from.elements() == m->to.elements(), "shape %s cannot become %s",
                  from.to_string().c_str(), m->to.to_string().c_str());
  return Status();
}

Movement transposed(const Shape& from, std::vector<int> perm) {
  Movement m;
  m.from = from;
  for (int p : perm) m.to.push_back(from[p]);
  m.perm = std::move(perm);
  return m;
}

Movement gathered(IndexMaps maps, int64_t fill) {
  Movement m;
  m.from = maps.from();
  m.to = maps.to();
  m.maps = std::move(maps);
  m.fill = fill;
  return m;
}

namespace {

// Returns whether the tensor's parameters per index of an axis can follow all movements.
bool parameters_follow(const std::vector<Movement>& movements, Tensor t) {
  return std::all_of(movements.begin(), movements.end(),
                     [&](const Movement& m) { return m.is_nothing() || move_parameters(m, &t); });
}

// Turns a dequantised constant into one of floats.
Status make_plain(Importer& importer, const NodeView& node, Tensor* t, bool* made) {
  std::vector<float> real;
  *made = constant_floats(*t, &real);
  if (!*made) return importer.refuse_float(node, 0);
  t->constant = make_constant(kFloat, t->shape, real);
  importer.tensors().charge(t->constant->data.size());
  t->type = kFloat;
  t->quant.reset();
  return Status();
}

// Adds the movements of a pending input to it.
Status move_waiting(Importer& importer, const NodeView& node, std::shared_ptr<Pending> pending,
                    std::vector<Movement> movements, int output) {
  Shape shape = importer.input(node, 0).shape;
  pending->followers.push_back(node.index());
  for (Movement& m : movements) {
    if (m.maps) importer.tensors().charge(m.maps->bytes());
    QRT_TRY(make_shape({m.to.begin(), m.to.end()}, &shape));
    if (m.is_nothing()) continue;
    if (shape.elements() == 0)
      return error(Code::kUnsupported, "its result of shape %s is empty",
                   shape.to_string().c_str());
    pending->moves.push_back([&importer, &node, m = std::move(m)](const Quant*, ValueId* v) {
      *v = move_value(importer, node, m, *v);
      return Status();
    });
  }
  importer.set_output(node, output, pending_tensor(std::move(pending), shape));
  return Status();
}

}  // namespace

Status move(Importer& importer, const NodeView& node, std::vector<Movement> movements, int output) {
  const Tensor x = importer.input(node, 0);
  Tensor y = x;
  const bool follow = parameters_follow(movements, x);
  if (x.is_pending() || x.is_pair_function() || (x.is_table() && !follow)) {
    // A QuantizeLinear behind a Flatten makes resolve() compute or refuse what stands in front of it.
    const bool takes_over = copies_pairs(importer, node) || node.op() == "Flatten";
    auto pending = takes_over ? own_pending(importer, node, 0) : own_function(importer, node, 0);
    if (!pending) return importer.refuse_float(node, 0);
    return move_waiting(importer, node, std::move(pending), std::move(movements), output);
  }
  if (x.is_constant() && !follow) {
    bool made;
    QRT_TRY(make_plain(importer, node, &y, &made));
    if (!made) return Status();
  }
  const char* made = nullptr;
  for (const Movement& m : movements) {
    if (m.maps) importer.tensors().charge(m.maps->bytes());
    Shape checked;
    QRT_TRY(make_shape({m.to.begin(), m.to.end()}, &checked));
    y.shape = m.to;
    if (m.is_nothing()) continue;
    if (!x.is_constant() && m.to.elements() == 0)
      return error(Code::kUnsupported, "its result of shape %s is empty", m.to.to_string().c_str());
    move_parameters(m, &y);
    if (x.is_constant()) QRT_TRY(move_constant(importer, m, &y.constant));
    if (x.is_value() || x.is_table()) {
      const bool is_reshape = !m.maps && m.perm.empty();
      if (!is_reshape && is_packed(importer.graph().values[y.value].type.dtype))
        return importer.refuse(
            node,
            std::string("it moves elements of type ") + element_type_name(x.type) +
                ", which are not whole bytes",
            node.input(0),
            "put the operator in front of the QuantizeLinear that makes these elements");
      y.value = move_value(importer, node, m, y.value);
      if (!made || m.maps) made = operator_name(m);
    }
  }
  if (made) importer.became(node, made, "I0");
  importer.set_output(node, output, std::move(y));
  return Status();
}

Status move_filled(Importer& importer, const NodeView& node, IndexMaps maps, float fill) {
  importer.tensors().charge(maps.bytes());
  const Tensor& x = importer.input(node, 0);
  std::vector<float> real;
  if (x.is_table() && x.meaning_axis() < 0 && entries(x, &real)) {
    const auto found = std::find(real.begin(), real.end(), fill);
    if (found != real.end())
      return move(importer, node,
                  {gathered(std::move(maps), found - real.begin() + x.quant->first_code())});
  }
  const auto from = own_function(importer, node, 0);
  if (!from) return importer.refuse_float(node, 0);
  // Limits behind a Pad hold for its fill, too, so the Pad is a pending operator of its own.
  const auto pending = defer(importer, node, maps.to());
  pending->is_function = true;
  const auto gather = [&importer, &node, maps = std::move(maps)](int64_t bits, ValueId* value) {
    if (*value != kNoValue) *value = importer.builder().gather(node, *value, maps, bits);
    importer.became(node, "Gather", "I0");
  };
  pending->emit = [&importer, from, fill, gather](const Quant& out, Limits limits,
                                                  ValueId* result) {
    QRT_TRY(quantize_function(importer, *from, out, limits, result));
    gather(quantized(fill, out, limits), result);
    return Status();
  };
  pending->emit_float = [&importer, from, fill, gather](ValueId* result) {
    QRT_TRY(float_function(importer, *from, result));
    gather(float_bits(fill), result);
    return Status();
  };
  return Status();
}

bool constant_integers(Importer& importer, const NodeView& node, int i,
                       std::vector<int64_t>* values) {
  const Tensor& t = importer.input(node, i);
  if (!t.is_plain_constant() || !t.constant->is_integer()) {
    (void)importer.refuse(node, "input '" + node.input(i) + "' is not an integer constant",
                          node.input(i), remedy_for_constant(importer, node, i));
    return false;
  }
  values->clear();
  for (int64_t k = 0; k < t.constant->elements(); ++k) values->push_back(t.constant->integer(k));
  return true;
}

Status read_axis(int64_t axis, int rank, int* result) {
  *result = 0;
  QRT_MODEL_CHECK(axis >= -rank && axis < rank, "axis %lld is outside %d dimensions",
                  static_cast<long long>(axis), rank);
  *result = static_cast<int>(axis < 0 ? axis + rank : axis);
  return Status();
}

Status read_axes(Importer& importer, const NodeView& node, int rank, std::vector<bool>* marked,
                 bool* given, bool* known) {
  std::vector<int64_t> axes = node.integers("axes");
  *known = true;
  *given = node.has("axes");
  if (node.has_input(1)) {
    const Tensor& t = importer.input(node, 1);
    *known = t.is_plain_constant() && t.constant->is_integer();
    if (!*known)
      return importer.refuse(node, "the axes '" + node.input(1) + "' are not constant",
                             node.input(1), remedy_for_constant(importer, node, 1));
    *given = true;
    axes.clear();
    for (int64_t i = 0; i < t.constant->elements(); ++i) axes.push_back(t.constant->integer(i));
  }
  marked->assign(static_cast<size_t>(rank), false);
  for (int64_t a : axes) {
    QRT_MODEL_CHECK(a >= -rank && a < rank, "axis %lld is outside %d dimensions",
                    static_cast<long long>(a), rank);
    const size_t at = static_cast<size_t>(a < 0 ? a + rank : a);
    QRT_MODEL_CHECK(!(*marked)[at], "axis %lld is named twice", static_cast<long long>(a));
    (*marked)[at] = true;
  }
  return Status();
}

}  // namespace qrt::convert::from_onnx
