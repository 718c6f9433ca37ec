// SPDX-License-Identifier: Apache-2.0
// A float model in memory: what qrt_quantize reads, rewrites and runs. It is of opset kOpset whatever
// the file was of: read_float_model() brings older forms to that one (axes and limits that were
// attributes are inputs here), float16 becomes float32.
#ifndef QRT_CONVERTER_QUANTIZE_FLOAT_FLOAT_MODEL_H_
#define QRT_CONVERTER_QUANTIZE_FLOAT_FLOAT_MODEL_H_

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "converter/source_edges.h"
#include "runtime/status.h"

namespace qrt::quantize {

constexpr int64_t kOpset = 21;

using Dims = std::vector<int64_t>;

// Elements of a tensor. All but kFloat are kept as int64, within the range of their type.
enum class Element : uint8_t { kFloat, kInt64, kInt32, kBool, kUint8, kInt8, kUint16, kInt16 };
const char* element_name(Element element);  // "float32"
int onnx_element(Element element);          // TensorProto::DataType

// Returns the product of the dimensions. REQUIRES: none is negative.
int64_t elements(const Dims& dims);
// Returns whether the product is at most `limit`, a dimension of 0 counting as 1: then no part of it is more either.
bool is_within(const Dims& dims, int64_t limit);
std::string to_string(const Dims& dims);  // "[1, 3, 224, 224]"

struct Tensor {
  Element element = Element::kFloat;
  Dims shape;                     // no dimension is negative
  std::vector<float> reals;       // elements of a kFloat tensor
  std::vector<int64_t> integers;  // elements of any other tensor

  bool is_real() const { return element == Element::kFloat; }
  int64_t size() const { return elements(shape); }
};

Tensor real_tensor(const Dims& shape, std::vector<float> values);
Tensor integer_tensor(const std::vector<int64_t>& values);  // int64, one dimension

struct Attribute {
  enum class Kind : uint8_t { kInteger, kReal, kText, kIntegers, kReals, kTexts, kTensor };
  Kind kind = Kind::kInteger;
  int64_t integer = 0;
  float real = 0;
  std::string text;
  std::vector<int64_t> integers;
  std::vector<float> reals;
  std::vector<std::string> texts;
  std::shared_ptr<const Tensor> tensor;
};

struct Node {
  std::string name, op, domain;  // the name is never empty; domain: "" or another than ai.onnx
  std::map<std::string, Attribute> attributes;
  std::vector<std::string> inputs, outputs;  // "" where an optional one is absent

  bool has_input(size_t i) const { return i < inputs.size() && !inputs[i].empty(); }
  bool has(const char* attribute) const { return attributes.count(attribute) != 0; }
  // Return an attribute, or `otherwise` where there is none of this name.
  int64_t integer(const char* attribute, int64_t otherwise) const;
  float real(const char* attribute, float otherwise) const;
  std::string text(const char* attribute, const std::string& otherwise) const;
  std::vector<int64_t> integers(const char* attribute) const;  // {} where absent
  void set(const char* attribute, int64_t value);
  void set(const char* attribute, float value);
  void set(const char* attribute, const std::string& value);
  void set(const char* attribute, std::vector<int64_t> values);

  std::string label() const { return "node '" + name + "' (" + op + ")"; }  // for messages
};

struct Value {
  std::string name;
  Dims shape;  // -1: not known, or open
  Element element = Element::kFloat;
  // Names of an input's dimensions; "" where the file has none.
  std::vector<std::string> dim_names = {};
  // Elements of one sample at the largest sizes that fold_shapes() ran; 0 where all samples have one size.
  int64_t most_elements = 0;

  // Returns the elements of one sample, as far as they are known.
  int64_t sample_elements() const;
};

// Shapes of a run's inputs, by name.
using Shapes = std::map<std::string, Dims>;

// Limits of the memory and the time of a run, so that a small file cannot ask for more than there is.
struct RunLimits {
  int64_t value = int64_t{1} << 28;   // elements of a value
  int64_t values = int64_t{1} << 30;  // elements of all values at once
  double terms = 0x1p41;              // sums and results of all nodes: a minute and more

  // Returns `factor` times the limits for a model and samples in files of so many bytes, at most those above.
  static RunLimits of_files(uint64_t bytes, uint64_t factor);
};

// Returns the error for an input that would have more than `most` elements.
Status input_too_large(const Value& input, const Dims& shape, int64_t most);

struct FloatModel {
  std::vector<Node> nodes;  // in the order of execution
  std::map<std::string, Tensor> constants;
  std::vector<Value> inputs, outputs;
  // The type and shape of every value that a node writes; shapes with -1 where the batch is. Filled by simplify().
  std::map<std::string, Value> values;
  std::string name;  // name of the source's graph
  std::string path;
  std::vector<std::string> files;  // the model's file and those of its tensors' data
  std::map<std::string, std::string> metadata;
  RunLimits limits;
  // Shapes of inputs that show what follows from the dimensions that stay open, besides the first ones: `sample_sizes`
  // of samples, then some that no sample has, at which the model need not run. Empty where no such dimension is open.
  std::vector<Shapes> sizes;
  size_t sample_sizes = 0;

  const Tensor* constant(const std::string& name) const;  // null: no constant
};

// Reads a model of opset 7 to 25, with the inputs and outputs that the caller wishes for. Branches whose condition is
// constant and loops of a known number of steps become nodes. kUnsupported names all operators without a float form and
// all other subgraphs; kInvalidModel, kIoError, kInvalidArgument for edges that the model has not.
Status read_float_model(const std::string& path, FloatModel* model,
                        const convert::SourceEdges& edges = {});

// Dimensions of the inputs that the file leaves open, but for the first one, become those of the samples where all
// samples have the same size there. The others stay open, and model->sizes is set. kInvalidModel where a sample contradicts
// the model, or has two sizes for an open dimension.
Status fix_input_shapes(const std::vector<Shapes>& samples, FloatModel* model);

// Rewrites the model as the same function, within some 1e-6, of fewer nodes: constants and shape arithmetic
// folded, BatchNormalization, Pad, Identity and the like merged into their neighbours. Names of values that
// stay are kept. REQUIRES: no input has an open dimension that fix_input_shapes() does not know of.
Status simplify(FloatModel* model);

}  // namespace qrt::quantize

#endif  // QRT_CONVERTER_QUANTIZE_FLOAT_FLOAT_MODEL_H_
