// SPDX-License-Identifier: Apache-2.0
#include "converter/import/tflite/moving.h"

#include <algorithm>
#include <cstring>

#include "converter/permutation.h"

namespace qrt::convert::from_tflite {

Moving::Moving(Importer& importer, const Op& op, int input)
    : importer_(importer), op_(op), input_(input) {
  const Tensor& x = importer.input(op, input);
  shape_ = x.shape;
  type_ = x.type;
  is_known_ = importer.folded(op, input) || (x.type == TensorType::INT32 && x.is_constant);
  real_ = importer.real(op, input);
  if (real_ && (real_->is_pair() || real_->is_constant())) real_ = nullptr;
  is_good_ = is_movable(x) && (!is_known_ || importer.read_integers(op, input, &integers_));
  if (!is_good_ || is_known_) return;
  value_ = real_ ? real_->a : importer.value(op, input);
  if (importer.builder().shape_of(value_) != shape_)
    value_ = importer.builder().reshape(op, value_, shape_);
}

bool Moving::is_movable(const Tensor& x) {
  const auto refuse = [&](const std::string& rule, const Tensor& t, const char* remedy) {
    (void)importer_.refuse(op_, rule, t.name, remedy);
    return false;
  };
  for (size_t i = 0; i < op_.outputs.size(); ++i) {
    const Tensor& y = importer_.output(op_, static_cast<int>(i));
    if (y.type != x.type)
      return refuse(
          std::string("the input is ") + type_name(x.type) + ", the output " + type_name(y.type), y,
          "build the model so that input and output have one type");
  }
  if (is_known_ || real_) return true;
  if (x.type == TensorType::INT32 || x.type == TensorType::INT64 || x.type == TensorType::BOOL)
    return true;
  if ((x.type == TensorType::INT16 || x.type == TensorType::FLOAT32) && !x.is_constant) return true;
  if (x.type == TensorType::FLOAT32 && importer_.has_floats()) return true;
  Quant quant;
  return importer_.read_quant(op_, x, &quant);
}

Status Moving::gather(const IndexMaps& maps, int64_t fill) {
  if (maps.is_identity()) return Status();
  shape_ = maps.to();
  const int64_t elements = shape_.elements();
  if ((elements == 0 && !is_known_) || elements < 0 || elements > INT32_MAX)
    return error(Code::kUnsupported,
                 "its result of shape %s is empty or has more than 2^31 - 1 "
                 "elements",
                 shape_.to_string().c_str());
  if (is_known_) {
    QRT_TRY(maps.check_constant(sizeof(int32_t)));
    QRT_TRY(importer_.reserve(static_cast<uint64_t>(elements) * sizeof(int32_t)));
    const std::vector<uint8_t> bytes =
        maps.apply(reinterpret_cast<const uint8_t*>(integers_.data()), sizeof(int32_t), fill);
    integers_.resize(static_cast<size_t>(elements));
    if (!bytes.empty()) memcpy(integers_.data(), bytes.data(), bytes.size());
    return Status();
  }
  const ValueId y = next();
  importer_.builder().add<fb::GatherOptionsT>(op_, {value_}, y) = maps.options(fill);
  value_ = y;
  made_ = "Gather";
  return Status();
}

Status Moving::gather_floats(const IndexMaps& maps, float fill) {
  if (real_ && maps.fills()) {
    // The code that stands for the number, if there is one.
    const auto at = std::find_if(real_->table.begin(), real_->table.end(),
                                 [&](float v) { return float_bits(v) == float_bits(fill); });
    if (at != real_->table.end()) return gather(maps, at - real_->table.begin());
    real_ = nullptr;
    value_ = importer_.builder().reshape(op_, importer_.value(op_, input_), shape_);
  }
  return gather(maps, float_bits(fill));
}

void Moving::reshape(const Shape& shape) {
  if (shape == shape_) return;
  shape_ = shape;
  if (!is_known_) value_ = importer_.builder().reshape(op_, value_, shape);
}

void Moving::transpose(const std::vector<uint8_t>& perm) {
  if (is_known_) {
    Value constant;
    constant.type = {DType::kInt32, shape_};
    constant.data.resize(integers_.size() * sizeof(int32_t));
    if (!integers_.empty()) memcpy(constant.data.data(), integers_.data(), constant.data.size());
    const Value moved = transposed_constant(constant, perm);
    integers_.assign(moved.as<int32_t>(), moved.as<int32_t>() + integers_.size());
    shape_ = moved.type.shape;
    return;
  }
  shape_ = permuted(shape_, perm);
  const ValueId y = next();
  importer_.builder().add<fb::TransposeOptionsT>(op_, {value_}, y).perm = perm;
  value_ = y;
  if (made_[0] != 'G') made_ = "Transpose";
}

Status Moving::finish(int output) {
  const Tensor& y = importer_.output(op_, output);
  QRT_MODEL_CHECK(y.shape == shape_, "its output has shape %s, expected %s",
                  y.shape.to_string().c_str(), shape_.to_string().c_str());
  if (is_known_) {
    importer_.fold(op_, integers_, output);
    return Status();
  }
  if (real_) {
    importer_.set_real(op_, moved_real(), output);
    importer_.became(op_, made_, "I0");
    return Status();
  }
  Value& value = importer_.graph().values[value_];
  if (value.name.empty()) value.name = y.name;
  return importer_.finish_copy(op_, value_, made_, output);
}

ValueId Moving::value() const {
  if (is_known_) return add_integers(&importer_.graph(), "", type_, shape_, integers_);
  if (!real_) return value_;
  return real_value(&importer_.builder(), op_, moved_real(), shape_, "");
}

Real Moving::moved_real() const {
  Real moved = *real_;
  moved.a = value_;
  return moved;
}

ValueId Moving::next() {
  const DType dtype = importer_.graph().values[value_].type.dtype;
  const ValueId y = importer_.builder().new_value("", dtype, shape_);
  importer_.graph().values[y].quantization = importer_.graph().values[value_].quantization;
  return y;
}

Status check_axis(int64_t axis, int rank, int* result) {
  *result = 0;
  QRT_MODEL_CHECK(axis >= -rank && axis < rank, "axis %lld of %d dimensions",
                  static_cast<long long>(axis), rank);
  *result = static_cast<int>(axis < 0 ? axis + rank : axis);
  return Status();
}

bool read_integer(Importer& importer, const Op& op, int i, int32_t* value) {
  std::vector<int32_t> values;
  if (!importer.read_integers(op, i, &values)) return false;
  if (values.size() == 1) {
    *value = values[0];
    return true;
  }
  (void)importer.refuse(op, importer.quoted_input(op, i) + " is not one number",
                        importer.input(op, i).name, "build the model with one number there");
  return false;
}

}  // namespace qrt::convert::from_tflite
