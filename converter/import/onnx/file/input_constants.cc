// SPDX-License-Identifier: Apache-2.0
#include "converter/import/onnx/file/input_constants.h"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdlib>

#include "onnx/onnx_pb.h"

namespace qrt::convert::from_onnx {
namespace {

// The most elements: an input whose value a caller knows is a number, a flag or a short vector.
constexpr int64_t kMostElements = 65536;

Status usage_error(const std::string& text, const char* why) {
  return error(Code::kInvalidArgument, "--constant %s: %s", text.c_str(), why);
}

// Gives the tensor its dimensions. Returns false where one is not known, or the elements are too many.
bool set_dimensions(const onnx::ValueInfoProto& input, onnx::TensorProto* tensor,
                    int64_t* elements) {
  *elements = 1;
  for (const auto& dim : input.type().tensor_type().shape().dim()) {
    if (!dim.has_dim_value() || dim.dim_value() < 1 || dim.dim_value() > kMostElements)
      return false;
    tensor->add_dims(dim.dim_value());
    *elements *= dim.dim_value();
    if (*elements > kMostElements) return false;
  }
  return input.type().tensor_type().has_shape();
}

bool read_integer(const std::string& text, int64_t* value) {
  char* end = nullptr;
  errno = 0;
  *value = strtoll(text.c_str(), &end, 10);
  return !text.empty() && *end == '\0' && errno == 0;
}

bool read_real(const std::string& text, float* value) {
  char* end = nullptr;
  *value = strtof(text.c_str(), &end);
  return !text.empty() && *end == '\0' && std::isfinite(*value);
}

// Fills the tensor with the value. Returns false where its type does not hold it.
bool fill(const std::string& text, int64_t elements, onnx::TensorProto* tensor) {
  const int type = tensor->data_type();
  if (type == onnx::TensorProto::FLOAT) {
    float value;
    if (!read_real(text, &value)) return false;
    for (int64_t i = 0; i < elements; ++i) tensor->add_float_data(value);
    return true;
  }
  int64_t value;
  if (type == onnx::TensorProto::BOOL && (text == "true" || text == "false"))
    value = text == "true" ? 1 : 0;
  else if (!read_integer(text, &value))
    return false;
  int64_t least = INT32_MIN, most = INT32_MAX;
  switch (type) {
    case onnx::TensorProto::BOOL: least = 0, most = 1; break;
    case onnx::TensorProto::UINT8: least = 0, most = UINT8_MAX; break;
    case onnx::TensorProto::INT8: least = INT8_MIN, most = INT8_MAX; break;
    case onnx::TensorProto::INT32: break;
    case onnx::TensorProto::INT64: least = INT64_MIN, most = INT64_MAX; break;
    default: return false;
  }
  if (value < least || value > most) return false;
  for (int64_t i = 0; i < elements; ++i) {
    if (type == onnx::TensorProto::INT64)
      tensor->add_int64_data(value);
    else
      tensor->add_int32_data(static_cast<int32_t>(value));
  }
  return true;
}

Status set_constant(const std::string& text, onnx::GraphProto* graph) {
  const size_t equals = text.rfind('=');
  if (equals == std::string::npos) return usage_error(text, "expected NAME=VALUE");
  const std::string name = text.substr(0, equals), value = text.substr(equals + 1);
  for (const onnx::TensorProto& t : graph->initializer())
    if (t.name() == name) return usage_error(text, "it is a constant already");
  const auto& inputs = graph->input();
  const auto input =
      std::find_if(inputs.begin(), inputs.end(),
                   [&](const onnx::ValueInfoProto& info) { return info.name() == name; });
  if (input == inputs.end()) return usage_error(text, "the model has no input of this name");
  onnx::TensorProto tensor;
  tensor.set_name(name);
  tensor.set_data_type(input->type().tensor_type().elem_type());
  int64_t elements;
  if (!set_dimensions(*input, &tensor, &elements))
    return usage_error(
        text,
        "the input's shape is not known, or has more than 65536 elements; give it by "
        "--input-shape");
  if (!fill(value, elements, &tensor))
    return usage_error(
        text,
        "the input's type holds no such value; expected a number for float32, int64, "
        "int32, int8 or uint8, or true or false for bool");
  *graph->add_initializer() = std::move(tensor);
  return Status();
}

}  // namespace

Status set_input_constants(const std::vector<std::string>& constants, onnx::GraphProto* graph) {
  for (const std::string& text : constants) QRT_TRY(set_constant(text, graph));
  return Status();
}

}  // namespace qrt::convert::from_onnx
