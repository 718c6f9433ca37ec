// SPDX-License-Identifier: Apache-2.0
// Types of all tensors of a model at one batch and at sizes of its symbols, by the operators' infer().
#ifndef QRT_RUNTIME_INFER_H_
#define QRT_RUNTIME_INFER_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "qrt_model_generated.h"
#include "runtime/memory_budget.h"
#include "runtime/op.h"
#include "runtime/packed_bits.h"
#include "runtime/sizes.h"
#include "runtime/status.h"
#include "runtime/tensor.h"

namespace qrt {

// Returns the stored type with the batch put in for -1.
TensorType stored_type(const fb::Tensor& tensor, int64_t batch);

bool is_constant(const fb::Tensor& tensor);

// Returns whether dimension 0 of a model input is -1: the batch.
bool has_open_batch(const fb::Model& model);

// Returns the model's variables; empty where the file has none.
ScratchVector<const fb::Variable*> variables(const fb::Model& model);

// Returns a name from a file as it may stand in a message: escaped (text.h), length limited.
std::string printable(const flatbuffers::String* name);

// "op 12 (Conv2D 'stem/conv')"
std::string op_label(const fb::Model& model, uint32_t op);
// "tensor 7 ('conv1.weight')"
std::string tensor_label(const fb::Model& model, uint32_t tensor);

// Where a tensor and its contents are, so that planning need not follow the file's references to them.
struct FileTensor {
  const fb::Tensor* tensor;
  const uint8_t* data;  // null unless constant
  size_t bytes;
  bool is_unpacked;  // data points at weights of 4 or 2 bits that were unpacked to int8
};
using FileTensors = std::vector<FileTensor>;
// Returns every tensor of the model, indexed by tensor. `unpacked` must outlive the result and must not move. REQUIRES: the model's
// buffers and tensors were checked.
FileTensors find_tensors(const fb::Model& model, const UnpackedWeights& unpacked);

// Sets all that infer() is given of an operator; weights in 4 or 2 bits appear unpacked. `types` is
// indexed by tensor. REQUIRES: the operator's indices are valid.
void set_infer_context(const fb::Model& model, const FileTensors& tensors, uint32_t op,
                       const TensorTypes& types, InferContext* context);

// The fields of an operator that follow from sizes, by operator; null where it has no rules. Empty: what stands
// in the options of all operators holds.
using OperatorFields = PlanVector<std::shared_ptr<const SizedFields>>;

// A batch, and the sizes of all symbols.
struct Sizes {
  int64_t batch;
  SymbolSizes symbols;
};
// Returns those that the file's shapes and options are for.
Sizes stored_sizes(const fb::Model& model);
inline bool operator==(const Sizes& a, const Sizes& b) {
  return a.batch == b.batch && a.symbols == b.symbols;
}

// Returns "batch 3, seq 17": the batch of a model that has one, or that has no symbols, and the symbols' sizes.
std::string describe_sizes(const fb::Model& model, size_t batch, const SymbolSizes& sizes);

struct InferredTypes {
  TensorTypes types;  // indexed by tensor
  OperatorFields fields;
  bool has_empty = false;  // a tensor has no elements
};

// Returns the shape of a tensor that no operator writes, at these sizes. kInvalidModel where its expressions
// are malformed or give no dimension.
Status shape_at(const fb::Tensor& tensor, const Sizes& sizes, Shape* shape);

// Calls infer() of every operator in order. Compares its types with the stored ones where the stored ones are
// meant for these sizes: at the file's own, and at every batch of a model without symbols. kInvalidModel
// where they differ. `verified`: the types that verify() found at the file's own sizes, so that constants are known
// (InferContext); null while it looks for them. `memory` pays for the fields, unless it is null.
// REQUIRES: indices, enums, symbols and the operators' order were checked, and the sizes are legal.
Status infer_types(const fb::Model& model, const FileTensors& tensors, const Sizes& sizes,
                   InferredTypes* inferred, const TensorTypes* verified = nullptr,
                   MemoryBudget* memory = nullptr);

// Evaluates the rules of every operator at the file's own sizes, whose types are given. kInvalidModel where they
// do not give what stands in the options.
Status check_rules(const fb::Model& model, const TensorTypes& types);

}  // namespace qrt

#endif  // QRT_RUNTIME_INFER_H_
