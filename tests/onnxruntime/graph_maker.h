// SPDX-License-Identifier: Apache-2.0
// Random quantised ONNX graphs as exporters write them. Every layer takes existing tensors,
// quantised or of integers, and adds new ones; tensors without a reader in the end are outputs.
#ifndef QRT_TESTS_ONNXRUNTIME_GRAPH_MAKER_H_
#define QRT_TESTS_ONNXRUNTIME_GRAPH_MAKER_H_

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "tests/onnxruntime/dice.h"
#include "tests/support/onnx_builder.h"

namespace qrt::random_onnx {

using testing::Attr;
using testing::Dims;
using testing::Names;
using testing::OnnxBuilder;

enum Type : int {
  kFloat = 1,
  kUint8 = 2,
  kInt8 = 3,
  kUint16 = 4,
  kInt16 = 5,
  kInt32 = 6,
  kInt64 = 7,
  kBool = 9,
  kHalf = 10,
  kFloat8E4M3FN = 17,
  kFloat8E4M3FNUZ = 18,
  kFloat8E5M2 = 19,
  kFloat8E5M2FNUZ = 20,
  kUint4 = 21,
  kInt4 = 22,
  kUint2 = 25,
  kInt2 = 26
};

// The type and parameters with which real numbers are stored.
struct Quant {
  int type = kUint8;
  float scale = 1.0f;
  int zero_point = 0;

  bool is_int16() const { return type == kUint16 || type == kInt16; }
  int lo() const { return type == kInt8 ? -128 : type == kInt16 ? -32768 : 0; }
  int hi() const { return type == kInt8 ? 127 : type == kInt16 ? 32767 : is_int16() ? 65535 : 255; }
};

// A quantised tensor: `name` holds the integers.
struct Live {
  std::string name;
  Dims dims;               // with 1 for a symbolic batch
  bool has_batch = false;  // dims[0] is symbolic
  Quant quant;
  double amplitude = 1;  // about the greatest magnitude of its real numbers
  std::string real;      // a DequantizeLinear's output that several nodes may read
  bool is_read = false;
};

struct GraphOptions {
  int layers = 6;    // at most
  std::string only;  // the one kind of layer, by its name in layers.cc
  // No two products of a byte and a weight add up to more than 16 bits hold: ONNX Runtime
  // saturates there on CPUs without VNNI.
  bool pair_safe = false;
};

class GraphMaker {
 public:
  GraphMaker(uint64_t seed, const GraphOptions& options);

  // The whole graph.
  const OnnxBuilder& make();

  // Returns whether an input's batch is symbolic.
  bool has_symbolic_batch() const;
  // Returns about how great the numbers of a float input should be.
  double amplitude(const std::string& input) const {
    const auto found = amplitudes_.find(input);
    return found == amplitudes_.end() ? 1.0 : found->second;
  }
  // Returns the least and the greatest number of an input. Null: those of its type.
  const std::pair<int64_t, int64_t>* limits(const std::string& input) const {
    const auto found = limits_.find(input);
    return found == limits_.end() ? nullptr : &found->second;
  }
  const std::pair<double, double>* real_limits(const std::string& input) const {
    const auto found = reals_.find(input);
    return found == reals_.end() ? nullptr : &found->second;
  }

 private:
  using Layer = bool (GraphMaker::*)();

  // --- tensors
  size_t input_of_rank(int rank);
  // Returns a tensor of one of these ranks, most likely a late one; may be a new input. Indices,
  // since tensors move when one is added.
  size_t pick(const std::vector<int>& ranks);
  // Returns another tensor that broadcasts with this one.
  size_t partner(size_t x);
  // Returns the floats of a live tensor: a DequantizeLinear of its own or one that others read too,
  // now and then with something behind it that changes nothing, or with a second pair.
  std::string read(size_t live);
  std::string without_effect(std::string x, const Dims& dims);
  // Adds a QuantizeLinear of a float tensor of about this amplitude; the result is a new live tensor.
  size_t quantise(const std::string& real, const Dims& dims, double amplitude, bool has_batch,
                  const Quant* like = nullptr);
  // Quantises a result, sometimes behind a Relu or the like, or makes it a float output. Returns true.
  bool finish(std::string real, Dims dims, double amplitude, bool has_batch);
  size_t add_live(const std::string& name, const Dims& dims, const Quant& quant, bool has_batch,
                  double amplitude);
  Quant random_quant(double amplitude, bool is_positive = false);
  // Returns parameters of the same type.
  Quant quant_like(const Quant& other, double amplitude);
  int activation_type();
  std::string pair_node(const std::string& op, const std::string& x, const Quant& quant);
  std::string quantise_node(const std::string& x, const Quant& quant);
  std::string dequantise_node(const std::string& x, const Quant& quant);
  void finish_outputs();
  // spellings.cc: writes the same graph as another exporter does.
  void respell();
  // Turns single nodes into calls of functions, or into the branches of an If.
  void enclose();

