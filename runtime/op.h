// SPDX-License-Identifier: Apache-2.0
// The runtime's interface to an operator: its facts (traits.h), shape inference with legality
// checks, and preparation of its step. One file per operator in runtime/ops, listed in
// schema/ops.inc.
//
//   verify:   infer() on every operator at the file's default batch: a model that passes cannot
//             fail later at that batch
//   plan:     infer() at the caller's batch, then prepare()
//   session:  bind() once, run() as often as wanted
#ifndef QRT_RUNTIME_OP_H_
#define QRT_RUNTIME_OP_H_

#include <cstddef>
#include <cstdint>
#include <memory>

#include "kernels/built.h"
#include "kernels/isa.h"
#include "qrt_model_generated.h"
#include "runtime/memory_budget.h"
#include "runtime/parallel.h"
#include "runtime/plan_memory.h"
#include "runtime/shared_tables.h"
#include "runtime/sizes.h"
#include "runtime/status.h"
#include "runtime/tensor.h"
#include "runtime/traits.h"

namespace qrt {

// Every arena tensor, constant and scratch area starts at a multiple of kAlignment (a tensor that
// shares another's memory: of its elements' size) and has kSlack readable bytes behind it.
constexpr size_t kAlignment = 64;
constexpr size_t kSlack = 64;

// An operator's input. For a constant, `data` points into the mapped file, with kSlack readable
// bytes behind.
struct OpInput {
  TensorType type;  // concrete shape
  const fb::Tensor* tensor = nullptr;
  const uint8_t* data = nullptr;  // null unless constant
  size_t data_bytes = 0;
};

// The arguments of infer(). verify() has checked the flatbuffer's structure, all indices and tensor
// types, that shapes have 1 to kMaxTensorElements elements, and that the options table is of the
// operator's type.
struct InferContext {
  const fb::Model* model;
  const fb::Operator* op;
  ScratchVector<OpInput> inputs;
  // verify() has accepted the contents of the constants at the file's own batch, so infer() need
  // not repeat checks that do not depend on the batch.
  bool knows_constants = false;
  // The fields of the options that depend on sizes, at these sizes. Null: the options' own values
  // hold.
  const SizedFields* sized = nullptr;

  // Returns a buffer, behind which kSlack bytes are readable, or an error that names the index.
  Result<const fb::Buffer*> buffer(uint32_t index) const;

  // Returns a field of the options at these sizes; `stored` is the options' own value.
  int64_t number(fb::SizeField field, int64_t stored, uint32_t index = 0) const {
    return fields() != nullptr ? fields()->number(field, index, stored) : stored;
  }
  const SizedFields* fields() const { return built::kOpenDims ? sized : nullptr; }
};

struct Step;
using TensorTypes = ScratchVector<TensorType>;

// The reason why a run ended: a step got an index outside its table, or a length beyond the steps
// of a sequence.
struct RunFailure {
  const Step* step = nullptr;  // null: the run did not fail
  int64_t index = 0;
  size_t size = 0;   // elements of the indexed axis, or steps of the sequence
  size_t input = 1;  // the step's input that holds the index or the length
  bool is_length = false;
};

// The arguments of bind() and run(). Pointers stay valid between runs; a session is used by one thread at a
// time.
struct RunContext {
  uint8_t* const* tensors;  // indexed by tensor, constants (never written) included
  const Parallel* parallel;
  uint8_t* state;    // PlannedStep::state_bytes, filled by bind(), kept between runs
  uint8_t* scratch;  // PlannedStep::scratch_bytes, shared by all steps
  // A step's run() may write to *failure, on its calling thread and not in tasks: the session's run
  // ends after that step.
  RunFailure* failure;
  uint32_t iteration;  // number of the iteration, for a step in a loop (loops.h)

  const uint8_t* in(const Step& step, size_t i) const;
  uint8_t* out(const Step& step, size_t i) const;
};

// The part of an operator's plan that a run reads. Immutable, shared by the sessions of a plan.
struct Step {
  PlanVector<uint32_t> inputs, outputs;  // tensor indices
  std::shared_ptr<const void> params;    // made by prepare(), for bind() and run(), which know the
                                         // type
  // Null for a step with nothing to do: its output is in place, or another step computes it.
  void (*run)(const Step& step, const RunContext& context) = nullptr;

