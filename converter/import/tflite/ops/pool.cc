// SPDX-License-Identifier: Apache-2.0
// Pools over windows, and reductions as pools over the whole of a reshaped tensor.
#include <algorithm>
#include <cmath>

#include "converter/import/tflite/ops/handlers.h"

namespace qrt::convert::from_tflite {
namespace {

// The common part of both windowed pools. The output's quantisation has to equal the input's.
struct Pool {
  Quant quant;
  Limits limits;
  Window window;
};

// Reads the window and the quantisation. *known stays false where the operator was refused.
Status read_pool(Importer& importer, const Op& op, Pool* pool, bool* known) {
  const auto o = op.options<tflite::Pool2DOptions>();
  Quant in;
  if (!importer.read_quants(op, 0, &in, &pool->quant)) return Status();
  if (in.zero_point[0] != pool->quant.zero_point[0] ||
      std::fabs(in.scale[0] - pool->quant.scale[0]) > 1e-6f)
    return importer.refuse(op,
                           "input and output are quantised differently, which the reference "
                           "refuses",
                           importer.output(op).name,
                           "quantise the output with the input's scale and zero point");
  const Shape& x = importer.input(op, 0).shape;
  QRT_MODEL_CHECK(x.rank() == 4 && x.elements() > 0,
                  "the input has shape %s, expected four dimensions", x.to_string().c_str());
  Window& window = pool->window;
  window = {{o.filter_height, o.filter_width}, {o.stride_h, o.stride_w}};
  QRT_TRY(place_window(x[1], x[2], o.padding, &window));
  QRT_TRY(check_output_shape(importer, op, {x[0], window.output[0], window.output[1], x[3]}));
  pool->limits = activation_limits(o.fused_activation_function, pool->quant);
  *known = true;
  return Status();
}

// A reduction as a pool over a whole image [outer, n, 1, inner]. Reduced dimensions that are not
// adjacent are made so by a transposition first.
struct Reduction {
  Quant in, out;
  int64_t outer = 1, n = 1, inner = 1;
  std::vector<uint8_t> perm;  // the transposition; empty: the reduced dimensions are adjacent

