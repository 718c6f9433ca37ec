// SPDX-License-Identifier: Apache-2.0
// CUMSUM and ADD_N: sums of more than two terms. With int8 the reference scales every term up by
// 2^19 (2^20, times 1/2) before it adds them, begins with a stored 0 instead of the zero point, and
// adds modulo 2^32.
#include "converter/import/tflite/moving.h"
#include "converter/import/tflite/ops/formula.h"
#include "converter/import/tflite/ops/unary.h"

namespace qrt::convert::from_tflite {
namespace {

using F = fb::FormulaFunction;

constexpr int kSumLeft = 20;

// Requantises an INT32 sum of terms x - zero point to the output. Subtracts one more zero point
// before that, since the reference's accumulator begins with the stored integer 0.
Status finish_sum(Importer& importer, const Op& op, ValueId sum, const Quant& in, const Quant& out,
                  const char* result) {
  const double twice = 2 * static_cast<double>(in.scale[0]);
  const Multiplier m = importer.multiplier(
      twice / (static_cast<double>(1 << kSumLeft) * static_cast<double>(out.scale[0])));
  if (m.exponent() > 0)
    return importer.refuse(op,
                           "the scales make a multiplier of 1 or more, which the reference refuses",
                           importer.output(op).name,
                           "calibrate again with samples in which this tensor takes its usual "
                           "values: qrt_convert --lint names the scales");
  auto requant = make_requant(importer, op, {m}, out, Limits::of_source(out));
  if (!requant) return Status();
  const ValueId scaled = formula(
      importer, op, {sum, 0, {{F::ADD, -in.zero_point[0]}, {F::SHIFT_LEFT, kSumLeft - 1}}}, {});
  importer.builder()
      .add<fb::RequantizeOptionsT>(op, {scaled}, importer.new_output(op, out))
      .requant = std::move(requant);
  importer.became(op, result, "I0");
  return Status();
}

ValueId integer_sum(Importer& importer, const Op& op, ValueId a, ValueId b) {
  GraphBuilder& builder = importer.builder();
  const ValueId y = builder.new_value("", builder.type_of(a), builder.shape_of(a));
  builder.add<fb::IntegerOptionsT>(op, {a, b}, y).function = fb::IntegerFunction::ADD;
  return y;
}

// Returns x shifted along the axis by `steps` towards higher indices, or lower ones if `reverse`,
// with 0 in the places that become free.
ValueId shifted(Importer& importer, const Op& op, ValueId x, int axis, int64_t steps,
                bool reverse) {
  IndexMaps maps(importer.builder().shape_of(x));
  const int64_t n = maps.from()[axis];
  Indices indices;
  for (int64_t i = 0; i < n; ++i) {
    const int64_t from = reverse ? i + steps : i - steps;
    indices.push_back(from >= 0 && from < n ? static_cast<int32_t>(from) : -1);
  }
  maps.set(axis, std::move(indices));
  return importer.builder().gather(op, x, maps, 0);
}

// Returns the sums of each element and all before it, in as many steps as the axis has binary digits.
ValueId running_sum(Importer& importer, const Op& op, ValueId x, int axis, bool exclusive,
                    bool reverse) {
  const int64_t n = importer.builder().shape_of(x)[axis];
  if (exclusive) x = shifted(importer, op, x, axis, 1, reverse);
  for (int64_t steps = 1; steps < n; steps *= 2)
    x = integer_sum(importer, op, x, shifted(importer, op, x, axis, steps, reverse));
  return x;
}

Status finish_plain(Importer& importer, const Op& op, ValueId y) {
  if (y == importer.value(op, 0)) y = importer.builder().reshape(op, y, importer.output(op).shape);
  importer.graph().values[y].name = importer.output(op).name;
  importer.set_output(op, y);
  importer.became(op, "Integer", "I0");
  return Status();
}

// Checks that all inputs and the output have one type: int8, or int32 or int64, whose sums wrap
// (*is_plain). *fits is false where the operator was refused.
Status check_types(Importer& importer, const Op& op, size_t inputs, bool* is_plain, bool* fits) {
  const TensorType type = importer.output(op).type;
  *is_plain = type == TensorType::INT32 || type == TensorType::INT64;
  *fits = false;
  for (size_t i = 0; i < inputs; ++i) {
    QRT_MODEL_CHECK(op.has_input(static_cast<int>(i)), "lacks its input %zu", i);
    const Tensor& t = importer.input(op, static_cast<int>(i));
    if (t.type == type && (*is_plain || type == TensorType::INT8)) continue;
    (void)importer.refuse(op,
                          importer.quoted_input(op, static_cast<int>(i)) + " is " +
                              type_name(t.type) + " and the output " + type_name(type),
                          t.name, "give both the type int8, int32 or int64");
    return Status();
  }
  *fits = true;
  return Status();
}

}  // namespace

Status import_cumsum(Importer& importer, const Op& op) {
  const auto o = op.options<tflite::CumsumOptions>();
  bool is_plain, fits;
  int32_t given;
  int axis;
  QRT_TRY(check_types(importer, op, 1, &is_plain, &fits));
  if (!fits || !read_integer(importer, op, 1, &given)) return Status();
  QRT_TRY(check_same_shape(importer, op));
  const Shape& x = importer.input(op, 0).shape;
  QRT_TRY(check_axis(given, x.rank(), &axis));
  QRT_MODEL_CHECK(x.elements() > 0, "the input has shape %s", x.to_string().c_str());
  // Limits the index maps of all steps together.
  int64_t steps = 1;
  while (int64_t{1} << steps < x[axis]) ++steps;
  QRT_TRY(check_index_count(x[axis] * steps));
  Quant in, out;
  if (!is_plain && !importer.read_quants(op, 0, &in, &out)) return Status();
  ValueId value = importer.value(op, 0);
  if (!is_plain) value = formula(importer, op, {value, in.stored_zero_point(), {}}, {});
  const ValueId sum = running_sum(importer, op, value, axis, o.exclusive, o.reverse);
  return is_plain ? finish_plain(importer, op, sum)
                  : finish_sum(importer, op, sum, in, out, "Integer, Requantize");
}

Status import_add_n(Importer& importer, const Op& op) {
  bool is_plain, fits;
  // Each input becomes an operator, so their number is limited.
  if (op.inputs.size() > 1024) return error(Code::kUnsupported, "it adds more than 1024 tensors");
  QRT_TRY(check_types(importer, op, op.inputs.size(), &is_plain, &fits));
  if (!fits) return Status();
  QRT_TRY(check_same_shape(importer, op));
  Quant in, out;
  if (!is_plain && !importer.read_quants(op, 0, &in, &out)) return Status();
  for (int i = 1; i < static_cast<int>(op.inputs.size()); ++i) {
    const Tensor& t = importer.input(op, i);
    QRT_MODEL_CHECK(t.shape == importer.input(op, 0).shape, "an input of shape %s beside one of %s",
                    t.shape.to_string().c_str(), importer.input(op, 0).shape.to_string().c_str());
    Quant other;
    if (is_plain) continue;
    if (!importer.read_quant(op, t, &other)) return Status();
    if (other != in)
      return importer.refuse(op,
                             importer.quoted_input(op, i) +
                                 " is quantised otherwise than the first, which the reference "
                                 "refuses",
                             t.name, "quantise all inputs with one scale and zero point");
  }
  ValueId sum = importer.value(op, 0);
  for (int i = 1; i < static_cast<int>(op.inputs.size()); ++i) {
    const ValueId next = importer.value(op, i);
    const int zero = is_plain ? 0 : in.stored_zero_point();
    sum = is_plain ? integer_sum(importer, op, sum, next)
                   : formula(importer, op, {sum, i == 1 ? zero : 0, {}}, fb::FormulaPair::ADD,
                             {next, zero, {}}, {}, {});
  }
  return is_plain ? finish_plain(importer, op, sum)
                  : finish_sum(importer, op, sum, in, out, "Formula, Requantize");
}

}  // namespace qrt::convert::from_tflite