  // --- constants
  std::string zero_point(const Quant& quant);
  std::string zero_or_none(const Quant& quant);
  std::string floats(const Dims& dims, double amplitude);
  std::string integers64(const Dims& values) {
    return b_.constant<int64_t>({static_cast<int64_t>(values.size())}, values);
  }
  // Returns random integers, none of a magnitude beyond `most`.
  std::string codes(const Dims& dims, const Quant& quant, int most = 65535);
  std::string quantised_constant(const Dims& dims, double amplitude);
  struct Weights {
    std::string stored, scale, zero_point;
    std::vector<float> scales;
    double amplitude;
    int type, axis;  // -1: per tensor
  };
  static constexpr int kMostPairSafe = 32767 / (2 * 255);
  // Returns weights, sometimes with scales per index of `axis`, unless that is -1.
  Weights weights(const Dims& dims, int axis, bool zero_points = true);
  // Makes weights that are dequantised, of 4 bits now and then.
  Weights layer_weights(const Dims& dims, int axis);
  // Makes a constant of a type that OnnxBuilder does not know: 4 or 2 bits, which share bytes, bool, or float8.
  std::string packed(int type, const Dims& dims, const std::vector<int64_t>& codes);
  std::string typed_constant(int type, const Dims& dims, const std::vector<int64_t>& values);
  std::string typed_input(int type, const Dims& dims);
  std::string real(const Weights& w);
  std::string bias(const Weights& w, float x_scale, int64_t channels, double amplitude,
                   Dims dims = {});
  Dims constant_dims(const Dims& dims, bool has_batch);
  static Dims broadcast(const Dims& a, const Dims& b);
  static double amplitude_of(const std::string& op, double a, double b);

  // --- layers: each adds one, or returns false where no tensor fits
  bool conv();
  bool conv_transpose();
  bool gemm();
  bool matmul();
  bool matmul_computed();
  bool binary();
  bool binary_constant();
  bool select();
  bool where();
  bool unary();
  bool relu_or_clip();
  bool max_pool();
  bool average_pool();
  bool pool(const char* op);
  bool global_pool();
  bool reduce();
  bool softmax();
  bool arg_max();
  bool top_k();
  bool concat();
  bool moved();
  bool split();
  bool resize();
  bool resize_integers();
  bool camera();
  bool batch_norm();
  bool instance_norm();
  bool requantise();
  std::string conv_of(size_t x, int64_t outputs, int64_t k, int64_t group, double* amplitude);
  bool residual_block();
  bool separable_block();
  bool grouped_block();
  bool squeeze_block();
  bool attention_block();
  bool split_block();
  bool qlinear_conv();
  bool qlinear_matmul();
  bool qgemm();
  bool qlinear_binary();
  bool qlinear_where();
  bool qlinear_unary();
  bool qlinear_pool();
  bool qlinear_concat();
  bool qlinear_softmax();
  bool integer_product();
  bool integer_math();
  bool take();
  bool edge();
  bool per_axis();
  bool dynamic_layer();
  bool parameters_of_the_run();
  bool qlinear_matmul_computed();
  bool subgraph();
  // Adds a few operators and pairs, each of any tensors of these and of what was made of them, all of one shape. Returns the last.
  std::string random_nodes(Names tensors, double amplitude);

  struct Window {
    std::vector<Attr> attributes;
    Dims kernel, out;
  };
  enum class WindowOf { kLayer, kPool, kAveragePool };
  // Chooses kernel, strides, pads and dilations over the last dimensions. Returns false where no
  // output would be left.
  bool window(const Dims& dims, WindowOf of, Window* w);

  // --- parts of layers
  // Returns an axis along which a tensor may be cut or joined; rarely 0.
  int64_t axis_of(const Live& x);
  // Returns the axis as a model may write it: sometimes counted from the end. Below opset 11 that
  // leaves ONNX Runtime without shapes, and without the fusions that need them.
  int64_t axis_as_written(int64_t axis, size_t rank);

  // The tensor that an operator moves: floats or integers.
  struct Moving {
    std::string name;
    Dims dims;
    Live of;
    bool on_integers;
    int64_t first = 0;  // axis that may be moved
  };
  // Adds one operator that moves elements. Each returns false where the tensor does not fit.
  bool move(Moving* m);
  bool reshape(Moving* m);
  bool reshape_by_shape(Moving* m);
  bool flatten(Moving* m);
  bool transpose(Moving* m);
  bool slice(Moving* m);
  bool pad(Moving* m);
  bool tile(Moving* m);
  bool expand(Moving* m);
  bool gather(Moving* m);
  bool gather_nd(Moving* m);
  bool gather_elements(Moving* m);
  bool depth_to_space(Moving* m);
  bool unsqueeze(Moving* m);
  bool squeeze(Moving* m);

  // Scales and zero points of an edge.
  struct Parameters {
    std::string scale, zero_point, domain;
    std::vector<Attr> attributes;
    int output_dtype = 0;
    bool is_along = false, is_in_blocks = false;  // an axis
    bool is_half = false;
  };
  Parameters parameters(int type, const Dims& dims, bool has_batch, double amplitude);
  std::string halves(const Dims& dims, const std::vector<float>& values);
  std::string edge_node(const std::string& op, const std::string& x, const Parameters& p);

  std::string coordinates(bool linear, bool cubic);
  std::string region(const std::string& coordinates, const Dims& axes, size_t first,
                     std::vector<Attr>* attributes);

  Names dynamic_quantise(const std::string& x);
  Weights columns(const Dims& dims, int axis);
  bool dynamic_matmul(std::string* x, Dims* dims);
  bool dynamic_conv(std::string* x, Dims* dims);
  std::string dynamic_activation(const std::string& x);

  Dice dice_;
  int64_t opset_;
  OnnxBuilder b_;
  GraphOptions options_;
  bool symbolic_ = false;
  int main_type_ = kUint8;
  double tiny_ = 1;  // factor of all scales
  std::vector<Live> live_;
  std::map<std::string, double> amplitudes_;  // of float inputs
  std::map<std::string, std::pair<double, double>> reals_;
  std::map<std::string, std::pair<int64_t, int64_t>> limits_;
};

inline int64_t elements(const Dims& dims) {
  int64_t n = 1;
  for (int64_t d : dims) n *= d;
  return n;
}

}  // namespace qrt::random_onnx

#endif  // QRT_TESTS_ONNXRUNTIME_GRAPH_MAKER_H_