  // The bytes from one row to the next, for tensors that the planner does not keep dense.
  PlanVector<size_t> input_pitches;  // indexed by input; empty or 0: dense
  size_t output_pitch = 0;           // 0: dense
  PlanVector<size_t> parts;          // a Concat's, see PlannedStep

  // The step fused behind this one, or null: run() of this step computes the follower on every tile
  // of its own output, by run_follower().
  const Step* follower = nullptr;
  // Computes elements [begin, begin + count) of the output, and uses only the tensors of `context`.
  // Null for a step that cannot be a follower.
  void (*run_elements)(const Step& step, const RunContext& context, size_t begin,
                       size_t count) = nullptr;
  // Computes a part of the output as run_elements() does, if the leader's output, tensor `between`,
  // has another type and no memory of its own: the elements of `between` from `begin` on are at
  // `tile`.
  void (*run_tile)(const Step& step, const RunContext& context, uint32_t between,
                   const uint8_t* tile, size_t begin, size_t count) = nullptr;
  // Offset of a leader's tiles of `between` in the scratch memory, or kNoTileScratch if it needs
  // none.
  static constexpr size_t kNoTileScratch = SIZE_MAX;
  size_t tile_scratch_at = kNoTileScratch;
  size_t tile_bytes = 0;  // tile scratch of one task

  bool has_tile_scratch() const { return tile_scratch_at != kNoTileScratch; }

  // Constants of a later step, which are fetched into the second-level cache during this one.
  const uint8_t* ahead = nullptr;
  size_t ahead_bytes = 0;

  template <class T>
  const T& as() const {
    return *static_cast<const T*>(params.get());
  }
};

// A Step with the facts that prepare() and the planner decide by; a run reads none of these fields.
struct PlannedStep : Step {
  const fb::Operator* op = nullptr;
  const char* kernel = "";  // name of the kernel, for profiles; "view", "in place": nothing to do
  uint64_t macs = 0;        // multiply-accumulates of one run

  // Fills the state. Called before a session's first run, and again, if keeps_addresses, when a
  // tensor's memory has changed. May be null.
  void (*bind)(const Step& step, const RunContext& context) = nullptr;
  bool keeps_addresses = false;
  size_t state_bytes = 0;
  size_t scratch_bytes = 0;

  // Shared memory (plan.h), by rows: a view's output is the bytes of every row of the first input
  // from view_begin on. With `parts`, every row of the output holds the row of input i from byte
  // parts[i] on, and run() skips inputs that are there already.
  static constexpr size_t kNoView = SIZE_MAX;
  size_t shared_rows = 1;
  size_t view_begin = kNoView;

  // The numbers of rows into which the planner may divide the first input (with `parts`: every
  // input) and the output, with any distance between rows; 0: they have to be dense.
  size_t input_rows = 0, output_rows = 0;

  // The step's run() may read the kSlack bytes behind an input.
  bool reads_slack = true;

  // Fusion (fuse.h). A step whose run() calls run_follower() for every tile of its output can lead.
  // A step that has run_elements(), since it computes element i of its output from the elements i
  // of its inputs, can follow.
  bool can_lead = false;
  // The most tasks of a step that can lead a follower of another type; each task fills tile_bytes
  // at a time. 0: the step cannot.
  size_t tile_tasks = 0;
  const PlannedStep* leader = nullptr;  // the step that computes this one as its follower, or null

