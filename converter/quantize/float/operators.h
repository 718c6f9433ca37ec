// SPDX-License-Identifier: Apache-2.0
// The operators of a float model: one function each, and the table of them. A function checks what it
// got, as nothing else does: shapes and attributes come from the file.
#ifndef QRT_CONVERTER_QUANTIZE_FLOAT_OPERATORS_H_
#define QRT_CONVERTER_QUANTIZE_FLOAT_OPERATORS_H_

#include <vector>

#include "converter/import/onnx/file/branches.h"
#include "converter/quantize/float/float_model.h"
#include "converter/quantize/float/gemm.h"
#include "converter/quantize/float/runtime_nodes.h"
#include "kernels/float_fallback/float_fallback.h"
#include "runtime/parallel.h"

namespace qrt::quantize {

using convert::from_onnx::kChoice;

// Keeps the memory of values that are no longer needed, to use it again for new ones.
class Buffers {
 public:
  std::vector<float> take(size_t size);
  void give(std::vector<float>&& buffer);

 private:
  std::vector<std::vector<float>> free_;
};

struct Machine {
  const GemmKernel* gemm = nullptr;
  const FloatKernel* math = nullptr;
  Parallel parallel;
  RunLimits limits;
  double terms_left = 0;    // the part of limits.terms that this run may still use
  int64_t values_left = 0;  // elements that limits.values allows beside the values that are alive
  // The run is to tell shapes: results of operators with one float result are zeros.
  bool makes_shapes = false;
  const std::map<std::string, Tensor>* constants = nullptr;  // of the model
  Buffers buffers;
  RuntimeNodes runtime;

  // Reserves `floats` floats for each chunk of parallel.chunks(), before a task runs: a task could
  // not report that memory is lacking.
  void reserve(size_t floats);
  float* scratch(size_t chunk) { return scratch_[chunk].data(); }

 private:
  std::vector<std::vector<float>> scratch_;
};

// One node and its operands.
class Call {
 public:
  Call(const Node& node, const std::vector<const Tensor*>& inputs, std::vector<Tensor>* outputs,
       Machine* machine)
      : node(node), machine(*machine), inputs_(inputs), outputs_(*outputs) {}

  const Node& node;
  Machine& machine;

  bool has(size_t i) const { return i < inputs_.size() && inputs_[i] != nullptr; }
  size_t input_count() const { return inputs_.size(); }
  const Tensor& in(size_t i) const { return *inputs_[i]; }  // REQUIRES: has(i)
  size_t output_count() const { return outputs_.size(); }
  Tensor& out(size_t i) { return outputs_[i]; }  // REQUIRES: output i was made

  // Check that the operands from first to last (excluded) are given, and are real or integer.
  Status need_reals(size_t first, size_t last) const;
  Status need_integers(size_t first, size_t last) const;
  // Makes output i a tensor of this shape, its elements not set: fails with made_shape() where these do not matter. A tensor that is there already with
  // this shape is operand 0, which the operator overwrites element by element.
  Status make(size_t i, const Dims& shape, Element element, Tensor** y, int64_t terms = 0);
  // Makes elements even where only the result's shape is asked for, since make() is called for others in between.
  void makes_elements() { machine.makes_shapes = false; }
  // Makes output 0 a float tensor, each element a sum of so many terms.
  Status make(const Dims& shape, Tensor** y, int64_t terms = 0) {
    return make(0, shape, Element::kFloat, y, terms);
  }
  // Takes the terms of `results` sums from what the run may have; kUnsupported where that is less. make()
  // does so for the result's elements.
  Status need_terms(int64_t results, int64_t each) const;
  Status need_terms(double terms) const;
  // Returns an error that says, printf-style, what is wrong with the node or its operands.
  Status wrong(const char* format, ...) const __attribute__((format(printf, 2, 3)));
  Status unsupported(const char* format, ...) const __attribute__((format(printf, 2, 3)));
  // Returns the error for a thing, named printf-style, of which there is more than one of the machine's limits: `limit`
  // elements or terms (`units`).
  Status beyond(double limit, const char* units, const char* format, ...) const
      __attribute__((format(printf, 4, 5)));
  // -rank..rank-1 to 0..rank-1.
  Status axis(int64_t given, size_t rank, size_t* axis) const;

 private:
  const std::vector<const Tensor*>& inputs_;
  std::vector<Tensor>& outputs_;
};

using Operator = Status (*)(Call&);

// Returns the status by which an operator ends early, as only the shape of its result was asked for.
Status made_shape();
bool is_made_shape(const Status& status);

// Returns the operator, or null. domain: "" for ONNX's own.
Operator find_operator(const std::string& domain, const std::string& op);

// Returns whether the operator reads no element of operand 0 again once it has written the result's at that place.
bool works_in_place(Operator run, const std::vector<const Tensor*>& inputs);

// --- operators_*.cc
Status run_unary(Call& call);
Status run_clip(Call& call);
Status run_cast(Call& call);
Status run_identity(Call& call);
Status run_binary(Call& call);  // takes two or more operands, broadcast
Status run_prelu(Call& call);
Status run_compare(Call& call);
Status run_logic(Call& call);
Status run_where(Call& call);

Status run_conv(Call& call);
Status run_conv_transpose(Call& call);
Status run_matmul(Call& call);
Status run_gemm(Call& call);

Status run_pool(Call& call);
Status run_global_pool(Call& call);

Status run_batch_normalization(Call& call);
Status run_instance_normalization(Call& call);
Status run_layer_normalization(Call& call);
Status run_group_normalization(Call& call);
Status run_lp_normalization(Call& call);
Status run_softmax(Call& call);
Status run_reduce(Call& call);
Status run_arg(Call& call);

Status run_shape(Call& call);
Status run_size(Call& call);
Status run_constant_of_shape(Call& call);
Status run_range(Call& call);
Status run_reshape(Call& call);
Status run_flatten(Call& call);
Status run_squeeze(Call& call);
Status run_unsqueeze(Call& call);

Status run_transpose(Call& call);
Status run_concat(Call& call);
Status run_split(Call& call);
Status run_slice(Call& call);
Status run_pad(Call& call);
Status run_gather(Call& call);
Status run_gather_elements(Call& call);
Status run_expand(Call& call);
Status run_tile(Call& call);
Status run_depth_to_space(Call& call);
Status run_space_to_depth(Call& call);
Status run_resize(Call& call);

Status run_quantize_linear(Call& call);
Status run_dequantize_linear(Call& call);

Status run_in_runtime(Call& call);  // what has no form here, and the converter knows

}  // namespace qrt::quantize

#endif  // QRT_CONVERTER_QUANTIZE_FLOAT_OPERATORS_H_
