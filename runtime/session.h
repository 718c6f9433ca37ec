// SPDX-License-Identifier: Apache-2.0
// A plan with its memory: the only mutable object of the runtime.
#ifndef QRT_RUNTIME_SESSION_H_
#define QRT_RUNTIME_SESSION_H_

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <string>
#include <vector>

#include "kernels/isa.h"
#include "runtime/parallel.h"
#include "runtime/plan_cache.h"
#include "runtime/plan_memory.h"
#include "runtime/pool.h"
#include "runtime/process_mark.h"
#include "runtime/profile.h"
#include "runtime/status.h"
#include "runtime/team.h"
#include "runtime/thread_choice.h"

namespace qrt {

// Gives a session its block of memory: the caller's functions, or the system's where they are
// null.
struct Allocator {
  void* (*allocate)(void* context, size_t bytes, size_t alignment) = nullptr;
  void (*release)(void* context, void* memory, size_t bytes) = nullptr;
  void* context = nullptr;
};

// Returns the alignment of a block: a large page for a large block that the system allocates.
size_t block_alignment(size_t bytes, const Allocator& allocator);

// Owns a session's block of memory. Movable.
class Block {
 public:
  Block() = default;
  Block(Block&& other) noexcept { swap(other); }
  Block& operator=(Block&& other) noexcept {
    swap(other);
    return *this;
  }
  ~Block();

  // Allocates a block. Fails with kOutOfMemory where there is no block of that size; `what` names
  // its purpose in the message.
  static Result<Block> allocate(size_t bytes, const Allocator& allocator, const std::string& what);

  uint8_t* data() const { return data_; }
  size_t bytes() const { return bytes_; }
  // Returns whether the block was allocated as zeros.
  bool is_zeros() const { return is_mapped_; }

 private:
  void swap(Block& other) noexcept;

  uint8_t* data_ = nullptr;
  size_t bytes_ = 0;
  bool is_mapped_ = false;
  Allocator allocator_;
};

// The batch (0: the model's default) and the sizes of all symbols (empty: their defaults).
struct SessionSizes {
  size_t batch = 0;
  SymbolSizes symbols;
};

// The memory of a session that shares its plans with no other. The plan in use lies in one half;
// the plan for other sizes is made in the other half, which then becomes the one in use.
struct OwnPlans {
  OwnPlans(size_t plan_bytes, size_t scratch_bytes)
      : first(plan_bytes), second(plan_bytes), scratch(scratch_bytes) {}
  PlanMemory& idle() { return follows_second ? first : second; }
  // Returns the bytes that the session holds in addition to the tables of `plan`.
  size_t bytes_beside(const Plan& plan) const {
    return first.bytes() + second.bytes() + scratch.bytes() +
           std::max(most_table_bytes, plan.table_bytes) - plan.table_bytes;
  }

  PlanMemory first, second, scratch;
  bool follows_second = true;
  // The tables that the plan for the largest sizes shares, kept so that the session can change to
  // such sizes, and the bytes of that plan's tables.
  std::vector<std::shared_ptr<const void>> tables;
  size_t most_table_bytes = 0;
};

// The options of a session; see qrt_session_options of qrt.h.
struct SessionOptions {
  size_t batch = 0;
  SymbolSizes sizes;
  // With `reserves` the block of memory is large enough for the sizes `most`, too.
  bool reserves = false;
  SessionSizes most;
  bool has_own_plans = false;
  size_t threads = 0;
  const char* isa = nullptr;
  const char* kernels = nullptr;  // see find_provider()
  bool profile = false;
  bool keep_all = false;
  std::vector<size_t> external_inputs, external_outputs;
  // At most one of the session's pool, the caller's pthreadpool and the caller's function is set.
  std::shared_ptr<Pool> pool;
  pthreadpool* callers_pool = nullptr;
  ParallelFn parallel = nullptr;
  void* parallel_context = nullptr;
  size_t max_memory = 0;
  Allocator allocator;
};

struct AlignedDelete {
  void operator()(uint8_t* memory) const {
    ::operator delete (memory, std::align_val_t{kAlignment}, std::nothrow);
  }
};

// Runs a plan in memory that it owns. Used by one thread at a time. In a child of fork() a session
// has no threads but the calling one.
class Session {
 public:
  // Returns the plan that create() with these options would follow; the model keeps the plan. Makes
  // tables within max_memory, but allocates no memory of a session. Fails as create() does, except
  // for lack of a session's memory.
  static Result<std::shared_ptr<const Plan>> plan_for(std::shared_ptr<const VerifiedModel> model,
                                                      const SessionOptions& options);

