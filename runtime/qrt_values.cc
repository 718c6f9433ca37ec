// SPDX-License-Identifier: Apache-2.0
// Arrays as qrt/image.h converts them: real numbers and elements, rows, and the order of channels.
#include <stddef.h>
#include <string.h>

#include <limits>

#include "qrt/image.h"
#include "runtime/values.h"

namespace qrt {
namespace {

// Says which pair of scale and zero point an element has.
class QuantIndex {
 public:
  explicit QuantIndex(const qrt_tensor_info& tensor) : q_(*tensor.quantization) {
    if (q_.count <= 1) return;
    for (int d = q_.axis + 1; d < tensor.rank; ++d) inner_ *= static_cast<size_t>(tensor.dims[d]);
  }
  size_t of(size_t element) const { return q_.count <= 1 ? 0 : element / inner_ % q_.count; }

 private:
  const qrt_quantization& q_;
  size_t inner_ = 1;
};

template <class T>
void quantize(const qrt_tensor_info& tensor, const float* values, size_t count, void* data) {
  const QuantIndex quant_index(tensor);
  for (size_t i = 0; i < count; ++i) {
    const T element = quantized<T>(values[i], *tensor.quantization, quant_index.of(i));
    memcpy(static_cast<char*>(data) + i * sizeof element, &element, sizeof element);
  }
}

template <class T>
void dequantize(const qrt_tensor_info& tensor, const void* data, size_t count, float* values) {
  const QuantIndex quant_index(tensor);
  for (size_t i = 0; i < count; ++i) {
    T element;
    memcpy(&element, static_cast<const char*>(data) + i * sizeof element, sizeof element);
    const size_t pair = quant_index.of(i);
    const int64_t difference = int64_t{element} - tensor.quantization->zero_point[pair];
    values[i] = static_cast<float>(difference) * tensor.quantization->scale[pair];
  }
}

// Checks that the struct is one that the library has filled, with at least `count` elements.
Status check_tensor(const qrt_tensor_info* tensor, size_t count) {
  if (tensor == nullptr) return null_argument("tensor");
  if (tensor->struct_size < offsetof(qrt_tensor_info, layout) || tensor->quantization == nullptr ||
      (tensor->dims == nullptr && tensor->rank > 0) || tensor->name == nullptr)
    return error(Code::kInvalidArgument, "the tensor's info was not filled by the library");
  const bool is_float = tensor->dtype == QRT_FLOAT32;
  if (tensor->quantization->count == 0 && !is_float)
    return error(Code::kInvalidArgument, "'%s' holds %s without a scale", tensor->name,
                 qrt_dtype_name(tensor->dtype));
  const size_t element = qrt_dtype_size(tensor->dtype);
  if (element != 0 && count > tensor->bytes / element)
    return error(Code::kInvalidArgument, "'%s' has %zu elements, not %zu", tensor->name,
                 tensor->bytes / element, count);
  return {};
}

Status unsupported(const qrt_tensor_info& tensor) {
  return error(Code::kUnsupported, "'%s' holds %s, which is not converted", tensor.name,
               qrt_dtype_name(tensor.dtype));
}

template <class T>
void move_channels(const void* from, size_t images, size_t channels, size_t pixels, void* to) {
  const char* x = static_cast<const char*>(from);
  char* y = static_cast<char*>(to);
  for (size_t n = 0; n < images; ++n, x += channels * pixels * sizeof(T))
    for (size_t p = 0; p < pixels; ++p)
      for (size_t c = 0; c < channels; ++c, y += sizeof(T))
        memcpy(y, x + (c * pixels + p) * sizeof(T), sizeof(T));
}

}  // namespace
}  // namespace qrt

using qrt::Status;

qrt_status qrt_quantize(const qrt_tensor_info* tensor, const float* values, size_t count,
                        void* data, qrt_error* error) {
  return qrt::guarded(error, [&]() -> Status {
    if (!qrt::built::kImages) return qrt::check_images();
    QRT_TRY(qrt::check_tensor(tensor, count));
    if (count == 0) return {};
    if (values == nullptr) return qrt::null_argument("values");
    if (data == nullptr) return qrt::null_argument("data");
    switch (tensor->dtype) {
      case QRT_UINT8: qrt::quantize<uint8_t>(*tensor, values, count, data); return {};
      case QRT_INT8: qrt::quantize<int8_t>(*tensor, values, count, data); return {};
      case QRT_UINT16: qrt::quantize<uint16_t>(*tensor, values, count, data); return {};
      case QRT_INT16: qrt::quantize<int16_t>(*tensor, values, count, data); return {};
      case QRT_FLOAT32: memmove(data, values, count * sizeof(float)); return {};
      default: return qrt::unsupported(*tensor);
    }
  });
}

qrt_status qrt_dequantize(const qrt_tensor_info* tensor, const void* data, size_t count,
                          float* values, qrt_error* error) {
  return qrt::guarded(error, [&]() -> Status {
    if (!qrt::built::kImages) return qrt::check_images();
    QRT_TRY(qrt::check_tensor(tensor, count));
    if (count == 0) return {};
    if (data == nullptr) return qrt::null_argument("data");
    if (values == nullptr) return qrt::null_argument("values");
    switch (tensor->dtype) {
      case QRT_UINT8: qrt::dequantize<uint8_t>(*tensor, data, count, values); return {};
      case QRT_INT8: qrt::dequantize<int8_t>(*tensor, data, count, values); return {};
      case QRT_UINT16: qrt::dequantize<uint16_t>(*tensor, data, count, values); return {};
      case QRT_INT16: qrt::dequantize<int16_t>(*tensor, data, count, values); return {};
      case QRT_INT32: qrt::dequantize<int32_t>(*tensor, data, count, values); return {};
      case QRT_FLOAT32: memmove(values, data, count * sizeof(float)); return {};
      default: return qrt::unsupported(*tensor);
    }
  });
}

qrt_status qrt_copy_rows(const void* from, size_t stride, size_t row_bytes, size_t rows, void* to) {
  if (!qrt::built::kImages) return QRT_UNSUPPORTED;
  if (rows == 0 || row_bytes == 0) return QRT_OK;
  if (from == nullptr || to == nullptr || stride < row_bytes) return QRT_INVALID_ARGUMENT;
  for (size_t i = 0; i < rows; ++i)
    memcpy(static_cast<char*>(to) + i * row_bytes, static_cast<const char*>(from) + i * stride,
           row_bytes);
  return QRT_OK;
}

qrt_status qrt_channels_last(const void* from, size_t images, size_t channels, size_t pixels,
                             size_t element_bytes, void* to) {
  if (!qrt::built::kImages) return QRT_UNSUPPORTED;
  if (images == 0 || channels == 0 || pixels == 0) return QRT_OK;
  if (from == nullptr || to == nullptr) return QRT_INVALID_ARGUMENT;
  switch (element_bytes) {
    case 1: qrt::move_channels<uint8_t>(from, images, channels, pixels, to); return QRT_OK;
    case 2: qrt::move_channels<uint16_t>(from, images, channels, pixels, to); return QRT_OK;
    case 4: qrt::move_channels<uint32_t>(from, images, channels, pixels, to); return QRT_OK;
    case 8: qrt::move_channels<uint64_t>(from, images, channels, pixels, to); return QRT_OK;
    default: return QRT_INVALID_ARGUMENT;
  }
}
