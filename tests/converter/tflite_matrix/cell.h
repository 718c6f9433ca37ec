// SPDX-License-Identifier: Apache-2.0
// One cell of the matrix of TFLite operators: a tensor as its producer leaves it, the operator that reads it, and what plain
// loops of the reference's formulas make of both. Nothing here is shared with the converter.
#ifndef QRT_TESTS_CONVERTER_TFLITE_MATRIX_CELL_H_
#define QRT_TESTS_CONVERTER_TFLITE_MATRIX_CELL_H_

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include "tests/support/random.h"
#include "tests/support/tflite_builder.h"
#include "tests/support/tflite_reference.h"

namespace qrt::tflite_matrix {

using testing::Bytes;
using testing::Random;
using testing::ReferenceMultiplier;
using testing::TfliteBuilder;
using testing::TfliteReference;
using B = tflite::BuiltinOperator;
using T = tflite::TensorType;
using Dims = TfliteBuilder::Dims;
using Index = std::vector<int>;

inline int elements(const Dims& dims) {
  int n = 1;
  for (const int d : dims) n *= d;
  return n;
}

// Calls f(index) for every element, the last axis fastest.
template <class F>
void for_each_index(const Dims& dims, const F& f) {
  Index index(dims.size(), 0);
  for (int n = elements(dims); n > 0; --n) {
    f(index);
    for (size_t axis = dims.size(); axis-- > 0;) {
      if (++index[axis] < dims[axis]) break;
      index[axis] = 0;
    }
  }
}

// A tensor of the model and its content.
struct Tensor {
  int id = -1;
  Dims dims;
  T type = T::INT8;
  float scale = 1;
  int zero_point = 0;
  std::vector<int> codes;

  int at(const Index& index) const {
    int offset = 0;
    for (size_t axis = 0; axis < dims.size(); ++axis) offset = offset * dims[axis] + index[axis];
    return codes[static_cast<size_t>(offset)];
  }
  // Returns the code at the position that broadcasts to a larger index.
  int broadcast(const Index& index) const {
    Index own(index.end() - static_cast<std::ptrdiff_t>(dims.size()), index.end());
    for (size_t axis = 0; axis < dims.size(); ++axis)
      if (dims[axis] == 1) own[axis] = 0;
    return at(own);
  }
};

inline int least(T type) { return type == T::INT8 ? -128 : type == T::UINT8 ? 0 : -32768; }
inline int most(T type) { return type == T::INT8 ? 127 : type == T::UINT8 ? 255 : 32767; }

// The operator in front of the one that is tested.
enum class Source { kInput, kTransposed, kReshaped, kSliced, kRequantized };
constexpr Source kLastSource = Source::kRequantized;
const char* name_of(Source source);

class Cell {
 public:
  Cell(Random* source_of_numbers, T type, Source source, bool is_single)
      : random(*source_of_numbers), type_(type), source_(source), is_single_(is_single) {}

  Random& random;
  TfliteBuilder b;

  T type() const { return type_; }
  bool is_int16() const { return type_ == T::INT16; }
  bool is_single() const { return is_single_; }  // the reference rounds once
  int pick(int lo, int hi) { return static_cast<int>(random.integer(lo, hi)); }

  // --- tensors
  // Adds an input and the source operator behind it.
  Tensor produced(const Dims& dims);
  // Returns an input, or a constant, of the cell's type.
  Tensor input(const Dims& dims);
  Tensor constant(const Dims& dims);
  // int32 numbers.
  int integers(const std::vector<int32_t>& values) {
    return b.constant(T::INT32, {static_cast<int32_t>(values.size())}, values);
  }
  int scalar(int32_t value) { return b.constant(T::INT32, {}, std::vector<int32_t>{value}); }

  // --- outputs, in order. f(index) is the code of each element.
  template <class F>
  Tensor filled(Tensor y, const F& f) {
    for_each_index(y.dims, [&](const Index& i) { y.codes.push_back(static_cast<int>(f(i))); });
    return y;
  }
  // Returns a tensor without content: with the parameters of `x`, or with its own.
  static Tensor like(const Tensor& x, const Dims& dims) {
    Tensor y = x;
    y.dims = dims;
    y.codes.clear();
    return y;
  }
  Tensor fresh(const Dims& dims);
  Tensor plain(T type, const Dims& dims) {
    Tensor y;
    y.type = type, y.dims = dims, y.scale = 0;
    return y;
  }
  // Expects the operator that was added last to make these, which become outputs of the model.
  void expect(const std::vector<Tensor>& outputs);
  // Expects these numbers of a float output.
  void expect_floats(Tensor y, const std::vector<float>& values);

  int scaled(int32_t v, ReferenceMultiplier m) const {
    return testing::reference_multiply(v, m, is_single_);
  }
  int clamped(int64_t v) const {
    return static_cast<int>(std::clamp<int64_t>(v, least(type_), most(type_)));
  }

  // Converts and runs the model and compares. Returns false where the operator was refused, and *why says so.
  bool check(std::string* why);

 private:
  void add_content(Tensor* x);
  Tensor requantized(const Dims& dims);
  static Bytes bytes(const Tensor& x);

  const T type_;
  const Source source_;
  const bool is_single_;
  std::vector<Bytes> inputs_, expected_;
};

// One way to use an operator.
struct Form {
  std::string name;
  Dims dims;
  std::function<void(Cell& c, const Tensor& x)> make;
};
struct Row {
  B code;
  std::vector<T> types;
  std::vector<Form> forms;
  // For operators with state, or with long formulas: the test that has their reference.
  const char* tested_in = "";
};
inline void PrintTo(const Row& row, std::ostream* os) {
  *os << tflite::EnumNameBuiltinOperator(row.code);
}
std::vector<Row> move_rows();
std::vector<Row> elementwise_rows();
std::vector<Row> layer_rows();

const std::vector<T> kBytes = {T::INT8, T::UINT8}, kSigned = {T::INT8, T::INT16},
                     kAllTypes = {T::INT8, T::UINT8, T::INT16};

}  // namespace qrt::tflite_matrix

#endif  // QRT_TESTS_CONVERTER_TFLITE_MATRIX_CELL_H_
