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

// Weights in units of 2^-10, by the reference's integers.
Status import_resize_bilinear(Importer& importer, const Op& op) {
  const auto o = op.options<tflite::ResizeBilinearOptions>();
  const Tensor& x = importer.input(op, 0);
  const Shape& from = x.shape;
  std::vector<int32_t> size;
  if (x.type != TensorType::INT8 && x.type != TensorType::INT16)
    return importer.refuse(op, std::string("its input is ") + type_name(x.type), x.name,
                           "quantise the activations to int8");
  Moving moving(importer, op, 0);
  if (!moving.is_good() || !importer.read_integers(op, 1, &size)) return Status();
  QRT_MODEL_CHECK(from.rank() == 4 && size.size() == 2 && size[0] >= 1 && size[1] >= 1,
                  "shape %s to a size of %zu numbers", from.to_string().c_str(), size.size());
  QRT_MODEL_CHECK(!o.align_corners || !o.half_pixel_centers,
                  "it has both align_corners and half_pixel_centers");
  fb::ResizeLinearOptionsT resize;
  resize.kind = importer.rounding() == Rounding::kSingle ? fb::ResizeKind::INT_HALF_UP
                                                         : fb::ResizeKind::INT_HALF_AWAY;
  resize.offset = x.type == TensorType::INT8 ? 128 : 0;
  Shape to = from;
  for (int d = 1; d <= 2; ++d) {
    const int64_t in = from[d], out = size[static_cast<size_t>(d) - 1];
    QRT_TRY(check_index_count(in));
    QRT_TRY(check_index_count(out));
    const bool corners = o.align_corners && out > 1;
    const int64_t scale =
        corners ? (1024 * (in - 1) + (out - 1) / 2) / (out - 1) : (1024 * in + out / 2) / out;
    auto axis = std::make_unique<fb::ResizeAxisT>();
    for (int64_t i = 0; i < out; ++i) {
      const int64_t at = i * scale + (o.half_pixel_centers ? scale / 2 - 512 : 0);
      const int64_t low = std::max<int64_t>(at / 1024, 0);
      if (low >= in)
        return importer.refuse(op, "the reference reads outside its input", x.name,
                               "resize with half_pixel_centers");
      axis->low.push_back(static_cast<int32_t>(low));
      axis->high.push_back(static_cast<int32_t>(std::min((at + 1023) / 1024, in - 1)));
      axis->low_weight.push_back(static_cast<int32_t>(1024 - (at - 1024 * low)));
      axis->high_weight.push_back(static_cast<int32_t>(at - 1024 * low));
    }
    (d == 1 ? resize.h : resize.w) = std::move(axis);
    to[d] = out;
  }
  QRT_TRY(check_output_shape(importer, op, to));
  const ValueId value = moving.value();
  const DType dtype = importer.graph().values[value].type.dtype;
  const ValueId y = importer.new_value(importer.output(op).name, dtype, to);
  importer.graph().values[y].quantization = importer.graph().values[value].quantization;
  importer.add_node<fb::ResizeLinearOptionsT>(op, {value}, y) = std::move(resize);
  return importer.finish_copy(op, y, "ResizeLinear");
}

}  // namespace qrt::convert::from_tflite
