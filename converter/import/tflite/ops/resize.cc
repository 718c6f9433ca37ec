// SPDX-License-Identifier: Apache-2.0
// RESIZE_NEAREST_NEIGHBOR and RESIZE_BILINEAR.
#include <algorithm>
#include <cmath>

#include "converter/import/tflite/moving.h"
#include "converter/import/tflite/ops/handlers.h"

namespace qrt::convert::from_tflite {

Status import_resize_nearest_neighbor(Importer& importer, const Op& op) {
  const auto o = op.options<tflite::ResizeNearestNeighborOptions>();
  Moving x(importer, op, 0);
  std::vector<int32_t> size;
  if (!x.is_good() || !importer.read_integers(op, 1, &size)) return Status();
  QRT_MODEL_CHECK(x.shape().rank() == 4 && size.size() == 2 && size[0] >= 1 && size[1] >= 1,
                  "shape %s to a size of %zu numbers", x.shape().to_string().c_str(), size.size());
  IndexMaps maps(x.shape());
  for (int d = 1; d <= 2; ++d) {
    const int64_t in = x.shape()[d], out = size[static_cast<size_t>(d) - 1];
    QRT_TRY(check_index_count(out));
    const bool corners = o.align_corners && out > 1;
    const float scale = corners ? static_cast<float>(in - 1) / static_cast<float>(out - 1)
                                : static_cast<float>(in) / static_cast<float>(out);
    const float offset = o.half_pixel_centers ? 0.5f : 0.0f;
    Indices indices;
    for (int64_t i = 0; i < out; ++i) {
      const float at = (static_cast<float>(i) + offset) * scale;
      const auto nearest = static_cast<int64_t>(o.align_corners ? std::round(at) : std::floor(at));
      indices.push_back(static_cast<int32_t>(std::clamp<int64_t>(nearest, 0, in - 1)));
    }
    maps.set(d, std::move(indices));
  }
  QRT_TRY(x.gather(maps));
  return x.finish();
}

namespace {

constexpr int kBits = 10;  // weights are in units of 2^-10
constexpr int64_t kUnit = 1 << kBits;

// Places each output along an axis of `in` inputs, by the reference's integers. Returns false where
// it reads outside its input.
bool place_by_integers(int64_t in, int64_t out, bool corners, bool half_pixels,
                       fb::ResizeAxisT* axis) {
  const int64_t scale =
      corners ? (kUnit * (in - 1) + (out - 1) / 2) / (out - 1) : (kUnit * in + out / 2) / out;
  for (int64_t i = 0; i < out; ++i) {
    const int64_t at = i * scale + (half_pixels ? scale / 2 - kUnit / 2 : 0);
    const int64_t low = std::max<int64_t>(at / kUnit, 0);
    if (low >= in) return false;
    axis->low.push_back(static_cast<int32_t>(low));
    axis->high.push_back(static_cast<int32_t>(std::min((at + kUnit - 1) / kUnit, in - 1)));
    axis->low_weight.push_back(static_cast<int32_t>(kUnit - (at - kUnit * low)));
    axis->high_weight.push_back(static_cast<int32_t>(at - kUnit * low));
  }
  return true;
}

// Places each output along an axis by the reference's floats, those of uint8. *bits: how many the
// weights' fractions take at most. Returns false where one takes more than an integer weight has.
bool place_by_floats(int64_t in, int64_t out, bool corners, bool half_pixels, fb::ResizeAxisT* axis,
                     int* bits) {
  const float scale = corners ? static_cast<float>(in - 1) / static_cast<float>(out - 1)
                              : static_cast<float>(in) / static_cast<float>(out);
  *bits = 0;
  for (int64_t i = 0; i < out; ++i) {
    const auto index = static_cast<float>(i);
    const float product = (half_pixels ? index + 0.5f : index) * scale;
    const float at = half_pixels ? product - 0.5f : product;
    const auto low = std::max<int64_t>(static_cast<int64_t>(std::floor(at)), 0);
    const float weight = at - static_cast<float>(low);
    const float units = weight * static_cast<float>(kUnit);
    if (low >= in || units != std::floor(units)) return false;
    const auto high_weight = static_cast<int32_t>(units);
    axis->low.push_back(static_cast<int32_t>(low));
    axis->high.push_back(
        static_cast<int32_t>(std::min<int64_t>(static_cast<int64_t>(std::ceil(at)), in - 1)));
    axis->low_weight.push_back(static_cast<int32_t>(kUnit) - high_weight);
    axis->high_weight.push_back(high_weight);
    for (int k = *bits; k < kBits; ++k)
      if (high_weight % (1 << (kBits - k)) != 0) *bits = k + 1;
  }
  return true;
}

}  // namespace

// Imports RESIZE_BILINEAR. For uint8 the reference adds products of floats, which are exact, and so
// the same as integers, where weights and their products have few bits: as in usual enlargements.
Status import_resize_bilinear(Importer& importer, const Op& op) {
  const auto o = op.options<tflite::ResizeBilinearOptions>();
  const Tensor& x = importer.input(op, 0);
  const Shape& from = x.shape;
  std::vector<int32_t> size;
  if (x.type != TensorType::INT8 && x.type != TensorType::UINT8 && x.type != TensorType::INT16)
    return importer.refuse(op, std::string("its input is ") + type_name(x.type), x.name,
                           "convert the model with int8 activations (TFLITE_BUILTINS_INT8)");
  Moving moving(importer, op, 0);
  if (!moving.is_good() || !importer.read_integers(op, 1, &size)) return Status();
  QRT_MODEL_CHECK(from.rank() == 4 && size.size() == 2 && size[0] >= 1 && size[1] >= 1,
                  "shape %s to a size of %zu numbers", from.to_string().c_str(), size.size());
  QRT_MODEL_CHECK(!o.align_corners || !o.half_pixel_centers,
                  "it has both align_corners and half_pixel_centers");
  const bool legacy = x.type == TensorType::UINT8;
  fb::ResizeLinearOptionsT resize;
  resize.kind = legacy || importer.rounding() == Rounding::kSingle ? fb::ResizeKind::INT_HALF_UP
                                                                   : fb::ResizeKind::INT_HALF_AWAY;
  resize.offset = x.type == TensorType::INT8 ? 128 : 0;
  Shape to = from;
  int fraction_bits = 0;
  for (int d = 1; d <= 2; ++d) {
    const int64_t in = from[d], out = size[static_cast<size_t>(d) - 1];
    QRT_TRY(check_index_count(in));
    QRT_TRY(check_index_count(out));
    const bool corners = o.align_corners && out > 1;
    auto axis = std::make_unique<fb::ResizeAxisT>();
    int bits = 0;
    if (legacy && !place_by_floats(in, out, corners, o.half_pixel_centers, axis.get(), &bits))
      bits = 24;
    fraction_bits += bits;
    if (!legacy && !place_by_integers(in, out, corners, o.half_pixel_centers, axis.get()))
      return importer.refuse(op, "the reference reads outside its input", x.name,
                             "build the resize with half_pixel_centers");
    (d == 1 ? resize.h : resize.w) = std::move(axis);
    to[d] = out;
  }
  // A byte, half a step and a weight of up to 1.5 for either side are left of a float's 24 bits.
  if (fraction_bits > 24 - 8 - 2)
    return importer.refuse(op,
                           "its input is uint8, and the weights of this enlargement are rounded",
                           x.name, "quantise the activations to int8, or resize by a power of two");
  QRT_TRY(check_output_shape(importer, op, to));
  const ValueId value = moving.value();
  const DType dtype = importer.graph().values[value].type.dtype;
  const ValueId y = importer.builder().new_value(importer.output(op).name, dtype, to);
  importer.graph().values[y].quantization = importer.graph().values[value].quantization;
  importer.builder().add<fb::ResizeLinearOptionsT>(op, {value}, y) = std::move(resize);
  return importer.finish_copy(op, y, "ResizeLinear");
}

}  // namespace qrt::convert::from_tflite
