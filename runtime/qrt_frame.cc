// SPDX-License-Identifier: Apache-2.0
// Camera frames as inputs: qrt_write_frame() of qrt/image.h, where the arithmetic is written down.
#include <stddef.h>
#include <string.h>

#include <algorithm>

#include "qrt/image.h"
#include "runtime/values.h"

namespace qrt {
namespace {

constexpr int kChannels = 3;

struct Pixel {
  int rgb[kChannels];
};

int kept(int value) { return std::min(std::max(value, 0), 255); }

// A frame's pixels as 1 or 3 channels.
class Frame {
 public:
  // kInvalidArgument.
  Status open(const qrt_frame* given) {
    constexpr size_t kFirst = offsetof(qrt_frame, is_full_range) + sizeof given->is_full_range;
    if (given == nullptr) return null_argument("frame");
    QRT_TRY(read_struct(given, kFirst, sizeof frame_, &frame_).at("frame"));
    format_ = code_of(frame_.format);
    if (format_ < QRT_GRAY || format_ > QRT_NV21)
      return error(Code::kInvalidArgument, "the frame's format is %d, which is none", format_);
    if (frame_.width < 1 || frame_.height < 1 || frame_.width > kMost || frame_.height > kMost)
      return error(Code::kInvalidArgument, "the frame is %zu x %zu pixels, expected 1 to %zu",
                   frame_.width, frame_.height, kMost);
    const size_t half = (frame_.width + 1) / 2;
    if (format_ == QRT_I420) return check_planes({frame_.width, half, half});
    if (format_ >= QRT_NV12) return check_planes({frame_.width, 2 * half, 0});
    pixel_bytes_ = format_ == QRT_GRAY ? 1 : format_ <= QRT_BGR ? 3 : 4;
    return check_planes({frame_.width * pixel_bytes_, 0, 0});
  }

  size_t width() const { return frame_.width; }
  size_t height() const { return frame_.height; }

  Pixel at(size_t x, size_t y) const {
    if (format_ >= QRT_I420) return yuv(x, y);
    const uint8_t* p = row(0, y) + x * pixel_bytes_;
    switch (format_) {
      case QRT_GRAY: return {{p[0], p[0], p[0]}};
      case QRT_RGB:
      case QRT_RGBA: return {{p[0], p[1], p[2]}};
      default: return {{p[2], p[1], p[0]}};
    }
  }

 private:
  static constexpr size_t kMost = 1 << 20;
  struct RowBytes {
    size_t of[3];
  };

  Status check_planes(const RowBytes& rows) {
    for (size_t i = 0; i < 3; ++i) {
      if (rows.of[i] == 0) continue;
      if (frame_.planes[i] == nullptr)
        return error(Code::kInvalidArgument, "the frame has no plane %zu", i);
      if (frame_.strides[i] == 0) frame_.strides[i] = rows.of[i];
      if (frame_.strides[i] < rows.of[i])
        return error(Code::kInvalidArgument, "plane %zu has rows of %zu bytes and a stride of %zu",
                     i, rows.of[i], frame_.strides[i]);
    }
    return {};
  }

  const uint8_t* row(size_t plane, size_t y) const {
    return frame_.planes[plane] + y * frame_.strides[plane];
  }

  Pixel yuv(size_t x, size_t y) const {
    const int luma = row(0, y)[x];
    int u, v;
    if (format_ == QRT_I420) {
      u = row(1, y / 2)[x / 2];
      v = row(2, y / 2)[x / 2];
    } else {
      const uint8_t* pair = row(1, y / 2) + x / 2 * 2;
      u = pair[format_ == QRT_NV12 ? 0 : 1];
      v = pair[format_ == QRT_NV12 ? 1 : 0];
    }
    u -= 128;
    v -= 128;
    // Sums of negative numbers are shifted as C++ compilers do: rounding down.
    if (frame_.is_full_range != 0) {
      const int l = 65536 * luma + 32768;
      return {{kept((l + 91881 * v) >> 16), kept((l - 22554 * u - 46802 * v) >> 16),
               kept((l + 116130 * u) >> 16)}};
    }
    const int l = 298 * (luma - 16) + 128;
    return {
        {kept((l + 409 * v) >> 8), kept((l - 100 * u - 208 * v) >> 8), kept((l + 516 * u) >> 8)}};
  }