  // Prefetching (fuse.h): constants that this step reads once, in order and as fast as memory
  // provides them; and the number of bytes of another step's constants for which this step's
  // arithmetic leaves time.
  const uint8_t* stream = nullptr;
  size_t stream_bytes = 0;
  size_t spare_bytes = 0;
};

inline const uint8_t* RunContext::in(const Step& step, size_t i) const {
  return tensors[step.inputs[i]];
}
inline uint8_t* RunContext::out(const Step& step, size_t i) const {
  return tensors[step.outputs[i]];
}

// Return the bytes from one row to the next of input i, and of the output, or `dense` for dense
// rows.
inline size_t input_pitch(const Step& step, size_t i, size_t dense) {
  return step.input_pitches.empty() || step.input_pitches[i] == 0 ? dense : step.input_pitches[i];
}
inline size_t output_pitch(const Step& step, size_t dense) {
  return step.output_pitch == 0 ? dense : step.output_pitch;
}

// Runs the follower on a tile that the leader has written: `rows` rows of `count` elements of the
// leader's output, `stride` elements apart, the first at element `begin`.
inline void run_follower(const Step& leader, const RunContext& context, size_t begin, size_t rows,
                         size_t count, size_t stride) {
  const Step& step = *leader.follower;
  if (count == stride) count *= rows, rows = 1;
  for (; rows > 0; --rows, begin += stride) step.run_elements(step, context, begin, count);
}

// Runs the follower on a tile that the leader has written densely into its scratch memory.
inline void run_follower_on_tile(const Step& leader, const RunContext& context, const uint8_t* tile,
                                 size_t element_bytes, size_t begin, size_t rows, size_t count,
                                 size_t stride) {
  const Step& step = *leader.follower;
  if (count == stride) count *= rows, rows = 1;
  for (; rows > 0; --rows, begin += stride, tile += count * element_bytes)
    step.run_tile(step, context, leader.outputs[0], tile, begin, count);
}
// Returns the scratch memory for the tiles of one task, or null where the leader needs none.
inline uint8_t* tile_scratch_of(const Step& leader, const RunContext& context, size_t task) {
  return leader.has_tile_scratch()
             ? context.scratch + leader.tile_scratch_at + task * leader.tile_bytes
             : nullptr;
}

// The bytes that a step may keep without charging them to the budget by PrepareContext::take().
constexpr size_t kStepBytes = 1024;

struct PrepareContext : InferContext {
  TensorTypes outputs;  // types from infer()
  IsaSet isas;
  size_t threads;
  const uint8_t* file_end;  // the model's bytes can be read up to here
  MemoryBudget* memory;
  SharedTables* shared;
  bool may_spend;  // memory to save time; false where a session would pass max_memory

  // Charges memory for a step's own tables to the budget. Must be called before the tables are
  // made, with all bytes that the step keeps beyond kStepBytes: repeated requantisations, folded
  // biases, unpacked weights, runs of a gather.
  Status take(uint64_t bytes) const { return memory->take(bytes); }

  // Charges memory for tables that save time, and calls try_to(), which makes the tables and
  // returns whether it made any. Returns false without a call if the plan must save memory or the
  // budget has too few bytes.
  template <class F>
  bool spend(uint64_t bytes, const F& try_to) const {
    if (!may_spend || !memory->take(bytes).ok()) return false;
    const bool made = try_to();
    if (!made) memory->give_back(bytes);
    return made;
  }

  // Returns a table that does not depend on shapes and saves time. The model's plans share the
  // table; make() is called when none of them has it yet. Each plan charges the bytes once. Returns
  // null where make() does, where the plan must save memory, or where the budget has too few bytes
  // left.
  template <class T, class Make>
  std::shared_ptr<const T> share(const TableKey& key, uint64_t bytes, const Make& make) const {
    std::shared_ptr<const T> table;
    const auto find = [&] { return (table = shared->get<T>(key, make)) != nullptr; };
    if (may_spend && shared->is_taken(key)) {
      find();
    } else if (spend(bytes, find)) {
      shared->set_taken(key);
    }
    return table;
  }
  // Returns a shared table of bytes, which fill(data) writes once.
  template <class Fill>
  std::shared_ptr<const TableBytes> share_bytes(const TableKey& key, size_t bytes,
                                                const Fill& fill) const {
    return share<TableBytes>(key, bytes, [&] { return shared->make_bytes(bytes, fill); });
  }
};

struct OpDef {
  const char* name;  // "Conv2D"
  fb::OpOptions type;
  // Checks options, inputs and constants, and appends the outputs' types. Fails with kInvalidModel,
  // in a message with the offending and the accepted values.
  Status (*infer)(const InferContext& context, TensorTypes* outputs);
  // Fills *step. May only fail with kOutOfMemory or kUnsupported. REQUIRES: infer() succeeded on
  // the same context.
  Status (*prepare)(const PrepareContext& context, PlannedStep* step);
  OpTraits traits;
};

// Returns an operator's definition: k<Name>Op of its row in schema/ops.inc, which is defined in
// runtime/ops/<stem>.cc and declared in runtime/ops/ops.h. Returns null for a type that this build
// does not know or leaves out (QRT_OPS).
const OpDef* find_op(fb::OpOptions type);

}  // namespace qrt

#endif  // QRT_RUNTIME_OP_H_
