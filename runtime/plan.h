// SPDX-License-Identifier: Apache-2.0
// VerifiedModel -> Plan: everything that is fixed before the first run. Kernels chosen, every
// tensor placed.
#ifndef QRT_RUNTIME_PLAN_H_
#define QRT_RUNTIME_PLAN_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "kernels/isa.h"
#include "runtime/infer.h"
#include "runtime/op.h"
#include "runtime/status.h"
#include "runtime/tensor.h"
#include "runtime/verify.h"

namespace qrt {

class Provider;  // runtime/providers/provider.h

// Bytes that a session keeps for each tensor's qrt_tensor_info (qrt.h), and for what that points to.
constexpr size_t kTensorFactsBytes = 144;

struct PlanOptions {
  size_t batch = 0;   // 0: the model's default
  SymbolSizes sizes;  // empty: the model's defaults
  IsaSet isas = static_cast<IsaSet>(Isa::kScalar);
  size_t threads = 1;
  const Provider* provider = nullptr;  // null: the library's own kernels
  bool keep_all = false;               // no tensor's memory is used again within a run
  std::vector<size_t> external_inputs, external_outputs;  // indices; they get no place in the arena
  size_t max_memory = 0;  // limit for a session of the plan; 0: default_max_memory()
};

// The default limit of a session's memory. It is generous, and for a file's own batch it is finite
// whatever the file says: a few hundred bytes can ask for inputs and tables of gigabytes. A greater
// batch of the caller's raises it in proportion.
constexpr size_t kDefaultMemory = size_t{2} << 30;
constexpr size_t kDefaultMemoryPerFileByte = 64;
size_t default_max_memory(const VerifiedModel& model, size_t batch);

// Tensors in the arena start at any multiple of their element, and kSlack bytes behind them can be
// read, too; model inputs and outputs are aligned and separate. Views and parts of channels have
// rows apart (Step::output_pitch), only where all steps that write and read them take such rows, as
// convolutions and Concat do.
struct TensorMemory {
  enum class Kind : uint8_t { kNone, kConstant, kArena, kExternal };
  Kind kind = Kind::kNone;        // kNone: no operator touches it; kExternal: the caller's memory
  size_t offset = 0;              // kArena: bytes from the arena's start
  const uint8_t* data = nullptr;  // kConstant: in the model's bytes
};

// A large batch is run in micro-batches, some images through all steps after the others, so that what
// steps hand to each other stays in the cache (runtime/micro_batches.h). Steps, and memory between them,
// are made for one micro-batch; model inputs and outputs hold the whole batch, and these slots move on by
// `bytes` from micro-batch to micro-batch.
struct MicroBatchSlot {
  uint32_t slot;
  size_t bytes;
};

// A model input or output, whose memory a caller may replace, with all that stands in it.
struct ModelTensor {
  struct Member {
    uint32_t slot;
    size_t offset;  // bytes
  };
  uint32_t slot;
  PlanVector<Member> members;    // all tensors that move, itself among them
  PlanVector<uint32_t> keepers;  // steps that keep addresses in it
  bool needs_slack = false;      // a step that reads it may read kSlack bytes behind it, too
};

// A copy between steps or after the last one. After the last step, first each model output that has no memory of its own is copied,
// since it is also a model input, a variable, a constant or (by a view) another output, and must
// survive what is written there next; then the next content of each variable that is not exchanged.
struct FinalCopy {
  uint32_t from, to;  // slots
  size_t bytes;
};

// A loop (loops.h): how often its body runs, and the states that pass from iteration to iteration, from outputs of the LoopEnd to outputs
// of the LoopBegin.
struct PlannedLoop {
  uint32_t begin, end;  // steps
  uint32_t trips;
  PlanVector<FinalCopy> states;
};

// Immutable; sessions on several threads may share it, unless it was made with a provider. A plan
// that make_plan() or shared_plan() returns for a shared model keeps the model alive.
struct Plan {
  const VerifiedModel* model;
  size_t batch;
  size_t micro_batches = 1;  // a divisor of batch
  size_t threads;
  const Provider* provider;
  IsaSet isas;
  bool keep_all;
  bool is_frugal;  // max_memory has no room for the faster forms of convolutions

  SymbolSizes sizes;  // sizes of all symbols

  PlanVector<PlannedStep> steps;  // steps[i] belongs to operator i
  OperatorFields fields;          // indexed by operator, at one micro-batch; steps point into them
  PlanVector<size_t> state_offsets;  // indexed by step, from the state area's start

  // A slot is a tensor index, or beyond the last tensor an output's own copy.
  PlanVector<TensorType> types;             // indexed by slot, types of the whole batch
  PlanVector<TensorMemory> places;          // indexed by slot
  PlanVector<ModelTensor> inputs, outputs;  // in the model's order; no two share memory
  PlanVector<FinalCopy> final_copies;
  PlanVector<PlannedLoop> loops;
  // After a run exchanged[i], a variable, changes its memory with next_contents[i], its next content, and so does all that
  // stands in either. So the content passes to the next run without a copy. Not where a step keeps
  // addresses in either, or something else holds the next content's memory: these are copied (FinalCopy).
  PlanVector<ModelTensor> exchanged, next_contents;
  PlanVector<MicroBatchSlot> micro_batch_slots;
  PlanVector<const fb::Variable*> variables;  // the model's; no other tensor has their memory

  // Session memory: [arena][state][scratch], each a multiple of kAlignment and with slack.
  size_t arena_bytes = 0, state_bytes = 0, scratch_bytes = 0;
  size_t memory_bytes() const { return arena_bytes + state_bytes + scratch_bytes; }

  // Bytes of steps, of what they keep, and of what there is for every slot. Sessions share table_bytes,
  // and each has session_table_bytes for itself.
  size_t table_bytes = 0, session_table_bytes = 0;
  bool is_limited = false;  // whether another max_memory might give another plan
  size_t total_bytes() const { return memory_bytes() + table_bytes + session_table_bytes; }

  size_t slot_bytes(uint32_t slot) const { return tensor_bytes(types[slot]); }
  // Returns the bytes of all variables.
  size_t variable_bytes() const {
    size_t bytes = 0;
    for (const fb::Variable* v : variables) bytes += slot_bytes(v->tensor());
    return bytes;
  }
};

// The bytes of a step's operands for the whole batch, and in a loop for all iterations: weights in 4 or 2 bits count unpacked, other
// constants as they stand in the file. Both are 0 where the step has nothing to do (views, in
// place).
struct StepBytes {
  uint64_t all = 0, constants = 0;
};
StepBytes step_bytes(const Plan& plan, const PlannedStep& step);

// Plans a model at a batch and sizes. Fails with kInvalidArgument for a batch or sizes that the
// model cannot run at, kOutOfRange for sizes that its symbols cannot have, kOutOfMemory beyond
// kMaxMemory or with tables beyond max_memory, or kUnsupported. A plan whose sessions would take
// more than max_memory can be made, and tells how much that is.
Result<std::shared_ptr<const Plan>> make_plan(std::shared_ptr<const VerifiedModel> model,
                                              const PlanOptions& options);

// Returns a plan that takes what it can from `tables`, those of the model's other plans, and that does not keep
// its model alive.
Result<std::shared_ptr<Plan>> make_plan(const VerifiedModel& model, const PlanOptions& options,
                                        SharedTables* tables);

// Returns the plan in a pointer that keeps its model alive.
std::shared_ptr<const Plan> keep_model(std::shared_ptr<const VerifiedModel> model,
                                       std::shared_ptr<const Plan> plan);

}  // namespace qrt

#endif  // QRT_RUNTIME_PLAN_H_
