// SPDX-License-Identifier: Apache-2.0
// qrt/image.h: arrays and camera frames as inputs, against the arithmetic that the header tells.
#include "qrt/image.h"

#include <gtest/gtest.h>

#include <cfenv>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "tests/support/every_op_model.h"

namespace qrt::image_test {
namespace {

using Bytes = std::vector<uint8_t>;

// An info as the library fills it.
struct Tensor {
  Tensor(qrt_dtype dtype, std::vector<int64_t> shape, std::vector<float> scales = {},
         std::vector<int32_t> zeros = {}, int axis = -1)
      : dims(std::move(shape)), scale(std::move(scales)), zero(std::move(zeros)) {
    qrt_struct_init(&info);
    info.name = "x";
    info.dtype = dtype;
    info.rank = static_cast<int>(dims.size());
    info.dims = dims.data();
    info.bytes = qrt_dtype_size(dtype);
    for (const int64_t d : dims) info.bytes *= static_cast<size_t>(d);
    q = {scale.data(), zero.data(), scale.size(), axis};
    info.quantization = &q;
  }
  size_t elements() const { return info.bytes / qrt_dtype_size(info.dtype); }

  std::vector<int64_t> dims;
  std::vector<float> scale;
  std::vector<int32_t> zero;
  qrt_quantization q;
  qrt_tensor_info info;
};

template <class T>
T nearest(float value, float scale, int32_t zero) {
  constexpr double kLeast = std::numeric_limits<T>::min(), kMost = std::numeric_limits<T>::max();
  const float x = value / scale;
  if (std::isnan(x)) return std::numeric_limits<T>::min();
  const double rounded = std::nearbyint(static_cast<double>(x)) + zero;
  return static_cast<T>(std::min(std::max(rounded, kLeast), kMost));
}

template <class T>
void quantizes(qrt_dtype dtype) {
  const std::vector<float> scales = {0.1f, 0.5f, 3.7f, 1e-30f, 1e30f};
  const std::vector<int32_t> zeros = {0, std::numeric_limits<T>::min(),
                                      std::numeric_limits<T>::max(), 7, 1};
  const Tensor t(dtype, {2, 5, 11}, scales, zeros, 1);
  std::vector<float> values(110), back(110);
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = (static_cast<float>(i % 23) - 11) * 0.25f * scales[i / 11 % 5] *
                (i % 7 == 0 ? 4096.0f : 1.0f);
  values[3] = NAN;
  values[14] = INFINITY;
  values[25] = -INFINITY;
  values[40] = 3e38f;
  std::vector<T> data(110);
  qrt_error error;
  ASSERT_EQ(qrt_quantize(&t.info, values.data(), 110, data.data(), &error), QRT_OK)
      << error.message;
  ASSERT_EQ(qrt_dequantize(&t.info, data.data(), 110, back.data(), &error), QRT_OK);
  for (size_t i = 0; i < 110; ++i) {
    const size_t c = i / 11 % 5;
    ASSERT_EQ(data[i], nearest<T>(values[i], scales[c], zeros[c])) << i;
    ASSERT_EQ(back[i], static_cast<float>(int64_t{data[i]} - zeros[c]) * scales[c]) << i;
  }
}

TEST(Image, QuantizesByAxis) {
  quantizes<uint8_t>(QRT_UINT8);
  quantizes<int8_t>(QRT_INT8);
  quantizes<uint16_t>(QRT_UINT16);
  quantizes<int16_t>(QRT_INT16);
}

TEST(Image, TheCallersRoundingDoesNotMatter) {
  const Tensor t(QRT_INT8, {5}, {1}, {0});
  const float values[] = {0.5f, 1.5f, -0.5f, -1.5f, 2.7f};
  for (const int mode : {FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO}) {
    int8_t data[5];
    std::fesetround(mode);
    const qrt_status status = qrt_quantize(&t.info, values, 5, data, nullptr);
    std::fesetround(FE_TONEAREST);
    ASSERT_EQ(status, QRT_OK);
    ASSERT_EQ(std::vector<int>(data, data + 5), (std::vector<int>{0, 2, 0, -2, 3}));
  }
}

TEST(Image, WhatCannotBeConvertedHasAStatus) {
  qrt_error error;
  float values[4] = {1, 2, 3, 4}, out[4];
  uint8_t data[16];
  const Tensor plain(QRT_UINT8, {4}), real(QRT_FLOAT32, {4}), half(QRT_FLOAT16, {4}, {1}, {0}),
      of_int32(QRT_INT32, {4}, {0.5f}, {3}), ok(QRT_UINT8, {4}, {1}, {0});
  EXPECT_EQ(qrt_quantize(&plain.info, values, 4, data, &error), QRT_INVALID_ARGUMENT);
  EXPECT_STREQ(error.message, "'x' holds uint8 without a scale");
  EXPECT_EQ(qrt_quantize(&half.info, values, 4, data, &error), QRT_UNSUPPORTED);
  EXPECT_EQ(qrt_quantize(&of_int32.info, values, 4, data, &error), QRT_UNSUPPORTED);
  EXPECT_EQ(qrt_quantize(&ok.info, values, 5, data, &error), QRT_INVALID_ARGUMENT);
  EXPECT_STREQ(error.message, "'x' has 4 elements, not 5");
  EXPECT_EQ(qrt_quantize(&ok.info, nullptr, 4, data, &error), QRT_INVALID_ARGUMENT);
  EXPECT_EQ(qrt_quantize(&ok.info, values, 4, nullptr, &error), QRT_INVALID_ARGUMENT);
  EXPECT_EQ(qrt_quantize(nullptr, values, 4, data, &error), QRT_INVALID_ARGUMENT);
  EXPECT_EQ(qrt_dequantize(nullptr, data, 4, values, nullptr), QRT_INVALID_ARGUMENT);
  EXPECT_EQ(qrt_dequantize(&ok.info, nullptr, 4, values, nullptr), QRT_INVALID_ARGUMENT);
  EXPECT_EQ(qrt_dequantize(&ok.info, data, 4, nullptr, nullptr), QRT_INVALID_ARGUMENT);
  EXPECT_EQ(qrt_quantize(&ok.info, nullptr, 0, nullptr, &error), QRT_OK);
  qrt_tensor_info empty = {};
  EXPECT_EQ(qrt_quantize(&empty, values, 4, data, &error), QRT_INVALID_ARGUMENT);
  ASSERT_EQ(qrt_quantize(&real.info, values, 4, out, &error), QRT_OK);
  EXPECT_EQ(out[3], 4);
  const int32_t sums[] = {3, 5, INT32_MIN, INT32_MAX};
  ASSERT_EQ(qrt_dequantize(&of_int32.info, sums, 4, out, &error), QRT_OK);
  EXPECT_EQ(out[1], 1);
  EXPECT_EQ(out[2], static_cast<float>(int64_t{INT32_MIN} - 3) * 0.5f);
}

TEST(Image, RowsAndChannels) {
  const Bytes rows = testing::pattern<uint8_t>(5 * 16, 0, 255);
  Bytes dense(5 * 13);
  ASSERT_EQ(qrt_copy_rows(rows.data(), 16, 13, 5, dense.data()), QRT_OK);
  for (size_t i = 0; i < dense.size(); ++i) ASSERT_EQ(dense[i], rows[i / 13 * 16 + i % 13]);
  EXPECT_EQ(qrt_copy_rows(rows.data(), 12, 13, 5, dense.data()), QRT_INVALID_ARGUMENT);
  EXPECT_EQ(qrt_copy_rows(nullptr, 16, 13, 5, dense.data()), QRT_INVALID_ARGUMENT);
  EXPECT_EQ(qrt_copy_rows(nullptr, 0, 0, 5, nullptr), QRT_OK);
  for (const size_t element : {1, 2, 4, 8}) {
    const Bytes x = testing::pattern<uint8_t>(2 * 3 * 35 * element, 0, 255, 3);
    Bytes y(x.size()), back(x.size());
    ASSERT_EQ(qrt_channels_last(x.data(), 2, 3, 35, element, y.data()), QRT_OK);
    for (size_t n = 0; n < 2; ++n)
      for (size_t c = 0; c < 3; ++c)
        for (size_t p = 0; p < 35; ++p)
          for (size_t b = 0; b < element; ++b)
            ASSERT_EQ(y[((n * 35 + p) * 3 + c) * element + b],
                      x[((n * 3 + c) * 35 + p) * element + b]);
    ASSERT_EQ(qrt_channels_last(y.data(), 2, 35, 3, element, back.data()), QRT_OK);
    ASSERT_EQ(back, x);
  }
  EXPECT_EQ(qrt_channels_last(rows.data(), 1, 1, 1, 3, dense.data()), QRT_INVALID_ARGUMENT);
  EXPECT_EQ(qrt_channels_last(nullptr, 1, 1, 1, 1, dense.data()), QRT_INVALID_ARGUMENT);
}

int clamped(double v) { return static_cast<int>(std::min(std::max(std::floor(v), 0.0), 255.0)); }

// A frame of noise in each format, with rows apart, and its pixel by the header's words.
struct Source {
  explicit Source(qrt_pixel_format f, size_t w, size_t h, bool full = false) {
    qrt_struct_init(&frame);
    frame.format = f;
    frame.width = w;
    frame.height = h;
    frame.is_full_range = full;
    const size_t half = (w + 1) / 2;
    const size_t bytes[3] = {f == QRT_RGB || f == QRT_BGR     ? 3 * w
                             : f == QRT_RGBA || f == QRT_BGRA ? 4 * w
                                                              : w,
                             f == QRT_I420 ? half : 2 * half, half};
    for (size_t i = 0; i < (f < QRT_I420 ? 1 : f == QRT_I420 ? 3 : 2); ++i) {
      frame.strides[i] = bytes[i] + 5;
      plane[i] = testing::pattern<uint8_t>(frame.strides[i] * h, 0, 255, static_cast<int>(i) + f);
      frame.planes[i] = plane[i].data();
    }
  }
  int at(size_t x, size_t y, int c) const {
    const uint8_t* row = plane[0].data() + y * frame.strides[0];
    switch (frame.format) {
      case QRT_GRAY: return row[x];
      case QRT_RGB: return row[3 * x + static_cast<size_t>(c)];
      case QRT_BGR: return row[3 * x + static_cast<size_t>(2 - c)];
      case QRT_RGBA: return row[4 * x + static_cast<size_t>(c)];
      case QRT_BGRA: return row[4 * x + static_cast<size_t>(2 - c)];
      default: break;
    }
    const uint8_t* uv = plane[1].data() + y / 2 * frame.strides[1];
    int u, v;
    if (frame.format == QRT_I420)
      u = uv[x / 2], v = plane[2][y / 2 * frame.strides[2] + x / 2];
    else
      u = uv[x / 2 * 2], v = uv[x / 2 * 2 + 1];
    if (frame.format == QRT_NV21) std::swap(u, v);
    u -= 128, v -= 128;
    if (frame.is_full_range) {
      const double l = 65536.0 * row[x] + 32768;
      return clamped((c == 0   ? l + 91881.0 * v
                      : c == 1 ? l - 22554.0 * u - 46802.0 * v
                               : l + 116130.0 * u) /
                     65536);
    }
    const double l = 298.0 * (row[x] - 16) + 128;
    return clamped((c == 0   ? l + 409.0 * v
                    : c == 1 ? l - 100.0 * u - 208.0 * v
                             : l + 516.0 * u) /
                   256);
  }

