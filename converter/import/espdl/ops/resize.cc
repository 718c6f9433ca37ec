// SPDX-License-Identifier: Apache-2.0
// Resize of int8: nearest as an index map; linear in float32, first along the columns, then along the rows, every step rounded.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "converter/import/espdl/ops.h"

namespace qrt::convert::from_espdl {
namespace {

// One axis: position i of the output lies between `low` and low + 1 of the input, the part f of the way.
struct ResizeAxis {
  int axis = 0;  // of the tensor
  int64_t in = 1, out = 1;
  float scale = 1;
  std::vector<int32_t> low;
  std::vector<float> f;

  bool is_changed() const { return in != out || scale != 1; }
};

// Sizes or scales of an axis, which stand in the order [n, c, spatial...].
Status read_axes(Importer& importer, const Node& node, const Shape& from,
                 std::vector<ResizeAxis>* axes, bool* known) {
  *known = false;
  const auto rank = static_cast<size_t>(from.rank());
  std::vector<int64_t> sizes;
  std::vector<float> scales;
  if (node.has_input(3) && importer.input(node, 3).bytes > 0) {
    if (!importer.read_integers(node, 3, &sizes)) return Status();
    QRT_MODEL_CHECK(sizes.size() == rank, "%zu sizes for %zu dimensions, expected one for each",
                    sizes.size(), rank);
  } else {
    const Tensor* t = node.has_input(2) ? &importer.input(node, 2) : nullptr;
    if (!t || !t->is_constant || t->type != DataType::FLOAT || t->bytes == 0 || !t->problem.empty())
      return importer.refuse(node, "neither its scales nor its sizes are constants",
                             importer.output(node).name,
                             "store the scales or sizes of the Resize as constants");
    scales.resize(t->bytes / sizeof(float));
    memcpy(scales.data(), t->data, t->bytes);
    QRT_MODEL_CHECK(scales.size() == rank, "%zu scales for %zu dimensions, expected one for each",
                    scales.size(), rank);
  }
  QRT_MODEL_CHECK(rank == 3 || rank == 4,
                  "the input has shape %s, expected [n, h, w, c] or [n, w, c]",
                  from.to_string().c_str());
  const bool is_spatial = scales.empty()
                              ? sizes[0] == from[0] && sizes[1] == from[static_cast<int>(rank) - 1]
                              : scales[0] == 1 && scales[1] == 1;
  if (!is_spatial)
    return importer.refuse(node, "it resizes the batch or the channels", importer.output(node).name,
                           "build the Resize so that it keeps batch and channels");
  for (size_t i = 2; i < rank; ++i) {
    ResizeAxis a;
    a.axis = static_cast<int>(i) - 1;
    a.in = from[a.axis];
    if (scales.empty()) {
      a.out = sizes[i];
      a.scale = static_cast<float>(a.out) / static_cast<float>(a.in);
    } else {
      a.scale = scales[i];
      QRT_MODEL_CHECK(a.scale > 0 && a.scale < 65536,
                      "a scale is %g, expected more than 0 and less than 65536",
                      static_cast<double>(a.scale));
      a.out = static_cast<int64_t>(static_cast<float>(a.in) * a.scale);
    }
    QRT_MODEL_CHECK(a.in >= 1 && a.out >= 1, "%lld positions become %lld, expected at least 1",
                    static_cast<long long>(a.in), static_cast<long long>(a.out));
    QRT_TRY(check_index_count(a.out));
    axes->push_back(std::move(a));
  }
  *known = true;
  return Status();
}

// Returns q * 2^left as the C code computes it: the lowest 8 bits of the integer.
std::vector<int16_t> wrapped(int left) {
  std::vector<int16_t> values;
  for (int q = kInt8Limits.lo; q <= kInt8Limits.hi; ++q)
    values.push_back(left < 8 ? static_cast<int8_t>(q * (1 << left)) : int16_t{0});
  return values;
}

Status resize_nearest(Importer& importer, const Node& node, const Activation& x, const Format& out,
                      const std::vector<ResizeAxis>& axes) {
  IndexMaps maps(importer.builder().shape_of(x.value));
  for (const ResizeAxis& a : axes) {
    if (!a.is_changed()) continue;
    const float step = 1.0f / a.scale;
    Indices indices;
    for (int64_t i = 0; i < a.out; ++i) {
      const auto at = static_cast<int64_t>(std::floor(static_cast<float>(i) * step));
      indices.push_back(static_cast<int32_t>(std::min(at, a.in - 1)));
    }
    maps.set(a.axis, std::move(indices));
  }
  Activation y = x;
  y.value = importer.builder().gathered(node, x.value, maps, 0);
  // R(q * 2^(e_in - e_out)), the shift of RequantizeLinear, but for what the C code multiplies.
  const int left = x.format.exponent - out.exponent;
  importer.finish(node,
                  importer.target() == Target::kC && left > 0
                      ? importer.builder().table(node, y, wrapped(left), out)
                      : importer.builder().rescale(node, y, out),
                  out);
  importer.became(node, "Gather", "I0");
  return Status();
}

void place_linear(bool corners, ResizeAxis* a) {
  const float scale = !corners    ? a->scale
                      : a->in > 1 ? static_cast<float>(a->out - 1) / static_cast<float>(a->in - 1)
                                  : 0.0f;
  const float step = scale > 0 ? 1.0f / scale : 0.0f;
  for (int64_t i = 0; i < a->out; ++i) {
    const float x =
        corners ? static_cast<float>(i) * step : (static_cast<float>(i) + 0.5f) * step - 0.5f;
    auto low = static_cast<int64_t>(std::floor(x));
    float f = x - static_cast<float>(low);
    if (low < 0) low = 0, f = 0;
    if (low >= a->in - 1) low = a->in - 2, f = 1;
    a->low.push_back(static_cast<int32_t>(low));
    a->f.push_back(f);
  }
}

// Weights of few bits: then no step rounds, and only the last rounding and the exponents count.
bool is_exact(const ResizeAxis& a) {
  constexpr float kUnits = 128;  // 8 bits of the value and twice 7 of weights fit float32
  return std::all_of(a.f.begin(), a.f.end(),
                     [](float f) { return f * kUnits == std::floor(f * kUnits); });
}

Indices indices_of(const ResizeAxis& a, int64_t offset) {
  Indices indices;
  for (const int32_t low : a.low)
    indices.push_back(static_cast<int32_t>(std::max<int64_t>(low + offset, 0)));
  return indices;
}

std::unique_ptr<fb::ResizeAxisT> options_of(const ResizeAxis& a, bool in_float) {
  constexpr float kUnit = 1024;  // of the integer form
  auto o = std::make_unique<fb::ResizeAxisT>();
  const auto weight = [&](float f) {
    return static_cast<int32_t>(in_float ? static_cast<int32_t>(float_bits(f))
                                         : static_cast<int32_t>(f * kUnit));
  };
  o->low = indices_of(a, 0);
  o->high = indices_of(a, 1);
  for (const float f : a.f) {
    o->low_weight.push_back(weight(1.0f - f));
    o->high_weight.push_back(weight(f));
  }
  return o;
}

ResizeAxis unchanged(int64_t size) {
  ResizeAxis a;
  a.in = a.out = size;
  place_linear(false, &a);
  return a;
}

// Resizes with one operator. Returns false where an intermediate result would be rounded, or where no
// operator rounds the result as the target does.
bool resize_at_once(Importer& importer, const Node& node, const Activation& x, const Format& out,
                    const std::vector<ResizeAxis>& axes) {
  const bool in_float = importer.target() == Target::kEsp32P4;
  if (!in_float && x.format.exponent != out.exponent) return false;
  if (!std::all_of(axes.begin(), axes.end(), is_exact)) return false;
  ValueId image = x.value;
  const int rank = importer.builder().shape_of(image).rank();
  if (!as_image(importer, node, &image).ok()) return false;
  const Shape from = importer.builder().shape_of(image);
  fb::ResizeLinearOptionsT o;
  o.h = options_of(rank == 4 ? axes[0] : unchanged(1), in_float);
  o.w = options_of(axes.back(), in_float);
  o.kind = in_float ? fb::ResizeKind::F32 : fb::ResizeKind::INT_HALF_UP;
  o.offset = 128;
  if (in_float) {
    o.input_scale = float_bits(power_of_two(x.format.exponent));
    o.output_scale = float_bits(power_of_two(out.exponent));
    o.input_zero_point = o.output_zero_point = 128;
  }
  const ValueId y = importer.builder().new_value(
      "", out, {from[0], rank == 4 ? axes[0].out : 1, axes.back().out, from[3]});
  importer.builder().add<fb::ResizeLinearOptionsT>(node, {image}, y) = std::move(o);
  importer.finish(node, from_image(importer, node, y, rank), out);
  importer.became(node, "ResizeLinear", in_float ? "I1" : "I0");
  return true;
}

// Blends neighbours along one axis: a * (1 - f) + b * f.
ValueId blend(Importer& importer, const Node& node, const ResizeAxis& a, const Format& format,
              ValueId x) {
  Shape to = importer.builder().shape_of(x);
  to[a.axis] = a.out;
  const auto side = [&](int64_t offset, bool is_low) {
    IndexMaps maps(importer.builder().shape_of(x));
    maps.set(a.axis, indices_of(a, offset));
    const ValueId moved = importer.builder().gathered(node, x, maps, 0);
    const ValueId real = importer.graph().values[moved].type.dtype == DType::kFloat32
                             ? moved
                             : importer.builder().to_float(node, {format, moved});
    std::vector<float> weights;
    for (const float f : a.f) weights.push_back(is_low ? 1.0f - f : f);
    Shape along{a.out};
    for (int d = a.axis + 1; d < to.rank(); ++d) along.push_back(1);
    const ValueId constant = importer.graph().add_constant("", DType::kFloat32, along, weights);
    return importer.builder().float_function(node, fb::FloatFunction::MUL, {real, constant}, to);
  };
  const ValueId low = side(0, true), high = side(1, false);
  return importer.builder().float_function(node, fb::FloatFunction::ADD, {low, high}, to);
}

}  // namespace

Status import_resize(Importer& importer, const Node& node) {
  Activation x;
  Format out;
  if (!importer.read_pair(node, &x, &out)) return Status();
  if (out.is_int16())
    return importer.refuse(node, "the runtime's kernel for int16 is empty",
                           importer.output(node).name,
                           "quantise this operator to int8 in ESP-PPQ's dispatching");
  const std::string mode = node.text("mode", "nearest");
  if (mode != "nearest" && mode != "linear")
    return importer.refuse(node, "its mode is '" + mode + "', expected nearest or linear",
                           importer.output(node).name,
                           "build the Resize in mode nearest or linear");
  std::vector<ResizeAxis> axes;
  bool known;
  QRT_TRY(read_axes(importer, node, importer.builder().shape_of(x.value), &axes, &known));
  if (!known) return Status();
  if (mode == "nearest") return resize_nearest(importer, node, x, out, axes);
  const std::string coordinates = node.text("coordinate_transformation_mode", "half_pixel");
  if (coordinates != "align_corners" && coordinates != "half_pixel")
    importer.warn(node, "espdl-resize",
                  "its coordinates are '" + coordinates + "', the runtime takes half_pixel",
                  "export the model with half_pixel or align_corners");
  for (ResizeAxis& a : axes) place_linear(coordinates == "align_corners", &a);
  if (resize_at_once(importer, node, x, out, axes)) return Status();
  ValueId y = x.value;
  for (size_t i = axes.size(); i-- > 0;) y = blend(importer, node, axes[i], x.format, y);
  importer.finish(node, importer.builder().from_float(node, y, power_of_two(out.exponent), out),
                  out);
  importer.became(node, "Float, Quantize", "I1");
  return Status();
}

}  // namespace qrt::convert::from_espdl
