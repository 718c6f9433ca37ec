// The state of one import: what each tensor of the file has become, and the graph that grows from
// it. Operators are visited in the file's order; a handler reads its inputs' states and writes its
// outputs'. Unlike ONNX files, TFLite files hold integers everywhere, so nothing waits for a later
// operator: a handler makes its operator at once or refuses.
#ifndef QRT_CONVERTER_IMPORT_TFLITE_IMPORTER_H_
#define QRT_CONVERTER_IMPORT_TFLITE_IMPORTER_H_

#include <memory>
#include <string>
#include <vector>

#include "converter/import/tflite/arithmetic.h"
#include "converter/import/tflite/model.h"
#include "converter/ir.h"
#include "converter/report.h"

namespace qrt::convert::from_tflite {

// Per-tensor parameters of an activation of 8 or 16 bits in the file's own domain.
struct Quant {
  TensorType type = TensorType::INT8;
  float scale = 1;
  int zero_point = 0;

  // Of 8 or 16 bits, or int32 without a zero point. Added to a file's integer to give the stored
  // one.
  int offset() const { return type == TensorType::INT8 ? 128 : 0; }
  int stored_zero_point() const { return zero_point + offset(); }
  bool is_wide() const { return type == TensorType::INT16; }
  Limits limits() const {
    if (type == TensorType::INT32) return {INT32_MIN, INT32_MAX};
    return is_wide() ? Limits{INT16_MIN, INT16_MAX} : Limits{-offset(), 255 - offset()};
  }
  DType stored_type() const {
    if (type == TensorType::INT32) return DType::kInt32;
    return is_wide() ? DType::kInt16 : DType::kUInt8;
  }
};

// The zero point of an operand in the field of its type.
inline void set_zero_point(const Quant& q, uint8_t* field, int16_t* field_16) {
  if (q.is_wide())
    *field_16 = static_cast<int16_t>(q.zero_point);
  else
    *field = static_cast<uint8_t>(q.stored_zero_point());
}

inline bool same(const Quant& a, const Quant& b) {
  return a.type == b.type && a.scale == b.scale && a.zero_point == b.zero_point;
}

class Importer {
 public:
  Importer(const Model& model, Rounding rounding, Graph* graph, Report* report);

  Status run();

  Rounding rounding() const { return rounding_; }
  Multiplier multiplier(double d) const { return quantize_multiplier(d, rounding_); }

  // --- tensors of an operator. REQUIRES for input(): op.has_input(i).
  const Tensor& input(const Op& op, int i) const;
  const Tensor& output(const Op& op, int i = 0) const;
  std::string quoted_input(const Op& op, int i) const;
  // The parameters of an 8-bit activation, or one of int16 where the operator's handler takes that;
  // false where they are not what an integer kernel takes: the operator was refused.
  bool read_quant(const Op& op, const Tensor& tensor, Quant* quant);
  // Input i and output 0 at once.
  bool read_quants(const Op& op, int i, Quant* in, Quant* out);
  // Integers that are known at conversion: of an int32 constant, or folded. False: they are not;
  // the operator was refused.
  bool read_integers(const Op& op, int i, std::vector<int32_t>* values);
  const std::vector<int32_t>* folded(const Op& op, int i) const;
  void fold(const Op& op, std::vector<int32_t> values, int output = 0);

  // --- report. Refusing is not an error: what reads the outputs is skipped and the import goes on.
  // Returns OK for handlers to return.
  Status refuse(const Op& op, const std::string& rule, const std::string& tensor,
                const std::string& remedy);
  void became(const Op& op, const std::string& result, const std::string& level);

  // --- the graph
  Graph& graph() { return *graph_; }
  // The value of input i in the stored domain; a constant of 8 or 16 bits becomes one of the
  // graph's.
  ValueId value(const Op& op, int i);
  void set_output(const Op& op, ValueId value, int i = 0);
  // Input i, a tensor that keeps its content between runs, as a variable of the graph. kNoValue: it
  // is none, or another operator's; the operator was refused.
  ValueId variable(const Op& op, int i, DType dtype, const Shape& shape, int32_t initial);
  // What a variable takes after a run; to be called once for each.
  void set_next(ValueId variable, ValueId next);
  const Shape& shape_of(ValueId value) const { return graph_->values[value].type.shape; }
  ValueId new_value(const std::string& name, DType dtype, const Shape& shape,
                    const Quant* quant = nullptr);
  // A value of output 0's shape and name.
  ValueId new_output(const Op& op, const Quant& quant);
  // Adds the node: output 0 of the operator and its name for messages.
  template <class Options>
  Options& add_node(const Op& op, std::vector<ValueId> inputs, ValueId y) {
    graph_->nodes.push_back(make_node<Options>(node_name(op), op.name, std::move(inputs), {y}));
    return options<Options>(graph_->nodes.back());
  }
  ValueId reshape(const Op& op, ValueId x, const Shape& shape, const std::string& name = "");
  // Stored byte -> stored byte; 256 bytes, or 256 for each index of the last dimension.
  ValueId lut(const Op& op, ValueId x, const std::vector<uint8_t>& table, const std::string& name,
              const Quant* quant);
  // int16 -> int16; 65536 values, of -32768 first.
  ValueId lut_16(const Op& op, ValueId x, const std::vector<int16_t>& table, const Quant& quant);
  // Values of int16 within limits.
  ValueId limit(const Op& op, ValueId x, const Quant& quant, Limits limits);
  // Output i is `x`, which holds its bytes already, with output i's parameters.
  Status finish_copy(const Op& op, ValueId x, const std::string& result, int i = 0);
  // y = RQ_INT with one multiplier, or one for each channel. Null: a multiplier is beyond what the
  // stages hold, refused.
  std::unique_ptr<fb::RequantT> requant(const Op& op, const std::vector<Multiplier>& multipliers,
                                        const Quant& out, Limits limits);
  // The same for accumulators of 64 bits, which the reference multiplies with 16 bits.
  std::unique_ptr<fb::RequantT> requant_64(const Op& op, const std::vector<Multiplier>& multipliers,
                                           const Quant& out, Limits limits);

 private:
  struct State {
    ValueId value = kNoValue;
    bool refused = false;  // comes from a refused operator, and nothing stands in for it yet
    std::string origin;    // the refused operator or input it depends on, as messages name it
    std::shared_ptr<const std::vector<int32_t>> folded;
  };

  Status import_inputs();
  void note_scales();
  Status visit(const Op& op);
  Status export_outputs();
  // Puts a value in the place of an activation that a refused operator would have made, so that its
  // readers are judged on their own merits. False: it is none.
  bool stand_in(int tensor);
  void not_assessed(const Op& op, const std::string& origin);
  void export_variables();
  std::string node_name(const Op& op) const;
  std::string label(const Op& op) const;
  ValueId flip_sign(const Tensor& tensor, const char* source_op, ValueId x, DType dtype);
  const State& state(const Op& op, int i) const;

  struct Variable {
    ValueId value, next;
    int32_t initial;
  };

  const Model& model_;
  const Rounding rounding_;
  Graph* graph_;
  Report* report_;
  std::vector<State> states_;   // by tensor
  std::vector<bool> reported_;  // by operator
  std::vector<Variable> variables_;
};

}  // namespace qrt::convert::from_tflite

#endif  // QRT_CONVERTER_IMPORT_TFLITE_IMPORTER_H_
