// SPDX-License-Identifier: Apache-2.0
// Linear Resize: the operator ResizeLinear, of two dimensions of an image or three of a volume.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "converter/import/onnx/arithmetic/int16.h"
#include "converter/import/onnx/arithmetic/ort_math.h"
#include "converter/import/onnx/deferred/pending.h"
#include "converter/import/onnx/deferred/table.h"
#include "converter/import/onnx/file/fused.h"
#include "converter/import/onnx/move.h"
#include "converter/import/onnx/ops/resize/geometry.h"

namespace qrt::convert::from_onnx {
namespace {

bool in_float(fb::ResizeKind kind) {
  return kind == fb::ResizeKind::F32 || kind == fb::ResizeKind::F32_TRUNCATED;
}

// Returns the linear weights of an axis, as ONNX Runtime's kernels compute them.
std::unique_ptr<fb::ResizeAxisT> linear_axis(const Resize& r, const ResizeAxis& a,
                                             fb::ResizeKind kind) {
  auto axis = std::make_unique<fb::ResizeAxisT>();
  for (int64_t i = 0; i < a.out; ++i) {
    const LinearTap tap = linear_tap(kind, a.resized(), coordinate(r.coordinates, a, i));
    axis->low.push_back(tap.low);
    axis->high.push_back(tap.high);
    axis->low_weight.push_back(tap.low_weight);
    axis->high_weight.push_back(tap.high_weight);
  }
  return axis;
}

// The roles of the dimensions for ResizeLinear. ONNX Runtime takes three dimensions for a volume,
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

// Resizes a value in the source's layout. REQUIRES: a layout other than kNone.
ValueId resize_value(Importer& importer, const NodeView& node, const Resize& r, ValueId x,
                     fb::ResizeLinearOptionsT o) {
  const Layout layout = layout_of(r);
  const bool is_volume = layout == Layout::kVolume || layout == Layout::kVolumes;
  const Shape from = importer.builder().shape_of(x);
  switch (layout) {
    case Layout::kNone:
    case Layout::kChannelsLast: break;
    case Layout::kPlane: x = importer.builder().reshape(node, x, {1, from[0], from[1], 1}); break;
    case Layout::kVolume:
      x = importer.builder().reshape(node, x, {1, from[0], from[1], from[2], 1});
      break;
    case Layout::kChannelsFirst: x = importer.builder().to_nhwc(node, x); break;
    case Layout::kVolumes: x = importer.builder().transpose(node, x, {0, 2, 3, 4, 1}); break;
  }
  const bool is_int16 = o.kind == fb::ResizeKind::INT16_SUM;
  const char* level = in_float(o.kind) ? "I1" : "I0";
  // The order of sums depends on where in dimension 0 an image stands.
  if (in_float(o.kind) && (layout == Layout::kPlane || layout == Layout::kVolume))
    importer.graph().batch_closed =
        "node '" + node.name() + "' (Resize) sums the last image of a batch in another order";
  Shape to = importer.builder().shape_of(x), result = from;
  int axis = from.rank() - (is_volume || layout == Layout::kChannelsLast ? 3 : 2);
  int d = 1;
  for (auto* weights : {&o.d, &o.h, &o.w}) {
    if (weights == &o.d && !is_volume) continue;
    const ResizeAxis& a = r.axes[static_cast<size_t>(axis)];
    to[d++] = result[axis++] = a.out;
    *weights = linear_axis(r, a, o.kind);
  }
  const ValueId y = importer.builder().new_value("", is_int16 ? DType::kInt32 : DType::kUInt8, to);
  Node n = make_node<fb::ResizeLinearOptionsT>(node.name(), node.op(), {x}, {y});
  n.options.Set(std::move(o));
  importer.graph().nodes.push_back(std::move(n));
  importer.became(node, "ResizeLinear", level);
  switch (layout) {
    case Layout::kChannelsFirst: return importer.builder().from_nhwc(node, y, "");
    case Layout::kVolumes: return importer.builder().transpose(node, y, {0, 4, 1, 2, 3});
    case Layout::kChannelsLast: return y;
    default: return importer.builder().reshape(node, y, result);
  }
}

// Resizes where the input or the output has 16 bits: the sum in 2^-14 of the input's quanta, then one requantisation.
Status resize_int16(Importer& importer, const NodeView& node, const Resize& r, const Tensor& x,
                    const Quant& out, Limits limits, ValueId* result) {
  const double ratio = static_cast<double>(x.quant->scale[0]) / static_cast<double>(out.scale[0]);
  auto requant =
      int16_requant(importer, node, {std::ldexp(ratio, -14)}, {int64_t{1} << 30}, out, limits);
  if (!requant) return Status();
  fb::ResizeLinearOptionsT o;
  o.kind = fb::ResizeKind::INT16_SUM;
  o.input_zero_point = x.quant->stored_zero_point();
  const ValueId sums =
      resize_value(importer, node, r, importer.builder().widened(node, x.value), std::move(o));
  *result = importer.builder().new_value("", out.is_int16() ? DType::kInt16 : DType::kUInt8,
                                         importer.builder().shape_of(sums), &out);
  Node n = make_node<fb::RequantizeOptionsT>(node.name(), node.op(), {sums}, {*result});
  options<fb::RequantizeOptionsT>(n).requant = std::move(requant);
  importer.graph().nodes.push_back(std::move(n));
  importer.became(node, "ResizeLinear, Requantize", "I0");
  return Status();
}

// Puts `fill` where the region reaches beyond the input.
ValueId fill_outside(Importer& importer, const NodeView& node, const Resize& r, ValueId y,
                     int64_t fill) {
  IndexMaps maps(importer.builder().shape_of(y));
  for (size_t d = 0; d < r.axes.size(); ++d) {
    const ResizeAxis& a = r.axes[d];
    Indices indices = stepped(0, a.out, 1);
    for (size_t i = 0; a.scale != 1 && i < indices.size(); ++i)
      if (is_outside(r, a, coordinate(r.coordinates, a, static_cast<int64_t>(i)))) indices[i] = -1;
    if (std::count(indices.begin(), indices.end(), -1) > 0)
      maps.set(static_cast<int>(d), std::move(indices));
  }
  return maps.fills() ? importer.builder().gather(node, y, maps, fill) : y;
}

// Returns whether ResizeLinear takes a scale of this size.
bool is_usual(float scale) { return scale >= 0x1p-100f && scale <= 0x1p100f; }

// Resizes 8-bit values as ONNX Runtime does between DequantizeLinear and QuantizeLinear.
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

// Returns whether ONNX Runtime has these images in NHWC. It brings operands of Add and Mul in NCHW
// back first. Tables and parts of an image (Split) leave the order as it is.
bool is_nhwc(const GraphBuilder& builder, ValueId x, int depth = 0) {
  constexpr int kMostDepth = 16;
  if (!builder.is_marked(x) || depth > kMostDepth) return false;
  const int at = builder.graph().producer(x);
  if (at < 0) return false;
  const Node& node = builder.graph().nodes[static_cast<size_t>(at)];
  // Tables of what it computes in float, which it does in the source's layout.
  const bool has_integer_form = node.source_op == "Sigmoid" || node.source_op == "LeakyRelu" ||
                                node.source_op == "QuantizeLinear";
  if (node.options.AsPairLut() || (node.options.AsLut() && !has_integer_form)) return false;
  if (node.options.AsLut() || node.options.AsGather())
    return is_nhwc(builder, node.inputs[0], depth + 1);
  if (!node.options.AsAdd() && !node.options.AsMul()) return true;
  return std::all_of(node.inputs.begin(), node.inputs.end(), [&](ValueId input) {
    return builder.graph().values[input].is_constant || is_nhwc(builder, input, depth + 1);
  });
}

// Counts the readers of a Transpose and of equal ones of the same tensor, which ONNX Runtime makes one node.
int readers_of(const Importer& importer, const NodeView& transpose) {
  int readers = 0;
  for (int i : importer.model().readers(transpose.input(0))) {
    const NodeView& other = importer.node(i);
    if (other.op() == "Transpose" && !other.has(kAxisOrder) &&
        other.integers("perm") == transpose.integers("perm"))
      readers += importer.uses(other.output(0));
  }
  return readers;
}

bool leads_to_transpose(const Importer& importer, const NodeView& node) {
  const std::vector<int>& readers = importer.model().readers(node.output(0));
  return std::any_of(readers.begin(), readers.end(), [&](int i) {
    const NodeView& reader = importer.node(i);
    return reader.op() == "Transpose" && !reader.has(kAxisOrder);
  });
}

// Returns whether the tensor, a function of the maker's first input alone, is computed element by
// element.
bool is_function(Importer& importer, const NodeView& maker, const Tensor& t) {
  const Tensor& x = importer.input(maker, 0);
  if (x.is_constant() || x.shape != t.shape) return false;
  if (t.is_table()) return true;
  const int at = t.is_value() ? importer.graph().producer(t.value) : -1;
  return at >= 0 && importer.graph().nodes[static_cast<size_t>(at)].options.AsLut() != nullptr;
}

// Returns the order in which the elements of a Resize's input lie where ONNX Runtime resizes them: the input is
// transpose(these, perm). It moves every Transpose in front of a Resize behind it; and across functions
// that stand between the two, where nothing else reads the Transpose or another one follows.
std::vector<int> moved_transposes(Importer& importer, const NodeView& resize) {
  constexpr int kMostMoves = 64;  // bound for a hostile file with thousands of moves
  std::vector<int> perm(static_cast<size_t>(importer.input(resize, 0).shape.rank()));
  std::iota(perm.begin(), perm.end(), 0);
  const auto behind = [&](const auto& first) {
    for (int& d : perm) d = static_cast<int>(first[static_cast<size_t>(d)]);
  };
  std::string name = resize.input(0);
  bool crosses_function = false;
  for (int i = 0; i < kMostMoves; ++i) {
    const Tensor& t = importer.tensors().at(name);
    const GraphBuilder& builder = importer.builder();
    if (t.is_value() && builder.is_marked(t.value)) {
      if (perm.size() == 4 && is_nhwc(builder, t.value)) behind(std::vector<int>{0, 3, 1, 2});
      break;
    }
    const NodeView* maker = importer.producer(name);
    if (!maker) break;
    if (maker->has(kAxisOrder)) break;
    if (maker->op() == "Transpose") {
      if (crosses_function && readers_of(importer, *maker) > 1 &&
          !leads_to_transpose(importer, resize))
        break;
      std::vector<int64_t> first = maker->integers("perm");
      for (size_t d = perm.size(); first.size() < perm.size() && d > 0; --d)
        first.push_back(static_cast<int64_t>(d) - 1);
      behind(first);
    } else if (is_function(importer, *maker, t)) {
      crosses_function = true;
    } else {
      break;
    }
    name = maker->input(0);
  }
  return perm;
}

}  // namespace

Status resize_linear(Importer& importer, const NodeView& node, const Resize& r) {
  const Tensor x = importer.input(node, 0);
  const auto no = [&](const std::string& rule, const char* remedy) {
    return importer.refuse(node, rule, node.input(0), remedy);
  };
  if (layout_of(r) == Layout::kNone)
    return no("it resizes other than two dimensions of an image or three of a volume linearly",
              "resize height and width only, or in mode 'nearest'");
  if (node.integer("antialias", 0) != 0)
    return no("linear with antialias has weights of its own for every size, which qrt has not",
              "resize with antialias = 0");
  const float beyond = node.real("extrapolation_value", 0);
  Shape to = x.shape;
  for (size_t d = 0; d < r.axes.size(); ++d) {
    if (r.axes[d].out < 1) return error(Code::kUnsupported, "axis %zu becomes empty", d);
    QRT_TRY(check_index_count(r.axes[d].out));
    to[static_cast<int>(d)] = r.axes[d].out;
  }
  if (x.is_value() && (x.type == kUint8 || x.type == kInt8)) {
    fb::ResizeLinearOptionsT o;
    // The layout decides in which order ONNX Runtime adds. It takes images in NHWC whose height stays
    // for images of so many channels.
    const std::vector<int> perm = moved_transposes(importer, node);
    std::vector<int> back(perm.size());
    Resize of_layout = r;
    for (size_t i = 0; i < perm.size(); ++i) {
      const auto from = static_cast<size_t>(perm[i]);
      back[from] = static_cast<int>(i);
      of_layout.axes[from] = r.axes[i];
    }
    const bool moves = !std::is_sorted(perm.begin(), perm.end());
    if (layout_of(of_layout) == Layout::kNone)
      return no(
          "ONNX Runtime has its dimensions in another order, in which it does not resize them",
          "move the Transpose in front of it behind it");
    const bool is_marked = importer.builder().is_marked(x.value);
    o.kind = layout_of(of_layout) == Layout::kChannelsLast ? fb::ResizeKind::INT_TRUNCATED
                                                           : fb::ResizeKind::F32_TRUNCATED;
    o.offset = x.type == kInt8 ? 128 : 0;
    int64_t fill;
    if (!cast_bits(beyond, x.type, &fill))
      return no("its extrapolation value does not fit its input",
                "export the Resize with another coordinate_transformation_mode, half_pixel or "
                "asymmetric");
    Tensor y = x;
    y.shape = to;
    y.value = moves ? importer.builder().transpose(node, x.value, back) : x.value;
    y.value = resize_value(importer, node, of_layout, y.value, std::move(o));
    if (moves) y.value = importer.builder().transpose(node, y.value, perm);
    y.value = fill_outside(importer, node, r, y.value, fill);
    if (moves && is_marked) importer.builder().mark(y.value);
    importer.set_output(node, 0, std::move(y));
    return Status();
  }
  if (!x.is_fusible()) return importer.refuse_float(node, 0);
  if (!is_usual(x.quant->scale[0]))
    return no("its input has an unusual scale",
              "calibrate the quantisation again: qrt_convert --lint names the scales that are no "
              "ordinary positive numbers");
  defer(importer, node, to)->emit = [&importer, &node, r, x, beyond](
                                        const Quant& out, Limits limits, ValueId* result) {
    if (!is_usual(out.scale[0]))
      return importer.refuse(node, "its output has an unusual scale", node.output(0),
                             "calibrate the quantisation again: qrt_convert --lint names the "
                             "scales that are no ordinary positive numbers");
    ValueId y = kNoValue;
    if (x.quant->is_int16() || out.is_int16()) {
      QRT_TRY(resize_int16(importer, node, r, x, out, limits, &y));
      if (y == kNoValue) return Status();
    } else {
      y = resize_f32(importer, node, r, x, out, limits);
    }
    *result = importer.builder().with_quant(
        node, fill_outside(importer, node, r, y, quantized(beyond, out, limits)), out);
    return Status();
  };
  return Status();
}

}  // namespace qrt::convert::from_onnx
