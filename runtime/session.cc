// SPDX-License-Identifier: Apache-2.0
#include "runtime/session.h"

#include <string.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <new>
#include <string>
#include <utility>

#include "runtime/infer.h"
#include "runtime/loops.h"
#include "runtime/platform/mapping.h"

// QRT_VALGRIND is for programs that run under valgrind.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || defined(QRT_VALGRIND)
#define QRT_WATCHES_READS 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(hwaddress_sanitizer) || \
    __has_feature(memory_sanitizer) || __has_feature(thread_sanitizer)
#define QRT_WATCHES_READS 1
#endif
#endif

namespace qrt {
namespace {

// The least number of jobs in a run for which a team is faster than the pool.
constexpr size_t kTeamJobs = 5;

// The most bytes of a block whose pages are touched when it is allocated, since a run in so little
// memory takes about as long as the system takes to provide the pages.
constexpr size_t kTouchedMemory = size_t{512} << 10;
constexpr size_t kLeastPage = 4096;

// Returns whether the kSlack bytes behind a buffer lie in the page of its last byte, and so can be
// read. Returns false where reads are checked byte by byte: by a sanitizer, or by a CPU that
// compares a tag in the address's highest byte with the memory's.
bool ends_within_page([[maybe_unused]] const uint8_t* data, [[maybe_unused]] size_t bytes) {
#ifdef QRT_WATCHES_READS
  return false;
#else
  if (bytes == 0) return false;
  const uint64_t last = uint64_t{reinterpret_cast<uintptr_t>(data)} + bytes - 1;
  const bool is_tagged = last >> 56 != 0;
  return !is_tagged && last / kLeastPage == (last + kSlack) / kLeastPage;
#endif
}

// Returns whether a block is mapped, as large blocks that the caller does not allocate are. Mapped
// blocks are pages of zeros, and take no time until they are used.
bool is_mapped(size_t bytes, const Allocator& allocator) {
  return allocator.allocate == nullptr && bytes >= platform::kLargePage;
}

}  // namespace

size_t block_alignment(size_t bytes, const Allocator& allocator) {
  return is_mapped(bytes, allocator) ? platform::kLargePage : kAlignment;
}

Result<Block> Block::allocate(size_t bytes, const Allocator& allocator, const std::string& what) {
  Block block;
  if (bytes == 0) return block;
  const bool is_own = allocator.allocate == nullptr;
  const size_t alignment = block_alignment(bytes, allocator);
  block.is_mapped_ = is_mapped(bytes, allocator);
  block.allocator_ = allocator;
  // The caller's allocation function may call the library, which then allocates from the heap.
  const PlanMemoryScope none(nullptr, nullptr);
  void* memory = block.is_mapped_ ? platform::map_memory(bytes)
                 : is_own ? ::operator new (bytes, std::align_val_t{kAlignment}, std::nothrow)
                          : allocator.allocate(allocator.context, bytes, alignment);
  if (memory == nullptr)
    return error(Code::kOutOfMemory, "no memory for the %zu bytes of %s", bytes, what.c_str());
  block.data_ = static_cast<uint8_t*>(memory);
  block.bytes_ = bytes;
  if (reinterpret_cast<uintptr_t>(memory) % alignment != 0)
    return error(Code::kOutOfMemory, "options.allocate gave memory that is not aligned to %zu",
                 alignment);
  if (is_own) platform::prefer_large_pages(memory, bytes);
  if (bytes <= kTouchedMemory)
    for (size_t i = 0; i < bytes; i += kLeastPage)
      static_cast<volatile uint8_t*>(block.data_)[i] = 0;
  return block;
}

Block::~Block() {
  const PlanMemoryScope none(nullptr, nullptr);
  if (is_mapped_)
    platform::unmap_memory(data_, bytes_);
  else if (allocator_.allocate == nullptr)
    ::operator delete (data_, std::align_val_t{kAlignment}, std::nothrow);
  else if (data_ != nullptr && allocator_.release != nullptr)
    allocator_.release(allocator_.context, data_, bytes_);
}

void Block::swap(Block& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(bytes_, other.bytes_);
  std::swap(is_mapped_, other.is_mapped_);
  std::swap(allocator_, other.allocator_);
}

Status Session::check_memory(const Plan& plan, size_t bytes, size_t max_memory) {
  if (bytes <= max_memory) return {};
  return error(Code::kOutOfMemory,
               "a session at %s takes %zu bytes, more than the %zu that max_memory allows",
               describe_sizes(plan.model->file(), plan.batch, plan.sizes).c_str(), bytes,
               max_memory);
}

// Starts the threads of a run. With a pool of the caller, each run asks the pool for a team; a
// provider's steps use the pool directly.
Status Session::start_pool() {
  const bool is_callers = is_callers_pool();
  const bool is_own = plan_->provider == nullptr;
  if (parallel_.threads > 1 && !is_callers) {
    if (pool_ == nullptr) {
      Result<std::shared_ptr<Pool>> own = Pool::create(parallel_.threads);
      if (!own.ok()) return std::move(own.status());
      pool_ = std::move(*own);
      parallel_.threads = pool_->threads();
    }
    if (!is_own) parallel_.pool = pool_->pthreads();
  } else if (wants_team()) {
    team_ = std::make_unique<Team>(parallel_.threads);
  }
  return {};
}

bool Session::is_callers_pool() const {
  return parallel_.pool != nullptr || parallel_.custom != nullptr;
}

bool Session::wants_team() const {
  return parallel_.threads > 1 && is_callers_pool() && plan_->provider == nullptr;
}

namespace {

std::string label_of(const Plan& plan) {
  return "a session at " + describe_sizes(plan.model->file(), plan.batch, plan.sizes);
}

}  // namespace

Result<std::unique_ptr<Session>> Session::create(std::shared_ptr<const VerifiedModel> model,
                                                 const SessionOptions& options) {
  const auto limit_at = [&](size_t batch) {
    return options.max_memory != 0 ? options.max_memory : default_max_memory(*model, batch);
  };
  Result<Design> made = design(model, options, limit_at(options.most.batch));
  if (!made.ok()) return std::move(made.status());
  const Plan& plan = *made->plan;
  const size_t max_memory = limit_at(plan.batch);
  QRT_TRY(check_memory(plan, made->bytes(), max_memory));
  std::unique_ptr<Session> session(new Session(std::move(made->plan)));
  session->own_plans_ = std::move(made->own_plans);
  session->model_ = std::move(model);
  session->plan_options_ = std::move(made->options);
  session->max_memory_ = max_memory;
  session->parallel_ = {session->plan_->threads, options.callers_pool, options.parallel,
                        options.parallel_context, nullptr};
  session->pool_ = options.pool;
  session->allocator_ = options.allocator;
  QRT_TRY(session->start_pool());
  Result<Block> block =
      Block::allocate(made->block_bytes, options.allocator, label_of(*session->plan_));
  if (!block.ok()) return std::move(block.status());
  session->block_ = std::move(*block);
  {
    OwnPlans* const own = session->own_plans_.get();
    const PlanMemoryScope scope(own != nullptr ? &own->idle() : nullptr, nullptr);
    session->make_tables(options.profile);
    if (own != nullptr) own->follows_second = !own->follows_second;
  }
  session->find_tensors();
  session->fill_memory(session->block_.is_zeros());
  session->start_steps();
  return session;
}

// Leaves the pool as it is, in a child of fork(): the threads of the pool, the session's own or the
// caller's, do not exist there, and locks that they held at the fork are never released.
void Session::leave_threads() {
  parallel_.threads = 1;
  if (parallel_.pool != nullptr) {
    // A provider's steps keep the pool that they were bound with.
    for (size_t i = 0; i < is_stale_.size(); ++i) is_stale_[i] = plan_->steps[i].bind != nullptr;
    has_moved_ = true;
    parallel_.pool = nullptr;
  }
  // Leaked: its destructor would wait for threads that the child process does not have.
  static_cast<void>(team_.release());
}

Session::~Session() {
  if (process_.is_inherited()) leave_threads();
}

void Session::make_tables(bool profiles) {
  const Plan& plan = *plan_;
  const size_t ends = plan.inputs.size() + plan.outputs.size();
  tensors_.resize(plan.places.size());
  calls_.reserve(plan.steps.size());
  is_stale_.resize(plan.steps.size());
  is_old_.resize(plan.inputs.size());
  extents_.resize(ends);
  bindings_.resize(ends);
  copied_.resize(ends);
  stand_ins_.resize(ends);
  if (profiles) profile_ = std::make_unique<Profile>(plan.steps.size());
}

void Session::find_tensors() {
  for (size_t slot = 0; slot < tensors_.size(); ++slot) {
    const TensorMemory& place = plan_->places[slot];
    tensors_[slot] = place.kind == TensorMemory::Kind::kConstant ? const_cast<uint8_t*>(place.data)
                                                                 : own_memory(place);
  }
}

void Session::fill_memory(bool is_zeros) {
  reset();
  for (size_t i = 0; i < plan_->inputs.size(); ++i)
    is_old_[i] = !is_zeros && tensors_[plan_->inputs[i].slot] != nullptr;
  old_inputs_ = static_cast<size_t>(std::count(is_old_.begin(), is_old_.end(), true));
}

// Clears the memory of inputs that were never set. Skips the session's own memory of a bound input,
// since nothing reads it.
void Session::clear_old_inputs() const {
  for (size_t i = 0; i < plan_->inputs.size(); ++i) {
    const ModelTensor& input = plan_->inputs[i];
    if (!is_old_[i] || tensors_[input.slot] != own_memory(plan_->places[input.slot])) continue;
    memset(tensors_[input.slot], 0, plan_->slot_bytes(input.slot));
    is_old_[i] = false;
    --old_inputs_;
  }
}

uint8_t* Session::data_to_fill(const ModelTensor& input) {
  const size_t i = index_of(input);
  uint8_t* copied = copied_[i];
  if (copied != nullptr) return copied;
  if (is_old_[i] && tensors_[input.slot] == own_memory(plan_->places[input.slot])) {
    is_old_[i] = false;
    --old_inputs_;
  }
  return tensors_[input.slot];
}

// Sets *keeps for the inputs and outputs whose bindings stay, since their size does. Allocates
// stand-in memory for those of them that need it and have none in `old`. reshape() takes the
// bindings from `old`, once nothing can fail any more.
Status Session::keep_bindings(const Session& old, size_t held, ScratchVector<bool>* keeps) {
  keeps->resize(bindings_.size());
  for (const auto ends : {&Plan::inputs, &Plan::outputs})
    for (size_t i = 0; i < (plan_.get()->*ends).size(); ++i) {
      const ModelTensor &end = (plan_.get()->*ends)[i], &before = (old.plan_.get()->*ends)[i];
      const size_t index = index_of(end);
      const Binding& binding = old.bindings_[index];
      if (binding.data == nullptr ||
          plan_->types[end.slot].shape != old.plan_->types[before.slot].shape)
        continue;
      (*keeps)[index] = true;
      const bool is_external = plan_->places[end.slot].kind == TensorMemory::Kind::kExternal;
      if (!is_copied(end, binding) || !is_external) continue;
      if (old.stand_ins_[index] == nullptr) QRT_TRY(make_stand_in(end, held));
      held += plan_->slot_bytes(end.slot) + kSlack;
    }
  return {};
}

void Session::swap_tables(Session& other) noexcept {
  plan_.swap(other.plan_);
  tensors_.swap(other.tensors_);
  calls_.swap(other.calls_);
  profile_.swap(other.profile_);
  bindings_.swap(other.bindings_);
  copied_.swap(other.copied_);
  stand_ins_.swap(other.stand_ins_);
  std::swap(stand_in_bytes_, other.stand_in_bytes_);
  is_stale_.swap(other.is_stale_);
  is_old_.swap(other.is_old_);
  std::swap(old_inputs_, other.old_inputs_);
  extents_.swap(other.extents_);
  std::swap(choice_, other.choice_);
}

Status Session::reshape(std::shared_ptr<const Plan> plan) {
  OwnPlans* const own = own_plans_.get();
  const PlanMemoryScope scope(own != nullptr ? &own->idle() : nullptr,
                              own != nullptr ? &own->scratch : nullptr);
  // The calls that can fail are made on another session, which then exchanges its tables with this one.
  Session next(std::move(plan));
  const Plan& to = *next.plan_;
  const size_t limit = plan_options_.max_memory != 0 ? plan_options_.max_memory
                                                     : default_max_memory(*model_, to.batch);
  const size_t block_bytes = std::max(block_.bytes(), to.memory_bytes());
  const size_t held = plan_bytes(to, block_bytes) + (own != nullptr ? own->bytes_beside(to) : 0);
  QRT_TRY(check_memory(to, held, limit));
  next.max_memory_ = limit;
  if (to.memory_bytes() > block_.bytes()) {
    Result<Block> block = Block::allocate(to.memory_bytes(), allocator_, label_of(to));
    if (!block.ok()) return std::move(block.status());
    next.block_ = std::move(*block);
  }
  next.make_tables(profile_ != nullptr);
  ScratchVector<bool> keeps;
  QRT_TRY(next.keep_bindings(*this, held, &keeps));
  std::unique_ptr<Team> team;
  if (team_ == nullptr && wants_team()) team = std::make_unique<Team>(parallel_.threads);
  const auto is_kept = [&](const fb::Variable& v) {
    return to.types[v.tensor()].shape == plan_->types[v.tensor()].shape;
  };
  ScratchVector<uint8_t> kept;
  kept.reserve(plan_->variable_bytes());
  for (const fb::Variable* v : to.variables)
    if (is_kept(*v)) {
      const uint8_t* data = tensors_[v->tensor()];
      kept.insert(kept.end(), data, data + plan_->slot_bytes(v->tensor()));
    }
  ScratchVector<bool> keeps_variable;
  for (const fb::Variable* v : to.variables) keeps_variable.push_back(is_kept(*v));

  // From here on nothing fails.
  swap_tables(next);
  if (own != nullptr) own->follows_second = !own->follows_second;
  max_memory_ = limit;
  has_moved_ = false;
  if (team != nullptr) team_ = std::move(team);
  const bool is_new = next.block_.data() != nullptr;
  if (is_new) block_ = std::move(next.block_);
  find_tensors();
  fill_memory(is_new && block_.is_zeros());
  const uint8_t* from = kept.data();
  for (size_t i = 0; i < keeps_variable.size(); ++i) {
    const uint32_t slot = plan_->variables[i]->tensor();
    if (!keeps_variable[i]) continue;
    memcpy(tensors_[slot], from, plan_->slot_bytes(slot));
    from += plan_->slot_bytes(slot);
  }
  for (size_t i = 0; i < keeps.size(); ++i) {
    if (!keeps[i] || next.stand_ins_[i] == nullptr || stand_ins_[i] != nullptr) continue;
    stand_ins_[i] = std::move(next.stand_ins_[i]);
    stand_in_bytes_ += plan_->slot_bytes(model_tensor_at(i).slot) + kSlack;
  }
  start_steps();
  for (size_t i = 0; i < keeps.size(); ++i)
    if (keeps[i]) place_binding(model_tensor_at(i), next.bindings_[i]);
  return {};
}

uint8_t* Session::own_memory(const TensorMemory& place) const {
  return place.kind == TensorMemory::Kind::kArena ? block_.data() + place.offset : nullptr;
}

uint8_t* Session::own_memory(const ModelTensor& end) const {
  uint8_t* own = own_memory(plan_->places[end.slot]);
  return own != nullptr ? own : stand_ins_[index_of(end)].get();
}

size_t Session::index_of(const ModelTensor& end) const {
  const std::less<const ModelTensor*> is_before;
  const ModelTensor* inputs = plan_->inputs.data();
  if (!is_before(&end, inputs) && is_before(&end, inputs + plan_->inputs.size()))
    return static_cast<size_t>(&end - inputs);
  return plan_->inputs.size() + static_cast<size_t>(&end - plan_->outputs.data());
}

void Session::move(const ModelTensor& end, uint8_t* data) {
  for (const ModelTensor::Member& m : end.members)
    tensors_[m.slot] = data != nullptr ? data + m.offset : own_memory(plan_->places[m.slot]);
  for (const uint32_t step : end.keepers) is_stale_[step] = true;
  has_moved_ = true;
}

const ModelTensor& Session::model_tensor_at(size_t index) const {
  const size_t inputs = plan_->inputs.size();
  return index < inputs ? plan_->inputs[index] : plan_->outputs[index - inputs];
}

// Allocates memory that replaces that of an external tensor. `held` is the number of bytes that the
// session holds already.
Status Session::make_stand_in(const ModelTensor& end, size_t held) {
  const size_t bytes = plan_->slot_bytes(end.slot) + kSlack;
  if (bytes > max_memory_ || held > max_memory_ - bytes)
    return error(Code::kOutOfMemory,
                 "a copy of a buffer without room behind it takes %zu bytes beside the session's "
                 "%zu, more than the %zu that max_memory allows",
                 bytes, held, max_memory_);
  auto* own =
      static_cast<uint8_t*>(::operator new (bytes, std::align_val_t{kAlignment}, std::nothrow));
  if (own == nullptr)
    return error(Code::kOutOfMemory, "no memory for the %zu bytes of a copy", bytes);
  stand_ins_[index_of(end)].reset(own);
  stand_in_bytes_ += bytes;
  return {};
}

bool Session::is_copied(const ModelTensor& end, const Binding& binding) const {
  return binding.data != nullptr && !binding.has_slack && end.needs_slack;
}

Status Session::bind(const ModelTensor& end, uint8_t* data, bool has_slack) {
  const Binding binding = {data, has_slack || ends_within_page(data, plan_->slot_bytes(end.slot))};
  if (is_copied(end, binding) && own_memory(end) == nullptr)
    QRT_TRY(make_stand_in(end, memory_bytes()));
  place_binding(end, binding);
  return {};
}

// Makes `binding` that of `end`. REQUIRES: the session has memory for `end` if the binding is
// copied.
void Session::place_binding(const ModelTensor& end, const Binding& binding) {
  const size_t index = index_of(end);
  bindings_[index] = binding;
  copied_[index] = is_copied(end, binding) ? binding.data : nullptr;
  move(end, copied_[index] != nullptr ? own_memory(end) : binding.data);
}

uint8_t* Session::model_tensor_memory(const ModelTensor& end) const {
  uint8_t* copied = copied_[index_of(end)];
  return copied != nullptr ? copied : tensors_[end.slot];
}

uint8_t* Session::model_tensor_data(const ModelTensor& end) const {
  if (old_inputs_ != 0) clear_old_inputs();
  return model_tensor_memory(end);
}

bool Session::is_bound(const ModelTensor& end) const {
  uint8_t* memory = model_tensor_memory(end);
  return memory != nullptr && memory != own_memory(plan_->places[end.slot]);
}

// Applies changed bindings. Fails where an input or output has no memory, or an output overlaps
// another binding.
Status Session::take_bound() {
  size_t n = 0;
  for (const PlanVector<ModelTensor>* ends : {&plan_->inputs, &plan_->outputs})
    for (const ModelTensor& end : *ends) {
      const uint8_t* begin = model_tensor_memory(end);
      const bool is_output = ends == &plan_->outputs;
      const size_t index = static_cast<size_t>(&end - ends->data());
      if (begin == nullptr)
        return error(Code::kInvalidArgument, "%s %zu is external and has no memory: bind it",
                     is_output ? "output" : "input", index);
      extents_[n++] = {begin, begin + plan_->slot_bytes(end.slot), is_output, index};
    }
  std::sort(extents_.begin(), extents_.end(),
            [](const Extent& a, const Extent& b) { return a.begin < b.begin; });
  // `last` is the extent so far that ends last, and `last_output` the output among them that does.
  const Extent *last = nullptr, *last_output = nullptr;
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

RunContext Session::context(uint8_t* state) {
  RunContext context;
  context.tensors = tensors_.data();
  context.parallel = &parallel_;
  context.state = state;
  context.scratch = block_.data() + plan_->arena_bytes + plan_->state_bytes;
  context.failure = &failure_;
  context.iteration = iteration_;
  return context;
}

void Session::start_steps() {
  for (const PlanVector<ModelTensor>* ends : {&plan_->inputs, &plan_->outputs})
    for (const ModelTensor& end : *ends)
      if (tensors_[end.slot] == nullptr) move(end, nullptr);
  size_t begin = 0;
  auto loop = plan_->loops.begin();
  for (size_t i = 0; i < plan_->steps.size(); ++i) {
    const PlannedStep& step = plan_->steps[i];
    uint8_t* state = block_.data() + plan_->arena_bytes + plan_->state_offsets[i];
    if (step.bind != nullptr && !is_stale_[i]) step.bind(step, context(state));
    const bool is_in_loop = loop != plan_->loops.end() && i >= loop->begin;
    if (is_in_loop && i == loop->begin) begin = calls_.size();
    const bool ends = is_in_loop && i == loop->end;
    if (step.run != nullptr) calls_.push_back({&step, state, i, ends ? &*loop : nullptr, begin});
    if (ends) ++loop;
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
    // The next run will probably have as many jobs as this one.
    if (team_->jobs() < kTeamJobs && !has_ended()) team_.reset();
  } else {
    run_calls();
  }
}

// Returns the failure that ended the run as an error, and forgets it.
Status Session::tell_failure() {
  const RunFailure failure = failure_;
  failure_ = {};
  const auto name = [this, &failure](size_t i) {
    const auto* text = plan_->model->tensor(failure.step->inputs[i]).name();
    return text == nullptr ? "" : text->c_str();
  };
  if (failure.is_length)
    return error(Code::kOutOfRange, "length %lld of '%s' is outside 0 to %zu, the steps of '%s'",
                 static_cast<long long>(failure.index), name(failure.input), failure.size, name(0));
  return error(Code::kOutOfRange, "index %lld of '%s' is outside the %zu rows of '%s'",
               static_cast<long long>(failure.index), name(failure.input), failure.size, name(0));
}

Status Session::run() {
  using Clock = std::chrono::steady_clock;
  if (parallel_.threads > 1 && process_.is_inherited()) leave_threads();
  if (has_moved_) QRT_TRY(take_bound());
  if (old_inputs_ != 0) clear_old_inputs();
  for (const ModelTensor& input : plan_->inputs)
    if (const uint8_t* from = copied_[index_of(input)])
      memcpy(tensors_[input.slot], from, plan_->slot_bytes(input.slot));
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
    failure_ = {};
    return error(Code::kCancelled, "the run was cancelled");
  }
  if (failure_.step != nullptr) return tell_failure();
  if (may_choose) choice_.ran(std::chrono::duration<double>(Clock::now() - start).count());
  for (const FinalCopy& copy : plan_->final_copies) {
    memcpy(tensors_[copy.to], tensors_[copy.from], copy.bytes);
  }
  for (const ModelTensor& output : plan_->outputs)
    if (uint8_t* to = copied_[index_of(output)])
      memcpy(to, tensors_[output.slot], plan_->slot_bytes(output.slot));
  for (size_t i = 0; i < plan_->exchanged.size(); ++i) {
    const ModelTensor &variable = plan_->exchanged[i], &next = plan_->next_contents[i];
    uint8_t *const now = tensors_[variable.slot], *const then = tensors_[next.slot];
    for (const ModelTensor::Member& m : variable.members) tensors_[m.slot] = then + m.offset;
    for (const ModelTensor::Member& m : next.members) tensors_[m.slot] = now + m.offset;
  }
  return {};
}

// Clears the outputs of steps that a run may skip, since callers may read them.
void Session::clear_guarded() {
  for (const Call& call : calls_)
    if (plan_->model->guards().of(call.index) != Guards::kAlways)
      for (const uint32_t t : call.step->outputs) memset(tensors_[t], 0, plan_->slot_bytes(t));
}

// Returns whether another iteration of a loop follows the one that has ended, and passes the states
// on to it.
bool Session::goes_on(const PlannedLoop& loop) {
  if (++iteration_ == loop.trips || has_ended()) {
    iteration_ = 0;
    return false;
  }
  for (const FinalCopy& state : loop.states)
    memcpy(tensors_[state.to], tensors_[state.from], state.bytes);
  return true;
}

void Session::run_calls() {
  const Guards& guards = plan_->model->guards();
  if (plan_->keep_all) clear_guarded();
  if (profile_ != nullptr) profile_->start_run();
  iteration_ = 0;
  size_t micro_batches = 0;
  for (; micro_batches < plan_->micro_batches && !has_ended(); ++micro_batches) {
    for (size_t i = 0; i < calls_.size() && !has_ended();) {
      const Call& call = calls_[i++];
      if (!guards.admit(call.index, tensors_.data())) continue;
      call.step->run(*call.step, context(call.state));
      if (profile_ != nullptr) profile_->end_step(call.index);
      if (kHasLoops && call.loop != nullptr && goes_on(*call.loop)) i = call.begin;
    }
    for (const MicroBatchSlot& s : plan_->micro_batch_slots) tensors_[s.slot] += s.bytes;
  }
  for (const MicroBatchSlot& s : plan_->micro_batch_slots)
    tensors_[s.slot] -= s.bytes * micro_batches;
}

void Session::reset() {
  for (const fb::Variable* v : plan_->variables) {
    const uint32_t slot = v->tensor();
    const size_t element = dtype_bytes(plan_->types[slot].dtype);
    const int64_t value = v->initial();
    for (size_t i = 0; i < plan_->slot_bytes(slot); i += element)
      memcpy(tensors_[slot] + i, &value, element);  // little-endian: the low bytes
  }
}

}  // namespace qrt
