// SPDX-License-Identifier: Apache-2.0
// The state of one import: the state of each tensor of the file, and the graph that is built.
// Operators are visited in the file's order; a handler reads its inputs' states and writes its
// outputs'. Unlike ONNX files, TFLite files hold integers everywhere, so that a handler emits its
// operator at once, or refuses it, without knowing later operators.
#ifndef QRT_CONVERTER_IMPORT_TFLITE_IMPORTER_H_
#define QRT_CONVERTER_IMPORT_TFLITE_IMPORTER_H_

#include <memory>
#include <string>
#include <vector>

#include "converter/import/common/graph_builder.h"
#include "converter/import/common/growth.h"
#include "converter/import/common/outcomes.h"
#include "converter/import/common/quant.h"
#include "converter/import/tflite/arithmetic.h"
#include "converter/import/tflite/model.h"
#include "converter/import/tflite/real.h"
#include "converter/import/tflite/resources.h"
#include "converter/ir.h"
#include "converter/report.h"

namespace qrt::convert::from_tflite {

// Finds the graph's type for elements of a source type. Returns false where there is none.
bool graph_type(TensorType type, DType* dtype);
// Return a tensor's parameters at the model's edges, as in the file, and those of its stored
// integers. Both are empty where the parameters are not per tensor or unusual.
Quantization edge_quantization(const Tensor& tensor);
Quantization stored_quantization(const Tensor& tensor);

struct Handler;

// Adds integers of this type, INT32 or INT64, as a constant of the graph.
ValueId add_integers(Graph* graph, const std::string& name, TensorType type, const Shape& shape,
                     const std::vector<int32_t>& values);

class Importer {
 public:
  Importer(const Model& model, Rounding rounding, Graph* graph, Report* report);

  Status run();

  Rounding rounding() const { return rounding_; }
  // Returns whether operators of floats are imported in float (floats/float_op.h).
  bool has_floats() const { return has_floats_; }
  Multiplier multiplier(double d) const { return quantize_multiplier(d, rounding_); }

  // --- tensors of an operator. REQUIRES for input(): op.has_input(i).
  const Tensor& input(const Op& op, int i) const;
  const Tensor& output(const Op& op, int i = 0) const;
  std::string quoted_input(const Op& op, int i) const;
  // Returns the tensor of this index, or null where the file has none.
  const Tensor* tensor(int i) const {
    return i >= 0 && static_cast<size_t>(i) < model_.tensors().size()
               ? &model_.tensors()[static_cast<size_t>(i)]
               : nullptr;
  }
  // Reads the parameters of an 8-bit activation, or of an int16 activation where the operator's
  // handler takes int16. `any_scale` accepts scales that are 0 or no normal number, too. Returns
  // false where no integer kernel takes the parameters; the operator was refused.
  bool read_quant(const Op& op, const Tensor& tensor, Quant* quant, bool any_scale = false);
  // Reads the parameters of input i and of output 0.
  bool read_quants(const Op& op, int i, Quant* in, Quant* out, bool any_scale = false);
  // Reads integers that are known at conversion: an int32 or int64 constant, or a folded result.
  // Returns false where the integers are not known or not within int32; the operator was refused.
  bool read_integers(const Op& op, int i, std::vector<int32_t>* values);
  const std::vector<int32_t>* folded(const Op& op, int i) const;
  void fold(const Op& op, std::vector<int32_t> values, int output = 0);
  // Returns float input i as a function of quantised bytes, or null where it is no such function.
  const Real* real(const Op& op, int i) const { return state(op, i).real.get(); }
  // Sets output `output` to a function of quantised bytes; a value of the graph is only emitted
  // when value() asks for one.
  void set_real(const Op& op, Real real, int output = 0);

  // --- report
  // Refuses an operator, which is no error: operators that read its outputs are skipped, and the
  // import goes on. Returns OK for handlers to return.
  Status refuse(const Op& op, const std::string& rule, const std::string& tensor,
                const std::string& remedy);
  void became(const Op& op, const std::string& result, const std::string& level);