  qrt_frame frame_;
  int format_ = 0;
  size_t pixel_bytes_ = 0;
};

// The place of a result's pixel between two pixels of the frame.
struct PixelLayout {
  size_t first, second;
  int weight;  // of the second, in 256ths
};

PixelLayout place(size_t i, size_t from, size_t to) {
  const auto numerator = static_cast<int64_t>(128 * (2 * i + 1) * from);
  const int64_t most = 256 * static_cast<int64_t>(from - 1);
  const int64_t p =
      std::min(std::max<int64_t>(numerator / static_cast<int64_t>(to) - 128, 0), most);
  const auto first = static_cast<size_t>(p / 256);
  return {first, std::min(first + 1, from - 1), static_cast<int>(p % 256)};
}

Pixel between(const Frame& frame, const PixelLayout& x, const PixelLayout& y) {
  if (x.weight == 0 && y.weight == 0) return frame.at(x.first, y.first);
  const Pixel a = frame.at(x.first, y.first), b = frame.at(x.second, y.first),
              c = frame.at(x.first, y.second), d = frame.at(x.second, y.second);
  Pixel result;
  for (int i = 0; i < kChannels; ++i) {
    const int above = a.rgb[i] * (256 - x.weight) + b.rgb[i] * x.weight;
    const int below = c.rgb[i] * (256 - x.weight) + d.rgb[i] * x.weight;
    result.rgb[i] = (above * (256 - y.weight) + below * y.weight + 32768) >> 16;
  }
  return result;
}

int gray(const Pixel& p) { return (77 * p.rgb[0] + 150 * p.rgb[1] + 29 * p.rgb[2] + 128) >> 8; }

// The input's image: its size, and how far apart its elements are.
struct Target {
  size_t width, height, channels;
  size_t x_step, y_step, channel_step;  // elements
  int channel_axis;
};

Status find_target(const qrt_tensor_info* input, size_t index, Target* target) {
  if (input == nullptr) return null_argument("input");
  if (input->struct_size < sizeof *input || input->dims == nullptr ||
      input->quantization == nullptr || input->name == nullptr)
    return error(Code::kInvalidArgument, "the input's info was not filled by the library");
  const auto is_channels = [&](int d) { return input->dims[d] == 1 || input->dims[d] == 3; };
  const bool has_rank = input->rank == 4;
  const bool is_last = has_rank && input->layout != QRT_CHANNELS_FIRST && is_channels(3);
  const bool is_first =
      has_rank && input->layout != QRT_CHANNELS_LAST && is_channels(1) && !is_last;
  if (!is_last && !is_first)
    return error(Code::kInvalidArgument, "'%s' is no image of 1 or 3 channels", input->name);
  const auto size = [&](int d) { return static_cast<size_t>(input->dims[d]); };
  target->channel_axis = is_last ? 3 : 1;
  target->channels = size(target->channel_axis);
  target->height = size(is_last ? 1 : 2);
  target->width = size(is_last ? 2 : 3);
  for (int d = 1; d < 4; ++d)
    if (input->dims[d] < 1)
      return error(Code::kInvalidArgument, "'%s' has no size yet: give a session's info",
                   input->name);
  target->x_step = is_last ? target->channels : 1;
  target->y_step = target->x_step * target->width;
  target->channel_step = is_last ? 1 : target->width * target->height;
  const size_t images = input->dims[0] < 0 ? 1 : size(0);
  if (index >= images)
    return error(Code::kInvalidArgument, "'%s' has %zu images, there is none of index %zu",
                 input->name, images, index);
  return {};
}

// The input elements that stand for the 256 values of a pixel, by channel.
template <class T>
struct Table {
  T of[kChannels][256];
};

struct Values {
  float scale, mean[kChannels], std[kChannels];
  bool is_bgr, is_given;
};

Status read_options(const qrt_frame_options* given, Values* values) {
  qrt_frame_options o;
  constexpr size_t kFirst = offsetof(qrt_frame_options, is_bgr) + sizeof o.is_bgr;
  QRT_TRY(read_struct(given, kFirst, sizeof o, &o));
  values->is_given = o.scale != 0;
  values->scale = o.scale != 0 ? o.scale : 1.0f / 255;
  for (int c = 0; c < kChannels; ++c) {
    values->is_given |= o.mean[c] != 0 || o.std[c] != 0;
    values->mean[c] = o.mean[c];
    values->std[c] = o.std[c] != 0 ? o.std[c] : 1;
    const float sum = values->scale + values->mean[c] + values->std[c];
    if (!(sum - sum == 0))
      return error(Code::kInvalidArgument, "options hold a number that is not finite");
  }
  values->is_bgr = o.is_bgr != 0;
  return {};
}

template <class T, class Element>
void write(const Frame& frame, const Target& t, const Values& values, size_t index, void* data,
           const Element& element) {
  Table<T> table;
  for (int c = 0; c < kChannels; ++c)
    for (int v = 0; v < 256; ++v) {
      const float scaled = static_cast<float>(v) * values.scale;
      const float centred = scaled - values.mean[c];
      table.of[c][v] = element(v, centred / values.std[c], static_cast<size_t>(c));
    }
  T* const image = static_cast<T*>(data) + index * t.channels * t.width * t.height;
  for (size_t y = 0; y < t.height; ++y) {
    const PixelLayout row = place(y, frame.height(), t.height);
    for (size_t x = 0; x < t.width; ++x) {
      const Pixel pixel = between(frame, place(x, frame.width(), t.width), row);
      T* const to = image + y * t.y_step + x * t.x_step;
      if (t.channels == 1) {
        to[0] = table.of[0][gray(pixel)];
        continue;
      }
      for (int c = 0; c < kChannels; ++c)
        to[static_cast<size_t>(c) * t.channel_step] =
            table.of[c][pixel.rgb[values.is_bgr ? kChannels - 1 - c : c]];
    }
  }
}

// Returns whether an input has one pair of scale and zero point, or one for each channel.
bool is_quantized(const qrt_quantization& q, const Target& t) {
  return q.count == 1 || (q.count == t.channels && q.axis == t.channel_axis);
}

template <class T>
void write_quantized(const Frame& frame, const Target& t, const Values& values,
                     const qrt_quantization& q, size_t index, void* data) {
  write<T>(frame, t, values, index, data, [&](int, float value, size_t channel) {
    return quantized<T>(value, q, q.count > 1 ? channel : 0);
  });
}

}  // namespace
}  // namespace qrt

