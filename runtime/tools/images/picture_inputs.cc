// SPDX-License-Identifier: Apache-2.0
#include "runtime/tools/images/picture_inputs.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <utility>

#include "runtime/tools/model_file.h"

namespace qrt::tool {
namespace {

template <class T>
void append(const std::vector<float>& values, std::vector<uint8_t>* data) {
  for (const float value : values) {
    const T element = static_cast<T>(value);
    const auto* bytes = reinterpret_cast<const uint8_t*>(&element);
    data->insert(data->end(), bytes, bytes + sizeof element);
  }
}

template <class T>
void quantise(const qrt_quantization& q, std::vector<float>* values) {
  constexpr auto kLeast = static_cast<double>(std::numeric_limits<T>::min());
  constexpr auto kMost = static_cast<double>(std::numeric_limits<T>::max());
  for (float& value : *values)
    value = static_cast<float>(std::clamp(
        std::nearbyint(static_cast<double>(value / q.scale[0])) + q.zero_point[0], kLeast, kMost));
}

// Appends real numbers, or pixels, as elements of the input.
Status add_values(const qrt_tensor_info& info, std::vector<float> values, NpyArray* array) {
  const bool is_quantised = info.quantization->count == 1;
  switch (dtype_of(info)) {
    case DType::kFloat32: append<float>(values, &array->data); return {};
    case DType::kUInt8:
      if (info.quantization->count > 1) break;
      if (is_quantised) quantise<uint8_t>(*info.quantization, &values);
      append<uint8_t>(values, &array->data);
      return {};
    case DType::kInt8:
      if (!is_quantised) break;
      quantise<int8_t>(*info.quantization, &values);
      append<int8_t>(values, &array->data);
      return {};
    case DType::kInt16:
      if (!is_quantised) break;
      quantise<int16_t>(*info.quantization, &values);
      append<int16_t>(values, &array->data);
      return {};
    default: break;
  }
  return error(Code::kInvalidModel,
               "images are for inputs of float32, uint8, or int8 or int16 with a scale; '%s' is %s",
               info.name, type_text(info).c_str());
}

}  // namespace

Status read_pictures(const Model& model, const std::vector<std::string>& files,
                     const PictureArguments& arguments, Inputs* inputs) {
  if (model.input_count() != 1)
    return error(
        Code::kInvalidModel,
        "--image is for models with one input, this has %zu: give --input NAME=FILE.npy for each",
        model.input_count());
  const qrt_tensor_info info = model.input_info(0);
  PictureOptions options;
  QRT_TRY(arguments.complete(&options));
  PictureInput input = {info.name, type_text(info), {info.dims, info.dims + info.rank}, false};
  input.takes_pixels = dtype_of(info) == DType::kUInt8 && info.quantization->count == 0;
  PictureReader reader;
  QRT_TRY(reader.prepare(options, input).at("--image"));
  NpyArray array;
  array.dtype = dtype_of(info);
  std::vector<int64_t> shape, first;
  Budget budget(0);  // one for all files, as the values of all stay in memory
  for (const std::string& file : files) {
    std::vector<float> values;
    QRT_TRY(reader.read(file, &budget, &values, &shape));
    if (first.empty()) first = shape;
    if (shape != first)
      return error(Code::kInvalidModel, "%s: is of another size than %s", file.c_str(),
                   files[0].c_str());
    QRT_TRY(add_values(info, std::move(values), &array).at("--image"));
  }
  shape[0] = static_cast<int64_t>(files.size());
  for (const int64_t d : shape) array.shape.push_back(d);
  std::vector<NpyArray> arrays;
  arrays.push_back(std::move(array));
  return inputs->take(model, std::move(arrays), {"--image"});
}

}  // namespace qrt::tool
