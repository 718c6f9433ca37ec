// SPDX-License-Identifier: Apache-2.0
// One graph of the sweep while it grows: a producer's tensor, the reader behind it, and the numbers of its inputs.
#ifndef QRT_TESTS_ONNXRUNTIME_SWEEP_GRAPH_H_
#define QRT_TESTS_ONNXRUNTIME_SWEEP_GRAPH_H_

#include <cmath>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "tests/onnxruntime/dice.h"
#include "tests/support/onnx_builder.h"

namespace qrt::sweep {

using random_onnx::Dice;
using testing::Attr;
using testing::Bytes;
using testing::Dims;
using testing::Names;
using testing::OnnxBuilder;

// The unit of numbers that no layer in float may move.
constexpr double kExact = 1e-30;

constexpr int kFloatType = 1, kInt8Type = 3, kInt32Type = 6, kInt64Type = 7, kBoolType = 9,
              kHalfType = 10;
constexpr char kMicrosoft[] = "com.microsoft";

inline int64_t elements(const Dims& dims) {
  int64_t n = 1;
  for (const int64_t d : dims) n *= d;
  return n;
}

// Returns the shape of a vector along one axis, as numpy broadcasts it.
inline Dims along(const Dims& dims, size_t axis) {
  Dims shape(dims.size() - axis, 1);
  return shape[0] = dims[axis], shape;
}

// A tensor of floats, unless a reader says that it holds integers.
struct Value {
  std::string name;
  Dims dims;
  double amplitude = 1;  // about the greatest magnitude of its numbers
  // By how much a layer in float may move a number: the scale of what comes from a DequantizeLinear, 0 for a part of a
  // float.
  double unit = 0;
  bool is_integers = false;  // no QuantizeLinear can follow
};

// The greatest magnitude of a weight: ONNX Runtime adds two products of a byte and a weight in 16 bits on CPUs without
// VNNI, which saturates beyond.
constexpr int kMostWeight = 64;

// Numbers are drawn in statements, never among the arguments of a call, whose order compilers choose: a
// seed is one graph everywhere.
class Graph {
 public:
  Graph(uint64_t seed, int64_t opset) : dice(seed), b(opset), is_signed_(dice.one_in(3)) {}

  Dice dice;
  OnnxBuilder b;

  const std::vector<Bytes>& inputs() const { return inputs_; }

  // --- outputs, and their units
  void output(const std::string& name, double unit) {
    b.output(name);
    units_[name] = unit;
  }
  const std::map<std::string, double>& units() const { return units_; }

  // --- inputs
  Value floats(const Dims& dims, double amplitude = 2) {
    return {input(dims, real_numbers(dims, -amplitude, amplitude)), dims, amplitude};
  }
  // Codes of all values of T, or of magnitudes up to `most`.
  template <class T>
  std::string codes(const Dims& dims, int64_t most = int64_t{1} << 40) {
    return input(dims, integers<T>(dims, most));
  }
  // Adds an input of 8 bits and its DequantizeLinear. The type is that of the whole graph.
  Value image(const Dims& dims, double amplitude = 2) {
    if (is_signed_) return image_of<int8_t>(dims, amplitude);
    return image_of<uint8_t>(dims, amplitude);
  }
  // Adds an input of 8 bits of the type of the whole graph, without a DequantizeLinear.
  std::string stored_input(const Dims& dims) {
    return is_signed_ ? codes<int8_t>(dims) : codes<uint8_t>(dims);
  }
  template <class T>
  Value image_of(const Dims& dims, double amplitude = 2) {
    const float scale = scale_of<T>(amplitude);
    const T zero = zero_point<T>();
    return {b.dq<T>(codes<T>(dims), scale, zero), dims, amplitude};
  }

