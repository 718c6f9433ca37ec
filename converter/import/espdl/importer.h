// SPDX-License-Identifier: Apache-2.0
// The state of one import: what each tensor of the file has become, and the graph that grows from it. Operators are visited in
// the file's order; a handler reads its inputs, makes its operators at once, or refuses.
#ifndef QRT_CONVERTER_IMPORT_ESPDL_IMPORTER_H_
#define QRT_CONVERTER_IMPORT_ESPDL_IMPORTER_H_

#include <string>
#include <vector>

#include "converter/import/common/growth.h"
#include "converter/import/common/outcomes.h"
#include "converter/import/espdl/builder.h"
#include "converter/import/espdl/model.h"
#include "converter/ir.h"
#include "converter/report.h"

namespace qrt::convert::from_espdl {

class Importer {
 public:
  Importer(const Model& model, Target target, Graph* graph, Report* report);

  // Imports the model. `float_io`: its integer inputs and outputs become float32, (de)quantised by
  // their powers of two.
  Status run(bool float_io);

  Target target() const { return target_; }
  bool is_plain() const { return model_.is_plain(); }
  // Returns whether images have no batch and value_info is that of NCHW (files of August 2024).
  bool without_batch() const { return without_batch_; }

  // --- tensors of an operator
  const Tensor& input(const Node& node, int i) const;
  const Tensor& output(const Node& node, int i = 0) const;
  // Returns the tensor of this name, or null.
  const Tensor* find(const std::string& name) const;
  std::string quoted_input(const Node& node, int i) const;
  // Reads input i, a computed value or a constant. Returns false where it is absent or no
  // activation that qrt knows; the operator was refused.
  bool read(const Node& node, int i, Activation* activation);
  // Reads input i where only int8 and int16 will do. Returns false where the operator was refused.
  bool read_integer(const Node& node, int i, Activation* activation);
  // Reads the format that the file gives output i. Returns false where the operator was refused.
  bool read_format(const Node& node, int i, Format* format);
  // Reads input i = 0 and the format of output 0, both of int8 or both of int16. Returns false
  // where the operator was refused.
  bool read_pair(const Node& node, Activation* in, Format* out);
  // Reads constant integers that parametrise the operator, such as axes. Returns false where the
  // input is no such constant; the operator was refused.
  bool read_integers(const Node& node, int i, std::vector<int64_t>* values);

  // --- report
  // Refuses an operator, which is no error: what reads its outputs is skipped and the import goes
  // on. Returns OK for handlers to return.
  Status refuse(const Node& node, const std::string& rule, const std::string& tensor,
                const std::string& remedy);
  void became(const Node& node, const std::string& result, const std::string& level);
  void warn(const Node& node, const std::string& rule, const std::string& what,
            const std::string& remedy);
  // Counts layers for the ESP32-S3 by whether their sums were proven to stay within the chip's accumulators.
  void note_s3(bool is_proven) { ++(is_proven ? s3_proven_ : s3_unproven_); }

  // --- the graph
  Builder& builder() { return builder_; }
  Graph& graph() { return builder_.graph(); }
  // Sets output i of the operator to this value.
  void finish(const Node& node, ValueId value, const Format& format, int i = 0);
  // Adds a value that keeps its content between runs. After each it takes `next`, of its shape.
  ValueId new_variable(const std::string& name, const Format& format, const Shape& shape);
  void set_next(ValueId variable, ValueId next);
  // Counts the work of making so many bytes, before they are made (Growth::reserve).
  Status reserve(uint64_t bytes) { return growth_.reserve(bytes, graph(), model_.file_bytes()); }

 private:
  struct State {
    Activation activation;
    // The refused operator or input it depends on, as messages name it; else empty.
    std::string origin;
  };
  struct Variable {
    ValueId value, next;
    int32_t initial;
  };

  bool refuse_activation(const Node& node, const Tensor& tensor, const std::string& rule,
                         const std::string& remedy);
  bool format_of(const Node& node, const Tensor& tensor, Format* format);
  Status import_inputs(bool float_io);
  // Visits all operators. *visited counts those that were judged.
  Status visit_all(size_t* visited);
  Status visit(const Node& node);
  Status export_outputs(bool float_io);
  void export_variables();

  const Model& model_;
  const Target target_;
  Report* report_;  // for warnings alone; outcomes_ reports the rest
  Builder builder_;
  Growth growth_;
  Outcomes outcomes_;
  const bool without_batch_;
  std::vector<State> states_;  // indexed by tensor
  std::vector<Variable> variables_;
  int s3_proven_ = 0, s3_unproven_ = 0;  // layers
};

// Chooses the target of a file: what the caller asks for, what the file says, or what follows from
// its layouts. Fails with kInvalidArgument where nothing tells, or two of them disagree.
Status choose_target(const Model& model, const std::string& asked, Target* target);

}  // namespace qrt::convert::from_espdl

#endif  // QRT_CONVERTER_IMPORT_ESPDL_IMPORTER_H_
