// Operators that move bytes, and those on shapes, which are known at conversion and folded.
#include <algorithm>
#include <cmath>

#include "converter/import/tflite_ops.h"

namespace qrt::convert::from_tflite {
namespace {

// Both sides hold elements of one type that the graph can move. False: refused.
bool movable(Importer& importer, const Op& op, int i) {
  const Tensor &x = importer.input(op, i), &y = importer.output(op);
  Quant quant;
  if (!importer.read_quant(op, x, &quant) || !importer.read_quant(op, y, &quant)) return false;
  if (x.type == y.type) return true;
  (void)importer.refuse(
      op, std::string("the input is ") + type_name(x.type) + ", the output " + type_name(y.type),
      y.name, "give both one type");
  return false;
}

// Legacy uint8: an input whose parameters differ from the output's is rescaled in float.
std::vector<uint8_t> rescaled(const Quant& in, const Quant& out) {
  const float inverse = 1.0f / out.scale, factor = in.scale * inverse;
  const float bias = static_cast<float>(-in.zero_point) * factor;
  std::vector<uint8_t> table(256);
  for (int q = 0; q < 256; ++q) {
    const float product = static_cast<float>(q) * factor;
    const double y = static_cast<double>(std::round(product + bias)) + out.zero_point;
    table[static_cast<size_t>(q)] = y >= 255 ? uint8_t{255}
                                    : y > 0  ? static_cast<uint8_t>(y)
                                             : uint8_t{0};
  }
  return table;
}

// An index counted from the end where it is negative, within 0..size.
int64_t from_end(int64_t i, int64_t size) {
  return std::clamp<int64_t>(i < 0 ? i + size : i, 0, size);
}

}  // namespace

// RESHAPE, SQUEEZE and EXPAND_DIMS: the file's shape of the output says it all.
Status import_reshape(Importer& importer, const Op& op) {
  const Tensor &x = importer.input(op, 0), &y = importer.output(op);
  QRT_MODEL_CHECK(x.shape.elements() == y.shape.elements(), "shape %s cannot become %s",
                  x.shape.to_string().c_str(), y.shape.to_string().c_str());
  if (const auto* known = importer.folded(op, 0)) {
    importer.fold(op, *known);
    return Status();
  }
  if (!movable(importer, op, 0)) return Status();
  ValueId value = importer.value(op, 0);
  value = importer.reshape(op, value, y.shape, y.name);
  return importer.finish_copy(op, value, "Reshape");
}

Status import_transpose(Importer& importer, const Op& op) {
  if (!movable(importer, op, 0)) return Status();
  std::vector<int32_t> perm;
  if (!importer.read_integers(op, 1, &perm)) return Status();
  const Shape& x = importer.input(op, 0).shape;
  std::vector<bool> used(static_cast<size_t>(x.rank()));
  Shape shape;
  QRT_MODEL_CHECK(static_cast<int>(perm.size()) == x.rank(), "%zu indices permute %d dimensions",
                  perm.size(), x.rank());
  for (int32_t& p : perm) {
    if (p < 0) p += x.rank();
    QRT_MODEL_CHECK(p >= 0 && p < x.rank() && !used[static_cast<size_t>(p)],
                    "its indices are not a permutation of %d dimensions", x.rank());
    used[static_cast<size_t>(p)] = true;
    shape.push_back(x[p]);
  }
  QRT_TRY(check_output_shape(importer, op, shape));
  const ValueId value = importer.value(op, 0);
  const ValueId y = importer.new_value(importer.output(op).name, DType::kUInt8, shape);
  importer.graph().values[y].quantization = importer.graph().values[value].quantization;
  importer.add_node<fb::TransposeOptionsT>(op, {value}, y).perm.assign(perm.begin(), perm.end());
  return importer.finish_copy(op, y, "Transpose");
}

Status import_concatenation(Importer& importer, const Op& op) {
  const auto o = op.options<tflite::ConcatenationOptions>();
  if (o.fused_activation_function != tflite::ActivationFunctionType::NONE)
    return importer.refuse(op, "it has a fused activation, which the reference refuses",
                           importer.output(op).name, "export the activation as an operator");
  Quant out;
  if (!importer.read_quant(op, importer.output(op), &out)) return Status();
  Shape shape = importer.input(op, 0).shape;
  const int rank = shape.rank(), axis = o.axis < 0 ? o.axis + rank : o.axis;
  QRT_MODEL_CHECK(axis >= 0 && axis < rank, "axis %d of %d dimensions", o.axis, rank);
  shape[axis] = 0;
  std::vector<ValueId> parts;
  for (int i = 0; i < static_cast<int>(op.inputs.size()); ++i) {
    QRT_MODEL_CHECK(op.has_input(i), "lacks its input %d", i);
    const Tensor& part = importer.input(op, i);
    Quant in;
    if (!importer.read_quant(op, part, &in)) return Status();
    bool fits = part.shape.rank() == rank && part.shape.elements() > 0;
    for (int d = 0; fits && d < rank; ++d) fits = d == axis || part.shape[d] == shape[d];
    QRT_MODEL_CHECK(fits, "an input of shape %s does not fit the others",
                    part.shape.to_string().c_str());
    shape[axis] += part.shape[axis];
    const bool alike = same(in, out);
    if (in.type != out.type || (!alike && out.type == TensorType::INT8))
      return importer.refuse(op,
                             importer.quoted_input(op, i) +
                                 " is quantised otherwise than the output, which the "
                                 "reference refuses",
                             part.name, "give all inputs the output's scale and zero point");
    const ValueId value = importer.value(op, i);
    parts.push_back(alike ? value : importer.lut(op, value, rescaled(in, out), "", &out));
  }
  QRT_TRY(check_output_shape(importer, op, shape));
  importer.add_node<fb::ConcatOptionsT>(op, parts, importer.new_output(op, out)).axis =
      static_cast<uint32_t>(axis);
  importer.became(op, "Concat", "I0");
  return Status();
}

Status import_shape(Importer& importer, const Op& op) {
  const Tensor& y = importer.output(op);
  if (y.type != TensorType::INT32)
    return importer.refuse(op, std::string("the output is ") + type_name(y.type), y.name,
                           "export shapes as int32");
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

// Of known int32 scalars.
Status import_pack(Importer& importer, const Op& op) {
  std::vector<int32_t> packed;
  for (int i = 0; i < static_cast<int>(op.inputs.size()); ++i) {
    QRT_MODEL_CHECK(op.has_input(i), "lacks its input %d", i);
    std::vector<int32_t> part;
    if (!importer.read_integers(op, i, &part)) return Status();
    if (importer.input(op, i).shape.rank() != 0)
      return importer.refuse(op, importer.quoted_input(op, i) + " is not a scalar",
                             importer.input(op, i).name, "pack scalars of shapes only");
    packed.push_back(part.at(0));
  }
  QRT_TRY(check_output_shape(importer, op, {static_cast<int64_t>(packed.size())}));
  importer.fold(op, std::move(packed));
  return Status();
}

// Of a known int32 vector.
Status import_strided_slice(Importer& importer, const Op& op) {
  const auto o = op.options<tflite::StridedSliceOptions>();
  std::vector<int32_t> x, begin, end, stride;
  if (importer.input(op, 0).type != TensorType::INT32)
    return importer.refuse(op,
                           importer.quoted_input(op, 0) + " is " +
                               type_name(importer.input(op, 0).type) +
                               ": only slices of shapes are supported yet",
                           importer.input(op, 0).name, "slice outside the model");
  if (!importer.read_integers(op, 0, &x) || !importer.read_integers(op, 1, &begin) ||
      !importer.read_integers(op, 2, &end) || !importer.read_integers(op, 3, &stride))
    return Status();
  if (importer.input(op, 0).shape.rank() != 1 || o.ellipsis_mask != 0 || o.new_axis_mask != 0 ||
      o.offset)
    return importer.refuse(op, "only plain slices of one dimension are supported yet",
                           importer.input(op, 0).name, "slice outside the model");
  QRT_MODEL_CHECK(begin.size() == 1 && end.size() == 1 && stride.size() == 1 && stride[0] != 0,
                  "its begin, end and strides do not fit one dimension");
  const auto size = static_cast<int64_t>(x.size());
  std::vector<int32_t> slice;
  if (o.shrink_axis_mask & 1) {
    const int64_t at = begin[0] < 0 ? begin[0] + size : begin[0];
    QRT_MODEL_CHECK(at >= 0 && at < size, "index %d of %lld", begin[0],
                    static_cast<long long>(size));
    slice.push_back(x[static_cast<size_t>(at)]);
    QRT_TRY(check_output_shape(importer, op, Shape()));
  } else {
    if (stride[0] < 0)
      return importer.refuse(op, "a stride is negative", importer.input(op, 3).name,
                             "slice outside the model");
    const int64_t first = o.begin_mask & 1 ? 0 : from_end(begin[0], size);
    const int64_t last = o.end_mask & 1 ? size : from_end(end[0], size);
    for (int64_t i = first; i < last; i += stride[0]) slice.push_back(x[static_cast<size_t>(i)]);
    QRT_TRY(check_output_shape(importer, op, {static_cast<int64_t>(slice.size())}));
  }
  importer.fold(op, std::move(slice));
  return Status();
}

}  // namespace qrt::convert::from_tflite
