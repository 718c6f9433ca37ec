// SPDX-License-Identifier: Apache-2.0
// Pools over windows, and reductions as pools over the whole of a reshaped tensor.
#include <algorithm>
#include <cmath>

#include "converter/import/espdl/ops.h"

namespace qrt::convert::from_espdl {
namespace {

constexpr int64_t kMaxArea = 65535;  // sums of int16 stay within int32

// The average of `area` integers whose sum is given: round(fl32(sum * scale)), or round(fl32(sum / count) * scale).
struct Average {
  Format in, out;
  int64_t area = 1;
  bool divides = false;  // the second form

  float scale() const { return power_of_two(in.exponent - out.exponent); }
  float factor() const {
    return power_of_two(in.exponent) * (1.0f / static_cast<float>(area)) *
           power_of_two(-out.exponent);
  }
  // Returns the value that is rounded.
  float real(int64_t sum) const {
    return divides ? static_cast<float>(sum) / static_cast<float>(area) * scale()
                   : static_cast<float>(sum) * factor();
  }
};

bool is_power_of_two(int64_t v) { return (v & (v - 1)) == 0; }
int log2_of(int64_t v) { return 63 - __builtin_clzll(static_cast<uint64_t>(v)); }

// Returns the least sum of bytes whose value f(sum), which rises with it, is at least k; one more
// than the greatest if there is none.
template <class F>
int64_t first_sum(int64_t area, int k, const F& f) {
  int64_t lo = -128 * area, hi = 127 * area + 1;
  while (lo < hi) {
    const int64_t middle = lo + (hi - lo) / 2;
    if (f(middle) >= k)
      hi = middle;
    else
      lo = middle + 1;
  }
  return lo;
}

// Returns whether round(fl32(sum * factor)), as a Requant of kind F32 has it, gives the same for every sum of bytes: quotients
// are not products, and half up is floor(fl32(x + 0.5)) on the chips, 1 for the number below one half. Both rise with the sum:
// they are the same if every output begins at the same one.
bool is_product(const Average& a, Target target) {
  const float factor = a.factor();
  if (a.area * 128 >= 1 << 24 || !std::isnormal(factor)) return false;
  const auto product = [&](int64_t sum) {
    const double v = static_cast<double>(static_cast<float>(sum) * factor);
    return static_cast<int>(std::clamp(
        target == Target::kEsp32P4 ? std::nearbyint(v) : std::floor(v + 0.5), -128.0, 127.0));
  };
  const auto exact = [&](int64_t sum) { return round_to(target, a.real(sum), kInt8Limits); };
  for (int k = kInt8Limits.lo + 1; k <= kInt8Limits.hi; ++k)
    if (first_sum(a.area, k, product) != first_sum(a.area, k, exact)) return false;
  return true;
}

// Returns the requantisation of the sums where one operator can do it, else null.
std::unique_ptr<fb::RequantT> requant_of(Importer& importer, const Average& a) {
  if (is_power_of_two(a.area))
    return importer.builder().requant({a.out.exponent - a.in.exponent + log2_of(a.area)},
                                      a.in.is_int16() ? kMostLeft64 : kMostLeft32, a.out);
  if (a.in.is_int16() || !is_product(a, importer.target())) return nullptr;
  auto r = std::make_unique<fb::RequantT>();
  r->kind = fb::RequantKind::F32;
  r->scale = {float_bits(a.factor())};
  r->rounding = rounding_of(importer.target());
  r->zero_point = a.out.offset();
  return r;
}

const char* level_of(const Average& a) { return is_power_of_two(a.area) ? "I0" : "I1"; }

// Sums over windows as a convolution with weights of 1, a filter for each channel. x: an image.
Status import_sums(Importer& importer, const Node& node, ValueId x, const Window& window,
                   const Average& a, ValueId* y) {
  const Shape in = importer.builder().shape_of(x);
  const int64_t channels = in[3];
  const WindowAxis rows = window.axis(0), columns = window.axis(1);
  if (a.area > kMaxArea)
    return error(Code::kUnsupported, "it sums %lld values, the limit is %lld",
                 static_cast<long long>(a.area), static_cast<long long>(kMaxArea));
  QRT_TRY(importer.reserve(static_cast<uint64_t>(rows.kernel * columns.kernel * channels) *
                           sizeof(int16_t)));
  Graph& graph = importer.graph();
  auto requant = requant_of(importer, a);
  const bool is_direct = requant != nullptr;
  if (!is_direct) requant = std::make_unique<fb::RequantT>();  // the sums themselves
  const std::vector<int16_t> ones(static_cast<size_t>(rows.kernel * columns.kernel * channels), 1);
  const Shape filters = is_direct ? Shape{rows.kernel, columns.kernel, channels}
                                  : Shape{channels, rows.kernel, columns.kernel, 1};
  const ValueId weights = graph.add_constant("", DType::kInt16, filters, ones);
  graph.values[weights].quantization = {{1.0f}, {0}, -1};
  const auto zeros = [&](auto zero, DType dtype) {
    const std::vector<decltype(zero)> values(static_cast<size_t>(channels), zero);
    return graph.add_constant("", dtype, {channels}, values);
  };
  const ValueId bias = a.in.is_int16() && is_direct ? zeros(int64_t{0}, DType::kInt64)
                                                    : zeros(int32_t{0}, DType::kInt32);
  const Shape made{in[0], rows.output, columns.output, channels};
  *y = is_direct ? importer.builder().new_value("", a.out, made)
                 : importer.builder().new_value("", DType::kInt32, made);
  const auto fill_in = [&](auto& conv) {
    set_window(window, &conv);
    set_zero_point(a.in, &conv.input_zero_point, &conv.input_zero_point_16);
    conv.requant = std::move(requant);
  };
  if (is_direct) {
    fill_in(importer.builder().add<fb::DepthwiseConv2DOptionsT>(node, {x, weights, bias}, *y));
    return Status();
  }
  auto& conv = importer.builder().add<fb::Conv2DOptionsT>(node, {x, weights, bias}, *y);
  fill_in(conv);
  conv.groups = static_cast<uint32_t>(channels);
  const ValueId real = importer.builder().new_value("", DType::kFloat32, made);
  auto& o = importer.builder().add<fb::DequantizeOptionsT>(node, {*y}, real);
  o.scale = {float_bits(a.divides ? 1.0f : a.factor())};
  o.zero_point = {0};
  *y = importer.builder().from_float(
      node, real, a.divides ? static_cast<float>(a.area) / a.scale() : 1.0f, a.out);
  return Status();
}

// Returns the names of the operators that import_sums() has just made.
const char* result_of_sums(Importer& importer) {
  const bool is_rounded_apart = importer.graph().nodes.back().options.AsQuantize() != nullptr;
  return is_rounded_apart ? "Conv2D, Dequantize, Quantize" : "DepthwiseConv2D";
}

std::vector<int64_t> sizes_of(const Shape& image, int rank) {
  return rank == 4 ? std::vector<int64_t>{image[1], image[2]} : std::vector<int64_t>{image[2]};
}

// Reads the input as an image, and the window. *known stays false where the operator was refused.
Status read_pool(Importer& importer, const Node& node, Activation* x, Format* out, int* rank,
                 Window* window, bool* known) {
  *known = false;
  if (!importer.read_pair(node, x, out)) return Status();
  *rank = importer.builder().shape_of(x->value).rank();
  QRT_TRY(as_image(importer, node, &x->value));
  const std::vector<int64_t> sizes = sizes_of(importer.builder().shape_of(x->value), *rank);
  QRT_TRY(read_window(node, sizes, node.integers("kernel_shape"), window));
  if (node.integer("ceil_mode", 0) != 0) {
    const auto leaves = [](int64_t in, const WindowAxis& a) {
      return (in + a.before + a.after - (a.kernel - 1) * a.dilation - 1) % a.stride != 0;
    };
    if (leaves(sizes.back(), window->axis(1)) ||
        (sizes.size() == 2 && leaves(sizes[0], window->axis(0))))
      return importer.refuse(
          node, "ceil_mode adds positions, which the runtime does not read",
          importer.output(node).name,
          "build the pool with ceil_mode 0, and pad its input so that the windows cover it");
  }
  *known = true;
  return Status();
}

}  // namespace

Status import_average_pool(Importer& importer, const Node& node) {
  Activation x;
  Format out;
  int rank;
  Window window;
  bool known;
  QRT_TRY(read_pool(importer, node, &x, &out, &rank, &window, &known));
  if (!known) return Status();
  const WindowAxis rows = window.axis(0), columns = window.axis(1);
  if (rows.dilation != 1 || columns.dilation != 1)
    return importer.refuse(node, "it has dilations, which the runtime does not read",
                           importer.output(node).name, "build the pool without dilations");
  if (window.padded() && node.integer("count_include_pad", 0) == 0)
    importer.warn(node, "espdl-average-pad",
                  "count_include_pad is 0, but the runtime divides by " +
                      std::to_string(rows.kernel * columns.kernel) + " at the borders, too",
                  "train and export the model with count_include_pad = 1");
  const Average average{x.format, out, rows.kernel * columns.kernel};
  ValueId y;
  QRT_TRY(import_sums(importer, node, x.value, window, average, &y));
  importer.finish(node, from_image(importer, node, y, rank), out);
  importer.became(node, result_of_sums(importer), level_of(average));
  return Status();
}

Status import_max_pool(Importer& importer, const Node& node) {
  Activation x;
  Format out;
  int rank;
  Window window;
  bool known;
  QRT_TRY(read_pool(importer, node, &x, &out, &rank, &window, &known));
  if (!known) return Status();
  const WindowAxis rows = window.axis(0), columns = window.axis(1);
  const Shape in = importer.builder().shape_of(x.value);
  const ValueId y =
      importer.builder().new_value("", out, {in[0], rows.output, columns.output, in[3]});
  auto& o = importer.builder().add<fb::MaxPool2DOptionsT>(node, {x.value}, y);
  set_kernel(window, &o);
  set_window(window, &o);
  set_dilation(window, &o);
  importer.finish(node, from_image(importer, node, y, rank), out);
  importer.became(node, "MaxPool2D", "I0");
  return Status();
}

namespace {

// A reduction as a pool over the whole of an image [outer, n, 1, inner]. Reduced dimensions that do not stand side by side are
// brought together first.
struct Reduction {
  Activation x;
  Format out;
  int64_t outer = 1, n = 1, inner = 1;
  Shape to;

