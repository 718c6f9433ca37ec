// SPDX-License-Identifier: Apache-2.0
// A QDQ graph of ONNX whose scales are all powers of two, written down as the ESP-DL model that Espressif's exporter would make of
// it: what lies between DequantizeLinear and QuantizeLinear becomes ESP-DL's operator on the integers. The arithmetic of the
// operators is not decided here: the front end of ESP-DL imports what is written here.
#ifndef QRT_CONVERTER_IMPORT_ESPDL_QDQ_TRANSLATOR_H_
#define QRT_CONVERTER_IMPORT_ESPDL_QDQ_TRANSLATOR_H_

#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "converter/import/common/outcomes.h"
#include "converter/import/espdl/qdq/writer.h"
#include "converter/import/onnx/file/constant.h"
#include "converter/import/onnx/file/model.h"
#include "converter/import/onnx/file/node.h"

namespace qrt::convert::from_qdq {

using from_espdl::Target;
using from_onnx::Constant;
using from_onnx::ConstantPtr;
using from_onnx::NodeView;

// Scales as exponents: one, or one for each index of `axis`.
struct Scales {
  DataType type = DataType::UNDEFINED;  // type of the integers, where the node says so
  std::vector<int64_t> exponents;
  int64_t axis = 1;  // the node's attribute

  bool per_tensor() const { return exponents.size() == 1; }
};

// The form that a tensor of the ONNX file has become.
struct Term {
  enum class Kind {
    kNone,      // nothing: what makes it was refused
    kInteger,   // the integers of the tensor `name`, behind QuantizeLinear
    kReal,      // floats: those of `name`, or what its integers stand for
    kConstant,  // `constant`, with `scales` what its integers stand for
    kGate,      // Sigmoid or HardSigmoid of `name`, waiting for the Mul with it
  };
  Kind kind = Kind::kNone;
  std::string name;  // name of the ESP-DL tensor
  Format format;
  int rank = 0;
  ConstantPtr constant;
  std::optional<Scales> scales;
  std::string gate;  // kGate: what both are together, "Swish"

  // Returns whether this is a tensor of integers whose scale is a power of two.
  bool is_activation() const { return kind == Kind::kReal && format.is_integer(); }
  bool is_quantized_constant() const { return kind == Kind::kConstant && scales.has_value(); }
};

class Translator {
 public:
  Translator(const from_onnx::Model& model, Target target, Report* report);

  // Translates the model to a file. Fails with kUnsupported where it is refused, with every reason
  // in the report.
  Status run(std::vector<uint8_t>* file);
  // Reports the findings of ESP-DL's front end on the operators as those on the ONNX file's nodes.
  void conclude(const Report& of_espdl);
  bool batch_is_symbolic() const { return batch_is_symbolic_; }

  // --- the file
  const NodeView& node(int index) const { return *nodes_[static_cast<size_t>(index)]; }
  int64_t opset() const { return model_.opset(""); }
  Target target() const { return target_; }
  // Returns the only node that reads this tensor, which is no output of the model; null: others do.
  const NodeView* sole_reader(const std::string& tensor) const;
  // Reads integers from the attribute `attribute` or, where the node has it, from input `i`.
  // Returns false where the node was refused.
  bool read_integers(const NodeView& n, const char* attribute, int i, std::vector<int64_t>* values);

  // --- terms
  const Term& input(const NodeView& n, int i) const;
  void set_output(const NodeView& n, int i, Term term);
  const Term& output(const NodeView& n) const { return terms_.at(n.output(0)); }
  // Returns input i if it is a constant, also of a node that was not visited yet; else none.
  Term constant_input(const NodeView& n, int i);
  // Reads input i as integers whose scale is a power of two. Returns false where it is something
  // else; the node was refused.
  bool read_activation(const NodeView& n, int i, Term* x);
  // Finds the format that the QuantizeLinear behind output i gives its values; between the two there
  // are at most moves, maxima and limits. Returns false where there is none; the node was refused.
  bool read_format(const NodeView& n, int i, Format* format);
  // Returns the format that a QuantizeLinear gives output i, else `otherwise`, which moves and
  // limits keep.
  Format format_or(const NodeView& n, int i, const Format& otherwise);
  std::optional<Format> quantized_as(const std::string& tensor);

  // --- report
  // Refuses a node, which is no error: the import goes on. Returns OK for handlers to return.
  Status refuse(const NodeView& n, const std::string& rule, const std::string& tensor,
                const std::string& remedy);
  // Says that a node is part of another operator.
  void fused(const NodeView& n, const NodeView& into);

  // --- what is written
  Writer& writer() { return writer_; }
  // Adds the operator of `n`, with a result of a fresh name. Attributes are set on the node that it returns.
  espdl::NodeT& add(const NodeView& n, const std::string& op, std::vector<std::string> inputs,
                    const Format& format, std::string* result);
  // Makes this tensor output 0 of `n`. A result that an operator made as int16 becomes int8 again.
  void finish(const NodeView& n, const std::string& name, const Format& made, const Format& wanted,
              int rank);
  // Returns x with this type and exponent.
  std::string in_format(const NodeView& n, const Term& x, const Format& format);
  std::string in_type(const NodeView& n, const Term& x, DataType type) {
    return in_format(n, x, {type, x.format.exponent});
  }
  // Transpose [n, c, ...] so that the channels are last, and back.
  std::string to_last(const NodeView& n, const std::string& x, const Format& format, int rank);
  std::string from_last(const NodeView& n, const std::string& y, const Format& format, int rank);
  // Returns a quantised constant's values in a format: integers times 2^exponent, rounded by the target.
  std::string constant_in(const NodeView& n, int i, const Format& format);

 private:
  Status visit(const NodeView& n);
  Status visit_constants();
  bool load_constant(const std::string& name);
  // qdq/edges.cc
  Status check_scales();
  bool parse_scales(const NodeView& n, Scales* scales);
  ConstantPtr read_constant(const std::string& name);
  Status add_inputs();
  Status add_outputs();
  Status quantize(const NodeView& n);
  Status dequantize(const NodeView& n);
  void not_assessed(const NodeView& n, const std::string& origin);

  const from_onnx::Model& model_;
  const Target target_;
  Report* report_;
  Outcomes outcomes_;
  std::vector<std::unique_ptr<NodeView>> nodes_;  // indexed by the node's place in the file
  std::unordered_map<std::string, Term> terms_;
  // Node -> scales of its QuantizeLinear or DequantizeLinear.
  std::unordered_map<int, Scales> scales_;
  from_onnx::ExternalFiles files_;
  Status problem_;  // failure to read a constant
  Writer writer_;
  std::vector<std::string> operators_;                      // ESP-DL's, indexed by ONNX node
  std::unordered_map<std::string, std::string> last_form_;  // tensor -> the same, channels last
  std::unordered_map<std::string, std::optional<Format>> quantized_;  // quantized_as(), by tensor
  bool batch_is_symbolic_ = false;
  int depth_ = 0;
};

}  // namespace qrt::convert::from_qdq

#endif  // QRT_CONVERTER_IMPORT_ESPDL_QDQ_TRANSLATOR_H_