  Shape image() const { return {outer, n, 1, inner}; }
  Shape made() const { return {outer, 1, 1, inner}; }
};

Status read_reduction(Importer& importer, const Op& op, Reduction* r, bool* known) {
  if (!importer.read_quants(op, 0, &r->in, &r->out)) return Status();
  std::vector<int32_t> axes;
  if (!importer.read_integers(op, 1, &axes)) return Status();
  const Shape& x = importer.input(op, 0).shape;
  QRT_MODEL_CHECK(x.rank() >= 1 && x.elements() > 0, "the input has shape %s",
                  x.to_string().c_str());
  std::vector<bool> reduced(static_cast<size_t>(x.rank()));
  for (int32_t axis : axes) {
    QRT_MODEL_CHECK(axis >= -x.rank() && axis < x.rank(), "axis %d of %d dimensions", axis,
                    x.rank());
    reduced[static_cast<size_t>(axis < 0 ? axis + x.rank() : axis)] = true;
  }
  int runs = 0;
  const bool keep = op.options<tflite::ReducerOptions>().keep_dims;
  Shape shape;
  std::vector<uint8_t> before, among, behind;
  for (int d = 0; d < x.rank(); ++d) {
    const bool here = reduced[static_cast<size_t>(d)];
    if (here && (d == 0 || !reduced[static_cast<size_t>(d - 1)])) ++runs;
    (here ? r->n : runs == 0 ? r->outer : r->inner) *= x[d];
    (here ? among : runs == 0 ? before : behind).push_back(static_cast<uint8_t>(d));
    if (!here || keep) shape.push_back(here ? 1 : x[d]);
  }
  QRT_TRY(check_output_shape(importer, op, shape));
  if (runs == 0)
    return importer.refuse(op, "it reduces no dimension", importer.input(op, 1).name,
                           "build the model without this operator, which changes nothing");
  const int bits = r->in.is_int16() ? 15 : 23;
  if (r->n >= 1 << bits)
    return importer.refuse(
        op,
        "it reduces " + std::to_string(r->n) + " values, the limit is 2^" + std::to_string(bits),
        importer.input(op, 0).name, "reduce in two steps, each over some of the dimensions");
  if (runs > 1) {
    r->perm = std::move(before);
    r->perm.insert(r->perm.end(), among.begin(), among.end());
    r->perm.insert(r->perm.end(), behind.begin(), behind.end());
  }
  *known = true;
  return Status();
}

// Returns the input as an image.
ValueId reduced_image(Importer& importer, const Op& op, const Reduction& r) {
  ValueId value = importer.value(op, 0);
  const Shape x = importer.builder().shape_of(value);
  if (r.perm.empty() && x.rank() == 4 && x[1] * x[2] == r.n && x[0] == r.outer) return value;
  if (!r.perm.empty()) {
    Shape turned;
    for (uint8_t d : r.perm) turned.push_back(x[d]);
    const ValueId y = importer.builder().new_value("", r.in.stored_type(), turned, &r.in);
    importer.builder().add<fb::TransposeOptionsT>(op, {value}, y).perm = r.perm;
    value = y;
  }
  return importer.builder().reshape(op, value, r.image());
}

// Sets output 0 to the result of a reduction, in the output's shape.
void finish_image(Importer& importer, const Op& op, const Reduction& r, ValueId made) {
  const Shape& y = importer.output(op).shape;
  importer.set_output(
      op, y == r.made() ? made : importer.builder().reshape(op, made, y, importer.output(op).name));
}

Status finish_sum(Importer& importer, const Op& op, const Reduction& r, Multiplier m) {
  const int left = m.exponent() > 0 && importer.rounding() == Rounding::kDouble ? m.exponent() : 0;
  if (left > 30 || ((r.in.is_int16() ? 65535 : 255) * r.n) >> (31 - left) != 0)
    return importer.refuse(
        op, "the output's scale is too small for sums of " + std::to_string(r.n) + " values",
        importer.output(op).name, "quantise the output with a greater scale");
  auto requant = make_requant(importer, op, {m}, r.out, Limits::of_source(r.out));
  if (!requant) return Status();
  const ValueId value = reduced_image(importer, op, r);
  const ValueId sum =
      importer.builder().new_value(importer.output(op).name, r.out.stored_type(), r.made(), &r.out);
  auto& o = importer.builder().add<fb::GlobalAveragePool2DOptionsT>(op, {value}, sum);
  set_zero_point(r.in, &o.input_zero_point, &o.input_zero_point_16);
  o.requant = std::move(requant);
  finish_image(importer, op, r, sum);
  importer.became(op, "GlobalAveragePool2D", "I0");
  return Status();
}

// Inverts every bit of every value.
ValueId complemented(Importer& importer, const Op& op, ValueId x, const Quant& quant) {
  if (!quant.is_int16()) {
    std::vector<uint8_t> table(256);
    for (size_t i = 0; i < 256; ++i) table[i] = static_cast<uint8_t>(255 - i);
    return importer.builder().lut(op, x, table, false, importer.output(op).name, &quant);
  }
  std::vector<int32_t> table;
  for (int v = INT16_MIN; v <= INT16_MAX; ++v) table.push_back(-1 - v);
  return importer.builder().int16_lut(op, x, table, DType::kInt16, importer.output(op).name,
                                      &quant);
}

// Imports a maximum or minimum. A minimum is the complement of the maximum of the complements.
Status import_extreme(Importer& importer, const Op& op, bool least) {
  Reduction r;
  bool known = false;
  QRT_TRY(read_reduction(importer, op, &r, &known));
  if (!known) return Status();
  if (r.in != r.out)
    return importer.refuse(op,
                           "input and output are quantised differently, which the reference "
                           "refuses",
                           importer.output(op).name,
                           "quantise the output with the input's scale and zero point");
  ValueId value = reduced_image(importer, op, r);
  if (least) value = complemented(importer, op, value, r.out);
  ValueId most = importer.builder().new_value(importer.output(op).name, r.out.stored_type(),
                                              r.made(), least ? nullptr : &r.out);
  auto& o = importer.builder().add<fb::MaxPool2DOptionsT>(op, {value}, most);
  o.kernel_h = o.kernel_w = 0;  // the whole image
  if (least) most = complemented(importer, op, most, r.out);
  finish_image(importer, op, r, most);
  importer.became(op, "MaxPool2D", "I0");
  return Status();
}

}  // namespace

Status import_average_pool_2d(Importer& importer, const Op& op) {
  Pool pool;
  bool known = false;
  QRT_TRY(read_pool(importer, op, &pool, &known));
  if (!known) return Status();
  const int bits = pool.quant.is_int16() ? 15 : 23;
  if (pool.window.kernel[0] * pool.window.kernel[1] >= 1 << bits)
    return importer.refuse(op, "a window has 2^" + std::to_string(bits) + " positions or more",
                           importer.output(op).name, "pool in two steps of smaller windows");
  const ValueId x = importer.value(op, 0);
  auto& o = importer.builder().add<fb::AveragePool2DOptionsT>(op, {x},
                                                              importer.new_output(op, pool.quant));
  set_kernel(pool.window, &o);
  set_window(pool.window, &o);
  o.kind = fb::AverageKind::INT_HALF_AWAY;
  o.output_offset = pool.quant.offset();
  o.lo = pool.limits.lo + pool.quant.offset();
  o.hi = pool.limits.hi + pool.quant.offset();
  importer.became(op, "AveragePool2D", "I0");
  return Status();
}

Status import_max_pool_2d(Importer& importer, const Op& op) {
  Pool pool;
  bool known = false;
  QRT_TRY(read_pool(importer, op, &pool, &known));
  if (!known) return Status();
  const Tensor& output = importer.output(op);
  const ValueId y = importer.builder().new_value(output.name, pool.quant.stored_type(),
                                                 output.shape, &pool.quant);
  auto& o = importer.builder().add<fb::MaxPool2DOptionsT>(op, {importer.value(op, 0)}, y);
  set_kernel(pool.window, &o);
  set_window(pool.window, &o);
  const int lo = pool.limits.lo + pool.quant.offset(), hi = pool.limits.hi + pool.quant.offset();
  ValueId limited = y;
  if (pool.quant.is_int16()) {
    const Limits all = Limits::of(pool.quant);
    if (lo > all.lo || hi < all.hi) limited = limit(importer, op, y, pool.quant, pool.limits);
  } else if (lo > 0 || hi < 255) {
    std::vector<uint8_t> table(256);
    for (int i = 0; i < 256; ++i)
      table[static_cast<size_t>(i)] = static_cast<uint8_t>(i < lo ? lo : i > hi ? hi : i);
    limited = importer.builder().lut(op, y, table, false, output.name, &pool.quant);
  }
  importer.set_output(op, limited);
  importer.became(op, "MaxPool2D", "I0");
  return Status();
}

Status import_mean(Importer& importer, const Op& op) {
  Reduction r;
  bool known = false;
  QRT_TRY(read_reduction(importer, op, &r, &known));
  if (!known) return Status();
  Multiplier m =
      importer.multiplier(static_cast<double>(r.in.scale[0]) / static_cast<double>(r.out.scale[0]));
  if (m.exponent() > 30)
    return importer.refuse(op, "the scales make a multiplier beyond 2^30", importer.output(op).name,
                           "calibrate again with samples in which this tensor takes its usual "
                           "values: qrt_convert --lint names the scales");
  // The multiplier includes the division by n, truncated.
  int k = 63 - __builtin_clzll(static_cast<uint64_t>(r.n));
  if (k > 32) k = 32;
  k = std::min(k, 31 + m.exponent());
  m.value = static_cast<int32_t>((int64_t{m.value} << k) / r.n);
  m.shift += k;
  return finish_sum(importer, op, r, m);
}

Status import_sum(Importer& importer, const Op& op) {
  Reduction r;
  bool known = false;
  QRT_TRY(read_reduction(importer, op, &r, &known));
  if (!known) return Status();
  return finish_sum(importer, op, r,
                    importer.multiplier(static_cast<double>(r.in.scale[0]) /
                                        static_cast<double>(r.out.scale[0])));
}

Status import_reduce_max(Importer& importer, const Op& op) {
  return import_extreme(importer, op, /*least=*/false);
}

Status import_reduce_min(Importer& importer, const Op& op) {
  return import_extreme(importer, op, /*least=*/true);
}

}  // namespace qrt::convert::from_tflite
