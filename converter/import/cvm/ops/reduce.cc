// SPDX-License-Identifier: Apache-2.0
// Sums and maxima over axes. The sum over an image's rows and columns of bytes is what
// GlobalAveragePool2D computes, requantisation included.
#include <algorithm>

#include "converter/import/cvm/ops/ops.h"

namespace qrt::convert::from_cvm {
namespace {

struct Reduction {
  std::vector<bool> reduced;  // by axis
  bool keep_dims = false;
  bool all_by_default = false;  // no axis was named
  int64_t terms = 1;
  Shape shape;
};

Status read_reduction(const Attributes& a, const Shape& x, Reduction* r) {
  QRT_TRY(a.check_names({"axis", "keepdims", "exclude", "dtype"}));
  std::vector<int64_t> axes;
  bool exclude = false;
  QRT_TRY(a.tuple("axis", -x.rank(), x.rank() - 1, &axes));
  QRT_TRY(a.boolean("keepdims", &r->keep_dims));
  QRT_TRY(a.boolean("exclude", &exclude));
  QRT_TRY(a.word("dtype", {"int32"}));
  r->reduced.assign(static_cast<size_t>(x.rank()), false);
  for (int64_t axis : axes) {
    const auto at = static_cast<size_t>(axis < 0 ? axis + x.rank() : axis);
    QRT_MODEL_CHECK(!r->reduced[at], "axis %lld stands twice", static_cast<long long>(axis));
    r->reduced[at] = true;
  }
  if (axes.empty()) {
    r->all_by_default = true;
    r->reduced.assign(r->reduced.size(), true);
  } else if (exclude) {
    r->reduced.flip();
  }
  for (int d = 0; d < x.rank(); ++d) {
    const bool gone = r->reduced[static_cast<size_t>(d)];
    if (gone) r->terms *= x[d];
    if (!gone || r->keep_dims) r->shape.push_back(gone ? 1 : x[d]);
  }
  if (r->shape.rank() == 0) r->shape.push_back(1);
  return Status();
}

// x with the reduced axes as one, the last: [results, terms], or with `keeps_batch` and results for
// every image of their own [images, results, terms], which any batch has.
ValueId in_rows(Importer& importer, const Op& op, const Reduction& r, const Stored& x,
                bool keeps_batch) {
  const Shape& from = importer.shape(op.input());
  std::vector<uint8_t> perm;
  int64_t outer = 1;
  bool in_order = true;
  for (int pass = 0; pass < 2; ++pass)
    for (int d = 0; d < from.rank(); ++d) {
      const bool gone = r.reduced[static_cast<size_t>(d)];
      if (gone != (pass == 1)) continue;
      perm.push_back(static_cast<uint8_t>(d));
      if (!gone) outer *= from[d];
    }
  for (size_t i = 0; i < perm.size(); ++i) in_order &= perm[i] == i;
  const ValueId value = in_order ? x.value : importer.transposed(op, x.value, x.storage, perm);
  if (keeps_batch && !r.reduced[0])
    return importer.reshaped(op, value, x.storage, {from[0], outer / from[0], r.terms});
  return importer.reshaped(op, value, x.storage, {outer, r.terms});
}

// Reduces to INT32 results, of the operator's shape.
Stored reduce(Importer& importer, const Op& op, const Reduction& r, bool maximum) {
  const Stored x = importer.stored(op.input());
  const ValueId lines = in_rows(importer, op, r, x, /*keeps_batch=*/true);
  const Storage sums{DType::kInt32, 0};
  Shape shape = importer.graph().values[lines].type.shape;
  const int last = shape.rank() - 1;
  shape[last] = 1;
  const ValueId made = importer.new_value("", sums, shape);
  auto& o = importer.add_node<fb::ReduceOptionsT>(op, {lines}, made);
  o.axis = static_cast<uint32_t>(last);
  o.zero_point = x.storage.zero_point;
  o.maximum = maximum;
  return {importer.reshaped(op, made, sums, r.shape), sums, x.range};
}

// Computes maxima of bytes and int16, which keep their type: every row is an image of one column.
Stored greatest(Importer& importer, const Op& op, const Reduction& r) {
  const Stored x = importer.stored(op.input());
  const ValueId lines = in_rows(importer, op, r, x, /*keeps_batch=*/false);
  const int64_t results = importer.graph().values[lines].type.shape[0];
  const ValueId images = importer.reshaped(op, lines, x.storage, {results, r.terms, 1, 1});
  const ValueId made = importer.new_value("", x.storage, {results, 1, 1, 1});
  auto& o = importer.add_node<fb::MaxPool2DOptionsT>(op, {images}, made);
  o.kernel_h = o.kernel_w = 0;  // the whole image
  return {importer.reshaped(op, made, x.storage, r.shape), x.storage, x.range};
}

}  // namespace

Status infer_sum(Inference* inference) {
  Reduction r;
  QRT_TRY(read_reduction(inference->attributes(), inference->input().shape, &r));
  return inference->output(r.shape, mrt::sum_precision(inference->input().precision, r.terms));
}

Status import_sum(Importer& importer, const Op& op) {
  Reduction r;
  const Shape x = importer.shape(op.input());
  QRT_TRY(read_reduction(Attributes(op.node.attributes), x, &r));
  const Stored from = importer.stored(op.input());
  auto product = std::make_shared<Product>();
  product->range = {from.range.lo * r.terms, from.range.hi * r.terms};
  if (!product->range.is_int32())
    return importer.refuse(op, "its sums may leave 32 bits",
                           "clip its input to fewer bits (cvm_clip)");
  product->channel_axis = 1;
  product->name = "Reduce";
  const bool is_image = x.rank() == 4 && !r.reduced[0] && !r.reduced[1] && r.reduced[2] &&
                        r.reduced[3] && from.storage.dtype == DType::kUInt8;
  if (is_image) product->name = "GlobalAveragePool2D";
  product->emit = [&importer, op, r, x, from](std::unique_ptr<fb::RequantT> requant,
                                              Storage storage) {
    if (!requant) return reduce(importer, op, r, /*maximum=*/false).value;
    const ValueId image = importer.transposed(op, from.value, from.storage, {0, 2, 3, 1});
    const ValueId made = importer.new_value("", storage, {x[0], 1, 1, x[1]});
    auto& o = importer.add_node<fb::GlobalAveragePool2DOptionsT>(op, {image}, made);
    o.input_zero_point = static_cast<uint8_t>(from.storage.zero_point);
    o.requant = std::move(requant);
    const ValueId pixels = importer.transposed(op, made, storage, {0, 3, 1, 2});
    if (r.keep_dims) return pixels;
    return importer.reshaped(op, pixels, storage, r.shape);
  };
  if (is_image) {
    importer.set_product(op, std::move(product));
    return Status();
  }
  Stored made{product->emit(nullptr, {DType::kInt32, 0}), {DType::kInt32, 0}, product->range};
  // Operators that look at a range alone expect the storage that storage_for() gives it.
  if (storage_for(made.range).dtype != DType::kInt32)
    made = importer.limited(
        op, made,
        clamp_to(static_cast<int32_t>(made.range.lo), static_cast<int32_t>(made.range.hi)));
  importer.set_output(op, made, "Reduce");
  return Status();
}

Status infer_max(Inference* inference) {
  Reduction r;
  QRT_TRY(read_reduction(inference->attributes(), inference->input().shape, &r));
  return inference->output(r.shape, inference->input().precision);
}

// Imports a maximum. Over all elements, the source starts from 0.
Status import_max(Importer& importer, const Op& op) {
  Reduction r;
  QRT_TRY(read_reduction(Attributes(op.node.attributes), importer.shape(op.input()), &r));
  const bool is_int32 = importer.stored(op.input()).storage.dtype == DType::kInt32;
  const std::string name = is_int32 ? "Reduce" : "MaxPool2D";
  const Stored made =
      is_int32 ? reduce(importer, op, r, /*maximum=*/true) : greatest(importer, op, r);
  if (!r.all_by_default) {
    importer.set_output(op, made, name);
    return Status();
  }
  importer.set_output(op, importer.limited(op, made, clamp_to(0, INT32_MAX)), name + ", limited");
  return Status();
}

}  // namespace qrt::convert::from_cvm