  // The part of a session that create() derives from the options before it allocates the block.
  struct Design {
    PlanOptions options;
    std::unique_ptr<OwnPlans> own_plans;  // null: the model keeps the plan
    std::shared_ptr<const Plan> plan;
    size_t block_bytes = 0;

    // Returns the bytes of a session.
    size_t bytes() const {
      return plan_bytes(*plan, block_bytes) +
             (own_plans != nullptr ? own_plans->bytes_beside(*plan) : 0);
    }
  };
  // Makes the design of a session. Fails as plan_for() does, and with kOutOfMemory if plans of the
  // session's own would need more than `most_bytes`. The design does not keep the model alive.
  static Result<Design> design(const std::shared_ptr<const VerifiedModel>& model,
                               const SessionOptions& options, size_t most_bytes = SIZE_MAX);

  // Creates a session. Fails with kInvalidArgument or kOutOfRange (options), kOutOfMemory or
  // kUnsupported.
  static Result<std::unique_ptr<Session>> create(std::shared_ptr<const VerifiedModel> model,
                                                 const SessionOptions& options);
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  // Returns the plan for other sizes, with all other options as they are.
  Result<std::shared_ptr<const Plan>> plan_at(const SessionSizes& sizes);

  // Replaces the plan by the one that plan_at() returned last, in the present block of memory where
  // that is large enough, or else in a new one. Inputs become zeros; variables whose shape stays
  // keep their content, others take their initial value; inputs and outputs whose size stays keep
  // their bindings. Cached times are forgotten. On failure nothing has changed.
  Status reshape(std::shared_ptr<const Plan> plan);

  // Makes `data` the memory of an input or output of plan(), and of tensors placed in it, from the
  // next run on; null restores the session's own memory. `has_slack`: kSlack bytes behind `data`
  // are the caller's, too; otherwise only those in the page of its last byte are known to be
  // readable. If steps may read unreadable slack, runs use memory of the session: an input is
  // copied there before a run, an output from there afterwards. Fails with kOutOfMemory where that
  // memory cannot be allocated. REQUIRES: `data` is aligned to kAlignment.
  Status bind(const ModelTensor& end, uint8_t* data, bool has_slack);
  bool is_bound(const ModelTensor& end) const;
  // Returns the memory of an input, as model_tensor_data() does. The caller has to write all of it,
  // since the session no longer clears it.
  uint8_t* data_to_fill(const ModelTensor& input);
  // Returns the memory of an input or output: the caller's if one is bound, else the session's, or
  // null for an external tensor without a binding.
  uint8_t* model_tensor_data(const ModelTensor& end) const;
  // Returns whether model_tensor_data() is not null.
  bool has_memory(const ModelTensor& end) const { return model_tensor_memory(end) != nullptr; }

  // Runs the model once. Allocates nothing, except for bindings and failures. Fails with
  // kInvalidArgument, before anything is computed, if an input or output has no memory or an output
  // overlaps another; with kCancelled; or with kOutOfRange for an index in an input that is outside
  // its table. After the last two, variables keep their former content, and outputs are undefined.
  Status run();

  // Ends the run in progress, or else the next run, after its present step. May be called from any
  // thread.
  void cancel() { is_cancelled_ = true; }

  // Resets every variable to its initial value. Inputs keep their content.
  void reset();

  const Plan& plan() const { return *plan_; }
  const Profile* profile() const { return profile_.get(); }
  Profile* profile() { return profile_.get(); }

  // Returns the memory of a tensor or slot, or null if no operator touches it. Constants are read-only.
  uint8_t* data(uint32_t slot) const {
    if (old_inputs_ != 0) clear_old_inputs();
    return tensors_[slot];
  }

  // Returns the bytes that this session holds.
  size_t memory_bytes() const {
    return plan_bytes(*plan_, block_.bytes()) + stand_in_bytes_ +
           (own_plans_ != nullptr ? own_plans_->bytes_beside(*plan_) : 0);
  }
  // Returns whether the session shares its plans with no other session.
  bool has_own_plans() const { return own_plans_ != nullptr; }
  size_t block_bytes() const { return block_.bytes(); }

  const Allocator& allocator() const { return allocator_; }

  // Returns the number of threads that share a run's work, the calling thread included; fewer than
  // asked for where the system could not start more. With a pool of the caller it is the number of
  // chunks. 1 in a child of fork().
  size_t threads() const { return process_.is_inherited() ? 1 : parallel_.threads; }

