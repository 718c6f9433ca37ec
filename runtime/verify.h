// Bytes -> VerifiedModel: the one way in. First structure (flatbuffers' verifier with limits), then
// meaning: every index, enum value, shape product, buffer length, the operators' order, their own
// legality and the shapes they infer. What passes can be planned and run at the file's default
// batch without reading or writing outside; nothing after this step distrusts the file.
#ifndef QRT_RUNTIME_VERIFY_H_
#define QRT_RUNTIME_VERIFY_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "qrt_model_generated.h"
#include "runtime/model_bytes.h"
#include "runtime/op.h"
#include "runtime/packed_bits.h"
#include "runtime/status.h"
#include "runtime/tensor.h"

namespace qrt {

// The newest format this build reads.
constexpr uint32_t kFormatVersion = 1;

// Limits on models: generous for real ones; they bound the work a crafted file can cause.
constexpr size_t kMaxFileBytes = (size_t{1} << 31) - 1;  // flatbuffers' own
constexpr size_t kMaxTensors = size_t{1} << 20;
constexpr size_t kMaxOperators = size_t{1} << 15;
constexpr size_t kMaxOperands = size_t{1} << 20;       // inputs and outputs of all operators
constexpr size_t kMaxChannelValues = size_t{1} << 24;  // per-channel parameters of all operators
constexpr size_t kMaxModelInputs = 4096;               // and outputs
constexpr int64_t kMaxTensorElements = (int64_t{1} << 31) - 1;
constexpr size_t kMaxMemory = size_t{1} << 36;  // bytes of a session

// Immutable; may be used by several threads at once. Owns (or borrows) its bytes.
class VerifiedModel {
 public:
  const fb::Model& file() const { return *fb::GetModel(bytes_.data()); }
  size_t file_bytes() const { return bytes_.size(); }

  // True if an input's dimension 0 is the batch.
  bool has_batch() const { return has_batch_; }
  size_t default_batch() const { return file().default_batch(); }

  // What kernels read instead of weights packed in 4 or 2 bits.
  const UnpackedWeights& unpacked() const { return unpacked_; }

  const fb::Tensor& tensor(uint32_t index) const { return *file().tensors()->Get(index); }

 private:
  friend Result<std::shared_ptr<const VerifiedModel>> verify(ModelBytes bytes);
  ModelBytes bytes_;
  UnpackedWeights unpacked_;
  bool has_batch_ = false;
};

// kInvalidModel; kUnsupported for a newer format or an operator this build does not know.
Result<std::shared_ptr<const VerifiedModel>> verify(ModelBytes bytes);

}  // namespace qrt

#endif  // QRT_RUNTIME_VERIFY_H_
