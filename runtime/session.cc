#include "runtime/session.h"

#include <pthreadpool.h>
#include <string.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <new>
#include <string>
#include <utility>

#include "runtime/allowed_isas.h"
#include "runtime/platform/mapping.h"
#include "runtime/providers/provider.h"

namespace qrt {
namespace {

// With fewer jobs in a run the pool is faster than a team.
constexpr size_t kTeamJobs = 5;

// A run with less memory takes about as long as the system takes to give it the pages.
constexpr size_t kTouchedMemory = size_t{512} << 10;
constexpr size_t kLeastPage = 4096;

// Returns whether a session's memory is mapped: large blocks that the caller does not allocate. They come
// as pages of zeros, and take no time until they are used.
bool is_mapped(const Plan& plan, const Allocator& allocator) {
  return allocator.allocate == nullptr && plan.memory_bytes() >= platform::kLargePage;
}

}  // namespace

size_t block_alignment(const Plan& plan, const Allocator& allocator) {
  return is_mapped(plan, allocator) ? platform::kLargePage : kAlignment;
}

Result<std::shared_ptr<const Plan>> Session::plan_for(std::shared_ptr<const VerifiedModel> model,
                                                      const SessionOptions& options) {
  Result<IsaSet> isas = allowed_isas(options.isa);
  if (!isas.ok()) return std::move(isas.status());
  Result<const Provider*> provider = find_provider(options.kernels);
  if (!provider.ok()) return std::move(provider.status());
  PlanOptions plan_options;
  plan_options.batch = options.batch;
  plan_options.isas = *isas;
  plan_options.provider = *provider;
  plan_options.threads = options.threads;
  plan_options.keep_all = options.keep_all;
  plan_options.external_inputs = options.external_inputs;
  plan_options.external_outputs = options.external_outputs;
  plan_options.max_memory = options.max_memory;
  if (options.pool != nullptr) {
    const size_t most = options.pool->threads();
    plan_options.threads = options.threads == 0 ? most : std::min(options.threads, most);
  } else if (options.threads == 0) {
    plan_options.threads =
        options.callers_pool ? pthreadpool_get_threads_count(options.callers_pool) : 1;
  }
  QRT_TRY(check_threads(plan_options.threads));
  return shared_plan(std::move(model), plan_options);
}

// A pool of the caller's is asked once per run, for a team; a provider's steps go to it themselves.
Status Session::start_pool() {
  const bool is_callers = parallel_.pool != nullptr || parallel_.custom != nullptr;
  const bool is_own = plan_->provider == nullptr;
  if (parallel_.threads > 1 && !is_callers) {
    if (pool_ == nullptr) {
      Result<std::shared_ptr<Pool>> own = Pool::create(parallel_.threads);
      if (!own.ok()) return std::move(own.status());
      pool_ = std::move(*own);
      parallel_.threads = pool_->threads();
    }
    if (!is_own) parallel_.pool = pool_->pthreads();
  } else if (parallel_.threads > 1 && is_own) {
    team_ = std::make_unique<Team>(parallel_.threads);
  }
  return {};
}

Result<std::unique_ptr<Session>> Session::create(std::shared_ptr<const VerifiedModel> model,
                                                 const SessionOptions& options) {
  Result<std::shared_ptr<const Plan>> plan = plan_for(std::move(model), options);
  if (!plan.ok()) return std::move(plan.status());
  const size_t max_memory = options.max_memory != 0
                                ? options.max_memory
                                : default_max_memory(*(*plan)->model, (*plan)->batch);
  if ((*plan)->total_bytes() > max_memory) {
    return error(Code::kOutOfMemory,
                 "a session at batch %zu takes %zu bytes, more than the %zu that max_memory allows",
                 (*plan)->batch, (*plan)->total_bytes(), max_memory);
  }
  std::unique_ptr<Session> session(new Session(std::move(*plan)));
  session->max_memory_ = max_memory;
  session->parallel_ = {session->plan_->threads, options.callers_pool, options.parallel,
                        options.parallel_context, nullptr};
  session->pool_ = options.pool;
  session->allocator_ = options.allocator;
  QRT_TRY(session->start_pool());
  QRT_TRY(session->allocate());
  if (options.profile) session->profile_ = std::make_unique<Profile>(session->plan_->steps.size());
  session->start_steps();
  return session;
}

// In a child of fork(): the threads of the pool, the session's own or the caller's, are not there, and
// what they held at the fork they hold for ever. The pool is left as it is.
void Session::leave_threads() {
  parallel_.threads = 1;
  if (parallel_.pool != nullptr) {
    // A provider's steps keep the pool that they were bound with.
    for (size_t i = 0; i < is_stale_.size(); ++i) is_stale_[i] = plan_->steps[i].bind != nullptr;
    has_moved_ = true;
    parallel_.pool = nullptr;
  }
  static_cast<void>(team_.release());  // its destructor would wait for them
}

Session::~Session() {
  if (process_.is_inherited()) leave_threads();
  if (is_mapped(*plan_, allocator_))
    platform::unmap_memory(memory_, plan_->memory_bytes());
  else if (allocator_.allocate == nullptr)
    ::operator delete (memory_, std::align_val_t{kAlignment}, std::nothrow);
  else if (memory_ != nullptr && allocator_.release != nullptr)
    allocator_.release(allocator_.context, memory_, plan_->memory_bytes());
}

Status Session::allocate() {
  const Plan& plan = *plan_;
  if (plan.memory_bytes() != 0) {
    const bool is_own = allocator_.allocate == nullptr;
    const size_t bytes = plan.memory_bytes(), alignment = block_alignment(plan, allocator_);
    void* memory = is_mapped(plan, allocator_) ? platform::map_memory(bytes)
                   : is_own ? ::operator new (bytes, std::align_val_t{kAlignment}, std::nothrow)
                            : allocator_.allocate(allocator_.context, bytes, alignment);
    if (memory == nullptr) {
      return error(Code::kOutOfMemory, "no memory for the %zu bytes of a session at batch %zu",
                   plan.memory_bytes(), plan.batch);
    }
    memory_ = static_cast<uint8_t*>(memory);
    if (reinterpret_cast<uintptr_t>(memory) % alignment != 0)
      return error(Code::kOutOfMemory, "options.allocate gave memory that is not aligned to %zu",
                   alignment);
    if (is_own) platform::prefer_large_pages(memory, bytes);
    if (plan.memory_bytes() <= kTouchedMemory)
      for (size_t i = 0; i < plan.memory_bytes(); i += kLeastPage)
        static_cast<volatile uint8_t*>(memory_)[i] = 0;
  }
  tensors_.resize(plan.places.size());
  for (size_t slot = 0; slot < plan.places.size(); ++slot) {
    const Place& place = plan.places[slot];
    tensors_[slot] =
        place.kind == Place::Kind::kConstant ? const_cast<uint8_t*>(place.data) : own_memory(place);
  }
  reset();
  // Inputs that are never set read as zeros.
  for (const End& input : plan.inputs)
    if (tensors_[input.slot] != nullptr && !is_mapped(plan, allocator_))
      memset(tensors_[input.slot], 0, plan.slot_bytes(input.slot));
  const size_t ends = plan.inputs.size() + plan.outputs.size();
  extents_.resize(ends);
  copied_.resize(ends);
  stand_ins_.resize(ends);
  return {};
}

uint8_t* Session::own_memory(const Place& place) const {
  return place.kind == Place::Kind::kArena ? memory_ + place.offset : nullptr;
}

uint8_t* Session::own_memory(const End& end) const {
  uint8_t* own = own_memory(plan_->places[end.slot]);
  return own != nullptr ? own : stand_ins_[index_of(end)].get();
}

size_t Session::index_of(const End& end) const {
  const std::less<const End*> is_before;
  const End* inputs = plan_->inputs.data();
  if (!is_before(&end, inputs) && is_before(&end, inputs + plan_->inputs.size()))
    return static_cast<size_t>(&end - inputs);
  return plan_->inputs.size() + static_cast<size_t>(&end - plan_->outputs.data());
}

void Session::move(const End& end, uint8_t* data) {
  for (const End::Member& m : end.members)
    tensors_[m.slot] = data != nullptr ? data + m.offset : own_memory(plan_->places[m.slot]);
  for (const uint32_t step : end.keepers) is_stale_[step] = true;
  has_moved_ = true;
}

Status Session::bind(const End& end, uint8_t* data, bool has_slack) {
  const size_t index = index_of(end);
  if (data == nullptr || has_slack || !end.is_read) {
    copied_[index] = nullptr;
    move(end, data);
    return {};
  }
  uint8_t* own = own_memory(end);
  if (own == nullptr) {
    const size_t bytes = plan_->slot_bytes(end.slot) + kSlack;
    if (bytes > max_memory_ || memory_bytes() > max_memory_ - bytes)
      return error(Code::kOutOfMemory,
                   "a copy of a buffer without room behind it takes %zu bytes beside the session's "
                   "%zu, more than the %zu that max_memory allows",
                   bytes, memory_bytes(), max_memory_);
    own = static_cast<uint8_t*>(::operator new (bytes, std::align_val_t{kAlignment}, std::nothrow));
    if (own == nullptr)
      return error(Code::kOutOfMemory, "no memory for the %zu bytes of a copy", bytes);
    stand_ins_[index].reset(own);
    stand_in_bytes_ += bytes;
  }
  copied_[index] = data;
  move(end, own);
  return {};
}

uint8_t* Session::end_data(const End& end) const {
  uint8_t* copied = copied_[index_of(end)];
  return copied != nullptr ? copied : data(end.slot);
}

bool Session::is_bound(const End& end) const {
  uint8_t* memory = end_data(end);
  return memory != nullptr && memory != own_memory(plan_->places[end.slot]);
}

// Fails where runs cannot use what is bound.
Status Session::take_bound() {
  size_t n = 0;
  for (const std::vector<End>* ends : {&plan_->inputs, &plan_->outputs})
    for (const End& end : *ends) {
      const uint8_t* begin = end_data(end);
      const bool is_output = ends == &plan_->outputs;
      const size_t index = static_cast<size_t>(&end - ends->data());
      if (begin == nullptr)
        return error(Code::kInvalidArgument, "%s %zu is external and has no memory: bind it",
                     is_output ? "output" : "input", index);
      extents_[n++] = {begin, begin + plan_->slot_bytes(end.slot), is_output, index};
    }
  std::sort(extents_.begin(), extents_.end(),
            [](const Extent& a, const Extent& b) { return a.begin < b.begin; });
  const Extent *last = nullptr, *last_output = nullptr;  // to end, of those so far
  for (const Extent& extent : extents_) {
    const Extent* before = extent.is_output ? last : last_output;
    if (before != nullptr && extent.begin < before->end) {
      const auto role = [](const Extent& e) { return e.is_output ? "output" : "input"; };
      return error(Code::kInvalidArgument, "the memory of %s %zu overlaps that of %s %zu",
                   role(extent), extent.index, role(*before), before->index);
    }
    if (last == nullptr || extent.end > last->end) last = &extent;
    if (extent.is_output && (last_output == nullptr || extent.end > last_output->end))
      last_output = &extent;
  }
  for (const Call& call : calls_) {
    if (!is_stale_[call.index]) continue;
    const PlannedStep& step = plan_->steps[call.index];
    step.bind(step, context(call.state));
    is_stale_[call.index] = false;
  }
  has_moved_ = false;
  return {};
}

RunContext Session::context(uint8_t* state) const {
  RunContext context;
  context.tensors = tensors_.data();
  context.parallel = &parallel_;
  context.state = state;
  context.scratch = memory_ + plan_->arena_bytes + plan_->state_bytes;
  return context;
}

void Session::start_steps() {
  is_stale_.resize(plan_->steps.size());
  for (const std::vector<End>* ends : {&plan_->inputs, &plan_->outputs})
    for (const End& end : *ends)
      if (data(end.slot) == nullptr) move(end, nullptr);
  for (size_t i = 0; i < plan_->steps.size(); ++i) {
    const PlannedStep& step = plan_->steps[i];
    uint8_t* state = memory_ + plan_->arena_bytes + plan_->state_offsets[i];
    if (step.bind != nullptr && !is_stale_[i]) step.bind(step, context(state));
    if (step.run != nullptr) calls_.push_back({&step, state, i});
  }
}

void Session::run_on_threads() {
  if (parallel_.threads > 1 && pool_ != nullptr && plan_->provider == nullptr) {
    parallel_.team = pool_->team();
    pool_->lead(parallel_.threads, [this] { run_calls(); });
    parallel_.team = nullptr;
  } else if (team_ != nullptr) {
    parallel_.team = team_.get();
    team_->open();
    parallel_.run(parallel_.threads, [this](size_t) { team_->enter([this] { run_calls(); }); });
    parallel_.team = nullptr;
    // As many jobs as in this run the next one will have.
    if (team_->jobs() < kTeamJobs && !is_cancelled_) team_.reset();
  } else {
    run_calls();
  }
}

Status Session::run() {
  using Clock = std::chrono::steady_clock;
  if (parallel_.threads > 1 && process_.is_inherited()) leave_threads();
  if (has_moved_) QRT_TRY(take_bound());
  for (const End& input : plan_->inputs)
    if (const uint8_t* from = copied_[index_of(input)])
      memcpy(data(input.slot), from, plan_->slot_bytes(input.slot));
  const bool may_choose = parallel_.threads > 1 && plan_->provider == nullptr;
  const Clock::time_point start = may_choose ? Clock::now() : Clock::time_point();
  if (may_choose && choice_.is_alone()) {
    const size_t threads = parallel_.threads;
    parallel_.threads = 1;
    run_calls();
    parallel_.threads = threads;
  } else {
    run_on_threads();
  }
  if (is_cancelled_) {  // no exchange(): RISC-V has none of bytes, and would need libatomic
    is_cancelled_ = false;
    return error(Code::kCancelled, "the run was cancelled");
  }
  if (may_choose) choice_.ran(std::chrono::duration<double>(Clock::now() - start).count());
  for (const FinalCopy& copy : plan_->final_copies) {
    memcpy(tensors_[copy.to], tensors_[copy.from], copy.bytes);
  }
  for (const End& output : plan_->outputs)
    if (uint8_t* to = copied_[index_of(output)])
      memcpy(to, data(output.slot), plan_->slot_bytes(output.slot));
  return {};
}

void Session::run_calls() {
  if (profile_ != nullptr) profile_->start_run();
  size_t slices = 0;
  for (; slices < plan_->slices && !is_cancelled_; ++slices) {
    for (const Call& call : calls_) {
      if (is_cancelled_.load(std::memory_order_relaxed)) break;
      call.step->run(*call.step, context(call.state));
      if (profile_ != nullptr) profile_->end_step(call.index);
    }
    for (const SlicedSlot& s : plan_->sliced_slots) tensors_[s.slot] += s.bytes;
  }
  for (const SlicedSlot& s : plan_->sliced_slots) tensors_[s.slot] -= s.bytes * slices;
}

void Session::reset() {
  for (const fb::Variable* v : plan_->variables) {
    const uint32_t slot = v->tensor();
    const size_t element = dtype_bytes(plan_->types[slot].dtype);
    const int32_t value = v->initial();
    for (size_t i = 0; i < plan_->slot_bytes(slot); i += element)
      memcpy(tensors_[slot] + i, &value, element);  // little-endian: the low bytes
  }
}

}  // namespace qrt