  // --- constants
  std::string constant(const Dims& dims, double least, double most) {
    return b.constant<float>(dims, real_numbers(dims, least, most));
  }
  std::string numbers(const Dims& values) {
    return b.constant<int64_t>({static_cast<int64_t>(values.size())}, values);
  }
  // Weights of 8 bits behind a DequantizeLinear; with a scale for each index of `axis`, or -1. Opsets below 13 have one scale.
  Value weights(const Dims& dims, int axis = -1) {
    if (b.model.opset_import(0).version() < 13) axis = -1;
    const std::string stored = b.constant<int8_t>(dims, integers<int8_t>(dims, kMostWeight));
    const Dims scales = axis < 0 ? Dims{} : Dims{dims[static_cast<size_t>(axis)]};
    const std::string scale = constant(scales, 0.006, 0.012);
    const std::string zero = b.constant<int8_t>(
        scales, std::vector<int8_t>(static_cast<size_t>(elements(scales)), int8_t{0}));
    std::vector<Attr> attributes;
    if (axis >= 0) attributes.push_back(Attr("axis", axis));
    return {b.node("DequantizeLinear", {stored, scale, zero}, attributes), dims, 0.6};
  }
  // Returns a constant of 8 bits behind a DequantizeLinear.
  Value stored_constant(const Dims& dims, double amplitude) {
    const std::string stored = b.constant<uint8_t>(dims, integers<uint8_t>(dims, 255));
    const uint8_t zero = zero_point<uint8_t>();
    return {b.dq<uint8_t>(stored, scale_of<uint8_t>(amplitude), zero), dims, amplitude};
  }

  // --- nodes
  Value node(const std::string& op, const Value& x, const Names& more = {},
             const std::vector<Attr>& attributes = {}, const std::string& domain = "") {
    Names all = {x.name};
    all.insert(all.end(), more.begin(), more.end());
    return {b.node(op, all, attributes, domain), x.dims, x.amplitude};
  }
  // Return x with another shape or another size of numbers.
  static Value shaped(Value x, const Dims& dims) { return x.dims = dims, x; }
  static Value sized(Value x, double amplitude) { return x.amplitude = amplitude, x; }

  // A tensor's integers behind a QuantizeLinear, and how they stand for its numbers.
  struct Codes {
    std::string name, scale, zero_point;
    Dims dims;
    double amplitude;
    float scale_value;
  };
  Codes quantized(const Value& x) { return quantized_to(x, x.amplitude); }
  Codes quantized_to(const Value& x, double amplitude) {
    Codes c = parameters(amplitude);
    c.name = b.node("QuantizeLinear", {x.name, c.scale, c.zero_point});
    c.dims = x.dims;
    return c;
  }
  // Returns scale and zero point for numbers of this amplitude, without adding a tensor.
  Codes parameters(double amplitude) {
    Codes c;
    c.amplitude = amplitude;
    c.scale_value = is_signed_ ? scale_of<int8_t>(amplitude) : scale_of<uint8_t>(amplitude);
    c.scale = b.scalar(c.scale_value);
    c.zero_point = is_signed_ ? b.scalar(zero_point<int8_t>()) : b.scalar(zero_point<uint8_t>());
    return c;
  }
  Value dequantized(const Codes& c) { return dequantized(c.name, c, c.dims); }
  Value dequantized(const std::string& codes, const Codes& like, const Dims& dims) {
    return {b.node("DequantizeLinear", {codes, like.scale, like.zero_point}), dims, like.amplitude,
            static_cast<double>(like.scale_value)};
  }
  bool is_signed() const { return is_signed_; }

  std::vector<float> real_numbers(const Dims& dims, double least, double most) {
    std::vector<float> v(static_cast<size_t>(elements(dims)));
    for (float& f : v) f = static_cast<float>(dice.real(least, most));
    return v;
  }
  template <class T>
  std::vector<T> integers(const Dims& dims, int64_t most) {
    const auto lo = static_cast<int64_t>(std::numeric_limits<T>::min());
    const auto hi = static_cast<int64_t>(std::numeric_limits<T>::max());
    std::vector<T> v(static_cast<size_t>(elements(dims)));
    for (T& c : v) c = static_cast<T>(dice.integer(lo < -most ? -most : lo, hi > most ? most : hi));
    return v;
  }
  template <class T>
  T zero_point() {
    if (sizeof(T) > 1) return 0;
    const int middle = std::is_signed_v<T> ? 0 : 128;
    return static_cast<T>(middle + dice.integer(-20, 20));
  }
  template <class T>
  float scale_of(double amplitude) {
    const double steps = std::exp2(8 * sizeof(T)) - 1;
    return static_cast<float>(2 * amplitude / steps * dice.real(0.8, 1.1));
  }

 private:
  template <class T>
  std::string input(const Dims& dims, const std::vector<T>& values) {
    inputs_.push_back(testing::to_bytes(values));
    return b.input<T>(dims);
  }

  bool is_signed_;
  std::vector<Bytes> inputs_;
  std::map<std::string, double> units_;
};

}  // namespace qrt::sweep

#endif  // QRT_TESTS_ONNXRUNTIME_SWEEP_GRAPH_H_