 private:
  explicit Session(std::shared_ptr<const Plan> plan) : plan_(std::move(plan)) {}
  static size_t plan_bytes(const Plan& plan, size_t block_bytes) {
    return plan.table_bytes + plan.session_table_bytes + block_bytes;
  }
  static Result<std::shared_ptr<const Plan>> make(const VerifiedModel& model,
                                                  const PlanOptions& options, OwnPlans* own);
  static Status check_memory(const Plan& plan, size_t bytes, size_t max_memory);
  Status start_pool();
  bool is_callers_pool() const;
  bool wants_team() const;
  void leave_threads();

  // A step that has a run() function, with its state in this session.
  struct Call {
    const Step* step;
    uint8_t* state;
    size_t index;             // index of the step in the plan
    const PlannedLoop* loop;  // the loop that the step ends, or null
    size_t begin;             // index of the call that begins this loop
  };

  // The caller's memory that is bound to an input or output; null data: none.
  struct Binding {
    uint8_t* data = nullptr;
    bool has_slack = false;  // kSlack bytes behind `data` can be read
  };

  // Allocates all tables that belong to the plan, and leaves the block as it is.
  void make_tables(bool profiles);
  void find_tensors();
  void fill_memory(bool is_zeros);
  void clear_old_inputs() const;
  void start_steps();
  Status make_stand_in(const ModelTensor& end, size_t held);
  bool is_copied(const ModelTensor& end, const Binding& binding) const;
  void place_binding(const ModelTensor& end, const Binding& binding);
  Status keep_bindings(const Session& old, size_t held, ScratchVector<bool>* keeps);
  void swap_tables(Session& other) noexcept;
  uint8_t* model_tensor_memory(const ModelTensor& end) const;
  uint8_t* own_memory(const ModelTensor& end) const;
  uint8_t* own_memory(const TensorMemory& place) const;
  void move(const ModelTensor& end, uint8_t* data);
  // Returns the index of an input or output in a list of all inputs followed by all outputs.
  size_t index_of(const ModelTensor& end) const;
  const ModelTensor& model_tensor_at(size_t index) const;
  Status take_bound();
  bool has_ended() const { return is_cancelled_ || failure_.step != nullptr; }
  Status tell_failure();
  RunContext context(uint8_t* state);
  void clear_guarded();
  bool goes_on(const PlannedLoop& loop);
  void run_calls();
  void run_on_threads();

  std::shared_ptr<const VerifiedModel> model_;
  PlanOptions plan_options_;  // the plan's options without the sizes
  size_t max_memory_ = 0;     // this session's limit; the plan may have been made for another
  Allocator allocator_;
  Block block_;                          // layout: see Plan
  std::unique_ptr<OwnPlans> own_plans_;  // holds the plan and the tables below, if there are any
  std::shared_ptr<const Plan> plan_;
  PlanVector<uint8_t*> tensors_;  // indexed by slot
  PlanVector<Call> calls_;        // steps of one micro-batch, in order
  Parallel parallel_;
  std::shared_ptr<Pool> pool_;  // null: the caller's own, or no threads
  // Threads of the caller's pool; null after a run that did not use it.
  std::unique_ptr<Team> team_;
  ThreadChoice choice_;
  std::unique_ptr<Profile> profile_;

  // Indexed by index_of(): the caller's memory; that memory again for tensors that are copied; and
  // memory of the session that replaces an external tensor's.
  PlanVector<Binding> bindings_;
  PlanVector<uint8_t*> copied_;
  PlanVector<std::unique_ptr<uint8_t, AlignedDelete>> stand_ins_;
  size_t stand_in_bytes_ = 0;

  // Indexed by input: the memory is not zeros, since it was another tensor's at other sizes. It is
  // cleared before it may be read, unless the caller has written all of it.
  mutable PlanVector<bool> is_old_;
  mutable size_t old_inputs_ = 0;

  // Changes by bind() that the next run has to handle.
  bool has_moved_ = false;
  PlanVector<bool> is_stale_;  // indexed by step: the step keeps addresses that have changed

  // The memory of an input or output.
  struct Extent {
    const uint8_t *begin, *end;
    bool is_output;
    size_t index;
  };
  PlanVector<Extent> extents_;

  std::atomic<bool> is_cancelled_{false};
  RunFailure failure_;      // failure of the run in progress
  uint32_t iteration_ = 0;  // iteration of the present loop
  const ProcessMark process_;
};

}  // namespace qrt

#endif  // QRT_RUNTIME_SESSION_H_