qrt_status qrt_write_frame(const qrt_frame* given, const qrt_frame_options* options,
                           const qrt_tensor_info* input, size_t index, void* data,
                           qrt_error* error) {
  using qrt::Code;
  return qrt::guarded(error, [&]() -> qrt::Status {
    if (!qrt::built::kImages) return qrt::check_images();
    qrt::Frame frame;
    qrt::Target target;
    qrt::Values values;
    QRT_TRY(frame.open(given));
    QRT_TRY(qrt::find_target(input, index, &target));
    QRT_TRY(qrt::read_options(options, &values));
    if (data == nullptr) return qrt::null_argument("data");
    const qrt_quantization& q = *input->quantization;
    const bool is_quantized = qrt::is_quantized(q, target);
    switch (input->dtype) {
      case QRT_FLOAT32:
        qrt::write<float>(frame, target, values, index, data,
                          [](int, float value, size_t) { return value; });
        return {};
      case QRT_UINT8:
        if (is_quantized) {
          qrt::write_quantized<uint8_t>(frame, target, values, q, index, data);
          return {};
        }
        if (q.count > 1) break;
        if (values.is_given)
          return qrt::error(Code::kInvalidArgument,
                            "'%s' takes pixels as they are: no scale, mean or std", input->name);
        qrt::write<uint8_t>(frame, target, values, index, data,
                            [](int pixel, float, size_t) { return static_cast<uint8_t>(pixel); });
        return {};
      case QRT_INT8:
        if (!is_quantized) break;
        qrt::write_quantized<int8_t>(frame, target, values, q, index, data);
        return {};
      case QRT_INT16:
        if (!is_quantized) break;
        qrt::write_quantized<int16_t>(frame, target, values, q, index, data);
        return {};
      default: break;
    }
    return qrt::error(Code::kUnsupported,
                      "'%s' is %s %s: frames are for float32, uint8, and int8 or "
                      "int16 with a scale",
                      input->name, qrt_dtype_name(input->dtype),
                      q.count > 1 ? "with a scale for each index" : "without a scale");
  });
}
