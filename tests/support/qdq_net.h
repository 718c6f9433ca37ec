// SPDX-License-Identifier: Apache-2.0
// Nets of integers with powers of two, converted with --reference espdl-p4 or espdl-s3.
#ifndef QRT_TESTS_SUPPORT_QDQ_NET_H_
#define QRT_TESTS_SUPPORT_QDQ_NET_H_

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "tests/support/onnx_builder.h"
#include "tests/support/random.h"

namespace qrt::testing::qdq {

using Integers = std::vector<int64_t>;

inline Imported import_as(const std::string& bytes, const std::string& reference) {
  return import_file(bytes.data(), bytes.size(), [&](const std::string& path, Imported* i) {
    return convert::import_onnx_as_espdl(path, reference, &i->graph, &i->report);
  });
}

inline float scale_of(int exponent) { return std::ldexp(1.0f, exponent); }

// One graph of integers of type T, and its inputs.
template <class T>
struct Net {
  OnnxBuilder b{21};
  std::string reference;
  Random* random;
  std::vector<Bytes> inputs;

  Net(const std::string& r, Random* numbers) : reference(r), random(numbers) {}

  static int64_t limited(double v) {
    return static_cast<int64_t>(
        std::clamp<double>(v, std::numeric_limits<T>::min(), std::numeric_limits<T>::max()));
  }
  // Returns v / 2^shift, half to even on the P4, half up on the S3.
  int64_t shifted(int64_t v, int shift) const {
    const double real = std::ldexp(static_cast<double>(v), -shift);
    return limited(reference == "espdl-p4" ? std::nearbyint(real) : std::floor(real + 0.5));
  }
  // Rounds a float32; half up is computed as a float32 sum.
  int64_t rounded(float v) const {
    return limited(
        static_cast<double>(reference == "espdl-p4" ? std::nearbyint(v) : std::floor(v + 0.5f)));
  }

  static Bytes bytes(const Integers& v) { return to_bytes(std::vector<T>(v.begin(), v.end())); }
  Integers numbers(const Dims& dims) {
    int64_t count = 1;
    for (const int64_t d : dims) count *= d;
    Integers v(static_cast<size_t>(count));
    random->fill(v, std::numeric_limits<T>::min(), std::numeric_limits<T>::max());
    return v;
  }
  std::string input(const Dims& dims, int exponent, Integers* v) {
    *v = numbers(dims);
    inputs.push_back(bytes(*v));
    return b.integer_input<T>(dims, scale_of(exponent), T{0});
  }
  // Returns a quantised constant, with a scale for each index of `axis` where there are several exponents.
  std::string constant(const Dims& dims, const std::vector<int>& exponents, int axis, Integers* v) {
    *v = numbers(dims);
    const std::string c = b.constant(dims, std::vector<T>(v->begin(), v->end()));
    if (exponents.size() == 1) return b.dq(c, scale_of(exponents[0]), T{0});
    std::vector<float> scales;
    for (const int e : exponents) scales.push_back(scale_of(e));
    const auto n = static_cast<int64_t>(scales.size());
    return b.node("DequantizeLinear",
                  {c, b.constant({n}, scales), b.constant({n}, std::vector<T>(scales.size()))},
                  {{"axis", axis}});
  }
  Imported import() const { return import_as(b.bytes(), reference); }
  std::vector<Bytes> run() const {
    Imported imported = import();
    EXPECT_TRUE(imported.status.ok()) << imported.status.message() << imported.report.text(true);
    if (!imported.status.ok()) return {};
    EXPECT_EQ(imported.graph.reference.substr(0, 8), reference);
    record_support(b.model, imported.report, "ONNX as ESP-DL");
    return run_graph(std::move(imported.graph), true, inputs).outputs;
  }
  void output(const std::string& y, int exponent) {
    b.integer_output<T>(y, scale_of(exponent), T{0});
  }
  // Checks that y quantised with 2^exponent is `expected`.
  void check(const std::string& y, int exponent, const Integers& expected) {
    output(y, exponent);
    ASSERT_EQ(run(), std::vector<Bytes>{bytes(expected)}) << random->trace();
  }
};

inline size_t at(int64_t i) { return static_cast<size_t>(i); }

}  // namespace qrt::testing::qdq

#endif  // QRT_TESTS_SUPPORT_QDQ_NET_H_
