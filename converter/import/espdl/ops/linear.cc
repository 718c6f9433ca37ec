// Conv, depthwise Conv, Gemm and MatMul: sums of products, plus a bias at the products' exponent, shifted to the output's.
#include <algorithm>

#include "converter/import/espdl/layout.h"
#include "converter/import/espdl/ops.h"
#include "kernels/gemm/digits.h"

namespace qrt::convert::from_espdl {
namespace {

// Weights and bias in the order the graph takes, with what the requantisation needs.
struct Linear {
  Format in, out;
  FilterShape shape;
  std::vector<int16_t> weights;
  std::vector<int64_t> bias;
  std::vector<int> exponents, shifts;  // of the weights; one, or one per output channel
  bool relu = false;
};

bool read_activation(Importer& importer, const Node& node, bool* relu) {
  const std::string activation = node.text("activation", "Linear");
  *relu = activation == "Relu";
  if (*relu || activation == "Linear") return true;
  (void)importer.refuse(node, "its activation is '" + activation + "', expected Linear or Relu",
                        importer.output(node).name, "keep the activation an operator of its own");
  return false;
}

// The constant weights' type and exponents. False: refused.
bool check_weights(Importer& importer, const Node& node, Linear* linear) {
  const Tensor& w = importer.input(node, 1);
  const auto no = [&](const std::string& rule, const char* remedy) {
    (void)importer.refuse(node, importer.quoted_input(node, 1) + " " + rule, w.name, remedy);
    return false;
  };
  if (!w.is_constant) return no("is not a constant", "make the weights constants of the model");
  if (!w.problem.empty()) return no(w.problem, "export the model again");
  if (w.type != linear->in.type)
    return no(std::string("is ") + type_name(w.type) + ", which does not go with a " +
                  type_name(linear->in.type) + " input",
              "quantise weights and activations alike");
  const size_t channels = static_cast<size_t>(linear->shape.n);
  if (w.exponents.size() != 1 && w.exponents.size() != channels)
    return no("has " + std::to_string(w.exponents.size()) + " exponents for " +
                  std::to_string(channels) + " channels",
              "give the weights one exponent, or one per output channel");
  if (w.exponents.size() > 1 && importer.target() != Target::kEsp32P4)
    return no("has an exponent per channel, which only the ESP32-P4 takes",
              "export the model for esp32p4, or per tensor");
  linear->exponents = w.exponents;
  for (const int e : w.exponents)
    linear->shifts.push_back(linear->out.exponent - e - linear->in.exponent);
  return true;
}

bool read_bias(Importer& importer, const Node& node, Linear* linear, Status* status) {
  const auto channels = static_cast<size_t>(linear->shape.n);
  linear->bias.assign(channels, 0);
  if (!node.has_input(2)) return true;
  const Tensor& b = importer.input(node, 2);
  const auto no = [&](const std::string& rule, const char* remedy) {
    *status = importer.refuse(node, importer.quoted_input(node, 2) + " " + rule, b.name, remedy);
    return false;
  };
  const bool fits =
      b.type == DataType::INT32 || (linear->in.is_int16() && b.type == DataType::INT64);
  if (!b.is_constant || !b.problem.empty() || !fits)
    return no(
        std::string("is not a constant of int32") + (linear->in.is_int16() ? " or int64" : ""),
        "export the model again");
  if (b.bytes == 0 || b.shape.elements() != linear->shape.n) {
    *status =
        error(Code::kInvalidModel, "the bias has %lld elements, expected %lld",
              static_cast<long long>(b.shape.elements()), static_cast<long long>(linear->shape.n));
    return false;
  }
  for (size_t i = 0; i < channels; ++i) {
    if (b.exponents.empty()) break;
    const int expected =
        linear->in.exponent + linear->exponents[linear->exponents.size() > 1 ? i : 0];
    if (b.exponents.size() != 1 && b.exponents.size() != channels)
      return no("has a wrong number of exponents", "export the model again");
    if (b.exponents[b.exponents.size() > 1 ? i : 0] != expected)
      return no("has the exponent " + std::to_string(b.exponents[b.exponents.size() > 1 ? i : 0]) +
                    ", expected that of the products, " + std::to_string(expected),
                "export the model with an ESP-PPQ of 2024 or newer");
  }
  linear->bias = b.integers();
  return true;
}

// How far the sums of one output channel may go on the way, whatever their order.
struct Reach {
  int64_t lo = 0, hi = 0;
};

template <class F>
std::vector<Reach> reaches(const Linear& linear, F channel_of) {
  const Limits x = linear.in.limits();
  std::vector<Reach> reach(linear.bias.size());
  for (size_t o = 0; o < reach.size(); ++o) {
    reach[o].lo = std::min<int64_t>(linear.bias[o], 0);
    reach[o].hi = std::max<int64_t>(linear.bias[o], 0);
  }
  for (size_t i = 0; i < linear.weights.size(); ++i) {
    const int64_t w = linear.weights[i];
    Reach& r = reach[channel_of(i)];
    r.lo += std::min(w * x.lo, w * x.hi);
    r.hi += std::max(w * x.lo, w * x.hi);
  }
  return reach;
}

constexpr int64_t kMaxBias = int64_t{1} << 45;
constexpr int kS3Bits8 = 20, kS3Bits16 = 40;  // of the S3's accumulators

// No sum leaves the accumulators of the runtime's C code; what the S3's narrower ones may do becomes a note. False: refused.
template <class F>
bool prove_sums(Importer& importer, const Node& node, const Linear& linear, size_t terms,
                F channel_of, std::string* note) {
  const auto no = [&](const std::string& rule) {
    (void)importer.refuse(node, rule, importer.input(node, 1).name,
                          "split the layer, or check its exponents");
    return false;
  };
  for (const int64_t b : linear.bias)
    if (b < -kMaxBias || b > kMaxBias) return no("a bias is beyond 2^45");
  if (linear.in.is_int16() && terms > kMaxDigitsK)
    return no("more than " + std::to_string(kMaxDigitsK) + " weights make an output");
  Reach all;
  for (const Reach& r : reaches(linear, channel_of)) {
    all.lo = std::min(all.lo, r.lo);
    all.hi = std::max(all.hi, r.hi);
  }
  if (!linear.in.is_int16() && (all.lo < INT32_MIN || all.hi > INT32_MAX))
    return no("sums may reach " + std::to_string(std::max(-all.lo, all.hi)) + ", beyond int32");
  if (importer.target() != Target::kEsp32S3) return true;
  const int bits = linear.in.is_int16() ? kS3Bits16 : kS3Bits8;
  const int64_t limit = int64_t{1} << (bits - 1), most = std::max(-all.lo, all.hi);
  importer.note_s3(all.lo >= -limit && all.hi < limit);
  *note = all.lo >= -limit && all.hi < limit
              ? ", S3-exact"
              : ", not proven S3-exact: sums may reach " + std::to_string(most) + ", the chip's " +
                    std::to_string(bits) + " bits hold " + std::to_string(limit - 1);
  return true;
}

Limits limits_of(const Linear& linear) {
  Limits limits = linear.out.limits();
  if (linear.relu) limits.lo = 0;
  return limits;
}

std::unique_ptr<fb::RequantT> requant_of(Importer& importer, const Linear& linear) {
  return importer.requant(linear.shifts, linear.in.is_int16() ? kMostLeft64 : kMostLeft32,
                          linear.out, limits_of(linear));
}

ValueId add_weights(Importer& importer, const Node& node, const Linear& linear, const Shape& shape,
                    int axis) {
  const ValueId id = importer.graph().add_constant(importer.input(node, 1).name, DType::kInt16,
                                                   shape, linear.weights);
  Quantization& q = importer.graph().values[id].quantization;
  for (const int e : linear.exponents) q.scale.push_back(power_of_two(e));
  q.zero_point.assign(q.scale.size(), 0);
  q.axis = q.scale.size() > 1 ? axis : -1;
  return id;
}

ValueId add_bias(Importer& importer, const Node& node, const Linear& linear) {
  const std::string name = node.has_input(2) ? importer.input(node, 2).name : "";
  const Shape shape{linear.shape.n};
  if (linear.in.is_int16())
    return importer.graph().add_constant(name, DType::kInt64, shape, linear.bias);
  const std::vector<int32_t> values(linear.bias.begin(), linear.bias.end());
  return importer.graph().add_constant(name, DType::kInt32, shape, values);
}

// The filter's shape by its dimensions [h, w, c, n] or [w, c, n], or of one filter per channel [h, w, n, 1] or [w, n, 1].
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
  const int rank = importer.shape_of(x.value).rank();
  QRT_TRY(as_image(importer, node, &x.value));
  const Shape in = importer.shape_of(x.value), dims = importer.input(node, 1).shape;
  QRT_MODEL_CHECK(dims.rank() == rank, "weights of shape %s on an input of %d dimensions",
                  dims.to_string().c_str(), rank);
  const int64_t group = node.integer("group", 1);
  QRT_MODEL_CHECK(group >= 1, "group is %lld", static_cast<long long>(group));
  QRT_TRY(filter_shape(dims, group, in[3], &linear.shape));
  const FilterShape& f = linear.shape;
  Window window;
  QRT_TRY(rank == 4 ? read_window(node, {in[1], in[2]}, {f.h, f.w}, &window)
                    : read_window(node, {in[2]}, {f.w}, &window));
  Status status;
  std::string note;
  if (!check_weights(importer, node, &linear) || !read_bias(importer, node, &linear, &status))
    return status;
  QRT_TRY(unpack_filter(importer.input(node, 1), 0, f, &linear.weights));
  const auto n = static_cast<size_t>(f.n), terms = static_cast<size_t>(f.h * f.w * f.c);
  const auto channel_of = [&](size_t i) { return f.is_depthwise ? i % n : i / terms; };
  if (!prove_sums(importer, node, linear, terms + 3 * static_cast<size_t>(f.h * f.w), channel_of,
                  &note))
    return Status();

