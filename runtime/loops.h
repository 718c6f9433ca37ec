// SPDX-License-Identifier: Apache-2.0
// Loops: operators between a LoopBegin and its LoopEnd, the body, run several times within a run. To all that looks at operators one
// by one the body is like any other operators; here is what holds of a loop as a whole.
#ifndef QRT_RUNTIME_LOOPS_H_
#define QRT_RUNTIME_LOOPS_H_

#include <cstddef>
#include <cstdint>

#include "kernels/built.h"
#include "qrt_model_generated.h"
#include "runtime/op.h"

namespace qrt {

constexpr bool kHasLoops = built::kLoopBegin && built::kLoopEnd;

// The indices of a LoopBegin and of its LoopEnd.
struct Loop {
  uint32_t begin, end;
};

// Returns the model's loops, in order. REQUIRES: check_loops() accepted them.
ScratchVector<Loop> find_loops(const fb::Model& model);

// Checks that each LoopBegin has its LoopEnd, that no loop stands in the body of another, and that nothing behind a loop reads what its
// LoopBegin or body makes. REQUIRES: all indices of tensors are in range, and operators stand in execution order.
Status check_loops(const fb::Model& model);

// Limits the bytes that the operators of all bodies read and write in a run: a number of a few bytes in the file, the trips, makes a run
// long. Constants and inputs allow for more, since bodies read them.
constexpr uint64_t kMaxLoopBytes = uint64_t{1} << 36;
constexpr uint64_t kMaxReadsOfConstants = uint64_t{1} << 14;
constexpr uint64_t kMaxReadsOfInputs = uint64_t{1} << 10;
constexpr uint64_t kLoopBytesPerOperator = 4096;  // for the time that it takes beside its bytes

// Checks the types of loops, operator by operator.
class LoopTypes {
 public:
  explicit LoopTypes(const fb::Model& model) : model_(model) {}

  // Looks at an operator whose inputs are those of the context. Fails where the states of a LoopEnd, or the numbers of slices, are not
  // those of its LoopBegin, or where the loops take too long. REQUIRES: infer() accepted the operator; `types` holds its outputs' types.
  Status check(const InferContext& context, const TensorTypes& types) {
    return kHasLoops ? check_operator(context, types) : Status();
  }

 private:
  Status check_operator(const InferContext& context, const TensorTypes& types);
  Status check_end(const InferContext& context, const TensorTypes& types);
  uint64_t most_bytes(const TensorTypes& types) const;

  const fb::Model& model_;
  const fb::Operator* begin_ = nullptr;  // of the loop in whose body the operators stand
  int64_t trips_ = 0;                    // the slices of the LoopBegin's inputs; 0: it slices none
  uint64_t bytes_ = 0;                   // of one iteration so far
  uint64_t all_bytes_ = 0;               // of the loops before
};

}  // namespace qrt

#endif  // QRT_RUNTIME_LOOPS_H_
