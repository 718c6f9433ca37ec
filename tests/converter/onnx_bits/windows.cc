// SPDX-License-Identifier: Apache-2.0
// SAME padding and windows in padding.
#include <functional>

#include "tests/converter/onnx_bits/case.h"

namespace qrt::testing {
namespace {

// Adds linear Resizes behind Transposes. ONNX Runtime moves every Transpose in front of a Resize behind it:
// the Resize works in the layout in front of them all, which decides whether it adds floats or integers.
void linear_resize_of_bytes_behind_transposes(BitsModel& m) {
  m.b.model.mutable_opset_import(0)->set_version(18);
  const auto resized = [&](const std::string& x, const Dims& sizes) {
    return m.b.node("Resize", {x, "", "", m.ints(sizes)},
                    {{"mode", "linear"}, {"coordinate_transformation_mode", "half_pixel"}});
  };
  const auto transposed = [&](const std::string& x, const Dims& perm) {
    return m.b.node("Transpose", {x}, {{"perm", perm}});
  };
  const Dims to_nhwc = {0, 2, 3, 1}, to_nchw = {0, 3, 1, 2};
  const Dims nhwc = {1, 7, 15, 4}, nchw = {1, 4, 7, 15};
  const std::string x = m.pixels({1, 4, 5, 7}), last = m.pixels({1, 5, 7, 4});
  m.b.output(m.b.dq<uint8_t>(resized(transposed(x, to_nhwc), nhwc), 1.0f, 0));
  m.b.output(m.b.dq<uint8_t>(transposed(resized(transposed(x, to_nhwc), nhwc), to_nchw), 1.0f, 0));
  m.b.output(m.b.dq<uint8_t>(resized(transposed(last, to_nchw), nchw), 1.0f, 0));
  m.b.output(m.b.dq<uint8_t>(resized(transposed(transposed(x, to_nhwc), to_nchw), nchw), 1.0f, 0));
  m.b.output(m.b.dq<uint8_t>(resized(last, nhwc), 1.0f, 0));
  const std::string sigmoid =
      m.b.node("QLinearSigmoid",
               {transposed(last, to_nchw), m.b.scalar(0.02f), m.b.scalar<uint8_t>(128),
                m.b.scalar(1.0f / 256), m.b.scalar<uint8_t>(0)},
               {}, "com.microsoft");
  m.b.output(m.b.dq<uint8_t>(resized(sigmoid, nchw), 1.0f, 0));
}

// Adds a Clip of a tiny scale in front of a MaxPool. ONNX Runtime moves the QuantizeLinear in front
// of the MaxPool, where the Clip's limits are within a float's epsilon of the integers' range.
void clip_of_a_tiny_scale_before_max_pool(BitsModel& m) {
  const std::string x = m.b.dq<uint8_t>(m.pixels({1, 2, 6, 6}), 1e-9f, 128);
  for (const char* op : {"Add", "Mul"}) {
    const std::string clip =
        m.b.node("Clip", {m.b.node(op, {x, x}), m.b.scalar(-1e-8f), m.b.scalar(1e-8f)});
    m.stored(m.b.node("MaxPool", {clip}, {{"kernel_shape", Dims{2, 2}}}),
             op[0] == 'A' ? 1.5e-9f : 1e-17f);
  }
}

void same_of_conv_below_zero(BitsModel& m) {
  const std::string x = m.image({1, 2, 12, 12});
  for (const char* how : {"SAME_UPPER", "SAME_LOWER"})
    m.stored(m.b.node("Conv", {x, m.weights({3, 2, 1, 1})},
                      {{"strides", Dims{3, 4}}, {"auto_pad", how}}));
  m.stored(m.b.node("Conv", {x, m.weights({3, 2, 2, 1})},
                    {{"strides", Dims{5, 5}}, {"auto_pad", "SAME_UPPER"}}));
}

void same_of_pools_below_zero(BitsModel& m) {
  const std::string x = m.image({1, 2, 12, 11});
  for (const char* how : {"SAME_UPPER", "SAME_LOWER"})
    for (const char* op : {"MaxPool", "AveragePool"})
      m.stored(m.b.node(op, {x},
                        {{"kernel_shape", Dims{1, 2}}, {"strides", Dims{3, 5}}, {"auto_pad", how}}),
               1.0f / 64);
}

void same_of_max_pool_leaves_dilations_out(BitsModel& m) {
  const std::string x = m.image({1, 2, 6, 5});
  m.stored(
      m.b.node(
          "MaxPool", {x},
          {{"kernel_shape", Dims{3, 2}}, {"dilations", Dims{2, 3}}, {"auto_pad", "SAME_UPPER"}}),
      1.0f / 64);
}

void same_of_conv_transpose_does_not_fill_up(BitsModel& m) {
  m.stored(m.b.node("ConvTranspose", {m.image({1, 1, 4, 4}), m.weights({1, 2, 1, 1})},
                    {{"strides", Dims{2, 2}}, {"auto_pad", "SAME_UPPER"}}));
}

// Adds a MaxPool with a window in the padding: a step of the dilation passes over the whole image.
void max_pool_window_in_padding(BitsModel& m) {
  m.stored(m.b.node("MaxPool", {m.image({1, 1, 4, 1})},
                    {{"kernel_shape", Dims{1, 2}},
                     {"dilations", Dims{1, 2}},
                     {"pads", Dims{0, 1, 0, 1}},
                     {"strides", Dims{1, 1}}}),
           1.0f / 64);
}

std::string qlinear_conv(BitsModel& m, const std::string& x, const Dims& kernel) {
  const std::string w = m.b.constant<int8_t>(kernel, codes<int8_t>(elements(kernel)));
  return m.b.node("QLinearConv",
                  {x, m.b.scalar(1.0f / 64), m.b.scalar<uint8_t>(128), w, m.b.scalar(0.01f),
                   m.b.scalar<int8_t>(0), m.b.scalar(1.0f / 16), m.b.scalar<uint8_t>(128)});
}

std::string resize_to(BitsModel& m, const std::string& x, const Dims& sizes) {
  return m.b.node("Resize", {x, "", "", m.ints(sizes)},
                  {{"mode", "linear"}, {"coordinate_transformation_mode", "half_pixel"}});
}

// Integers, channels last between QLinearConvs.
void linear_resize_behind_qlinear_conv(BitsModel& m) {
  m.b.model.mutable_opset_import(0)->set_version(18);
  const std::string x = m.b.q<uint8_t>(m.real({1, 2, 5, 4}), 1.0f / 64, 128);
  m.b.output(m.b.dq<uint8_t>(resize_to(m, qlinear_conv(m, x, {3, 2, 1, 1}), {1, 3, 7, 9}), 1, 0));
}

// Adds a linear Resize of the width alone behind a QLinearConv: with its height unchanged, the
// image is taken for one of as many channels.
void linear_resize_of_width_behind_qlinear_conv(BitsModel& m) {
  const std::string x = m.b.q<int8_t>(m.real({1, 2, 5, 7}), 1.0f / 64, 0);
  const std::string w = m.b.constant<int8_t>({3, 2, 1, 1}, {60, -50, 40, 63, -20, 61});
  const std::string y = m.b.node(
      "QLinearConv", {x, m.b.scalar(1.0f / 64), m.b.scalar<int8_t>(0), w, m.b.scalar(0.02f),
                      m.b.scalar<int8_t>(0), m.b.scalar(1.0f / 64), m.b.scalar<int8_t>(9)});
  m.b.output(m.b.dq<int8_t>(resize_to(m, y, {1, 3, 5, 21}), 1, 0));
}

void linear_resize_between_qlinear_convs(BitsModel& m) {
  m.b.model.mutable_opset_import(0)->set_version(18);
  const std::string x = m.b.q<uint8_t>(m.real({1, 2, 5, 4}), 1.0f / 64, 128);
  const std::string y = resize_to(m, qlinear_conv(m, x, {3, 2, 1, 1}), {1, 3, 7, 9});
  m.b.output(qlinear_conv(m, y, {2, 3, 1, 1}));
}

// Adds a linear Resize behind a sum that is not in NHWC, as one of its operands is no convolution's result.
void linear_resize_behind_sum(BitsModel& m) {
  m.b.model.mutable_opset_import(0)->set_version(18);
  const std::string x = m.b.q<uint8_t>(m.real({1, 3, 5, 4}), 1.0f / 64, 128);
  const std::string y = m.b.dq<uint8_t>(qlinear_conv(m, x, {3, 3, 1, 1}), 1.0f / 16, 128);
  const std::string sum = m.b.node("Add", {y, m.b.dq<uint8_t>(x, 1.0f / 64, 128)});
  const std::string stored = m.b.q<uint8_t>(sum, 1.0f / 16, 120);
  m.b.output(m.b.dq<uint8_t>(resize_to(m, stored, {1, 3, 7, 9}), 1, 0));
}

// Adds a linear Resize behind a part of such a sum, which is not in NHWC either.
void linear_resize_behind_part_of_sum(BitsModel& m) {
  m.b.model.mutable_opset_import(0)->set_version(18);
  const std::string x = m.b.q<uint8_t>(m.real({1, 3, 5, 4}), 1.0f / 64, 128);
  const std::string y = m.b.dq<uint8_t>(qlinear_conv(m, x, {3, 3, 1, 1}), 1.0f / 16, 128);
  const std::string sum = m.b.node("Add", {y, m.b.dq<uint8_t>(x, 1.0f / 64, 128)});
  const std::string part = m.b.node(
      "Slice", {m.b.q<uint8_t>(sum, 1.0f / 16, 120), m.ints({1}), m.ints({3}), m.ints({1})});
  m.b.output(m.b.dq<uint8_t>(resize_to(m, part, {1, 2, 7, 9}), 1, 0));
}

void linear_resize_behind_sum_of_convs(BitsModel& m) {
  m.b.model.mutable_opset_import(0)->set_version(18);
  const std::string x = m.b.q<uint8_t>(m.real({1, 3, 5, 4}), 1.0f / 64, 128);
  const std::string y = m.b.dq<uint8_t>(qlinear_conv(m, x, {3, 3, 1, 1}), 1.0f / 16, 128);
  const std::string z = m.b.dq<uint8_t>(qlinear_conv(m, x, {3, 3, 1, 1}), 1.0f / 16, 128);
  const std::string stored = m.b.q<uint8_t>(m.b.node("Add", {y, z}), 1.0f / 8, 120);
  m.b.output(m.b.dq<uint8_t>(resize_to(m, stored, {1, 3, 7, 9}), 1, 0));
}

void linear_resize_before_qlinear_conv(BitsModel& m) {
  m.b.model.mutable_opset_import(0)->set_version(18);
  const std::string x = m.b.q<uint8_t>(m.real({1, 3, 5, 4}), 1.0f / 64, 128);
  m.b.output(qlinear_conv(m, resize_to(m, x, {1, 3, 7, 9}), {2, 3, 1, 1}));
}

}  // namespace

std::vector<BitsCase> window_cases() {
  return {
      {"LinearResizeOfBytesBehindTransposes", linear_resize_of_bytes_behind_transposes},
      {"ClipOfATinyScaleBeforeMaxPool", clip_of_a_tiny_scale_before_max_pool},
      {"SameOfConvBelowZero", same_of_conv_below_zero},
      {"SameOfPoolsBelowZero", same_of_pools_below_zero},
      {"SameOfMaxPoolLeavesDilationsOut", same_of_max_pool_leaves_dilations_out},
      {"SameOfConvTransposeDoesNotFillUp", same_of_conv_transpose_does_not_fill_up},
      {"MaxPoolWindowInPadding", max_pool_window_in_padding},
      {"LinearResizeBehindQLinearConv", linear_resize_behind_qlinear_conv},
      {"LinearResizeOfWidthBehindQLinearConv", linear_resize_of_width_behind_qlinear_conv},
      {"LinearResizeBetweenQLinearConvs", linear_resize_between_qlinear_convs},
      {"LinearResizeBehindSum", linear_resize_behind_sum},
      {"LinearResizeBehindPartOfSum", linear_resize_behind_part_of_sum},
      {"LinearResizeBehindSumOfConvs", linear_resize_behind_sum_of_convs},
      {"LinearResizeBeforeQLinearConv", linear_resize_before_qlinear_conv},
  };
}

}  // namespace qrt::testing
