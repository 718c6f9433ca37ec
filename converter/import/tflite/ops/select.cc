// SPDX-License-Identifier: Apache-2.0
// Operators that choose among values (MINIMUM, MAXIMUM, ARG_MAX, ARG_MIN), and the product of two
// computed matrices.
#include <algorithm>

#include "converter/import/tflite/moving.h"
#include "converter/import/tflite/ops/handlers.h"

namespace qrt::convert::from_tflite {
namespace {

// Imports MINIMUM and MAXIMUM: the reference compares the integers and copies one, whatever they stand for.
Status import_min_max(Importer& importer, const Op& op, bool maximum) {
  Quant a, b, out;
  if (!importer.read_quants(op, 0, &a, &out) || !importer.read_quants(op, 1, &b, &out))
    return Status();
  QRT_TRY(check_broadcast(importer, op));
  const ValueId x = importer.value(op, 0), y = importer.value(op, 1);
  importer.builder().add<fb::MinMaxOptionsT>(op, {x, y}, importer.new_output(op, out)).maximum =
      maximum;
  importer.became(op, "MinMax", "I0");
  return Status();
}

Status import_arg(Importer& importer, const Op& op, bool minimum) {
  Quant in;
  const Tensor& y = importer.output(op);
  if (!importer.read_quant(op, importer.input(op, 0), &in)) return Status();
  if (y.type != TensorType::INT32 && y.type != TensorType::INT64)
    return importer.refuse(op, std::string("the output is ") + type_name(y.type), y.name,
                           "export the index as int32 or int64");
  std::vector<int32_t> axes;
  if (!importer.read_integers(op, 1, &axes)) return Status();
  const Shape& x = importer.input(op, 0).shape;
  const int rank = x.rank();
  QRT_MODEL_CHECK(axes.size() == 1 && axes[0] >= -rank && axes[0] < rank && x.elements() > 0,
                  "its axis does not fit an input of shape %s", x.to_string().c_str());
  const int axis = axes[0] < 0 ? axes[0] + rank : axes[0];
  Shape shape;
  for (int d = 0; d < rank; ++d)
    if (d != axis) shape.push_back(x[d]);
  QRT_TRY(check_output_shape(importer, op, shape));
  const ValueId value = importer.value(op, 0);
  const DType index_type = y.type == TensorType::INT64 ? DType::kInt64 : DType::kInt32;
  const ValueId index = importer.builder().new_value(y.name, index_type, shape);
  auto& o = importer.builder().add<fb::ArgMaxOptionsT>(op, {value}, index);
  o.axis = static_cast<uint32_t>(axis);
  o.keep_dims = false;
  o.minimum = minimum;
  importer.set_output(op, index);
  importer.became(op, "ArgMax", "I0");
  return Status();
}

// Exchanges the last two dimensions.
ValueId exchanged(Importer& importer, const Op& op, ValueId x, const Quant& quant) {
  Shape shape = importer.builder().shape_of(x);
  const int rank = shape.rank();
  std::vector<uint8_t> perm;
  for (int d = 0; d < rank; ++d) perm.push_back(static_cast<uint8_t>(d));
  std::swap(perm[static_cast<size_t>(rank - 1)], perm[static_cast<size_t>(rank - 2)]);
  std::swap(shape[rank - 1], shape[rank - 2]);
  const ValueId y = importer.builder().new_value("", quant.stored_type(), shape, &quant);
  importer.builder().add<fb::TransposeOptionsT>(op, {x}, y).perm = perm;
  return y;
}

}  // namespace

Status import_minimum(Importer& importer, const Op& op) {
  return import_min_max(importer, op, /*maximum=*/false);
}

Status import_maximum(Importer& importer, const Op& op) {
  return import_min_max(importer, op, /*maximum=*/true);
}

Status import_topk_v2(Importer& importer, const Op& op) {
  Quant in;
  int32_t k;
  const Tensor& indices = importer.output(op, 1);
  if (!importer.read_quant(op, importer.input(op, 0), &in) || !read_integer(importer, op, 1, &k))
    return Status();
  if (indices.type != TensorType::INT32 || importer.output(op).type != importer.input(op, 0).type)
    return importer.refuse(op,
                           std::string("the indices are ") + type_name(indices.type) +
                               ", or the values of another type than the input",
                           indices.name, "export indices as int32");
  Shape shape = importer.input(op, 0).shape;
  QRT_MODEL_CHECK(shape.rank() >= 1 && k >= 1 && k <= shape[shape.rank() - 1],
                  "its %d elements of rows of shape %s", k, shape.to_string().c_str());
  shape[shape.rank() - 1] = k;
  QRT_TRY(check_output_shape(importer, op, shape));
  QRT_MODEL_CHECK(indices.shape == shape, "its indices have shape %s, expected %s",
                  indices.shape.to_string().c_str(), shape.to_string().c_str());
  const ValueId x = importer.value(op, 0);
  const ValueId best = importer.builder().new_value("", in.stored_type(), shape, &in);
  const ValueId at = importer.builder().new_value(indices.name, DType::kInt32, shape);
  importer.builder().add<fb::TopKOptionsT>(op, {x}, best).k = static_cast<uint32_t>(k);
  importer.graph().nodes.back().outputs.push_back(at);
  importer.set_output(op, at, 1);
  importer.graph().values[best].name = importer.output(op).name;
  return importer.finish_copy(op, best, "TopK");
}

Status import_arg_max(Importer& importer, const Op& op) {
  return import_arg(importer, op, /*minimum=*/false);
}

Status import_arg_min(Importer& importer, const Op& op) {
  return import_arg(importer, op, /*minimum=*/true);
}

Status import_batch_matmul(Importer& importer, const Op& op) {
  const auto o = op.options<tflite::BatchMatMulOptions>();
  Quant a, b, out;
  if (!importer.read_quants(op, 0, &a, &out) || !importer.read_quants(op, 1, &b, &out))
    return Status();
  if (a.type == DType::kUInt8)
    return importer.refuse(op, "the input is uint8, which the reference has no form for",
                           importer.input(op, 0).name,
                           "convert the model with int8 or int16 activations");
  if (a.is_int16() && (a.zero_point[0] != 0 || b.zero_point[0] != 0 || out.zero_point[0] != 0))
    return importer.refuse(op, "a zero point of int16 is not 0, which the reference refuses",
                           importer.output(op).name, "quantise int16 with the zero point 0");
  const Shape x = importer.input(op, 0).shape, y = importer.input(op, 1).shape;
  QRT_MODEL_CHECK(x.rank() >= 2 && y.rank() >= 2 && x.elements() > 0 && y.elements() > 0,
                  "shapes %s and %s are no matrices", x.to_string().c_str(), y.to_string().c_str());
  const int xr = x.rank(), yr = y.rank();
  const int64_t m = x[xr - (o.adj_x ? 1 : 2)], k = x[xr - (o.adj_x ? 2 : 1)];
  const int64_t n = y[yr - (o.adj_y ? 2 : 1)];
  QRT_MODEL_CHECK(k == y[yr - (o.adj_y ? 1 : 2)], "shapes %s and %s do not fit",
                  x.to_string().c_str(), y.to_string().c_str());
  Shape shape;
  for (int i = std::max(xr, yr); i > 2; --i) {
    const int64_t dx = i > xr ? 1 : x[xr - i], dy = i > yr ? 1 : y[yr - i];
    QRT_MODEL_CHECK(dx == dy || dx == 1 || dy == 1, "shapes %s and %s do not broadcast",
                    x.to_string().c_str(), y.to_string().c_str());
    shape.push_back(std::max(dx, dy));
  }
  shape.push_back(m);
  shape.push_back(n);
  QRT_TRY(check_output_shape(importer, op, shape));
  const float product = a.scale[0] * b.scale[0];
  const Multiplier multiplier =
      importer.multiplier(static_cast<double>(product) / static_cast<double>(out.scale[0]));
  // The reference shifts sums of int8 left within int32.
  const bool shifts =
      !a.is_int16() && multiplier.exponent() > 0 && importer.rounding() == Rounding::kDouble;
  const int left = shifts ? std::min(multiplier.exponent(), 31) : 0;
  if (k > 33025 || (!a.is_int16() && (int64_t{255 * 255} * k) >> (31 - left) != 0))
    return importer.refuse(
        op,
        "sums of " + std::to_string(k) + " products may leave what the reference kernels define",
        importer.output(op).name, "split the product along its inner dimension, and add the parts");
  auto requant = a.is_int16()
                     ? make_requant_64(importer, op, {multiplier}, out, Limits::of_source(out))
                     : make_requant(importer, op, {multiplier}, out, Limits::of_source(out));
  if (!requant) return Status();
  ValueId lhs = importer.value(op, 0);
  const ValueId rhs = importer.value(op, 1);
  if (o.adj_x) lhs = exchanged(importer, op, lhs, a);
  auto& matmul =
      importer.builder().add<fb::BatchMatMulOptionsT>(op, {lhs, rhs}, importer.new_output(op, out));
  if (!a.is_int16()) {
    matmul.a_zero_point = static_cast<uint8_t>(a.stored_zero_point());
    matmul.b_zero_point = static_cast<uint8_t>(b.stored_zero_point());
  }
  matmul.transpose_b = o.adj_y;
  matmul.requant = std::move(requant);
  importer.became(op, "BatchMatMul", "I0");
  return Status();
}

}  // namespace qrt::convert::from_tflite
