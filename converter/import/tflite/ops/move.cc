// SPDX-License-Identifier: Apache-2.0
// Operators that join tensors, SHAPE and ZEROS_LIKE. Their effect on shapes, which are known at conversion, is
// folded.
#include <algorithm>
#include <cmath>

#include "converter/import/tflite/moving.h"
#include "converter/import/tflite/ops/handlers.h"

namespace qrt::convert::from_tflite {
namespace {

// Rescales legacy uint8 in float: an input whose parameters differ from the output's.
std::vector<uint8_t> rescaled(const Quant& in, const Quant& out) {
  const float inverse = 1.0f / out.scale[0], factor = in.scale[0] * inverse;
  const float bias = static_cast<float>(-in.zero_point[0]) * factor;
  std::vector<uint8_t> table(256);
  for (int q = 0; q < 256; ++q) {
    const float product = static_cast<float>(q) * factor;
    const double y = static_cast<double>(std::round(product + bias)) + out.zero_point[0];
    table[static_cast<size_t>(q)] = y >= 255 ? uint8_t{255}
                                    : y > 0  ? static_cast<uint8_t>(y)
                                             : uint8_t{0};
  }
  return table;
}

// Inputs that are all known integers, each of shape `part` but for the axis, joined along it.
Status fold_joined(Importer& importer, const Op& op, const Shape& part, int axis, bool* folded) {
  *folded = false;
  std::vector<std::vector<int32_t>> parts(op.inputs.size());
  for (size_t i = 0; i < parts.size(); ++i) {
    const int at = static_cast<int>(i);
    const Tensor& t = importer.input(op, at);
    const bool is_integer = t.type == TensorType::INT32 || t.type == TensorType::INT64;
    if (!is_integer || (!t.is_constant && !importer.folded(op, at))) return Status();
    if (!importer.read_integers(op, at, &parts[i])) return Status();
  }
  size_t outer = 1;
  for (int d = 0; d < axis; ++d) outer *= static_cast<size_t>(part[d]);
  std::vector<int32_t> joined;
  for (size_t o = 0; o < outer; ++o) {
    for (const auto& p : parts) {
      const auto row = static_cast<ptrdiff_t>(p.size() / outer);
      const auto begin = p.begin() + static_cast<ptrdiff_t>(o) * row;
      joined.insert(joined.end(), begin, begin + row);
    }
  }
  importer.fold(op, std::move(joined));
  *folded = true;
  return Status();
}

// Joins along `axis` tensors without quantisation: integers, truth values, or float32 that a run makes.
Status join(Importer& importer, const Op& op, int axis) {
  const Tensor& y = importer.output(op);
  std::vector<ValueId> parts;
  for (int i = 0; i < static_cast<int>(op.inputs.size()); ++i) {
    const Tensor& t = importer.input(op, i);
    const bool is_unread = t.is_constant && t.type == TensorType::FLOAT32 && !importer.has_floats();
    if (t.type != y.type || is_unread)
      return importer.refuse(
          op,
          importer.quoted_input(op, i) + (is_unread ? " is a float constant" : " has another type"),
          t.name, "join tensors of one type that the model computes");
    parts.push_back(importer.value(op, i));
  }
  const DType dtype = importer.builder().type_of(parts[0]);
  const ValueId made = importer.builder().new_value(y.name, dtype, y.shape);
  importer.builder().add<fb::ConcatOptionsT>(op, parts, made).axis = static_cast<uint32_t>(axis);
  importer.set_output(op, made);
  importer.became(op, "Concat", "I0");
  return Status();
}

}  // namespace

Status import_concatenation(Importer& importer, const Op& op) {
  const auto o = op.options<tflite::ConcatenationOptions>();
  if (o.fused_activation_function != tflite::ActivationFunctionType::NONE)
    return importer.refuse(op, "it has a fused activation, which the reference refuses",
                           importer.output(op).name,
                           "export the activation as an operator of its own");
  Shape shape = importer.input(op, 0).shape;
  const int rank = shape.rank(), axis = o.axis < 0 ? o.axis + rank : o.axis;
  QRT_MODEL_CHECK(axis >= 0 && axis < rank, "axis %d of %d dimensions", o.axis, rank);
  shape[axis] = 0;
  for (int i = 0; i < static_cast<int>(op.inputs.size()); ++i) {
    QRT_MODEL_CHECK(op.has_input(i), "lacks its input %d", i);
    const Shape& part = importer.input(op, i).shape;
    bool fits = part.rank() == rank;
    for (int d = 0; fits && d < rank; ++d) fits = d == axis || part[d] == shape[d];
    QRT_MODEL_CHECK(fits, "an input of shape %s does not fit the others", part.to_string().c_str());
    shape[axis] += part[axis];
  }
  QRT_TRY(check_output_shape(importer, op, shape));
  bool folded;
  QRT_TRY(fold_joined(importer, op, shape, axis, &folded));
  if (folded) return Status();
  const TensorType type = importer.output(op).type;
  if (type == TensorType::INT32 || type == TensorType::INT64 || type == TensorType::BOOL ||
      type == TensorType::FLOAT32)
    return join(importer, op, axis);
  Quant out;
  if (!importer.read_quant(op, importer.output(op), &out)) return Status();
  std::vector<ValueId> parts;
  for (int i = 0; i < static_cast<int>(op.inputs.size()); ++i) {
    const Tensor& part = importer.input(op, i);
    Quant in;
    if (!importer.read_quant(op, part, &in)) return Status();
    const bool alike = in == out;
    // int16 is copied even where the scales differ.
    const bool copied = alike || (out.is_int16() && in.zero_point[0] == out.zero_point[0]);
    if (in.type != out.type || (!copied && out.type != DType::kUInt8))
      return importer.refuse(op,
                             importer.quoted_input(op, i) +
                                 " is quantised otherwise than the output, which the "
                                 "reference refuses",
                             part.name,
                             "quantise all inputs with the output's scale and zero point");
    const ValueId value = importer.value(op, i);
    parts.push_back(copied ? value
                           : importer.builder().lut(op, value, rescaled(in, out), false, "", &out));
  }
  importer.builder().add<fb::ConcatOptionsT>(op, parts, importer.new_output(op, out)).axis =
      static_cast<uint32_t>(axis);
  importer.became(op, "Concat", "I0");
  return Status();
}

Status import_shape(Importer& importer, const Op& op) {
  const Tensor& y = importer.output(op);
  if (y.type != TensorType::INT32 && y.type != TensorType::INT64)
    return importer.refuse(op, std::string("the output is ") + type_name(y.type), y.name,
                           "export shapes as int32 or int64");
  const Shape& x = importer.input(op, 0).shape;
  QRT_TRY(check_output_shape(importer, op, {x.rank()}));
  std::vector<int32_t> dims;
  for (int64_t d : x) {
    if (d > INT32_MAX) return error(Code::kUnsupported, "a dimension is beyond int32");
    dims.push_back(static_cast<int32_t>(d));
  }
  importer.fold(op, std::move(dims));
  return Status();
}

// Imports ZEROS_LIKE as stored zeros, whatever the zero point: for bytes a table of them, which
// keeps the images of a batch apart.
Status import_zeros_like(Importer& importer, const Op& op) {
  const Tensor &x = importer.input(op, 0), &y = importer.output(op);
  QRT_TRY(check_output_shape(importer, op, x.shape));
  if (x.type != y.type)
    return importer.refuse(
        op, std::string("the input is ") + type_name(x.type) + ", the output " + type_name(y.type),
        y.name, "build the model so that input and output have one type");
  GraphBuilder& builder = importer.builder();
  if (y.shape.elements() > kMaxIndices)
    return error(Code::kUnsupported, "it makes more than 2^22 zeros");
  switch (y.type) {
    case TensorType::INT32:
    case TensorType::INT64:
      importer.fold(op, std::vector<int32_t>(static_cast<size_t>(y.shape.elements()), 0));
      return Status();
    case TensorType::INT8:
    case TensorType::UINT8:
    case TensorType::BOOL: {
      const uint8_t zero = y.type == TensorType::INT8 ? 128 : 0;
      const ValueId value = importer.value(op, 0);
      if (value == kNoValue) return Status();
      const ValueId made =
          builder.lut(op, value, std::vector<uint8_t>(256, zero), false, y.name, nullptr);
      importer.graph().values[made].quantization = stored_quantization(y);
      importer.set_output(op, made);
      importer.became(op, "Lut", "I0");
      return Status();
    }
    case TensorType::INT16: {
      const ValueId value = importer.value(op, 0);
      if (value == kNoValue) return Status();
      const ValueId made =
          builder.int16_lut(op, value, std::vector<int32_t>(65536), DType::kInt16, y.name, nullptr);
      importer.graph().values[made].quantization = stored_quantization(y);
      importer.set_output(op, made);
      importer.became(op, "Lut", "I0");
      return Status();
    }
    case TensorType::FLOAT32: {
      Real zeros;
      zeros.table = {0};
      importer.set_real(op, std::move(zeros));
      importer.became(op, "constant", "I0");
      return Status();
    }
    default:
      return importer.refuse(op, std::string("the output is ") + type_name(y.type), y.name,
                             "make zeros of integers or float32");
  }
}

// Imports PACK: each input gets a dimension of size 1, along which they are joined.
Status import_pack(Importer& importer, const Op& op) {
  const Shape part = importer.input(op, 0).shape;
  const int rank = part.rank() + 1, given = op.options<tflite::PackOptions>().axis;
  const int axis = given < 0 ? given + rank : given;
  QRT_MODEL_CHECK(axis >= 0 && axis < rank, "axis %d of %d dimensions", given, rank);
  if (rank > kMaxTensorRank) return error(Code::kUnsupported, "its result has 7 dimensions");
  Shape unit;
  for (int d = 0; d < rank; ++d) unit.push_back(d == axis ? 1 : part[d < axis ? d : d - 1]);
  for (int i = 0; i < static_cast<int>(op.inputs.size()); ++i) {
    QRT_MODEL_CHECK(op.has_input(i), "lacks its input %d", i);
    QRT_MODEL_CHECK(importer.input(op, i).shape == part, "an input of shape %s beside one of %s",
                    importer.input(op, i).shape.to_string().c_str(), part.to_string().c_str());
  }
  Shape shape = unit;
  shape[axis] = static_cast<int64_t>(op.inputs.size());
  QRT_TRY(check_output_shape(importer, op, shape));
  bool folded;
  QRT_TRY(fold_joined(importer, op, unit, axis, &folded));
  if (folded) return Status();
  std::vector<ValueId> parts;
  for (int i = 0; i < static_cast<int>(op.inputs.size()); ++i) {
    Moving x(importer, op, i);
    if (!x.is_good()) return Status();
    x.reshape(unit);
    parts.push_back(x.value());
  }
  const ValueId y = importer.builder().new_value(
      importer.output(op).name, importer.graph().values[parts[0]].type.dtype, shape);
  importer.graph().values[y].quantization = importer.graph().values[parts[0]].quantization;
  importer.builder().add<fb::ConcatOptionsT>(op, parts, y).axis = static_cast<uint32_t>(axis);
  return importer.finish_copy(op, y, "Concat");
}

}  // namespace qrt::convert::from_tflite