  qrt_frame frame;
  Bytes plane[3];
};

int resized(const Source& s, size_t w, size_t h, size_t x, size_t y, int c) {
  const auto position = [](size_t i, size_t from, size_t to) {
    const double p =
        std::floor(128.0 * static_cast<double>((2 * i + 1) * from) / static_cast<double>(to)) - 128;
    return static_cast<int>(std::min(std::max(p, 0.0), 256.0 * static_cast<double>(from - 1)));
  };
  const int px = position(x, s.frame.width, w), py = position(y, s.frame.height, h);
  int sum = 32768;
  for (int i = 0; i < 4; ++i) {
    const int wx = i % 2 ? px % 256 : 256 - px % 256, wy = i / 2 ? py % 256 : 256 - py % 256;
    if (wx * wy == 0) continue;
    sum += wx * wy *
           s.at(static_cast<size_t>(px / 256 + i % 2), static_cast<size_t>(py / 256 + i / 2), c);
  }
  return sum / 65536;
}

TEST(Image, FramesOfEveryFormatInEveryLayout) {
  qrt_frame_options options;
  qrt_struct_init(&options);
  options.scale = 0.01f;
  for (int c = 0; c < 3; ++c) options.mean[c] = 0.4f + 0.1f * static_cast<float>(c);
  options.std[0] = 0.2f, options.std[1] = 0.3f;  // std[2]: 1
  for (int format = QRT_GRAY; format <= QRT_NV21; ++format)
    for (const bool full : {false, true})
      for (const bool bgr : {false, true})
        for (const auto& [w, h] : {std::pair<size_t, size_t>{9, 7}, {4, 3}, {16, 15}, {1, 1}}) {
          const Source s(static_cast<qrt_pixel_format>(format), 9, 7, full);
          options.is_bgr = bgr;
          const auto iw = static_cast<int64_t>(w), ih = static_cast<int64_t>(h);
          Tensor first(QRT_FLOAT32, {2, 3, ih, iw});
          first.info.layout = QRT_CHANNELS_FIRST;
          const Tensor last(QRT_FLOAT32, {2, ih, iw, 3}), bytes(QRT_UINT8, {2, ih, iw, 3}),
              coded(QRT_INT8, {2, ih, iw, 3}, {0.05f}, {-9}),
              by_channel(QRT_INT16, {2, ih, iw, 3}, {0.05f, 0.001f, 0.1f}, {0, 5, -5}, 3);
          std::vector<float> a(last.elements(), -99), b(first.elements(), -99);
          Bytes p(bytes.elements(), 77);
          std::vector<int8_t> q(coded.elements(), 77);
          std::vector<int16_t> k(coded.elements(), 77);
          qrt_error error;
          ASSERT_EQ(qrt_write_frame(&s.frame, &options, &last.info, 1, a.data(), &error), QRT_OK)
              << error.message;
          ASSERT_EQ(qrt_write_frame(&s.frame, &options, &first.info, 1, b.data(), &error), QRT_OK);
          ASSERT_EQ(qrt_write_frame(&s.frame, &options, &coded.info, 1, q.data(), &error), QRT_OK);
          ASSERT_EQ(qrt_write_frame(&s.frame, &options, &by_channel.info, 1, k.data(), &error),
                    QRT_OK);
          qrt_frame_options pixels;
          qrt_struct_init(&pixels);
          pixels.is_bgr = bgr;
          ASSERT_EQ(qrt_write_frame(&s.frame, &pixels, &bytes.info, 1, p.data(), &error), QRT_OK);
          const size_t image = w * h * 3;
          for (size_t i = 0; i < image; ++i) {  // image 0 is left alone
            ASSERT_EQ(a[i], -99);
            ASSERT_EQ(p[i], 77);
          }
          for (size_t y = 0; y < h; ++y)
            for (size_t x = 0; x < w; ++x)
              for (int c = 0; c < 3; ++c) {
                const int pixel = resized(s, w, h, x, y, bgr ? 2 - c : c);
                const size_t n = image + (y * w + x) * 3 + static_cast<size_t>(c);
                const float scaled = static_cast<float>(pixel) * options.scale;
                const float centred = scaled - options.mean[c];
                const float value = centred / (c == 2 ? 1 : options.std[c]);
                ASSERT_EQ(p[n], pixel) << format << " " << x << " " << y << " " << c;
                ASSERT_EQ(a[n], value);
                ASSERT_EQ(b[image + (static_cast<size_t>(c) * h + y) * w + x], value);
                ASSERT_EQ(q[n], nearest<int8_t>(value, 0.05f, -9));
                const auto i = static_cast<size_t>(c);
                ASSERT_EQ(k[n], nearest<int16_t>(value, by_channel.scale[i], by_channel.zero[i]));
              }
        }
}

TEST(Image, OneChannel) {
  const Source color(QRT_RGB, 6, 5), gray(QRT_GRAY, 6, 5);
  const Tensor t(QRT_UINT8, {1, 5, 6, 1}), real(QRT_FLOAT32, {1, 1, 5, 6});
  Bytes y(30);
  std::vector<float> f(30);
  ASSERT_EQ(qrt_write_frame(&color.frame, nullptr, &t.info, 0, y.data(), nullptr), QRT_OK);
  for (size_t i = 0; i < 30; ++i)
    ASSERT_EQ(y[i], (77 * color.at(i % 6, i / 6, 0) + 150 * color.at(i % 6, i / 6, 1) +
                     29 * color.at(i % 6, i / 6, 2) + 128) /
                        256);
  ASSERT_EQ(qrt_write_frame(&gray.frame, nullptr, &real.info, 0, f.data(), nullptr), QRT_OK);
  for (size_t i = 0; i < 30; ++i)
    ASSERT_EQ(f[i], static_cast<float>(gray.at(i % 6, i / 6, 0)) * (1.0f / 255));
}

// Where both dimensions could be channels, the layout that the model declares decides.
TEST(Image, TheLayoutOfTheModelDecides) {
  const Source s(QRT_RGB, 3, 3);
  Tensor t(QRT_UINT8, {1, 3, 3, 3});
  Bytes last(27), first(27);
  t.info.layout = QRT_CHANNELS_LAST;
  ASSERT_EQ(qrt_write_frame(&s.frame, nullptr, &t.info, 0, last.data(), nullptr), QRT_OK);
  t.info.layout = QRT_CHANNELS_FIRST;
  ASSERT_EQ(qrt_write_frame(&s.frame, nullptr, &t.info, 0, first.data(), nullptr), QRT_OK);
  Bytes moved(27);
  ASSERT_EQ(qrt_channels_last(first.data(), 1, 3, 9, 1, moved.data()), QRT_OK);
  ASSERT_EQ(moved, last);
  ASSERT_NE(first, last);
}

TEST(Image, FramesThatDoNotFitAreRefused) {
  const Tensor t(QRT_UINT8, {1, 4, 4, 3});
  Bytes data(48);
  qrt_error error;
  qrt_frame_options options;
  const auto refused = [&](const Source& s, const Tensor& to, size_t index, qrt_status status) {
    EXPECT_EQ(qrt_write_frame(&s.frame, &options, &to.info, index, data.data(), &error), status);
    return std::string(error.message);
  };
  qrt_struct_init(&options);
  Source s(QRT_I420, 4, 4);
  EXPECT_EQ(refused(s, t, 1, QRT_INVALID_ARGUMENT), "'x' has 1 images, there is none of index 1");
  s.frame.strides[2] = 1;
  EXPECT_EQ(refused(s, t, 0, QRT_INVALID_ARGUMENT),
            "plane 2 has rows of 2 bytes and a stride of 1");
  s.frame.planes[2] = nullptr;
  EXPECT_EQ(refused(s, t, 0, QRT_INVALID_ARGUMENT), "the frame has no plane 2");
  s = Source(QRT_RGB, 4, 4);
  for (const int format : {-1, 8, 1 << 20}) {
    memcpy(&s.frame.format, &format, sizeof format);
    EXPECT_NE(refused(s, t, 0, QRT_INVALID_ARGUMENT).find("which is none"), std::string::npos);
  }
  s = Source(QRT_RGB, 4, 4);
  s.frame.width = 0;
  EXPECT_NE(refused(s, t, 0, QRT_INVALID_ARGUMENT).find("the frame is 0 x 4"), std::string::npos);
  s.frame.width = SIZE_MAX;
  refused(s, t, 0, QRT_INVALID_ARGUMENT);
  s = Source(QRT_RGB, 4, 4);
  options.mean[1] = NAN;
  refused(s, t, 0, QRT_INVALID_ARGUMENT);
  options.mean[1] = 0.5f;
  EXPECT_EQ(refused(s, t, 0, QRT_INVALID_ARGUMENT),
            "'x' takes pixels as they are: no scale, mean or std");
  qrt_struct_init(&options);
  refused(s, Tensor(QRT_UINT8, {1, 4, 4, 4}), 0, QRT_INVALID_ARGUMENT);
  refused(s, Tensor(QRT_UINT8, {4, 4, 3}), 0, QRT_INVALID_ARGUMENT);
  refused(s, Tensor(QRT_INT8, {1, 4, 4, 3}), 0, QRT_UNSUPPORTED);
  refused(s, Tensor(QRT_INT32, {1, 4, 4, 3}), 0, QRT_UNSUPPORTED);
  refused(s, Tensor(QRT_UINT8, {1, 4, 4, 3}, {1, 1, 1, 1}, {0, 0, 0, 0}, 1), 0, QRT_UNSUPPORTED);
  EXPECT_EQ(qrt_write_frame(nullptr, nullptr, &t.info, 0, data.data(), &error),
            QRT_INVALID_ARGUMENT);
  EXPECT_EQ(qrt_write_frame(&s.frame, nullptr, nullptr, 0, data.data(), &error),
            QRT_INVALID_ARGUMENT);
  EXPECT_EQ(qrt_write_frame(&s.frame, nullptr, &t.info, 0, nullptr, &error), QRT_INVALID_ARGUMENT);
  s.frame.struct_size = 0;
  EXPECT_EQ(qrt_write_frame(&s.frame, nullptr, &t.info, 0, data.data(), &error),
            QRT_INVALID_ARGUMENT);
  EXPECT_NE(std::string(error.message).find("qrt_struct_init"), std::string::npos);
}

}  // namespace
}  // namespace qrt::image_test
