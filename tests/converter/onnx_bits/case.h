// SPDX-License-Identifier: Apache-2.0
// Models whose results are held against ONNX Runtime's numbers (numbers.h): what random graphs found
// to differ, or to be refused without need. A new case: add it to one of the lists, build, run
// tests/onnxruntime/numbers.mjs, build again.
#ifndef QRT_TESTS_CONVERTER_ONNX_BITS_CASE_H_
#define QRT_TESTS_CONVERTER_ONNX_BITS_CASE_H_

#include <string>
#include <vector>

#include "tests/support/onnx_builder.h"

namespace qrt::testing {

// Returns the same numbers on every machine, over the whole of T.
template <class T>
std::vector<T> codes(int64_t n) {
  std::vector<T> v(static_cast<size_t>(n));
  for (size_t i = 0; i < v.size(); ++i) v[i] = static_cast<T>(i * 37 + 11);
  return v;
}
inline std::vector<float> reals(int64_t n, float amplitude) {
  std::vector<float> v(static_cast<size_t>(n));
  for (size_t i = 0; i < v.size(); ++i)
    v[i] = amplitude * (static_cast<float>(i * 29 % 64) / 32.0f - 1.0f);
  return v;
}
inline int64_t elements(const Dims& dims) {
  int64_t n = 1;
  for (int64_t d : dims) n *= d < 0 ? 1 : d;
  return n;
}

// A model that grows and the bytes of its inputs.
class BitsModel {
 public:
  OnnxBuilder b{13};

  // Floats from -amplitude to amplitude.
  std::string real(const Dims& dims, float amplitude = 2.0f) {
    inputs_.push_back(to_bytes(reals(elements(dims), amplitude)));
    return b.input(dims);
  }
  // Adds a float input behind a Q/DQ pair.
  std::string image(const Dims& dims, float scale = 1.0f / 64, uint8_t zero_point = 128) {
    return b.qdq<uint8_t>(real(dims), scale, zero_point);
  }
  std::string pixels(const Dims& dims) {
    inputs_.push_back(to_bytes(codes<uint8_t>(elements(dims))));
    return b.input<uint8_t>(dims);
  }
  std::string weights(const Dims& dims, float scale = 0.01f) {
    return b.dq<int8_t>(b.constant<int8_t>(dims, codes<int8_t>(elements(dims))), scale, 0);
  }
  std::string floats(const Dims& dims, float amplitude = 1.0f) {
    return b.constant<float>(dims, reals(elements(dims), amplitude));
  }
  std::string ints(const Dims& values) {
    return b.constant<int64_t>({static_cast<int64_t>(values.size())}, values);
  }
  void stored(const std::string& x, float scale = 1.0f / 32, uint8_t zero_point = 128) {
    b.output(b.q<uint8_t>(x, scale, zero_point));
  }

  const std::vector<Bytes>& inputs() const { return inputs_; }

 private:
  std::vector<Bytes> inputs_;
};

struct BitsCase {
  const char* name;
  void (*build)(BitsModel& m);
  // ONNX Runtime's own sums of floats are not exact: relative to 1 or a greater value.
  float tolerance = 0;
};

std::vector<BitsCase> window_cases();
std::vector<BitsCase> pair_cases();
std::vector<BitsCase> product_cases();
std::vector<BitsCase> elementwise_cases();
std::vector<BitsCase> float_fallback_cases();
std::vector<BitsCase> float_convolution_cases();
std::vector<BitsCase> waiting_cases();
std::vector<BitsCase> fusion_cases();

inline std::vector<BitsCase> all_bits_cases() {
  std::vector<BitsCase> all;
  for (const auto& cases :
       {window_cases(), pair_cases(), product_cases(), elementwise_cases(), float_fallback_cases(),
        float_convolution_cases(), waiting_cases(), fusion_cases()})
    all.insert(all.end(), cases.begin(), cases.end());
  return all;
}

}  // namespace qrt::testing

#endif  // QRT_TESTS_CONVERTER_ONNX_BITS_CASE_H_