  // --- the graph
  GraphBuilder& builder() { return builder_; }
  Graph& graph() { return builder_.graph(); }
  // Returns the graph's value of input i, in stored integers. Adds a constant to the graph for a
  // constant of 8 or 16 bits, int32, int64 or bool, and for integers known at conversion.
  ValueId value(const Op& op, int i);
  void set_output(const Op& op, ValueId value, int i = 0);
  // Returns input i, a tensor that keeps its content between runs, as a variable of the graph.
  // Returns kNoValue where the input is no such tensor, or another operator's; the operator was
  // refused.
  ValueId variable(const Op& op, int i, DType dtype, const Shape& shape, int32_t initial);
  // Sets the value that a variable takes after a run; to be called once for each variable.
  void set_next(ValueId variable, ValueId next);
  // Returns the resource variable that input i is a handle of, or null where the input is no
  // handle; the operator was refused then.
  Resource* resource(const Op& op, int i);
  // Notes that output 0 is a handle of the variable of this container and name.
  void set_resource(const Op& op, const std::pair<std::string, std::string>& name);
  // Runs a CALL_ONCE, which gives resource variables their first content.
  Status call_once(const Op& op);
  // Charges `bytes` to the conversion's budget before they are allocated (Growth::reserve).
  Status reserve(uint64_t bytes) { return growth_.reserve(bytes, graph(), model_.file_bytes()); }
  // Adds a value with the shape and name of output 0.
  ValueId new_output(const Op& op, const Quant& quant);
  // Sets output i to `x`, which holds its bytes already, with output i's parameters.
  Status finish_copy(const Op& op, ValueId x, const std::string& result, int i = 0);

 private:
  struct State {
    ValueId value = kNoValue;
    bool refused = false;  // comes from a refused operator, and has no stand-in yet
    std::string origin;    // the refused operator or input it depends on, as messages name it
    std::shared_ptr<const std::vector<int32_t>> folded;
    std::shared_ptr<const Real> real;
    Resource* resource = nullptr;  // the resource that a handle names
  };

  Status import_inputs();
  void note_scales();
  // Visits all operators. *visited counts those that were judged.
  Status visit_all(size_t* visited);
  Status visit(const Op& op);
  // Refuses an operator that has no handler.
  Status refuse_unknown(const Op& op);
  // Returns how to end the model before an operator, "end the model before it (--outputs 'a'), or
  // ", or "" where the operator's inputs do not all come from converted operators.
  std::string end_before(const Op& op) const;
  // Returns whether tensor i may be quantised in blocks, since it is the weights of an operator
  // that supports blocks.
  bool may_be_blocks(const Op& op, int i) const;
  // Returns whether an operator can take or make a tensor; refuses the operator if not.
  bool is_usable(const Op& op, int tensor, bool may_be_variable, bool may_be_resource);
  // Returns whether a value was made for an input; the operator was refused if not.
  bool is_made(const Op& op, int tensor);
  Status export_outputs();
  // Refuses variables that another signature of the file also sets, since its runs would change
  // them in the source.
  Status check_shared_variables();
  // Names the inputs and outputs after the chosen signature, if any.
  void name_edges();
  // Puts a value in the place of an activation that a refused operator would have made, so that its
  // readers are judged on their own merits. Returns false where the tensor is no activation.
  bool stand_in(int tensor);
  void not_assessed(const Op& op, const std::string& origin);
  void export_variables();
  const State& state(const Op& op, int i) const;
  const Handler* handler_of(const Op& op) const;
  // Returns whether all floats that an operator reads are functions of bytes, or constants of one element.
  bool reads_real(const Op& op) const;
  // Adds a constant to the graph for integers or booleans that are known at conversion. Returns
  // kNoValue for others.
  ValueId known_integers(const State& state, const Tensor& tensor);
  // Emits a tensor that is so far only a `real`, a float function of stored integers, and sets
  // state->value. Does nothing for other states.
  void make_value(State* state, const Tensor& tensor);

  struct Variable {
    ValueId value, next;
    int32_t initial;
  };

  const Model& model_;
  const Rounding rounding_;
  const bool has_floats_;
  GraphBuilder builder_;
  Growth growth_;
  Outcomes outcomes_;
  std::vector<State> states_;  // indexed by tensor
  std::vector<Variable> variables_;
  Resources resources_;
};

}  // namespace qrt::convert::from_tflite

#endif  // QRT_CONVERTER_IMPORT_TFLITE_IMPORTER_H_