  Shape made() const { return {outer, 1, 1, inner}; }
};

Status arrange(Importer& importer, const Node& node, const std::vector<bool>& reduced, bool keep,
               Reduction* r) {
  const Shape x = importer.builder().shape_of(r->x.value);
  int runs = 0;
  std::vector<int> before, among, behind;
  for (int d = 0; d < x.rank(); ++d) {
    const bool here = reduced[static_cast<size_t>(d)];
    if (here && (d == 0 || !reduced[static_cast<size_t>(d - 1)])) ++runs;
    (here ? r->n : runs == 0 ? r->outer : r->inner) *= x[d];
    (here ? among : runs == 0 ? before : behind).push_back(d);
    if (!here || keep) r->to.push_back(here ? 1 : x[d]);
  }
  if (r->to.rank() == 0) r->to.push_back(1);
  if (runs > 1) {
    before.insert(before.end(), among.begin(), among.end());
    before.insert(before.end(), behind.begin(), behind.end());
    r->x.value = importer.builder().transpose(node, r->x.value, before);
  }
  const bool is_image = runs == 1 && x.rank() == 4 && x[0] == r->outer && x[1] * x[2] == r->n;
  if (!is_image)
    r->x.value = importer.builder().reshaped(node, r->x.value, {r->outer, r->n, 1, r->inner});
  return Status();
}

Status read_reduction(Importer& importer, const Node& node, Reduction* r, bool* known) {
  *known = false;
  std::vector<int64_t> axes = node.integers("axes");
  if (!importer.read_pair(node, &r->x, &r->out)) return Status();
  if (node.has_input(1) && !importer.read_integers(node, 1, &axes)) return Status();
  const Shape& x = importer.builder().shape_of(r->x.value);
  QRT_MODEL_CHECK(x.rank() >= 1 && x.elements() > 0,
                  "the input has shape %s, expected elements along at least one dimension",
                  x.to_string().c_str());
  std::vector<bool> reduced(static_cast<size_t>(x.rank()), axes.empty());
  if (axes.empty() && node.integer("noop_with_empty_axes", 0) != 0)
    return importer.refuse(node, "it reduces no dimension", importer.output(node).name,
                           "build the model without this operator, which changes nothing");
  for (const int64_t axis : axes) {
    int d;
    QRT_TRY(place_axis(axis, x.rank(), &d));
    reduced[static_cast<size_t>(d)] = true;
  }
  *known = true;
  return arrange(importer, node, reduced, node.integer("keepdims", 1) != 0, r);
}

// Finishes an average of a reduction's values. Sums of bytes that one requantisation can divide
// take a single operator.
Status finish_average(Importer& importer, const Node& node, const Reduction& r, bool divides) {
  const Average average{r.x.format, r.out, r.n, divides};
  ValueId y;
  const bool is_short = r.n < (r.x.format.is_int16() ? 1 << 15 : 1 << 17);
  std::unique_ptr<fb::RequantT> requant = is_short ? requant_of(importer, average) : nullptr;
  if (requant) {
    y = importer.builder().new_value("", r.out, r.made());
    auto& o = importer.builder().add<fb::GlobalAveragePool2DOptionsT>(node, {r.x.value}, y);
    set_zero_point(r.x.format, &o.input_zero_point, &o.input_zero_point_16);
    o.requant = std::move(requant);
    importer.became(node, "GlobalAveragePool2D", level_of(average));
  } else {
    const ValueId image = importer.builder().reshaped(node, r.x.value, {r.outer, r.n, 1, r.inner});
    Window window;
    window.kernel[0] = r.n;
    QRT_TRY(import_sums(importer, node, image, window, average, &y));
    importer.became(node, result_of_sums(importer), level_of(average));
  }
  importer.finish(node, importer.builder().reshaped(node, y, r.to), r.out);
  return Status();
}

// Inverts every bit of every value.
ValueId complemented(Importer& importer, const Node& node, ValueId x, const Format& format) {
  std::vector<int16_t> table;
  for (int q = format.limits().lo; q <= format.limits().hi; ++q)
    table.push_back(static_cast<int16_t>(-1 - q));
  return importer.builder().table(node, {format, x}, table, format);
}

// Imports a maximum or minimum: the least is the greatest of the complements.
Status import_extreme(Importer& importer, const Node& node, bool least) {
  Reduction r;
  bool known;
  QRT_TRY(read_reduction(importer, node, &r, &known));
  if (!known) return Status();
  ValueId x = least ? complemented(importer, node, r.x.value, r.x.format) : r.x.value;
  ValueId y = importer.builder().new_value("", r.out, r.made());
  auto& o = importer.builder().add<fb::MaxPool2DOptionsT>(node, {x}, y);
  o.kernel_h = o.kernel_w = 0;  // the whole image
  if (least) y = complemented(importer, node, y, r.out);
  importer.finish(node, importer.builder().reshaped(node, y, r.to), r.out);
  importer.became(node, "MaxPool2D", "I0");
  return Status();
}

}  // namespace

// Imports an average over everything between the batch and the channels.
Status import_global_average_pool(Importer& importer, const Node& node) {
  Reduction r;
  if (!importer.read_pair(node, &r.x, &r.out)) return Status();
  const Shape& x = importer.builder().shape_of(r.x.value);
  if (x.rank() < 3 || x.elements() <= 0)
    return importer.refuse(
        node, "the input has shape " + x.to_string() + ", expected [n, h, w, c] or [n, w, c]",
        importer.input(node, 0).name,
        "build the model with the batch as first dimension, [n, h, w, c]");
  std::vector<bool> reduced(static_cast<size_t>(x.rank()), true);
  reduced.front() = reduced.back() = false;
  QRT_TRY(arrange(importer, node, reduced, true, &r));
  return finish_average(importer, node, r, false);
}

Status import_reduce_mean(Importer& importer, const Node& node) {
  Reduction r;
  bool known;
  QRT_TRY(read_reduction(importer, node, &r, &known));
  return known ? finish_average(importer, node, r, true) : Status();
}

Status import_reduce_sum(Importer& importer, const Node& node) {
  Reduction r;
  bool known;
  QRT_TRY(read_reduction(importer, node, &r, &known));
  if (!known) return Status();
  if (r.n >= 1 << 15)
    return importer.refuse(node, "it sums " + std::to_string(r.n) + " values, the limit is 2^15",
                           importer.input(node, 0).name,
                           "sum in two steps, each over some of the axes");
  const ValueId y = importer.builder().new_value("", r.out, r.made());
  auto& o = importer.builder().add<fb::GlobalAveragePool2DOptionsT>(node, {r.x.value}, y);
  set_zero_point(r.x.format, &o.input_zero_point, &o.input_zero_point_16);
  o.requant =
      importer.builder().requant({r.out.exponent - r.x.format.exponent}, kMostLeft64, r.out);
  importer.finish(node, importer.builder().reshaped(node, y, r.to), r.out);
  importer.became(node, "GlobalAveragePool2D", "I0");
  return Status();
}

Status import_reduce_max(Importer& importer, const Node& node) {
  return import_extreme(importer, node, false);
}

Status import_reduce_min(Importer& importer, const Node& node) {
  return import_extreme(importer, node, true);
}

}  // namespace qrt::convert::from_espdl
