// SPDX-License-Identifier: Apache-2.0
// Random quantised ONNX graphs whose inputs have open dimensions, with the shape arithmetic that exporters write. All
// that is known of a size is what it is in each of the runs that a graph will be compared in.
#ifndef QRT_TESTS_ONNXRUNTIME_OPEN_SIZED_MAKER_H_
#define QRT_TESTS_ONNXRUNTIME_OPEN_SIZED_MAKER_H_

#include <array>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "tests/onnxruntime/dice.h"
#include "tests/support/onnx_builder.h"

namespace qrt::open_onnx {

using random_onnx::Dice;
using testing::Attr;
using testing::Dims;
using testing::Names;
using testing::OnnxBuilder;

constexpr size_t kRuns = 5;  // 1, odd, usual, large, and one size that is 0
// An integer in each of the runs, such as a size.
using Size = std::array<int64_t, kRuns>;
using Sizes = std::vector<Size>;

Size fixed(int64_t n);
bool is_fixed(const Size& size);

// A size that the graph computes: an int64 tensor of shape [1].
struct Number {
  std::string name;
  Size value;
};

struct Quant {
  int type = 2;  // uint8, or 3: int8
  float scale = 1.0f;
  int zero_point = 0;
};

// A tensor of real numbers; where it is quantised, `stored` holds the integers.
struct Live {
  std::string real, stored;
  Sizes dims;
  Quant quant;
  double amplitude = 1;
  bool is_read = false;
};

struct Input {
  std::string name;
  int type;  // ONNX's
  Sizes dims;
  double least, most;  // of its numbers
};

class SizedMaker {
 public:
  SizedMaker(uint64_t seed, bool pair_safe);

  const OnnxBuilder& make();
  const std::vector<Input>& inputs() const { return inputs_; }
  // Names of the layers, in order.
  const std::vector<std::string>& layers() const { return layers_; }

 private:
  enum class Flavour { kQdq, kOperators, kDynamic };
  enum class Kind { kBatch, kLength, kExtent };
  using Layer = bool (SizedMaker::*)();
  struct Choice {
    const char* name;
    Layer layer;
    int weight;
  };
  static const std::vector<Choice>& choices();

  // --- inputs
  struct Symbol {
    std::string name;  // "": none
    Kind kind;
    Size size;
  };
  size_t new_symbol(Kind kind);
  // Returns a symbol, an existing or a new one.
  size_t symbol(Kind kind);
  Size random_size(Kind kind, bool is_zero);
  // Declares an input; symbols of dimensions that are -1 follow in order.
  std::string declare(int type, const Sizes& dims, const std::vector<int>& symbols, double least,
                      double most);
  void add_sequence();
  void add_tokens();
  void add_image();
  void add_signal();

  // --- tensors
  static int64_t most_elements(const Sizes& dims);
  // Tensors of a rank of which the last dimension is fixed, or any; SIZE_MAX where there is none.
  size_t pick(int least_rank, int most_rank, bool has_fixed_last = false);
  Live& live(size_t i) { return live_[i]; }
  std::string read(size_t i);
  Quant random_quant(double amplitude);
  std::string zero_point(const Quant& q);
  std::string quantise(const std::string& x, const Quant& q);
  std::string dequantise(const std::string& x, const Quant& q);
  // Adds what a layer computed, mostly behind a pair. True, for layers to return; false where it is too large.
  bool finish(const std::string& real, const Sizes& dims, double amplitude);
  // Adds what a layer computed that only moves the numbers of x. True, for layers to return; false where it is too large.
  bool finish_moved(const std::string& real, const Sizes& dims, size_t x);
  bool add(Live result);
  void finish_outputs();

  // --- constants
  std::string int64s(const Dims& values);
  std::string floats(const Dims& dims, double amplitude);
  struct Weights {
    std::string stored, scale, zero_point, real;
    double amplitude;
  };
  Weights weights(const Dims& dims, int axis, bool per_channel);

  // --- numbers (numbers.cc)
  Number constant(int64_t n);
  Number dimension(size_t x, int64_t axis);
  Number combine(const char* op, const Number& a, const Number& b);
  Number select(const char* op, const Number& a, const Number& b, const Number& then,
                const Number& otherwise);
  Number by_float(const Number& a, float factor, bool up);
  Number step(const Number& n);
  // Returns a number computed from n that is at least `least`, mostly by a Max.
  Number computed(const Number& n, int64_t least);
  // Returns a constant near one of its values, or a usual one.
  int64_t near(const Number& n);
  std::string vector_of(const std::vector<Number>& numbers);
  std::string scalar_of(const Number& n);
  // 0, 1, ... n - 1
  std::string range(const Number& n);
  std::vector<Number> dimensions(size_t x);

  // --- layers: false where none fits
  bool linear();
  bool heads();
  bool attention();
  bool cache();
  bool recurrence();
  bool positions();
  bool merge();
  bool expand();
  bool class_token();
  bool filled();
  bool masked();
  bool last();
  bool relative();
  bool slice();
  bool split();
  bool tile();
  bool pad();
  bool transpose();
  bool concat();
  bool gather();
  bool reduce();
  bool softmax();
  bool arg_max();
  bool unary();
  bool add_two();
  bool number_output();
  bool conv();
  bool pool();
  bool conv_transpose();
  bool global_pool();
  bool resize();
  bool resized_table();
  bool flatten_image();
  bool windows();

  std::string scores_mask(const std::string& scores, const Sizes& dims, const Number& from,
                          const Number& to);
  std::string product(const std::string& a, const Sizes& a_dims, const std::string& b,
                      double amplitude);

  Dice dice_;
  int64_t opset_;
  OnnxBuilder b_;
  bool pair_safe_;
  Flavour flavour_ = Flavour::kQdq;
  int main_type_ = 2;
  size_t zero_symbol_;  // the symbol that is 0 in the last run
  std::vector<Symbol> symbols_;
  std::vector<Input> inputs_;
  std::vector<Live> live_;
  std::vector<std::string> layers_;
};

}  // namespace qrt::open_onnx

#endif  // QRT_TESTS_ONNXRUNTIME_OPEN_SIZED_MAKER_H_
