// SPDX-License-Identifier: Apache-2.0
// Conv, also with a filter for each channel.
#include "converter/import/espdl/ops/linear.h"

namespace qrt::convert::from_espdl {
namespace {

// Reads the filter's shape from its dimensions [h, w, c, n] or [w, c, n], or with one filter per
// channel [h, w, n, 1] or [w, n, 1].
Status filter_shape(const Shape& dims, int64_t group, int64_t in_channels, FilterShape* shape) {
  const int rank = dims.rank();
  QRT_MODEL_CHECK(rank == 3 || rank == 4,
                  "the weights have shape %s, expected [h, w, c, n] or [w, c, n]",
                  dims.to_string().c_str());
  shape->h = rank == 4 ? dims[0] : 1;
  shape->w = dims[rank - 3];
  shape->is_depthwise = group > 1;
  shape->c = shape->is_depthwise ? 1 : dims[rank - 2];
  shape->n = shape->is_depthwise ? dims[rank - 2] : dims[rank - 1];
  QRT_MODEL_CHECK(dims.elements() > 0, "the weights have no elements");
  if (shape->is_depthwise &&
      (dims[rank - 1] != 1 || group != in_channels || shape->n != in_channels))
    return error(Code::kUnsupported,
                 "weights of shape %s in %lld groups on %lld channels: one group, or one per "
                 "channel is supported",
                 dims.to_string().c_str(), static_cast<long long>(group),
                 static_cast<long long>(in_channels));
  QRT_MODEL_CHECK(shape->is_depthwise || shape->c == in_channels,
                  "weights of shape %s do not fit %lld input channels", dims.to_string().c_str(),
                  static_cast<long long>(in_channels));
  return Status();
}

}  // namespace

Status import_conv(Importer& importer, const Node& node) {
  Linear linear;
  Activation x;
  if (!importer.read_pair(node, &x, &linear.out) || !read_activation(importer, node, &linear.relu))
    return Status();
  linear.in = x.format;
  const int rank = importer.builder().shape_of(x.value).rank();
  QRT_TRY(as_image(importer, node, &x.value));
  const Shape in = importer.builder().shape_of(x.value), dims = importer.input(node, 1).shape;
  QRT_MODEL_CHECK(dims.rank() == rank, "weights of shape %s on an input of %d dimensions",
                  dims.to_string().c_str(), rank);
  const int64_t group = node.integer("group", 1);
  QRT_MODEL_CHECK(group >= 1, "group is %lld, expected at least 1", static_cast<long long>(group));
  QRT_TRY(filter_shape(dims, group, in[3], &linear.shape));
  const FilterShape& f = linear.shape;
  Window window;
  QRT_TRY(rank == 4 ? read_window(node, {in[1], in[2]}, {f.h, f.w}, &window)
                    : read_window(node, {in[2]}, {f.w}, &window));
  LinearConstants constants;
  const Shape shape = f.is_depthwise ? Shape{f.h, f.w, f.n} : Shape{f.n, f.h, f.w, f.c};
  bool known;
  QRT_TRY(read_linear(importer, node, shape, &linear, &constants, &known));
  if (!known) return Status();
  const std::vector<ValueId> inputs = {x.value, constants.weights, constants.bias};
  const ValueId y = importer.builder().new_value("", linear.out,
                                                 {in[0], window.output[0], window.output[1], f.n});
  const auto fill = [&](auto& conv) {
    set_window(window, &conv);
    set_dilation(window, &conv);
    set_zero_point(linear.in, &conv.input_zero_point, &conv.input_zero_point_16);
    conv.requant = requant_of(importer, linear);
  };
  if (f.is_depthwise)
    fill(importer.builder().add<fb::DepthwiseConv2DOptionsT>(node, inputs, y));
  else
    fill(importer.builder().add<fb::Conv2DOptionsT>(node, inputs, y));
  importer.finish(node, from_image(importer, node, y, rank), linear.out);
  importer.became(node, (f.is_depthwise ? "DepthwiseConv2D" : "Conv2D") + constants.note, "I0");
  return Status();
}

}  // namespace qrt::convert::from_espdl