  const ValueId bias = add_bias(importer, node, linear);
  const ValueId y =
      importer.new_value("", linear.out, {in[0], window.output[0], window.output[1], f.n});
  if (f.is_depthwise) {
    const ValueId weights = add_weights(importer, node, linear, {f.h, f.w, f.n}, 2);
    auto& conv = importer.add_node<fb::DepthwiseConv2DOptionsT>(node, {x.value, weights, bias}, y);
    set_window(window, &conv);
    set_dilation(window, &conv);
    set_zero_point(linear.in, &conv.input_zero_point, &conv.input_zero_point_16);
    conv.requant = requant_of(importer, linear);
  } else {
    const ValueId weights = add_weights(importer, node, linear, {f.n, f.h, f.w, f.c}, 0);
    auto& conv = importer.add_node<fb::Conv2DOptionsT>(node, {x.value, weights, bias}, y);
    set_window(window, &conv);
    set_dilation(window, &conv);
    set_zero_point(linear.in, &conv.input_zero_point, &conv.input_zero_point_16);
    conv.requant = requant_of(importer, linear);
  }
  importer.finish(node, from_image(importer, node, y, rank), linear.out);
  importer.became(node, (f.is_depthwise ? "DepthwiseConv2D" : "Conv2D") + note, "I0");
  return Status();
}

namespace {

// x [rows, k] times the filter, as [rows, n]. kNoValue: refused.
ValueId fully_connected(Importer& importer, const Node& node, const Activation& x, Linear* linear,
                        std::string* note, Status* status) {
  if (!check_weights(importer, node, linear) || !read_bias(importer, node, linear, status))
    return kNoValue;
  *status = unpack_filter(importer.input(node, 1), 0, linear->shape, &linear->weights);
  if (!status->ok()) return kNoValue;
  const auto k = static_cast<size_t>(linear->shape.c);
  if (!prove_sums(
          importer, node, *linear, k + 3, [&](size_t i) { return i / k; }, note))
    return kNoValue;
  const ValueId weights =
      add_weights(importer, node, *linear, {linear->shape.n, linear->shape.c}, 0);
  const ValueId bias = add_bias(importer, node, *linear);
  const ValueId y =
      importer.new_value("", linear->out, {importer.shape_of(x.value)[0], linear->shape.n});
  importer.add_node<fb::FullyConnectedOptionsT>(node, {x.value, weights, bias}, y).requant =
      requant_of(importer, *linear);
  return y;
}

}  // namespace

Status import_gemm(Importer& importer, const Node& node) {
  Linear linear;
  Activation x;
  if (!importer.read_pair(node, &x, &linear.out) || !read_activation(importer, node, &linear.relu))
    return Status();
  linear.in = x.format;
  if (node.real("alpha", 1) != 1 || node.real("beta", 1) != 1 || node.integer("transA", 0) != 0 ||
      node.integer("transB", 0) != 0)
    return importer.refuse(
        node, "alpha, beta, transA or transB are not the 1, 1, 0 and 0 that the runtime computes",
        importer.output(node).name, "export the model with an ESP-PPQ");
  const Shape dims = importer.input(node, 1).shape, from = importer.shape_of(x.value);
  QRT_MODEL_CHECK(dims.rank() == 4 && dims[0] == 1 && dims[1] == 1 && dims.elements() > 0,
                  "the weights have shape %s, expected [1, 1, k, n]", dims.to_string().c_str());
  linear.shape = {1, 1, dims[2], dims[3]};
  const int64_t k = dims[2];
  QRT_MODEL_CHECK(from.elements() > 0 && from.elements() % k == 0,
                  "an input of shape %s is no rows of %lld", from.to_string().c_str(),
                  static_cast<long long>(k));
  x.value = importer.reshape(node, x.value, {from.elements() / k, k});
  Status status;
  std::string note;
  const ValueId y = fully_connected(importer, node, x, &linear, &note, &status);
  if (y == kNoValue) return status;
  importer.finish(node, y, linear.out);
  importer.became(node, "FullyConnected" + note, "I0");
  return Status();
}

namespace {

// A computed right side [..., k, n] whose bytes stand in the order of a packed filter, as [matrices, k, n].
Status unpack_computed(Importer& importer, const Node& node, const Format& format, ValueId* b) {
  const Shape dims = importer.shape_of(*b);
  const int64_t k = dims[dims.rank() - 2], n = dims[dims.rank() - 1],
                matrices = dims.elements() / (k * n);
  if (importer.target() == Target::kC) {
    *b = importer.transpose(node, importer.reshape(node, *b, {matrices, n, k}), {0, 2, 1});
    return Status();
  }
  const int64_t block = block_of(format.type), full = n / block * block, rest = n - full;
  QRT_TRY(check_index_count(k * n));
  const auto part = [&](int64_t begin, int64_t count) {
    const ValueId flat = importer.reshape(node, *b, {matrices, k * n});
    IndexMaps maps(importer.shape_of(flat));
    if (count < k * n) maps.set(1, stepped(begin, count, 1));
    return importer.gather(node, flat, maps, 0);
  };
  std::vector<ValueId> parts;
  if (full > 0) {
    const ValueId blocks =
        importer.reshape(node, part(0, k * full), {matrices, full / block, k, block});
    parts.push_back(importer.reshape(node, importer.transpose(node, blocks, {0, 2, 1, 3}),
                                     {matrices, k, full}));
  }
  if (rest > 0) {
    const ValueId rows = importer.reshape(node, part(k * full, k * rest), {matrices, rest, k});
    parts.push_back(importer.transpose(node, rows, {0, 2, 1}));
  }
  *b = parts[0];
  if (parts.size() == 1) return Status();
  *b = importer.new_value("", format, {matrices, k, n});
  importer.add_node<fb::ConcatOptionsT>(node, parts, *b).axis = 2;
  return Status();
}

// A constant right side [..., k, n], every matrix packed as a filter of its own, as [matrices, k, n].
Status unpack_constant(Importer& importer, const Node& node, const Format& format, ValueId* b) {
  const Tensor& w = importer.input(node, 1);
  const int64_t k = w.shape[w.shape.rank() - 2], n = w.shape[w.shape.rank() - 1],
                matrices = w.shape.elements() / (k * n);
  std::vector<int16_t> all, one;
  for (int64_t m = 0; m < matrices; ++m) {
    QRT_TRY(unpack_filter(w, m * k * n, {1, 1, k, n}, &one));
    for (int64_t i = 0; i < k; ++i)
      for (int64_t j = 0; j < n; ++j) all.push_back(one[static_cast<size_t>(j * k + i)]);
  }
  Value v;
  v.name = w.name;
  v.type = {format.stored_type(), {matrices, k, n}};
  v.is_constant = true;
  const size_t bytes = element_bytes(format.type);
  v.data.resize(all.size() * bytes);
  for (size_t i = 0; i < all.size(); ++i) {
    const auto stored = static_cast<uint16_t>(all[i] + format.offset());
    for (size_t k2 = 0; k2 < bytes; ++k2)
      v.data[i * bytes + k2] = static_cast<uint8_t>(stored >> (8 * k2));
  }
  *b = importer.graph().add_value(std::move(v));
  return Status();
}

// numpy's shape of a product: of operands of one dimension that of the product is left away; of two such [1].
Shape product_shape(const Shape& leading, int64_t m, int64_t n, bool keeps_m, bool keeps_n) {
  Shape y = leading;
  if (keeps_m) y.push_back(m);
  if (keeps_n) y.push_back(n);
  if (y.rank() == 0) y.push_back(1);
  return y;
}

Shape leading_of(const Shape& shape) {
  Shape leading;
  for (int i = 0; i < shape.rank() - 2; ++i) leading.push_back(shape[i]);
  return leading;
}

Shape with_matrix(Shape leading, int64_t rows, int64_t columns) {
  leading.push_back(rows);
  leading.push_back(columns);
  return leading;
}

}  // namespace

Status import_matmul(Importer& importer, const Node& node) {
  Linear linear;
  Activation a, b;
  if (!importer.read_pair(node, &a, &linear.out) || !read_activation(importer, node, &linear.relu))
    return Status();
  linear.in = a.format;
  const Tensor& right = importer.input(node, 1);
  // Weights of one matrix may have an exponent per channel, and no value of their own.
  const bool is_filter = right.is_constant && right.problem.empty() && right.shape.rank() >= 2 &&
                         right.bytes > 0 && leading_of(right.shape).elements() == 1 &&
                         (importer.is_plain() || !node.has_input(2));
  if (!is_filter && !importer.read_integer(node, 1, &b)) return Status();
  if (is_filter) b.format.type = right.type;
  if (b.format.type != a.format.type)
    return importer.refuse(node,
                           "its inputs are " + std::string(type_name(a.format.type)) + " and " +
                               type_name(b.format.type),
                           right.name, "quantise both alike");
  const Shape sa = importer.shape_of(a.value),
              sb = is_filter ? right.shape : importer.shape_of(b.value);
  const bool is_row = sa.rank() == 1, is_column = sb.rank() == 1;
  QRT_MODEL_CHECK(sa.rank() >= 1 && sb.rank() >= 1 && sa.elements() > 0 && sb.elements() > 0,
                  "shapes %s and %s", sa.to_string().c_str(), sb.to_string().c_str());
  const int64_t k = sa[sa.rank() - 1], m = is_row ? 1 : sa[sa.rank() - 2],
                n = is_column ? 1 : sb[sb.rank() - 1];
  QRT_MODEL_CHECK(k == (is_column ? sb[0] : sb[sb.rank() - 2]),
                  "shapes %s and %s cannot be multiplied", sa.to_string().c_str(),
                  sb.to_string().c_str());
  Shape leading;
  QRT_TRY(broadcast_shape(leading_of(sa), leading_of(sb), &leading));
  const Shape to = product_shape(leading, m, n, !is_row, !is_column);
  std::string note;
  ValueId y;
  if (is_filter) {
    linear.shape = {1, 1, k, n};
    a.value = importer.reshape(node, a.value, {sa.elements() / k, k});
    Status status;
    y = fully_connected(importer, node, a, &linear, &note, &status);
    if (y == kNoValue) return status;
  } else {
    if (node.has_input(2))
      return importer.refuse(node, "it has a bias beside matrices that are computed", right.name,
                             "add the bias in an operator of its own");
    if (!is_column && (right.is_constant || !importer.is_plain()))
      QRT_TRY(right.is_constant ? unpack_constant(importer, node, b.format, &b.value)
                                : unpack_computed(importer, node, b.format, &b.value));
    const ValueId left = importer.reshape(node, a.value, with_matrix(leading_of(sa), m, k));
    const ValueId matrices = importer.reshape(node, b.value, with_matrix(leading_of(sb), k, n));
    y = importer.new_value("", linear.out, with_matrix(leading, m, n));
    auto& o = importer.add_node<fb::BatchMatMulOptionsT>(node, {left, matrices}, y);
    set_zero_point(a.format, &o.a_zero_point, &o.a_zero_point_16);
    set_zero_point(b.format, &o.b_zero_point, &o.b_zero_point_16);
    linear.shifts = {linear.out.exponent - a.format.exponent - b.format.exponent};
    o.requant = requant_of(importer, linear);
  }
  importer.finish(node, importer.reshape(node, y, to), linear.out);
  importer.became(node, (linear.weights.empty() ? "BatchMatMul" : "FullyConnected") + note, "I0");
  return Status();
}

}  // namespace qrt::convert::from_espdl
