// SPDX-License-Identifier: Apache-2.0
// MultiHeadAttention of com.microsoft and Attention of ONNX.
#include "converter/import/onnx/ops/attention.h"

#include <algorithm>
#include <cmath>

#include "converter/import/onnx/float_fallback/attention.h"
#include "converter/import/onnx/ops/handlers.h"
#include "converter/import/onnx/ops/integer.h"
#include "converter/import/onnx/remedies.h"
#include "converter/import/onnx/run_integers.h"

namespace qrt::convert::from_onnx {

Status refuse_float_operator(Importer& importer, const NodeView& node) {
  return importer.refuse(node,
                         "it is computed in float, in an order of its own: no integer form has "
                         "its bits",
                         node.output(0), remedy_to_compute_outside(importer, node));
}

Status refuse_form(Importer& importer, const NodeView& node, const std::string& what) {
  return importer.refuse(node, what, node.output(0),
                         "export the model with the operators that it stands for; or " +
                             remedy_to_compute_outside(importer, node));
}

void set_float_output(Importer& importer, const NodeView& node, int i, ValueId x) {
  if (!node.has_output(i)) return;
  Tensor t;
  t.kind = Tensor::Kind::kValue;
  t.type = kFloat;
  t.value = x;
  t.shape = importer.builder().shape_of(x);
  importer.set_output(node, i, std::move(t));
}

ValueId rows_at(FloatGraph* f, ValueId cache, ValueId positions) {
  const Shape c = f->shape_of(cache), p = f->shape_of(positions);
  const ValueId rows = f->builder().new_value("", DType::kFloat32, {p[0], p[1], c[1]});
  auto& o = f->builder().add<fb::TakeOptionsT>(f->node(), {cache, positions}, rows);
  o.is_checked = true;
  return f->builder().reshape(f->node(), rows, {p[0], 1, p[1], c[1]});
}

namespace {

// Reads q, k and v, of which those of rank 3 have these numbers of heads. *known stays false where the node was refused.
Status read_heads(FloatGraph* f, int64_t heads, int64_t kv_heads, Heads* o, bool* known) {
  Importer& importer = f->importer();
  const NodeView& node = f->node();
  *known = false;
  for (int i = 0; i < 3; ++i) {
    ValueId x;
    if (!f->read(i, &x)) return importer.refuse_float(node, i);
    const Shape s = f->shape_of(x);
    const int64_t n = i == 0 ? heads : kv_heads;
    if (s.rank() != 3 && s.rank() != 4)
      return refuse_form(importer, node,
                         "input '" + node.input(i) + "' has shape " + s.to_string() +
                             ": packed queries, keys and values are not taken");
    if (s.rank() == 3) {
      QRT_MODEL_CHECK(n > 0 && s[2] % n == 0, "%lld heads of shape %s", static_cast<long long>(n),
                      s.to_string().c_str());
      x = split_heads(f, x, n);
    }
    if (i == 0) o->is_joined = s.rank() == 3;
    (i == 0 ? o->q : i == 1 ? o->k : o->v) = x;
  }
  *known = true;
  return Status();
}

// Checks that the operands are those of an attention.
Status check_heads(const FloatGraph& f, const Heads& o) {
  const Shape q = f.shape_of(o.q), k = f.shape_of(o.k), v = f.shape_of(o.v);
  QRT_MODEL_CHECK(q[0] == k[0] && q[0] == v[0] && k[1] == v[1] && q[1] % k[1] == 0 &&
                      q[3] == k[3] && k[2] == v[2],
                  "queries %s, keys %s and values %s do not fit", q.to_string().c_str(),
                  k.to_string().c_str(), v.to_string().c_str());
  return Status();
}

// Puts the past in front of keys and values. *known stays false where the node was refused.
Status prepend_past(FloatGraph* f, int key, Heads* o, bool* known) {
  *known = true;
  const NodeView& node = f->node();
  if (!node.has_input(key) && !node.has_input(key + 1)) return Status();
  for (const int i : {key, key + 1}) {
    ValueId past, *now = i == key ? &o->k : &o->v;
    *known = f->read(i, &past);
    if (!*known) return f->importer().refuse_float(node, i);
    const Shape p = f->shape_of(past), n = f->shape_of(*now);
    QRT_MODEL_CHECK(p.rank() == 4 && p[0] == n[0] && p[1] == n[1] && p[3] == n[3],
                    "a past of shape %s before %s", p.to_string().c_str(), n.to_string().c_str());
    *now = f->builder().concat(node, {past, *now}, 2);
  }
  return Status();
}

}  // namespace

ValueId causal(FloatGraph* f, int64_t queries, int64_t keys, int64_t past) {
  RunIntegers r(f->importer(), f->node());
  ValueId at = r.indices(queries);
  if (past > 0) at = r.add(at, r.number(past));
  return r.is_at_most(r.indices(keys), r.reshaped(at, {queries, 1}));
}

namespace {

// Completes an attention: its masks are in `form`.
Status finish_attention(FloatGraph* f, const Heads& o, AttentionForm* form) {
  ValueId y;
  QRT_TRY(check_heads(*f, o));
  QRT_TRY(attend(f, o.q, o.k, o.v, form, &y));
  if (o.is_joined) y = join_heads(f, y);
  Importer& importer = f->importer();
  importer.became(f->node(), "Float", "F");
  set_float_output(importer, f->node(), 0, y);
  set_float_output(importer, f->node(), 1, o.k);
  set_float_output(importer, f->node(), 2, o.v);
  return Status();
}

}  // namespace

float scale_of(const FloatGraph& f, ValueId q) {
  const float given = f.node().real("scale", 0);
  const Shape s = f.shape_of(q);
  return given != 0 ? given : 1 / std::sqrt(static_cast<float>(s[s.rank() - 1]));
}

namespace {

// Adds the part of the bias (input 3) that belongs to operand i, at element `begin` of it.
Status add_bias(FloatGraph* f, ValueId bias, int64_t begin, ValueId* x) {
  const Shape s = f->shape_of(*x);
  const int64_t n = s[1] * s[3];
  ValueId part = slice_along(f, bias, 0, begin, n);
  part = f->builder().reshape(f->node(), part, {1, s[1], 1, s[3]});
  return f->binary(fb::FloatFunction::ADD, *x, part, x);
}

}  // namespace

Status add_padding_mask(FloatGraph* f, int input, int64_t batch, int64_t keys, AttentionForm* form,
                        bool* known) {
  Importer& importer = f->importer();
  const NodeView& node = f->node();
  const Tensor& mask = importer.input(node, input);
  const Shape s = mask.shape;
  *known = false;
  if (!has_type(mask, kInt32)) return importer.refuse_float(node, input);
  RunIntegers r(importer, node);
  ValueId counts = r.to_int64(integer_value(importer, node, input));
  Shape broadcast;
  if (s.rank() == 1 && s[0] == batch) {
    QRT_TRY(RunIntegers::check_count(keys));
    counts = r.is_less(r.indices(keys), r.reshaped(counts, {batch, 1}));
    broadcast = {batch, 1, 1, keys};
  } else if ((s.rank() == 2 || s.rank() == 3) && s[0] == batch && s[s.rank() - 1] == keys) {
    counts = r.is_less(r.constant(0), counts);
    broadcast = s.rank() == 2 ? Shape{s[0], 1, 1, s[1]} : Shape{s[0], 1, s[1], s[2]};
  } else {
    return refuse_form(importer, node, "its mask has shape " + s.to_string());
  }
  std::vector<float> table(256, 0);
  table[0] = node.real("mask_filter_value", -10000.0f);
  ValueId added =
      f->add(fb::FloatFunction::TABLE, {counts, f->constant({256}, table)}, f->shape_of(counts));
  added = f->builder().reshape(node, added, broadcast);
  if (form->bias == kNoValue)
    form->bias = added;
  else
    QRT_TRY(f->binary(fb::FloatFunction::ADD, form->bias, added, &form->bias));
  *known = true;
  return Status();
}

Status import_multi_head_attention(Importer& importer, const NodeView& node) {
  if (!importer.allows_float()) return refuse_float_operator(importer, node);
  for (const int i : {8, 9})
    if (node.has_input(i))
      return refuse_form(
          importer, node,
          "its past lies in a buffer that a run fills (input '" + node.input(i) + "')");
  if (!node.has_input(1) || !node.has_input(2))
    return refuse_form(importer, node, "its queries, keys and values are packed in one tensor");
  if (node.has_output(3)) return refuse_form(importer, node, "it gives its scores as an output");
  FloatGraph f(importer, node);
  Heads o;
  bool known;
  const int64_t heads = node.integer("num_heads", 0);
  QRT_TRY(read_heads(&f, heads, heads, &o, &known));
  if (!known) return Status();
  if (node.has_input(3)) {
    ValueId bias;
    if (!f.read(3, &bias)) return importer.refuse_float(node, 3);
    const Shape q = f.shape_of(o.q), k = f.shape_of(o.k), v = f.shape_of(o.v);
    const int64_t of_q = q[1] * q[3], of_k = k[1] * k[3], of_v = v[1] * v[3];
    QRT_MODEL_CHECK(f.shape_of(bias) == (Shape{of_q + of_k + of_v}), "its bias has shape %s",
                    f.shape_of(bias).to_string().c_str());
    QRT_TRY(add_bias(&f, bias, 0, &o.q));
    // Keys and values of rank 4 were computed by another layer and hold their bias already.
    if (importer.input(node, 1).shape.rank() == 3) {
      QRT_TRY(add_bias(&f, bias, of_q, &o.k));
      QRT_TRY(add_bias(&f, bias, of_q + of_k, &o.v));
    }
  }
  const int64_t now = f.shape_of(o.k)[2];
  QRT_TRY(prepend_past(&f, 6, &o, &known));
  if (!known) return Status();
  const int64_t keys = f.shape_of(o.k)[2];
  AttentionForm form;
  form.scale = scale_of(f, o.q);
  if (node.has_input(5) && !f.read(5, &form.bias)) return importer.refuse_float(node, 5);
  if (node.has_input(4)) {
    QRT_TRY(add_padding_mask(&f, 4, f.shape_of(o.q)[0], keys, &form, &known));
    if (!known) return Status();
  }
  if (node.integer("unidirectional", 0) != 0) {
    // ONNX Runtime's mask leaves out the last queries where there are fewer or more of them than keys.
    if (f.shape_of(o.q)[2] != now)
      return refuse_form(importer, node,
                         "its queries and its new keys differ in number, and it is unidirectional");
    QRT_TRY(RunIntegers::check_count(std::max(f.shape_of(o.q)[2], keys)));
    form.visible = causal(&f, f.shape_of(o.q)[2], keys, keys - now);
  }
  return finish_attention(&f, o, &form);
}

Status import_attention(Importer& importer, const NodeView& node) {
  if (!importer.allows_float()) return refuse_float_operator(importer, node);
  if (node.has_input(6)) return refuse_form(importer, node, "it has lengths of keys");
  if (node.has_output(3)) return refuse_form(importer, node, "it gives its scores as an output");
  FloatGraph f(importer, node);
  Heads o;
  bool known;
  QRT_TRY(
      read_heads(&f, node.integer("q_num_heads", 0), node.integer("kv_num_heads", 0), &o, &known));
  if (!known) return Status();
  const int64_t now = f.shape_of(o.k)[2];
  QRT_TRY(prepend_past(&f, 4, &o, &known));
  if (!known) return Status();
  AttentionForm form;
  form.scale = scale_of(f, o.q);
  form.softcap = node.real("softcap", 0);
  const int64_t keys = f.shape_of(o.k)[2];
  if (node.integer("is_causal", 0) != 0) {
    QRT_TRY(RunIntegers::check_count(std::max(f.shape_of(o.q)[2], keys)));
    form.visible = causal(&f, f.shape_of(o.q)[2], keys, keys - now);
  }
  if (node.has_input(3) && has_type(importer.input(node, 3), kBool)) {
    const ValueId mask = integer_value(importer, node, 3);
    form.visible =
        form.visible == kNoValue ? mask : RunIntegers(importer, node).both(form.visible, mask);
  } else if (node.has_input(3) && !f.read(3, &form.bias)) {
    return importer.refuse_float(node, 3);
  }
  form.hides_queries = node.has_input(3);
  return finish_attention(&f, o, &form);
}

}  // namespace qrt::convert::from_onnx
