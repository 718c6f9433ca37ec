// SPDX-License-Identifier: Apache-2.0
// Average pools. Over a part of the image they are ONNX Runtime's ordered float sum, over the whole image
// its integer sum.
#include "converter/import/common/index_maps.h"
#include "converter/import/onnx/arithmetic/int16.h"
#include "converter/import/onnx/arithmetic/linear.h"
#include "converter/import/onnx/ops/handlers.h"
#include "converter/import/onnx/plane_layer.h"

namespace qrt::convert::from_onnx {
namespace {

struct AveragePool {
  ValueId x = kNoValue;
  Quant x_quant;
  Image image;
  Window window;  // of the windowed form, as the source has it
  bool global = false;
  bool include_pad = false;

  Shape result() const { return image.shape(image.c, window.depth.output, window.output); }
  // Returns the window and result of the operator on the images that images_of() gives.
  Window window_of_images() const;
  Shape shape_of_images() const {
    const int64_t* size = window.output;
    if (global || !image.is_volume()) return {image.n, size[0], size[1], image.c};
    return {image.n, window.depth.output, size[0], size[1], image.c};
  }
};

// Returns the window on the images of images_of(): a window of a volume becomes one of its rows,
// plane by plane, below each other.
Window AveragePool::window_of_images() const {
  if (!image.is_volume()) return window;
  Window rows = window;
  WindowAxis a;
  a.kernel = a.stride = window.depth.kernel * window.kernel[0];
  a.output = window.output[0];
  rows.set_axis(0, a);
  rows.overhang[0] = rows.skip[0] = 0;
  return rows;
}

// Returns x [n, d, h, w, c] as [n, out_d, out_h * kernel_d * kernel_h, w, c], in the order of ONNX
// Runtime's sums.
ValueId rows_of_windows(Importer& importer, const NodeView& node, const AveragePool& p, ValueId x) {
  GraphBuilder& builder = importer.builder();
  const Shape s = builder.shape_of(x);
  const WindowAxis depth = p.window.depth, height = p.window.axis(0);
  Indices rows(static_cast<size_t>(height.output * height.kernel));
  for (int64_t tap = 0; tap < height.kernel; ++tap) {
    const Indices of_tap = indices_of_tap(height, s[2], tap);
    for (size_t o = 0; o < of_tap.size(); ++o)
      rows[o * static_cast<size_t>(height.kernel) + static_cast<size_t>(tap)] = of_tap[o];
  }
  const int64_t out_h = height.output;
  std::vector<ValueId> planes;
  for (int64_t tap = 0; tap < depth.kernel; ++tap) {
    IndexMaps maps(s);
    maps.set(1, indices_of_tap(depth, s[1], tap));
    maps.set(2, rows);
    const ValueId plane = builder.gather(node, x, maps, p.x_quant.stored_zero_point());
    planes.push_back(
        builder.reshape(node, plane, {s[0], depth.output, out_h, height.kernel * s[3] * s[4]}));
  }
  const ValueId joined = planes.size() == 1 ? planes[0] : builder.concat(node, planes, 3);
  return builder.reshape(node, joined,
                         {s[0], depth.output, out_h * depth.kernel * height.kernel, s[3], s[4]});
}

// Returns the images on which the operator is a pool in two dimensions. A volume under a global
// pool becomes one image; under other windows, rows_of_windows().
ValueId images_of(Importer& importer, const NodeView& node, const AveragePool& p) {
  const ValueId x = windowed_to_nhwc(importer, node, p.image, p.window, p.x);
  if (!p.image.is_volume()) return x;
  const Image& i = p.image;
  if (p.global)
    return importer.builder().reshape(node, x, {i.n, i.depth * i.size[0], i.size[1], i.c});
  return rows_of_windows(importer, node, p, x);
}

// Limits y where a Relu or Clip changes values: the operator has no limits of its own, so it gets a
// table behind it.
ValueId limited(Importer& importer, const NodeView& node, ValueId y, Limits limits) {
  if (limits.lo <= 0 && limits.hi >= 255) return y;
  std::vector<uint8_t> table(256);
  for (int i = 0; i < 256; ++i)
    table[static_cast<size_t>(i)] = static_cast<uint8_t>(i < limits.lo   ? limits.lo
                                                         : i > limits.hi ? limits.hi
                                                                         : i);
  return importer.builder().lut(node, y, table, false, "", nullptr);
}

// Averages 16-bit values over the whole image: the sum and one rounding.
Status emit_int16_global(Importer& importer, const NodeView& node, const std::string& ops,
                         const AveragePool& p, const Quant& out, Limits limits, ValueId* result) {
  const int64_t area = p.image.positions();
  if (area >= 1 << 15)
    return importer.refuse(
        node,
        "it averages " + std::to_string(area) + " values of 16 bits, at most 32767 fit its sum",
        node.output(0), "quantise its input and output to 8 bits");
  const double factor = static_cast<double>(p.x_quant.scale[0]) /
                        (static_cast<double>(out.scale[0]) * static_cast<double>(area));
  auto requant = int16_requant(importer, node, {factor}, {area * 65535}, out, limits);
  if (!requant) return Status();
  const ValueId x = importer.builder().widened(node, images_of(importer, node, p));
  const ValueId y = importer.builder().new_value("", DType::kInt16, p.shape_of_images(), &out);
  Node n = make_node<fb::GlobalAveragePool2DOptionsT>(node.name(), ops, {x}, {y});
  auto& o = options<fb::GlobalAveragePool2DOptionsT>(n);
  o.input_zero_point_16 = static_cast<int16_t>(p.x_quant.stored_zero_point());
  o.requant = std::move(requant);
  importer.graph().nodes.push_back(std::move(n));
  importer.became(node, "GlobalAveragePool2D", "I0");
  *result = from_planes(importer, node, p.image, p.window, as_output(importer, node, y, out));
  return Status();
}

// Windows of 16 bits that all have the same number of positions: a convolution with weights of 1.
Status emit_int16_windows(Importer& importer, const NodeView& node, const std::string& ops,
                          const AveragePool& p, const Quant& out, Limits limits, ValueId* result) {
  const Window window = p.window_of_images();
  const int64_t taps = window.kernel[0] * window.kernel[1], c = p.image.c;
  const bool overhangs = node.integer("ceil_mode", 0) != 0 && p.window.padded();
  if ((p.window.padded() && !p.include_pad) || overhangs || taps > 511)
    return importer.refuse(
        node,
        "its windows of 16 bits have different numbers of positions, or more "
        "than 511",
        node.output(0), "set count_include_pad to 1, or quantise its input and output to 8 bits");
  Int16Source source;
  QRT_TRY(importer.tensors().reserve(static_cast<uint64_t>(taps * c) * sizeof(source.weights[0]),
                                     importer.graph()));
  source.weights.assign(static_cast<size_t>(taps * c), 1);
  source.out = c;
  source.padded_in = taps * 4;
  source.products = {static_cast<double>(p.x_quant.scale[0]) / static_cast<double>(taps)};
  source.bias.assign(static_cast<size_t>(c), 0.0);
  source.x_zero_point = p.x_quant.stored_zero_point();
  auto layer = make_int16_layer(importer, node, source, out, limits);
  if (!layer) return Status();
  Graph& graph = importer.graph();
  const ValueId x = importer.builder().widened(node, images_of(importer, node, p));
  const Shape weights{window.kernel[0], window.kernel[1], c};
  const ValueId w = graph.add_constant("", DType::kInt16, weights, layer->weights);
  const ValueId y = importer.builder().new_value("", DType::kInt16, p.shape_of_images(), &out);
  Node n = make_node<fb::DepthwiseConv2DOptionsT>(node.name(), ops, {x, w, layer->bias}, {y});
  auto& o = options<fb::DepthwiseConv2DOptionsT>(n);
  set_window(window, &o);
  o.input_zero_point_16 = static_cast<int16_t>(source.x_zero_point);
  o.requant = std::move(layer->requant);
  graph.nodes.push_back(std::move(n));
  importer.became(node, "DepthwiseConv2D", "I0");
  *result = from_planes(importer, node, p.image, p.window, as_output(importer, node, y, out));
  return Status();
}

// Pads x with elements. ONNX Runtime's average of floats, which it computes for several readers and
// in front of a Relu or Clip that changes values, counts padding but nothing beyond it.
ValueId with_padding(Importer& importer, const NodeView& node, int64_t zero_point, Window* w,
                     ValueId x) {
  IndexMaps maps(importer.builder().shape_of(x));
  for (int i = 0; i < 2; ++i) {
    maps.set(1 + i, padded(maps.from()[1 + i], w->before[i], w->after[i] - w->overhang[i],
                           PadMode::kConstant));
    w->before[i] = 0;
    w->after[i] = w->overhang[i];
  }
  return importer.builder().gather(node, x, maps, zero_point);
}

Status emit(Importer& importer, const NodeView& node, const std::string& ops, const AveragePool& p,
            const Quant& out, Limits limits, ValueId* result) {
  if (p.x_quant.is_int16() || out.is_int16())
    return p.global ? emit_int16_global(importer, node, ops, p, out, limits, result)
                    : emit_int16_windows(importer, node, ops, p, out, limits, result);
  if (p.x_quant.type != out.type)
    return importer.refuse(node,
                           std::string("ONNX Runtime has no integer form for ") +
                               dtype_name(p.x_quant.type) + " input and " + dtype_name(out.type) +
                               " output",
                           node.output(0), "quantise its input and its output to one type");
  const float x_scale = p.x_quant.scale[0], y_scale = out.scale[0];
  if (!is_usable_scale(x_scale) || !is_usable_scale(y_scale))
    return importer.refuse(node, "a scale is not a normal positive number", node.output(0),
                           "calibrate the quantisation again: qrt_convert --lint names the scales "
                           "that are no ordinary positive numbers");
  ValueId x = images_of(importer, node, p);
  Node n;
  if (p.global) {
    const float area = static_cast<float>(p.image.positions());
    const float divisor = y_scale * area, scale = x_scale / divisor;
    if (p.image.positions() >= 1 << 24 || !(scale >= 0x1p-32f && scale < 256.0f))
      return importer.refuse(node, "the scale ratio of this average is outside [2^-32, 256)",
                             node.output(0),
                             "calibrate the quantisation again: qrt_convert --lint names the "
                             "scales that are no ordinary positive numbers");
    n = make_node<fb::GlobalAveragePool2DOptionsT>(node.name(), ops, {}, {});
    auto& o = options<fb::GlobalAveragePool2DOptionsT>(n);
    o.input_zero_point = static_cast<uint8_t>(p.x_quant.stored_zero_point());
    o.requant = std::make_unique<fb::RequantT>();
    o.requant->kind = fb::RequantKind::F32;
    o.requant->zero_point = out.stored_zero_point();
    o.requant->lo = limits.lo;
    o.requant->hi = limits.hi;
    o.requant->scale = {float_bits(scale)};
  } else {
    n = make_node<fb::AveragePool2DOptionsT>(node.name(), ops, {}, {});
    auto& o = options<fb::AveragePool2DOptionsT>(n);
    Window w = p.window_of_images();
    const bool overhangs = w.overhang[0] != 0 || w.overhang[1] != 0;
    const bool is_qlinear = node.op() != "AveragePool";
    const bool in_float = !is_qlinear && (limits.cut(out) || importer.uses(node.output(0)) > 1);
    const bool pads = p.include_pad && overhangs && in_float;
    if (pads) x = with_padding(importer, node, p.x_quant.stored_zero_point(), &w, x);
    set_kernel(w, &o);
    set_window(w, &o);
    o.count_include_pad = p.include_pad && !pads;
    o.input_scale = float_bits(x_scale);
    o.input_zero_point = static_cast<uint8_t>(p.x_quant.stored_zero_point());
    o.output_scale = float_bits(y_scale);
    o.output_zero_point = out.zero_point[0];
    o.output_offset = out.offset();
  }
  const bool nhwc = importer.builder().is_marked(p.x);
  n.inputs = {x};
  ValueId y = importer.builder().new_value("", DType::kUInt8, p.shape_of_images(), &out);
  n.outputs = {y};
  importer.graph().nodes.push_back(std::move(n));
  importer.became(node, p.global ? "GlobalAveragePool2D" : "AveragePool2D", "I1");
  if (!p.global) y = limited(importer, node, y, limits);
  *result = from_planes(importer, node, p.image, p.window, y);
  if (nhwc) importer.builder().mark(*result);
  return Status();
}

// Windows of volumes become rows of an image, which have to be within the format's limits, and all of
// one number of positions.
Status check_volume_windows(Importer& importer, const NodeView& node, const AveragePool& p,
                            bool* known) {
  *known = true;
  if (!p.image.is_volume() || p.global) return Status();
  const Window& w = p.window;
  const WindowAxis axes[2] = {w.depth, w.axis(0)};
  Shape made;
  QRT_TRY(make_shape({p.image.n, w.depth.output, w.output[0], w.kernel[0] * p.image.size[1],
                      w.depth.kernel * p.image.c},
                     &made));
  bool pads = false;
  for (const WindowAxis& a : axes) {
    QRT_TRY(check_index_count(a.kernel * a.output));
    pads |= a.before > 0 || a.after > 0;
  }
  // Every tap along depth has a map of the rows.
  QRT_TRY(check_index_count(w.depth.kernel * w.kernel[0] * w.output[0]));
  const bool overhangs = node.integer("ceil_mode", 0) != 0 && (pads || w.after[1] > 0);
  const int64_t rows = w.depth.kernel * w.kernel[0];
  if (rows > kMaxWindowField)
    return error(Code::kUnsupported,
                 "its windows over a volume have %lld rows, at most %lld are supported",
                 static_cast<long long>(rows), static_cast<long long>(kMaxWindowField));
  *known = (!pads || p.include_pad) && !overhangs;
  if (*known) return Status();
  return importer.refuse(node, "its windows over a volume have different numbers of positions",
                         node.output(0),
                         "set count_include_pad to 1 and ceil_mode to 0, or pool without padding");
}

// Reads attributes of AveragePool and QLinearAveragePool. *known stays false where they are refused.
Status read_average(Importer& importer, const NodeView& node, const Shape& x, bool channels_last,
                    AveragePool* p, bool* known) {
  QRT_TRY(read_image(importer, node, x, channels_last, kMostDimensions, &p->image, known));
  if (!*known) return Status();
  *known = false;
  QRT_TRY(read_window(node, p->image, node.integers("kernel_shape"), true, &p->window));
  if (p->window.dilation[0] != 1 || p->window.dilation[1] != 1 || p->window.depth.dilation != 1)
    return importer.refuse(node, "it has dilations", node.output(0),
                           "pool without dilations, or with a Conv of equal weights");
  p->include_pad = node.integer("count_include_pad", 0) != 0;
  const WindowAxis& depth = p->window.depth;
  p->global = !p->window.padded() && p->window.kernel[0] == p->image.size[0] &&
              p->window.kernel[1] == p->image.size[1] && depth.kernel == p->image.depth &&
              depth.before == 0 && depth.after == 0;
  return check_volume_windows(importer, node, *p, known);
}

Status defer_average(Importer& importer, const NodeView& node, const Tensor& x, AveragePool p) {
  p.x = x.value;
  p.x_quant = *x.quant;
  const auto pending = defer(importer, node, p.result());
  const std::string* ops = &pending->ops;
  pending->emit = [&importer, &node, p, ops](const Quant& out, Limits limits, ValueId* result) {
    return emit(importer, node, *ops, p, out, limits, result);
  };
  return Status();
}

Status finish_qlinear(Importer& importer, const NodeView& node, AveragePool p) {
  const Tensor& x = importer.input(node, 0);
  if (!x.is_value()) return importer.refuse_float(node, 0);
  std::optional<Quant> in, out;
  QRT_TRY(read_tensor_quant(importer, node, 1, 2, x.type, &in));
  if (!in) return Status();
  QRT_TRY(read_tensor_quant(importer, node, 3, 4, node.has_input(4) ? kUndefined : x.type, &out));
  if (!out) return Status();
  p.x = importer.builder().with_quant(node, x.value, *in);
  p.x_quant = *in;
  Tensor y;
  y.kind = Tensor::Kind::kValue;
  y.type = onnx_type(out->type);
  y.shape = p.result();
  QRT_TRY(emit(importer, node, node.op(), p, *out, Limits(), &y.value));
  if (y.value == kNoValue) return Status();
  y.value = importer.builder().with_quant(node, y.value, *out);
  importer.set_output(node, 0, std::move(y));
  return Status();
}

}  // namespace

Status import_global_average_pool(Importer& importer, const NodeView& node) {
  const Tensor& x = importer.input(node, 0);
  if (!x.is_fusible()) return importer.refuse_float(node, 0);
  AveragePool p;
  p.global = true;
  bool known;
  QRT_TRY(read_image(importer, node, x.shape, false, kMostDimensions, &p.image, &known));
  return known ? defer_average(importer, node, x, std::move(p)) : Status();
}

Status import_average_pool(Importer& importer, const NodeView& node) {
  const Tensor& x = importer.input(node, 0);
  if (!x.is_fusible()) return importer.refuse_float(node, 0);
  AveragePool p;
  bool known;
  QRT_TRY(read_average(importer, node, x.shape, false, &p, &known));
  return known ? defer_average(importer, node, x, std::move(p)) : Status();
}

Status import_qlinear_average_pool(Importer& importer, const NodeView& node) {
  AveragePool p;
  bool known;
  QRT_TRY(read_average(importer, node, importer.input(node, 0).shape,
                       node.integer("channels_last", 0) != 0, &p, &known));
  return known ? finish_qlinear(importer, node, std::move(p)) : Status();
}

Status import_qlinear_global_average_pool(Importer& importer, const NodeView& node) {
  AveragePool p;
  p.global = true;
  bool known;
  QRT_TRY(read_image(importer, node, importer.input(node, 0).shape,
                     node.integer("channels_last", 0) != 0, kMostDimensions, &p.image, &known));
  return known ? finish_qlinear(importer, node, std::move(p)) : Status();
}

}  // namespace qrt::convert::from_onnx
