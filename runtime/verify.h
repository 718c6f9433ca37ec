// SPDX-License-Identifier: Apache-2.0
// Bytes -> VerifiedModel: the one way in. First structure (flatbuffers' verifier with limits), then
// meaning: every index, enum value, shape product, buffer length, the operators' order, their own
// legality and the shapes they infer. A model that passes can be planned and run at the file's
// default batch and sizes without reading or writing outside; nothing after this step distrusts the
// file.
#ifndef QRT_RUNTIME_VERIFY_H_
#define QRT_RUNTIME_VERIFY_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "qrt_model_generated.h"
#include "runtime/guards.h"
#include "runtime/infer.h"
#include "runtime/model_bytes.h"
#include "runtime/op.h"
#include "runtime/packed_bits.h"
#include "runtime/sizes.h"
#include "runtime/status.h"
#include "runtime/tensor.h"

namespace qrt {

// The newest format this build reads. Version 2 has symbols, and is written only where a file has some.
constexpr uint32_t kFormatVersion = 2;

// Limits on models: generous for real ones; they bound the work a crafted file can cause.
constexpr size_t kMaxTensors = size_t{1} << 20;
constexpr size_t kMaxOperators = size_t{1} << 15;
constexpr size_t kMaxOperands = size_t{1} << 20;  // inputs and outputs of all operators
// The most per-channel parameters of all operators: for each, planning looks for a form of a kernel,
// which takes some microseconds. Only a file that is large enough to hold more may have more.
constexpr size_t kMaxChannelValues = size_t{1} << 19;
constexpr size_t kFileBytesPerChannelValue = 8;
// The most bytes of constants, counted at every use by an operator, as checks and plans read them
// each time. Unrolled layers share their weights.
constexpr size_t kMaxConstantReads = size_t{2} << 30;
constexpr size_t kMaxReadsOfAConstant = 16;  // and in addition so many times the size of the file
constexpr size_t kMaxModelInputs = 4096;     // the limit for inputs, and for outputs
// The greatest sizes. Where addresses have 32 bits, 32 bytes for each element are still a size, and so
// are the bytes of a session's three areas together.
constexpr int64_t kMaxTensorElements = (int64_t{1} << (kHas64Bits ? 31 : 26)) - 1;
constexpr size_t kMaxMemory = size_t{1} << (kHas64Bits ? 36 : 30);  // bytes of a session

struct VerifyOptions {
  // The limit on the bytes that a model holds beside the caller's or the mapped ones: copied bytes and
  // unpacked weights. The type and the place of each tensor, some hundred bytes, are not counted.
  size_t max_memory = SIZE_MAX;
};

class PlanCache;

// Immutable, except for its cache of plans; may be used by several threads at once. Owns (or borrows) its
// bytes.
class VerifiedModel {
 public:
  VerifiedModel();
  ~VerifiedModel();

  const fb::Model& file() const { return *fb::GetModel(bytes_.data()); }
  size_t file_bytes() const { return bytes_.size(); }
  const uint8_t* file_end() const { return bytes_.data() + bytes_.size(); }

  // Returns whether an input's dimension 0 is the batch.
  bool has_batch() const { return has_batch_; }
  size_t default_batch() const { return file().default_batch(); }

  // Returns whether the model has open dimensions beside the batch.
  bool has_symbols() const { return symbol_count(file()) != 0; }

  // Returns the int8 weights that kernels read instead of those packed in 4 or 2 bits.
  const UnpackedWeights& unpacked() const { return unpacked_; }

  // Returns where all tensors are.
  const FileTensors& tensors() const { return tensors_; }

  // Returns the types at the default batch and sizes, by tensor.
  const TensorTypes& types() const { return types_; }

  // Returns which operators a run may leave out.
  const Guards& guards() const { return guards_; }

  PlanCache& plans() const { return *plans_; }

  const fb::Tensor& tensor(uint32_t index) const { return *tensors_[index].tensor; }

 private:
  friend Result<std::shared_ptr<const VerifiedModel>> verify(ModelBytes bytes,
                                                             const VerifyOptions& options);
  ModelBytes bytes_;
  UnpackedWeights unpacked_;
  FileTensors tensors_;
  TensorTypes types_;
  Guards guards_;
  bool has_batch_ = false;
  std::unique_ptr<PlanCache> plans_;
};

// Verifies a model. Fails with kInvalidModel; kUnsupported for a newer format or an operator that this build
// does not know; kOutOfMemory. Time and memory are in proportion to the file's size, whatever it holds.
Result<std::shared_ptr<const VerifiedModel>> verify(ModelBytes bytes,
                                                    const VerifyOptions& options = {});

}  // namespace qrt

#endif  // QRT_RUNTIME_VERIFY_H_
