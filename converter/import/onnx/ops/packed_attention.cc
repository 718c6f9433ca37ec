// SPDX-License-Identifier: Apache-2.0
// Attention and QAttention of com.microsoft: queries, keys and values are one product of the input.
#include <algorithm>

#include "converter/import/onnx/float_fallback/products.h"
#include "converter/import/onnx/ops/attention.h"
#include "converter/import/onnx/ops/dynamic_matmul.h"
#include "converter/import/onnx/ops/handlers.h"
#include "converter/import/onnx/run_integers.h"

namespace qrt::convert::from_onnx {
namespace {

// Makes the product [b, s, queries + keys + values]. *y stays kNoValue where the node was refused.
Status project(FloatGraph* f, ValueId* y) {
  Importer& importer = f->importer();
  const NodeView& node = f->node();
  if (node.op() == "QAttention") return quantized_product(importer, node, {0, 1, 3, 4, 6, 7, 2}, y);
  ValueId x, w, bias, product = kNoValue;
  if (!f->read(0, &x)) return importer.refuse_float(node, 0);
  if (!f->read(1, &w)) return importer.refuse_float(node, 1);
  if (node.has_input(2) && !f->read(2, &bias)) return importer.refuse_float(node, 2);
  const Shape sx = f->shape_of(x), sw = f->shape_of(w);
  QRT_MODEL_CHECK(sx.rank() == 3 && sw.rank() == 2 && sx[2] == sw[0],
                  "an input of shape %s and weights %s", sx.to_string().c_str(),
                  sw.to_string().c_str());
  float_matmul(f, x, w, &product);
  if (node.has_input(2)) QRT_TRY(f->binary(fb::FloatFunction::ADD, product, bias, &product));
  *y = product;
  return Status();
}

// Cuts the product into the heads of queries, keys and values.
Status cut_heads(FloatGraph* f, ValueId product, Heads* o) {
  const int64_t heads = f->node().integer("num_heads", 0), all = f->shape_of(product)[2];
  std::vector<int64_t> sizes = f->node().integers("qkv_hidden_sizes");
  if (sizes.empty()) sizes.assign(3, all / 3);
  QRT_MODEL_CHECK(heads > 0 && sizes.size() == 3 && sizes[0] == sizes[1] &&
                      sizes[0] + sizes[1] + sizes[2] == all &&
                      std::all_of(sizes.begin(), sizes.end(),
                                  [&](int64_t n) { return n > 0 && n % heads == 0; }),
                  "%lld heads of %lld columns", static_cast<long long>(heads),
                  static_cast<long long>(all));
  int64_t begin = 0;
  for (int i = 0; i < 3; ++i) {
    const int64_t n = sizes[static_cast<size_t>(i)];
    const ValueId heads_of = split_heads(f, slice_along(f, product, 2, begin, n), heads);
    (i == 0 ? o->q : i == 1 ? o->k : o->v) = heads_of;
    begin += n;
  }
  o->is_joined = true;
  return Status();
}

// Puts the past [2, b, n, p, d], an input, in front of keys and values.
Status prepend_past(FloatGraph* f, ValueId past, Heads* o) {
  const Shape p = f->shape_of(past), k = f->shape_of(o->k), v = f->shape_of(o->v);
  QRT_MODEL_CHECK(
      p.rank() == 5 && p[0] == 2 && p[1] == k[0] && p[2] == k[1] && p[4] == k[3] && p[4] == v[3],
      "a past of shape %s before keys %s and values %s", p.to_string().c_str(),
      k.to_string().c_str(), v.to_string().c_str());
  const auto half = [&](int64_t i) {
    return f->builder().reshape(f->node(), slice_along(f, past, 0, i, 1), {p[1], p[2], p[3], p[4]});
  };
  o->k = f->builder().concat(f->node(), {half(0), o->k}, 2);
  o->v = f->builder().concat(f->node(), {half(1), o->v}, 2);
  return Status();
}

// Returns keys and values as one tensor [2, b, n, t, d].
ValueId present_of(FloatGraph* f, const Heads& o) {
  const Shape k = f->shape_of(o.k);
  const Shape one = {1, k[0], k[1], k[2], k[3]};
  return f->builder().concat(
      f->node(),
      {f->builder().reshape(f->node(), o.k, one), f->builder().reshape(f->node(), o.v, one)}, 0);
}

}  // namespace

Status import_packed_attention(Importer& importer, const NodeView& node) {
  if (!importer.allows_float()) return refuse_float_operator(importer, node);
  const bool is_quantized = node.op() == "QAttention";
  const int mask = is_quantized ? 5 : 3, past = is_quantized ? 8 : 4;
  if (node.integer("do_rotary", 0) != 0)
    return refuse_form(importer, node, "it turns queries and keys by their positions (do_rotary)");
  if (!is_quantized && node.has_input(6))
    return refuse_form(importer, node, "its past lies in a buffer that a run fills");
  FloatGraph f(importer, node);
  ValueId product = kNoValue, of_past, y;
  QRT_TRY(project(&f, &product));
  if (product == kNoValue) return Status();
  Heads o;
  QRT_TRY(cut_heads(&f, product, &o));
  const int64_t now = f.shape_of(o.k)[2];
  if (node.has_input(past)) {
    if (!f.read(past, &of_past)) return importer.refuse_float(node, past);
    QRT_TRY(prepend_past(&f, of_past, &o));
  }
  const int64_t keys = f.shape_of(o.k)[2];
  AttentionForm form;
  form.scale = scale_of(f, o.q);
  if (!is_quantized && node.has_input(5) && !f.read(5, &form.bias))
    return importer.refuse_float(node, 5);
  bool known = true;
  if (node.has_input(mask))
    QRT_TRY(add_padding_mask(&f, mask, f.shape_of(o.q)[0], keys, &form, &known));
  if (!known) return Status();
  if (node.integer("unidirectional", 0) != 0) {
    QRT_TRY(RunIntegers::check_count(std::max(now, keys)));
    form.visible = causal(&f, now, keys, keys - now);
  }
  QRT_TRY(attend(&f, o.q, o.k, o.v, &form, &y));
  importer.became(node, "Float", "F");
  set_float_output(importer, node, 0, join_heads(&f, y));
  if (node.has_output(1) && f.shape_of(o.k) == f.shape_of(o.v))
    set_float_output(importer, node, 1, present_of(&f, o));
  return Status();
}

}  // namespace qrt::convert::from_onnx
