// SPDX-License-Identifier: Apache-2.0
#include "converter/import/espdl/ops/linear.h"

#include <algorithm>

#include "kernels/gemm/digits.h"

namespace qrt::convert::from_espdl {
namespace {

// Checks the type of the constant weights and reads their exponents. Returns false where the
// operator was refused.
bool check_weights(Importer& importer, const Node& node, Linear* linear) {
  const Tensor& w = importer.input(node, 1);
  const auto no = [&](const std::string& rule, const char* remedy) {
    (void)importer.refuse(node, importer.quoted_input(node, 1) + " " + rule, w.name, remedy);
    return false;
  };
  if (!w.is_constant) return no("is not a constant", "store the weights as constants of the model");
  if (!w.problem.empty())
    return no(
        w.problem,
        "export the model again with ESP-PPQ: its exporter stores what the runtime expects here");
  if (w.type != linear->in.type)
    return no(std::string("is ") + type_name(w.type) + ", which does not go with a " +
                  type_name(linear->in.type) + " input",
              "quantise weights and activations to one type, int8 or int16");
  const size_t channels = static_cast<size_t>(linear->shape.n);
  if (w.exponents.size() != 1 && w.exponents.size() != channels)
    return no("has " + std::to_string(w.exponents.size()) + " exponents for " +
                  std::to_string(channels) + " channels",
              "quantise the weights with one exponent, or one per output channel");
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
        "export the model again with ESP-PPQ: its exporter stores what the runtime expects here");
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
      return no(
          "has a wrong number of exponents",
          "export the model again with ESP-PPQ: its exporter stores what the runtime expects here");
    if (b.exponents[b.exponents.size() > 1 ? i : 0] != expected)
      return no("has the exponent " + std::to_string(b.exponents[b.exponents.size() > 1 ? i : 0]) +
                    ", expected that of the products, " + std::to_string(expected),
                "export the model with an ESP-PPQ of 2024 or newer");
  }
  linear->bias = b.integers();
  return true;
}

// The bounds of the partial sums of one output channel, in any order.
struct Reach {
  int64_t lo = 0, hi = 0;
};

std::vector<Reach> reaches(const Linear& linear) {
  const FilterShape& f = linear.shape;
  const auto n = static_cast<size_t>(f.n), terms = static_cast<size_t>(f.h * f.w * f.c);
  const Limits x = linear.in.limits();
  std::vector<Reach> reach(linear.bias.size());
  for (size_t o = 0; o < reach.size(); ++o) {
    reach[o].lo = std::min<int64_t>(linear.bias[o], 0);
    reach[o].hi = std::max<int64_t>(linear.bias[o], 0);
  }
  for (size_t i = 0; i < linear.weights.size(); ++i) {
    const int64_t w = linear.weights[i];
    Reach& r = reach[f.is_depthwise ? i % n : i / terms];
    r.lo += std::min(w * x.lo, w * x.hi);
    r.hi += std::max(w * x.lo, w * x.hi);
  }
  return reach;
}

Limits limits_of(const Linear& linear) {
  Limits limits = linear.out.limits();
  if (linear.relu) limits.lo = 0;
  return limits;
}

// Exporters end a bias of a channel with tiny weights at the limits of int32, so that its sums would leave
// them. Where every sum has the output's limit for a result, a bias nearer to 0 gives the same.
void limit_biases(Linear* linear) {
  if (linear->in.is_int16()) return;
  const std::vector<Reach> reach = reaches(*linear);
  const Limits limits = limits_of(*linear);
  for (size_t o = 0; o < reach.size(); ++o) {
    int64_t& bias = linear->bias[o];
    // The bounds of the products' sum alone.
    const int64_t lo = reach[o].lo - std::min<int64_t>(bias, 0);
    const int64_t hi = reach[o].hi - std::max<int64_t>(bias, 0);
    const int shift = std::max(linear->shifts[linear->shifts.size() > 1 ? o : 0], 0);
    if (shift > 31) continue;
    const int64_t step = int64_t{1} << shift, greatest = INT32_MAX - hi, least = INT32_MIN - lo;
    if (bias > greatest && greatest + lo >= limits.hi * step) bias = greatest;
    if (bias < least && least + hi <= limits.lo * step) bias = least;
  }
}

constexpr int64_t kMaxBias = int64_t{1} << 45;
constexpr int kS3Bits8 = 20, kS3Bits16 = 40;  // of the S3's accumulators

// Proves that no sum leaves the accumulators of the runtime's C code. Where the S3's narrower ones
// may overflow, *note says so. Returns false where the operator was refused.
bool prove_sums(Importer& importer, const Node& node, const Linear& linear, std::string* note) {
  const auto no = [&](const std::string& rule) {
    (void)importer.refuse(node, rule, importer.input(node, 1).name,
                          "split the layer into two whose results are added, or quantise its "
                          "weights with a smaller range");
    return false;
  };
  for (const int64_t b : linear.bias)
    if (b < -kMaxBias || b > kMaxBias) return no("a bias is beyond 2^45");
  // The runtime rounds channels up to multiples of 4.
  const FilterShape& f = linear.shape;
  const auto terms = static_cast<size_t>(f.h * f.w * (f.c + 3));
  if (linear.in.is_int16() && terms > kMaxDigitsK)
    return no("more than " + std::to_string(kMaxDigitsK) + " weights make an output");
  Reach all;
  for (const Reach& r : reaches(linear)) {
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

}  // namespace

bool read_activation(Importer& importer, const Node& node, bool* relu) {
  const std::string activation = node.text("activation", "Linear");
  *relu = activation == "Relu";
  if (*relu || activation == "Linear") return true;
  (void)importer.refuse(node, "its activation is '" + activation + "', expected Linear or Relu",
                        importer.output(node).name,
                        "export the activation as an operator of its own");
  return false;
}

Status read_linear(Importer& importer, const Node& node, const Shape& shape, Linear* linear,
                   LinearConstants* constants, bool* known) {
  *known = false;
  Status status;
  if (!check_weights(importer, node, linear) || !read_bias(importer, node, linear, &status))
    return status;
  const FilterShape& f = linear->shape;
  QRT_TRY(unpack_filter(importer.input(node, 1), 0, f, &linear->weights));
  limit_biases(linear);
  if (!prove_sums(importer, node, *linear, &constants->note)) return Status();
  constants->bias = add_bias(importer, node, *linear);
  constants->weights = add_weights(importer, node, *linear, shape, f.is_depthwise ? 2 : 0);
  *known = true;
  return Status();
}

std::unique_ptr<fb::RequantT> requant_of(Importer& importer, const Linear& linear) {
  return importer.builder().requant(linear.shifts, linear.in.is_int16() ? kMostLeft64 : kMostLeft32,
                                    linear.out, limits_of(linear));
}

}  // namespace qrt::convert::from_espdl
