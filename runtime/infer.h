// Types of all tensors of a model at one batch, by the operators' infer().
#ifndef QRT_RUNTIME_INFER_H_
#define QRT_RUNTIME_INFER_H_

#include <cstdint>
#include <string>
#include <vector>

#include "qrt_model_generated.h"
#include "runtime/op.h"
#include "runtime/packed_bits.h"
#include "runtime/status.h"
#include "runtime/tensor.h"

namespace qrt {

// The stored type with the batch put in for -1.
TensorType stored_type(const fb::Tensor& tensor, int64_t batch);

bool is_constant(const fb::Tensor& tensor);

// Empty where the file has none.
std::vector<const fb::Variable*> variables(const fb::Model& model);

// A name from a file as it may stand in a message: escaped (text.h), length limited.
std::string printable(const flatbuffers::String* name);

// "op 12 (Conv2D 'stem/conv')"
std::string op_label(const fb::Model& model, uint32_t op);
// "tensor 7 ('conv1.weight')"
std::string tensor_label(const fb::Model& model, uint32_t tensor);

// What infer() sees of an operator: of weights in 4 or 2 bits the unpacked ones. `types`: by
// tensor. REQUIRES: the operator's indices are valid.
InferContext infer_context(const fb::Model& model, const UnpackedWeights& unpacked, uint32_t op,
                           const std::vector<TensorType>& types);

// Calls infer() of every operator in order and compares its types with the stored ones. kInvalidModel
// where they differ. `knows_constants`: see InferContext. REQUIRES: indices, enums and the operators'
// order were checked.
Status infer_types(const fb::Model& model, const UnpackedWeights& unpacked, int64_t batch,
                   std::vector<TensorType>* types, bool knows_constants = false);

}  // namespace qrt

#endif  // QRT_RUNTIME_INFER_H_
