// The state of one import: what each tensor of the file has become, and the graph that grows from it. Operators are visited in
// the file's order; a handler reads its inputs, makes its operators at once, or refuses.
#ifndef QRT_CONVERTER_IMPORT_ESPDL_IMPORTER_H_
#define QRT_CONVERTER_IMPORT_ESPDL_IMPORTER_H_

#include <memory>
#include <string>
#include <vector>

#include "converter/import/common/index_maps.h"
#include "converter/import/common/quant.h"
#include "converter/import/espdl/arithmetic.h"
#include "converter/import/espdl/model.h"
#include "converter/ir.h"
#include "converter/report.h"

namespace qrt::convert::from_espdl {

// The type of an activation and what its integers mean: real = q * 2^exponent.
struct Format {
  DataType type = DataType::INT8;
  int exponent = 0;

  bool is_integer() const { return type == DataType::INT8 || type == DataType::INT16; }
  bool is_int16() const { return type == DataType::INT16; }
  // Added to the file's integer to give the stored one.
  int offset() const { return type == DataType::INT8 ? 128 : 0; }
  Limits limits() const { return is_int16() ? kInt16Limits : kInt8Limits; }
  bool operator==(const Format& f) const { return type == f.type && exponent == f.exponent; }
  bool operator!=(const Format& f) const { return !(*this == f); }
  DType stored_type() const;
};

// Floats divided by `divisor` to integers of this format, and back with its power of two.
void set_quantize(const Format& format, Target target, float divisor,
                  fb::QuantizeOptionsT* options);
void set_dequantize(const Format& format, fb::DequantizeOptionsT* options);

// A tensor on its way through the graph: the graph's value, whose shape is that of the runtime's tensor.
struct Activation {
  Format format;
  ValueId value = kNoValue;
};

class Importer {
 public:
  Importer(const Model& model, Target target, Graph* graph, Report* report);

  // `float_io`: the model's integer inputs and outputs become float32, (de)quantised by their powers of two.
  Status run(bool float_io);

  Target target() const { return target_; }
  bool is_plain() const { return model_.is_plain(); }
  fb::Rounding rounding() const { return rounding_of(target_); }
  // Whether images have no batch and value_info is that of NCHW (files of August 2024).
  bool without_batch() const { return without_batch_; }

  // --- tensors of an operator
  const Tensor& input(const Node& node, int i) const;
  const Tensor& output(const Node& node, int i = 0) const;
  // By name; null: there is none.
  const Tensor* find(const std::string& name) const;
  std::string quoted_input(const Node& node, int i) const;
  // Input i, a computed value or a constant. False: it is absent or no activation that qrt knows; the operator was refused.
  bool read(const Node& node, int i, Activation* activation);
  // The same where only int8 and int16 will do.
  bool read_integer(const Node& node, int i, Activation* activation);
  // The format of output i by the file. False: refused.
  bool read_format(const Node& node, int i, Format* format);
  // Input i and the format of output 0, both of int8 or both of int16.
  bool read_pair(const Node& node, Activation* in, Format* out);
  // A constant of integers that say how something is done. False: it is none, refused.
  bool read_integers(const Node& node, int i, std::vector<int64_t>* values);

  // --- report. Refusing is not an error: what reads the outputs is skipped and the import goes on. Returns OK for handlers to
  // return.
  Status refuse(const Node& node, const std::string& rule, const std::string& tensor,
                const std::string& remedy);
  void became(const Node& node, const std::string& result, const std::string& level);
  void warn(const Node& node, const std::string& rule, const std::string& what,
            const std::string& remedy);
  // Of a layer for the ESP32-S3: whether its sums were proven to stay within the chip's accumulators.
  void note_s3(bool is_proven) { ++(is_proven ? s3_proven_ : s3_unproven_); }

  // --- the graph
  Graph& graph() { return *graph_; }
  // By value: adding to the graph moves its values.
  Shape shape_of(ValueId value) const { return graph_->values[value].type.shape; }
  ValueId new_value(const std::string& name, DType dtype, const Shape& shape);
  ValueId new_value(const std::string& name, const Format& format, const Shape& shape);
  template <class Options>
  Options& add_node(const Node& node, std::vector<ValueId> inputs, ValueId y) {
    graph_->nodes.push_back(make_node<Options>(label(node), node.op, std::move(inputs), {y}));
    return options<Options>(graph_->nodes.back());
  }
  ValueId reshape(const Node& node, ValueId x, const Shape& shape);
  ValueId transpose(const Node& node, ValueId x, const std::vector<uint8_t>& perm);
  // Where a map gives -1: a zero.
  ValueId gather(const Node& node, ValueId x, const IndexMaps& maps, int64_t fill);
  // f(q) for every integer of x, in the output's format. One table, whatever the two types.
  ValueId table(const Node& node, const Activation& x, const std::vector<int16_t>& values,
                const Format& out);
  // q * 2^(e_in - e_out), rounded by the target.
  ValueId rescale(const Node& node, const Activation& x, const Format& out);
  // Its integers as floats: q * 2^exponent.
  ValueId to_float(const Node& node, const Activation& x);
  // Floats as integers, rounded by the target; divided by `divisor` first.
  ValueId from_float(const Node& node, ValueId x, float divisor, const Format& out);
  ValueId float_function(const Node& node, fb::FloatFunction function, std::vector<ValueId> inputs,
                         const Shape& shape);
  ValueId float_constant(float value);
  // y = limits(v / 2^shift): shifts of one or of every channel.
  std::unique_ptr<fb::RequantT> requant(const std::vector<int>& shifts, int most_left,
                                        const Format& out, Limits limits);
  std::unique_ptr<fb::RequantT> requant(const std::vector<int>& shifts, int most_left,
                                        const Format& out) {
    return requant(shifts, most_left, out, out.limits());
  }
  // Output i of the operator is this value.
  void finish(const Node& node, ValueId value, const Format& format, int i = 0);
  // A value that keeps its content between runs: `next`, of its shape, after each.
  ValueId new_variable(const std::string& name, const Format& format, const Shape& shape);
  void set_next(ValueId variable, ValueId next);

 private:
  struct State {
    Activation activation;
    bool refused = false;
    std::string origin;  // the refused operator or input it depends on, as messages name it
  };
  struct Variable {
    ValueId value, next;
    int32_t initial;
  };

  bool refuse_activation(const Node& node, const Tensor& tensor, const std::string& rule,
                         const std::string& remedy);
  bool format_of(const Node& node, const Tensor& tensor, Format* format);
  Status import_inputs(bool float_io);
  Status visit(const Node& node);
  Status export_outputs(bool float_io);
  ValueId at_edge(const std::string& name, const char* source_op, ValueId x, DType dtype);
  std::string label(const Node& node) const;
  ValueId constant(const Tensor& tensor, const Format& format);

  const Model& model_;
  const Target target_;
  Graph* graph_;
  Report* report_;
  bool without_batch_ = false;
  std::vector<State> states_;   // by tensor
  std::vector<bool> reported_;  // by operator
  std::vector<Variable> variables_;
  int s3_proven_ = 0, s3_unproven_ = 0;  // layers
};

// The target of a file: what the caller asks for, what the file says, or what follows from its layouts. kInvalidArgument where
// nothing tells, or two of them disagree.
Status choose_target(const Model& model, const std::string& asked, Target* target);

}  // namespace qrt::convert::from_espdl

#endif  // QRT_CONVERTER_IMPORT_ESPDL_IMPORTER_H_
