// Resize and Upsample. Nearest is a Gather: every output index reads one input index, or, outside
// the region of tf_crop_and_resize, the extrapolation value. Linear of an image is ResizeLinear.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "converter/import/onnx_lut.h"
#include "converter/import/onnx_move.h"
#include "converter/import/onnx_ops.h"
#include "converter/import/onnx_wide.h"
#include "kernels/resize/resize.h"

namespace qrt::convert::from_onnx {
namespace {

enum class Coordinates {
  kHalfPixel,
  kHalfPixelSymmetric,
  kPytorchHalfPixel,
  kAlignCorners,
  kAsymmetric,
  kTfHalfPixelForNn,
  kTfCropAndResize
};
// kSimple: of operators before opset 11.
enum class Nearest { kSimple, kRoundPreferFloor, kRoundPreferCeil, kFloor, kCeil };

struct Axis {
  int64_t in = 1, out = 1;
  float scale = 1, roi_begin = 0, roi_end = 1;
};

struct Resize {
  Coordinates coordinates = Coordinates::kAsymmetric;
  Nearest nearest = Nearest::kSimple;
  std::vector<Axis> axes;  // of all dimensions

  bool extrapolates() const { return coordinates == Coordinates::kTfCropAndResize; }
};

bool parse(const std::string& name, Coordinates* value) {
  const std::pair<const char*, Coordinates> all[] = {
      {"half_pixel", Coordinates::kHalfPixel},
      {"half_pixel_symmetric", Coordinates::kHalfPixelSymmetric},
      {"pytorch_half_pixel", Coordinates::kPytorchHalfPixel},
      {"align_corners", Coordinates::kAlignCorners},
      {"asymmetric", Coordinates::kAsymmetric},
      {"tf_half_pixel_for_nn", Coordinates::kTfHalfPixelForNn},
      {"tf_crop_and_resize", Coordinates::kTfCropAndResize}};
  for (const auto& [text, mode] : all) {
    if (name != text) continue;
    *value = mode;
    return true;
  }
  return false;
}

bool parse(const std::string& name, Nearest* value) {
  const std::pair<const char*, Nearest> all[] = {{"round_prefer_floor", Nearest::kRoundPreferFloor},
                                                 {"round_prefer_ceil", Nearest::kRoundPreferCeil},
                                                 {"floor", Nearest::kFloor},
                                                 {"ceil", Nearest::kCeil}};
  for (const auto& [text, mode] : all) {
    if (name != text) continue;
    *value = mode;
    return true;
  }
  return false;
}

// Where output index i lies in the input: in float32 (and double) as ONNX Runtime computes it, in
// its order.
float coordinate(Coordinates mode, const Axis& a, int64_t i) {
  const float x = static_cast<float>(i), in = static_cast<float>(a.in);
  const float out = static_cast<float>(a.out);
  switch (mode) {
    case Coordinates::kAsymmetric: return x / a.scale;
    case Coordinates::kPytorchHalfPixel: return a.out > 1 ? (x + 0.5f) / a.scale - 0.5f : 0.0f;
    case Coordinates::kTfHalfPixelForNn: return (x + 0.5f) / a.scale;
    case Coordinates::kAlignCorners: return a.out == 1 ? 0.0f : x * (in - 1) / (out - 1);
    case Coordinates::kTfCropAndResize:
      if (a.out > 1)
        return a.roi_begin * (in - 1) + (x * (a.roi_end - a.roi_begin) * (in - 1)) / (out - 1);
      return static_cast<float>(0.5 * static_cast<double>(a.roi_begin + a.roi_end) *
                                static_cast<double>(in - 1));
    case Coordinates::kHalfPixelSymmetric: {
      const float adjustment = out / (a.scale * in);
      const float offset = in / 2 * (1 - adjustment);
      const double half = (static_cast<double>(x) + 0.5) / static_cast<double>(a.scale);
      return static_cast<float>(static_cast<double>(offset) + half - 0.5);
    }
    case Coordinates::kHalfPixel: break;
  }
  return (x + 0.5f) / a.scale - 0.5f;
}

float nearest(Nearest mode, float x, bool shrinks) {
  switch (mode) {
    case Nearest::kSimple: return shrinks ? std::ceil(x) : std::trunc(x);
    case Nearest::kFloor: return std::floor(x);
    case Nearest::kCeil: return std::ceil(x);
    case Nearest::kRoundPreferCeil:
    case Nearest::kRoundPreferFloor: break;
  }
  // ONNX Runtime takes what is next to a half for one.
  if (std::fabs(x - (std::trunc(x) + 0.5f)) < 1e-6f)
    return mode == Nearest::kRoundPreferCeil ? std::ceil(x) : std::floor(x);
  return std::round(x);
}

// Whether tf_crop_and_resize puts its extrapolation value there.
bool is_outside(const Resize& r, const Axis& a, float x) {
  return r.extrapolates() && !(x >= 0 && x <= static_cast<float>(a.in - 1));
}

Indices nearest_indices(const Resize& r, const Axis& a) {
  Indices indices;
  // An axis of scale 1 stays, whatever the modes say.
  if (a.scale == 1) return stepped(0, a.out, 1);
  for (int64_t i = 0; i < a.out; ++i) {
    const float x = coordinate(r.coordinates, a, i);
    const float last = static_cast<float>(a.in - 1);
    if (is_outside(r, a, x)) {
      indices.push_back(-1);
      continue;
    }
    const float at = nearest(r.nearest, x, a.scale < 1);
    indices.push_back(static_cast<int32_t>(at >= last ? last : at > 0 ? at : 0));
  }
  return indices;
}

// A constant of floats. False: it is none, refused.
bool constant_reals(Importer& importer, const NodeView& node, int i, std::vector<float>* values) {
  const Tensor& t = importer.input(node, i);
  if (t.is_plain_constant() && importer.constant_floats(t, values)) return true;
  (void)importer.refuse(node, "input '" + node.input(i) + "' is not a constant", node.input(i),
                        "simplify the model (constant folding) before conversion");
  return false;
}

bool is_given(Importer& importer, const NodeView& node, int i) {
  return node.has_input(i) && importer.input(node, i).shape.elements() > 0;
}

// Sizes and scales of the named axes, by the operator's `sizes`.
Status apply_sizes(const NodeView& node, const std::vector<int>& named,
                   const std::vector<int64_t>& sizes, Resize* r) {
  QRT_MODEL_CHECK(sizes.size() == named.size(), "%zu sizes for %zu axes", sizes.size(),
                  named.size());
  const std::string policy = node.text("keep_aspect_ratio_policy", "stretch");
  QRT_MODEL_CHECK(policy == "stretch" || policy == "not_larger" || policy == "not_smaller",
                  "its keep_aspect_ratio_policy is '%s'", policy.c_str());
  float common = 0;
  for (size_t i = 0; i < named.size(); ++i) {
    Axis& a = r->axes[static_cast<size_t>(named[i])];
    QRT_MODEL_CHECK(sizes[i] >= 1, "a size is %lld", static_cast<long long>(sizes[i]));
    a.out = sizes[i];
    a.scale = static_cast<float>(a.out) / static_cast<float>(a.in);
    const bool first = i == 0;
    if (first || (policy == "not_larger" ? a.scale < common : a.scale > common)) common = a.scale;
  }
  if (policy == "stretch") return Status();
  for (int d : named) {
    Axis& a = r->axes[static_cast<size_t>(d)];
    a.scale = common;
    a.out = static_cast<int64_t>(std::round(common * static_cast<float>(a.in)));
  }
  return Status();
}

Status apply_scales(const std::vector<int>& named, const std::vector<float>& scales, Resize* r) {
  QRT_MODEL_CHECK(scales.size() == named.size(), "%zu scales for %zu axes", scales.size(),
                  named.size());
  for (size_t i = 0; i < named.size(); ++i) {
    Axis& a = r->axes[static_cast<size_t>(named[i])];
    QRT_MODEL_CHECK(scales[i] > 0 && std::isfinite(scales[i]), "a scale is %g",
                    static_cast<double>(scales[i]));
    a.scale = scales[i];
    const float out = a.scale * static_cast<float>(a.in);
    if (!(out <= static_cast<float>(kMaxIndices)))
      return error(Code::kUnsupported, "a scale of %g makes an axis too long",
                   static_cast<double>(a.scale));
    a.out = static_cast<int64_t>(out);
  }
  return Status();
}

// Reads everything but the mode. *known: false where it was refused.
Status read_resize(Importer& importer, const NodeView& node, Resize* r, bool* known) {
  const Shape& from = importer.input(node, 0).shape;
  *known = false;
  r->axes.resize(static_cast<size_t>(from.rank()));
  std::vector<int> named;
  for (int d = 0; d < from.rank(); ++d) {
    Axis& a = r->axes[static_cast<size_t>(d)];
    a.in = a.out = from[d];
    QRT_MODEL_CHECK(a.in > 0, "it resizes an empty tensor");
    named.push_back(d);
  }
  std::vector<float> scales;
  const bool old = node.op() == "Upsample" || importer.opset(node) < 11;
  if (old) {
    if (!constant_reals(importer, node, 1, &scales)) return Status();
    QRT_TRY(apply_scales(named, scales, r));
    *known = true;
    return Status();
  }
  const std::string mode = node.text("coordinate_transformation_mode", "half_pixel");
  const std::string rounding = node.text("nearest_mode", "round_prefer_floor");
  QRT_MODEL_CHECK(parse(mode, &r->coordinates), "its coordinate_transformation_mode is '%s'",
                  mode.c_str());
  QRT_MODEL_CHECK(parse(rounding, &r->nearest), "its nearest_mode is '%s'", rounding.c_str());
  if (node.has("axes")) {
    named.clear();
    std::vector<bool> seen(static_cast<size_t>(from.rank()), false);
    for (int64_t a : node.integers("axes")) {
      int axis;
      QRT_TRY(read_axis(a, from.rank(), &axis));
      QRT_MODEL_CHECK(!seen[static_cast<size_t>(axis)], "axis %d is named twice", axis);
      seen[static_cast<size_t>(axis)] = true;
      named.push_back(axis);
    }
  }
  if (r->extrapolates()) {
    std::vector<float> roi;
    if (!constant_reals(importer, node, 1, &roi)) return Status();
    QRT_MODEL_CHECK(roi.size() == 2 * named.size(), "%zu numbers of a region for %zu axes",
                    roi.size(), named.size());
    for (size_t i = 0; i < named.size(); ++i) {
      QRT_MODEL_CHECK(std::isfinite(roi[i]) && std::isfinite(roi[i + named.size()]),
                      "its region is not finite");
      r->axes[static_cast<size_t>(named[i])].roi_begin = roi[i];
      r->axes[static_cast<size_t>(named[i])].roi_end = roi[i + named.size()];
    }
  }
  if (is_given(importer, node, 3)) {
    std::vector<int64_t> sizes;
    if (!constant_integers(importer, node, 3, &sizes)) return Status();
    QRT_TRY(apply_sizes(node, named, sizes, r));
  } else {
    QRT_MODEL_CHECK(is_given(importer, node, 2), "it has neither scales nor sizes");
    if (!constant_reals(importer, node, 2, &scales)) return Status();
    QRT_TRY(apply_scales(named, scales, r));
  }
  *known = true;
  return Status();
}

// The extrapolation value as an element of a float tensor, or of one of integers that are their own
// numbers.
bool cast_bits(float value, int type, int64_t* bits) {
  *bits = 0;
  int lo, hi;
  if (type == kFloat) {
    memcpy(bits, &value, sizeof value);
    return true;
  }
  if (!quantized_range(type, &lo, &hi) || !(value >= static_cast<float>(lo)) ||
      !(value <= static_cast<float>(hi)))
    return false;
  Quant stored;
  stored.type = type;
  *bits = static_cast<int64_t>(value) + stored.offset();
  return true;
}

Status resize_nearest(Importer& importer, const NodeView& node, const Resize& r) {
  const Tensor& x = importer.input(node, 0);
  IndexMaps maps(x.shape);
  for (size_t d = 0; d < r.axes.size(); ++d) {
    if (r.axes[d].out < 1) return error(Code::kUnsupported, "axis %zu becomes empty", d);
    QRT_TRY(check_index_count(r.axes[d].out));
    maps.set(static_cast<int>(d), nearest_indices(r, r.axes[d]));
  }
  if (x.is_pending() || x.is_pairs()) return importer.refuse_float(node, 0);
  if (!maps.fills()) return move(importer, node, {gathered(std::move(maps))});
  const float value = node.real("extrapolation_value", 0);
  int64_t bits;
  if (x.is_table()) return move_filled(importer, node, std::move(maps), value);
  if ((!x.is_value() && !x.is_plain_constant()) || !cast_bits(value, x.type, &bits))
    return importer.refuse(node, "its extrapolation value does not fit its input", node.input(0),
                           "use another coordinate_transformation_mode");
  if (x.is_constant()) bits = static_cast<int64_t>(value);
  return move(importer, node, {gathered(std::move(maps), bits)});
}

bool in_float(fb::ResizeKind kind) {
  return kind == fb::ResizeKind::F32 || kind == fb::ResizeKind::F32_TRUNCATED;
}

// Linear weights of an axis, as ONNX Runtime's kernels compute them; of 16 bits rounded to 2^-20.
std::unique_ptr<fb::ResizeAxisT> linear_axis(const Resize& r, const Axis& a, fb::ResizeKind kind) {
  auto axis = std::make_unique<fb::ResizeAxisT>();
  for (int64_t i = 0; i < a.out; ++i) {
    const float last = static_cast<float>(a.in - 1);
    const float at = a.scale == 1 ? static_cast<float>(i) : coordinate(r.coordinates, a, i);
    const float x = at >= last ? last : at > 0 ? at : 0;
    const auto low = static_cast<int32_t>(x);
    const int32_t high = static_cast<int32_t>(std::min<int64_t>(low + 1, a.in - 1));
    int32_t of_low, of_high;
    if (in_float(kind)) {
      const float to_low = low == high ? 0.5f : std::fabs(x - static_cast<float>(low));
      const float to_high = low == high ? 0.5f : std::fabs(x - static_cast<float>(high));
      of_low = static_cast<int32_t>(float_bits(to_high));
      of_high = static_cast<int32_t>(float_bits(to_low));
    } else if (kind == fb::ResizeKind::WIDE) {
      const float part = std::ldexp(x - static_cast<float>(low), 20);
      of_high = static_cast<int32_t>(std::nearbyint(part));
      of_low = kMaxWideResizeWeight - of_high;
    } else {
      const auto fine = static_cast<int32_t>(x * 1024);
      of_low = low == high ? 512 : std::abs(fine - high * 1024);
      of_high = low == high ? 512 : std::abs(fine - low * 1024);
    }
    axis->low.push_back(low);
    axis->high.push_back(high);
    axis->low_weight.push_back(of_low);
    axis->high_weight.push_back(of_high);
  }
  return axis;
}

// What the dimensions are to ResizeLinear. ONNX Runtime takes three dimensions for a volume,
// whichever of them it resizes: that decides in which order it adds.
enum class Layout { kNone, kPlane, kChannelsFirst, kChannelsLast, kVolume, kVolumes };

Layout layout_of(const Resize& r) {
  const auto stays = [&](size_t d) { return r.axes[d].scale == 1; };
  switch (r.axes.size()) {
    case 2: return Layout::kPlane;
    case 3: return Layout::kVolume;
    case 4:
      if (!stays(0)) return Layout::kNone;
      return stays(1) ? Layout::kChannelsFirst : stays(3) ? Layout::kChannelsLast : Layout::kNone;
    case 5: return stays(0) && stays(1) ? Layout::kVolumes : Layout::kNone;
    default: return Layout::kNone;
  }
}

// The node on a value of the source's layout. REQUIRES: a layout other than kNone.
ValueId resize_value(Importer& importer, const NodeView& node, const Resize& r, ValueId x,
                     fb::ResizeLinearOptionsT o) {
  const Layout layout = layout_of(r);
  const bool is_volume = layout == Layout::kVolume || layout == Layout::kVolumes;
  const Shape from = importer.shape_of(x);
  switch (layout) {
    case Layout::kNone:
    case Layout::kChannelsLast: break;
    case Layout::kPlane: x = importer.reshape(node, x, {1, from[0], from[1], 1}); break;
    case Layout::kVolume: x = importer.reshape(node, x, {1, from[0], from[1], from[2], 1}); break;
    case Layout::kChannelsFirst: x = importer.to_nhwc(node, x); break;
    case Layout::kVolumes: x = importer.transpose(node, x, {0, 2, 3, 4, 1}); break;
  }
  const bool is_wide = o.kind == fb::ResizeKind::WIDE;
  const char* level = in_float(o.kind) ? "I1" : "I0";
  // The order of sums depends on where in dimension 0 an image stands.
  if (in_float(o.kind) && (layout == Layout::kPlane || layout == Layout::kVolume))
    importer.graph().batch_is_fixed = true;
  Shape to = importer.shape_of(x), result = from;
  int axis = from.rank() - (is_volume || layout == Layout::kChannelsLast ? 3 : 2);
  int d = 1;
  for (auto* weights : {&o.d, &o.h, &o.w}) {
    if (weights == &o.d && !is_volume) continue;
    const Axis& a = r.axes[static_cast<size_t>(axis)];
    to[d++] = result[axis++] = a.out;
    *weights = linear_axis(r, a, o.kind);
  }
  const ValueId y = importer.new_value("", is_wide ? DType::kInt32 : DType::kUInt8, to);
  Node n = make_node<fb::ResizeLinearOptionsT>(node.name(), node.op(), {x}, {y});
  n.options.Set(std::move(o));
  importer.graph().nodes.push_back(std::move(n));
  importer.became(node, "ResizeLinear", level);
  switch (layout) {
    case Layout::kChannelsFirst: return importer.from_nhwc(node, y, "");
    case Layout::kVolumes: return importer.transpose(node, y, {0, 4, 1, 2, 3});
    case Layout::kChannelsLast: return y;
    default: return importer.reshape(node, y, result);
  }
}

// Of 16 bits, one side or both: the sum in 2^-14 of the input's steps, then one requantisation.
Status resize_wide(Importer& importer, const NodeView& node, const Resize& r, const Tensor& x,
                   const Quant& out, Limits limits, ValueId* result) {
  const double ratio = static_cast<double>(x.quant->scale[0]) / static_cast<double>(out.scale[0]);
  auto requant =
      wide_requant(importer, node, {std::ldexp(ratio, -14)}, {int64_t{1} << 30}, out, limits);
  if (!requant) return Status();
  fb::ResizeLinearOptionsT o;
  o.kind = fb::ResizeKind::WIDE;
  o.input_zero_point = x.quant->stored_zero_point();
  const ValueId sums =
      resize_value(importer, node, r, importer.widened(node, x.value), std::move(o));
  *result = importer.new_value("", out.is_wide() ? DType::kInt16 : DType::kUInt8,
                               importer.shape_of(sums), &out);
  Node n = make_node<fb::RequantizeOptionsT>(node.name(), node.op(), {sums}, {*result});
  options<fb::RequantizeOptionsT>(n).requant = std::move(requant);
  importer.graph().nodes.push_back(std::move(n));
  importer.became(node, "ResizeLinear, Requantize", "I0");
  return Status();
}

// Puts `fill` where the region reaches beyond the input.
ValueId fill_outside(Importer& importer, const NodeView& node, const Resize& r, ValueId y,
                     int64_t fill) {
  IndexMaps maps(importer.shape_of(y));
  for (size_t d = 0; d < r.axes.size(); ++d) {
    const Axis& a = r.axes[d];
    Indices indices = stepped(0, a.out, 1);
    for (size_t i = 0; a.scale != 1 && i < indices.size(); ++i)
      if (is_outside(r, a, coordinate(r.coordinates, a, static_cast<int64_t>(i)))) indices[i] = -1;
    if (std::count(indices.begin(), indices.end(), -1) > 0)
      maps.set(static_cast<int>(d), std::move(indices));
  }
  return maps.fills() ? importer.gather(node, y, maps, fill) : y;
}

// As ResizeLinear takes them.
bool is_usual(float scale) { return scale >= 0x1p-100f && scale <= 0x1p100f; }

// Of 8 bits: what ONNX Runtime does between DequantizeLinear and QuantizeLinear.
ValueId resize_f32(Importer& importer, const NodeView& node, const Resize& r, const Tensor& x,
                   const Quant& out, Limits limits) {
  fb::ResizeLinearOptionsT o;
  o.kind = fb::ResizeKind::F32;
  o.input_scale = float_bits(x.quant->scale[0]);
  o.input_zero_point = x.quant->stored_zero_point();
  o.output_scale = float_bits(out.scale[0]);
  o.output_zero_point = out.stored_zero_point();
  o.lo = limits.lo;
  o.hi = limits.hi;
  return resize_value(importer, node, r, x.value, std::move(o));
}

Status resize_linear(Importer& importer, const NodeView& node, const Resize& r) {
  const Tensor x = importer.input(node, 0);
  const auto no = [&](const std::string& rule, const char* remedy) {
    return importer.refuse(node, rule, node.input(0), remedy);
  };
  if (layout_of(r) == Layout::kNone)
    return no("it resizes other than two dimensions of an image or three of a volume linearly",
              "resize height and width only");
  if (node.integer("antialias", 0) != 0)
    return no("linear with antialias has weights of its own for every size, which qrt has not",
              "resize without antialias");
  const float beyond = node.real("extrapolation_value", 0);
  Shape to = x.shape;
  for (size_t d = 0; d < r.axes.size(); ++d) {
    if (r.axes[d].out < 1) return error(Code::kUnsupported, "axis %zu becomes empty", d);
    QRT_TRY(check_index_count(r.axes[d].out));
    to[static_cast<int>(d)] = r.axes[d].out;
  }
  if (x.is_value() && (x.type == kUint8 || x.type == kInt8)) {
    fb::ResizeLinearOptionsT o;
    o.kind = layout_of(r) == Layout::kChannelsLast ? fb::ResizeKind::INT_TRUNCATED
                                                   : fb::ResizeKind::F32_TRUNCATED;
    o.offset = x.type == kInt8 ? 128 : 0;
    int64_t fill;
    if (!cast_bits(beyond, x.type, &fill))
      return no("its extrapolation value does not fit its input",
                "use another coordinate_transformation_mode");
    Tensor y = x;
    y.shape = to;
    y.value = fill_outside(importer, node, r,
                           resize_value(importer, node, r, x.value, std::move(o)), fill);
    importer.set_output(node, 0, std::move(y));
    return Status();
  }
  if (!x.is_dequantized()) return importer.refuse_float(node, 0);
  if (!x.quant->per_tensor() || !is_usual(x.quant->scale[0]))
    return no("its input has several scales or an unusual one", "quantise it per tensor");
  importer.defer(node, to)->emit = [&importer, &node, r, x, beyond](const Quant& out, Limits limits,
                                                                    ValueId* result) {
    if (!is_usual(out.scale[0]))
      return importer.refuse(node, "its output has an unusual scale", node.output(0),
                             "quantise the model with scales of usual size");
    ValueId y = kNoValue;
    if (x.quant->is_wide() || out.is_wide()) {
      QRT_TRY(resize_wide(importer, node, r, x, out, limits, &y));
      if (y == kNoValue) return Status();
    } else {
      y = resize_f32(importer, node, r, x, out, limits);
    }
    int lo, hi;
    quantized_range(out.type, &lo, &hi);
    const int fill = quantize_ort(beyond, out.scale[0], out.zero_point[0], lo, hi) + out.offset();
    *result = importer.with_quant(
        node, fill_outside(importer, node, r, y, std::clamp(fill, limits.lo, limits.hi)), out);
    return Status();
  };
  return Status();
}

}  // namespace

Status import_resize(Importer& importer, const NodeView& node) {
  const std::string mode = node.text("mode", "nearest");
  QRT_MODEL_CHECK(mode == "nearest" || mode == "linear" || mode == "cubic", "its mode is '%s'",
                  mode.c_str());
  Resize r;
  bool known;
  QRT_TRY(read_resize(importer, node, &r, &known));
  if (!known) return Status();
  if (mode == "nearest") return resize_nearest(importer, node, r);
  if (mode == "linear") return resize_linear(importer, node, r);
  return importer.refuse(node, "it resizes in mode 'cubic', of which qrt has no integer form",
                         node.input(0), "resize in mode 'linear' or 'nearest'");
}

}  // namespace qrt::convert::from_onnx
