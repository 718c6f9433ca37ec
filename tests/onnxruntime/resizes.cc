// SPDX-License-Identifier: Apache-2.0
// Resize, of floats between two pairs and of integers.
#include <algorithm>
#include <numeric>

#include "tests/onnxruntime/graph_maker.h"

namespace qrt::random_onnx {

namespace {

// Keeps the aspect: one scale for all axes, the least or the greatest of those that the sizes ask for.
void keep_aspect(const Dims& from, const Dims& axes, bool greatest, Dims* sizes) {
  float common = 0;
  for (size_t i = 0; i < axes.size(); ++i) {
    const size_t d = static_cast<size_t>(axes[i]);
    const float scale = static_cast<float>((*sizes)[d]) / static_cast<float>(from[d]);
    if (i == 0 || (greatest ? scale > common : scale < common)) common = scale;
  }
  for (int64_t a : axes) {
    const size_t d = static_cast<size_t>(a);
    (*sizes)[d] = static_cast<int64_t>(std::round(common * static_cast<float>(from[d])));
  }
}

}  // namespace

std::string GraphMaker::coordinates(bool linear, bool cubic) {
  std::vector<std::string> modes = {"half_pixel", "half_pixel", "asymmetric", "align_corners",
                                    "pytorch_half_pixel"};
  if (!cubic) modes.push_back("tf_crop_and_resize");
  if (opset_ >= 19) modes.push_back("half_pixel_symmetric");
  if (opset_ < 13 && !linear && !cubic) modes.push_back("tf_half_pixel_for_nn");
  return dice_.pick(modes);
}

// Returns the input roi: a part of the tensor, or more than all of it.
std::string GraphMaker::region(const std::string& coordinates, const Dims& axes, size_t first,
                               std::vector<Attr>* attributes) {
  const std::string none = opset_ < 13 ? b_.constant<float>({0}, {}) : "";
  if (coordinates != "tf_crop_and_resize") return none;
  std::vector<float> begin, end;
  for (int64_t d : axes) {
    const bool moves = d >= static_cast<int64_t>(first);
    begin.push_back(moves ? static_cast<float>(dice_.real(-0.3, 0.5)) : 0.0f);
    end.push_back(moves ? static_cast<float>(dice_.real(0.5, 1.3)) : 1.0f);
  }
  if (dice_.coin())
    attributes->push_back(Attr("extrapolation_value", static_cast<float>(dice_.real(-2, 2))));
  begin.insert(begin.end(), end.begin(), end.end());
  return b_.constant({static_cast<int64_t>(begin.size())}, begin);
}

// Adds a Resize of height and width mostly; the nearest also of other dimensions.
bool GraphMaker::resize() {
  const size_t x = pick({2, 3, 4, 4, 4, 5});
  const Live in = live_[x];
  const size_t rank = in.dims.size();
  const bool linear = dice_.coin();
  // Cubic and antialiased resizing is done in float.
  const bool cubic = opset_ >= 11 && rank == 4 && dice_.one_in(8);
  const bool any = !linear && !cubic && opset_ >= 11 && dice_.one_in(4);
  const size_t first = any ? in.has_batch : rank == 2 ? 0 : rank < 4 ? rank - 2 : 2;
  std::vector<Attr> attributes = {Attr("mode", cubic ? "cubic" : linear ? "linear" : "nearest")};
  if (opset_ >= 18 && rank == 4 && (cubic || linear) && dice_.one_in(6))
    attributes.push_back(Attr("antialias", 1));
  Dims sizes = in.dims, axes;
  std::vector<float> scales(rank, 1.0f);
  for (size_t i = first; i < rank; ++i) {
    axes.push_back(static_cast<int64_t>(i));
    scales[i] = opset_ < 11 ? 2.0f : dice_.pick<float>({2.0f, 2.0f, 1.0f, 0.5f, 1.5f, 3.0f});
    sizes[i] = static_cast<int64_t>(std::floor(static_cast<float>(in.dims[i]) * scales[i]));
    if (sizes[i] < 1) return false;
  }
  const std::string r = read(x);
  Names inputs = {r};
  if (opset_ < 11) {
    inputs.push_back(b_.constant({static_cast<int64_t>(rank)}, scales));
  } else {
    const bool named = opset_ >= 18 && dice_.one_in(3);
    const std::string how = coordinates(linear, cubic);
    attributes.push_back(Attr("coordinate_transformation_mode", how.c_str()));
    if (!linear && !cubic && dice_.coin())
      attributes.push_back(
          Attr("nearest_mode",
               dice_.pick<std::string>({"floor", "round_prefer_floor", "ceil", "round_prefer_ceil"})
                   .c_str()));
    if (!named) {
      axes.resize(rank);
      std::iota(axes.begin(), axes.end(), 0);
    }
    inputs.insert(inputs.end(), {region(how, axes, first, &attributes), "", ""});
    if (opset_ < 13) inputs[2] = b_.constant<float>({0}, {});
    if (in.has_batch || dice_.coin()) {
      std::vector<float> said;
      for (int64_t d : axes) said.push_back(scales[static_cast<size_t>(d)]);
      inputs[2] = b_.constant({static_cast<int64_t>(said.size())}, said);
      inputs.pop_back();
    } else {
      for (size_t i = first; i < rank; ++i) sizes[i] = dice_.integer(1, 2 * in.dims[i]);
      Dims said;
      for (int64_t d : axes) said.push_back(sizes[static_cast<size_t>(d)]);
      inputs[3] = integers64(said);
      if (named && dice_.coin()) {
        const bool larger = dice_.coin();
        attributes.push_back(
            Attr("keep_aspect_ratio_policy", larger ? "not_smaller" : "not_larger"));
        keep_aspect(in.dims, axes, larger, &sizes);
      }
    }
    if (named) attributes.push_back(Attr("axes", axes));
  }
  if (elements(sizes) > 20000) return false;
  const std::string y = b_.node("Resize", inputs, attributes);
  if (!dice_.coin()) return finish(y, sizes, in.amplitude, in.has_batch);
  quantise(y, sizes, in.amplitude, in.has_batch, &in.quant);
  return true;
}

// Adds a Resize of integers, as it stands between QLinear operators.
bool GraphMaker::resize_integers() {
  const size_t x = pick({3, 4, 4, 4, 5});
  const Live in = live_[x];
  if (in.quant.is_int16() || opset_ < 11) return false;
  Dims sizes = in.dims;
  for (size_t i = 2; i < sizes.size(); ++i) sizes[i] = dice_.integer(1, 3 * sizes[i]);
  std::vector<float> scales(sizes.size(), 1.0f);
  const bool linear = dice_.coin(), by_scale = in.has_batch || dice_.coin();
  if (by_scale)
    for (size_t i = 2; i < sizes.size(); ++i) {
      scales[i] = dice_.pick<float>({2.0f, 1.5f, 3.0f});
      sizes[i] = static_cast<int64_t>(std::floor(static_cast<float>(in.dims[i]) * scales[i]));
    }
  const std::string none = opset_ < 13 ? b_.constant<float>({0}, {}) : "";
  const int64_t rank = static_cast<int64_t>(sizes.size());
  live_[x].is_read = true;
  const Names inputs = by_scale ? Names{in.name, none, b_.constant({rank}, scales)}
                                : Names{in.name, none, none, integers64(sizes)};
  const std::string y =
      b_.node("Resize", inputs,
              {Attr("mode", linear ? "linear" : "nearest"),
               Attr("coordinate_transformation_mode", dice_.coin()   ? "half_pixel"
                                                      : dice_.coin() ? "asymmetric"
                                                                     : "align_corners")});
  add_live(y, sizes, in.quant, in.has_batch, in.amplitude);
  return true;
}

}  // namespace qrt::random_onnx
