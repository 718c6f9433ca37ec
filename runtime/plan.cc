// SPDX-License-Identifier: Apache-2.0
#include "runtime/plan.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "runtime/arena.h"
#include "runtime/checked.h"
#include "runtime/fuse.h"
#include "runtime/infer.h"
#include "runtime/loops.h"
#include "runtime/micro_batches.h"
#include "runtime/providers/provider.h"
#include "runtime/sharing.h"

namespace qrt {
namespace {

constexpr uint32_t kNoStep = UINT32_MAX;

// Freedoms of a planner. Where one turns out to lead too far, planning begins again without it.
struct Freedom {
  bool micro_batch;  // cut a batch
  bool spend;        // memory to save time
};

class Planner {
 public:
  Planner(const VerifiedModel& model, const PlanOptions& options, Freedom may, SharedTables* shared)
      : file_(model.file()),
        options_(options),
        may_(may),
        plan_(make_planned<Plan>()),
        // limit_of() also keeps the sum with a session's memory within size_t.
        max_memory_(limit_of(model, options)),
        memory_(std::min(max_memory_, SIZE_MAX - kMaxMemory)),
        shared_(*shared) {
    shared_.begin_plan();
    plan_->model = &model;
    plan_->threads = std::max<size_t>(options.threads, 1);
    plan_->provider = options.provider;
    plan_->isas = options.isas;
    plan_->is_frugal = !may.spend;
    plan_->keep_all = options.keep_all;
    const auto all = variables(file_);
    plan_->variables.assign(all.begin(), all.end());
  }

  // Returns null where a freedom turned out to be too much, and takes it from `may`.
  Result<std::shared_ptr<Plan>> run(Freedom* may) {
    count_session_tables();
    QRT_TRY(memory_.take(own_bytes()));
    QRT_TRY(choose_sizes());
    QRT_TRY(choose_batch());
    QRT_TRY(choose_micro_batches());
    QRT_TRY(prepare_steps(may));
    QRT_TRY(plan_loops());
    if (!may->micro_batch && may_.micro_batch) return std::shared_ptr<Plan>();
    if (!options_.keep_all) fuse_steps(file_, plan_->model->guards(), types_, &plan_->steps);
    sharing_.emplace(file_, types_);
    sharing_->share(options_.keep_all, &plan_->steps);
    fetch_ahead(&plan_->steps);
    assign_outputs();
    if (plan_->micro_batches > 1) {
      find_micro_batch_slots();
      if (keeps_micro_batch_slots()) {
        may->micro_batch = false;
        return std::shared_ptr<Plan>();
      }
    }
    QRT_TRY(place_tensors());
    find_model_tensors();
    QRT_TRY(place_state());
    plan_->table_bytes = memory_.taken() - plan_->session_table_bytes;
    plan_->is_limited = !may_.spend || memory_.has_refused();
    if (may_.spend && plan_->total_bytes() > max_memory_) {
      may->spend = false;
      return std::shared_ptr<Plan>();
    }
    return std::move(plan_);
  }

 private:
  static size_t limit_of(const VerifiedModel& model, const PlanOptions& options) {
    return options.max_memory != 0 ? options.max_memory : default_max_memory(model, options.batch);
  }

  // Counts the tables that each session has for itself, by slot, input and output.
  void count_session_tables() {
    // A session that goes on at other sizes has facts of both plans.
    constexpr size_t kPointer = sizeof(uint8_t*), kFacts = built::kOpenDims ? 2 : 1,
                     kEndBytes = 8 * kPointer + kFacts * kTensorFactsBytes;
    const size_t tensors = file_.tensors()->size(), outputs = file_.outputs()->size();
    plan_->session_table_bytes =
        plan_->variables.size() * kTensorFactsBytes + (tensors + outputs) * kPointer +
        (outputs + file_.inputs()->size()) * kEndBytes +
        (options_.keep_all ? tensors * kFacts * (sizeof(uint32_t) + kTensorFactsBytes) : 0);
  }

  // Returns the bytes of the steps, and of the tables that a plan and a session have for every slot.
  size_t own_bytes() const {
    constexpr size_t kSlotBytes =
        sizeof(TensorType) + sizeof(TensorMemory) + sizeof(ModelTensor::Member);
    constexpr size_t kPieceBytes = 24 * PlanMemory::kPieceBytes;  // of a step's allocations
    const size_t outputs =
        file_.outputs()->size() * (kSlotBytes + sizeof(FinalCopy) + sizeof(ModelTensor));
    return file_.operators()->size() * (sizeof(PlannedStep) + kStepBytes + kPieceBytes) +
           plan_->variables.size() * (2 * sizeof(ModelTensor) + sizeof(FinalCopy)) +
           file_.tensors()->size() * kSlotBytes + outputs +
           file_.inputs()->size() * sizeof(ModelTensor) + plan_->session_table_bytes;
  }

  Status choose_sizes() {
    const SymbolSizes own = default_sizes(file_);
    plan_->sizes = options_.sizes.empty() ? own : options_.sizes;
    if (plan_->sizes.size() != own.size())
      return error(Code::kInvalidArgument, "%zu sizes, but the model has %zu symbols",
                   plan_->sizes.size(), own.size());
    for (uint32_t i = 0; i < own.size(); ++i)
      QRT_TRY(check_size(*file_.symbols()->Get(i), plan_->sizes[i]));
    return {};
  }

  Status choose_batch() {
    const size_t own = plan_->model->default_batch();
    plan_->batch = options_.batch == 0 ? own : options_.batch;
    if (plan_->batch != own && !plan_->model->has_batch()) {
      return error(Code::kInvalidArgument, "the model's batch is fixed to %zu, not %zu", own,
                   plan_->batch);
    }
    if (plan_->batch > INT32_MAX) {
      return error(Code::kInvalidArgument, "batch %zu is too large", plan_->batch);
    }
    Status status = types_at(plan_->batch, &whole_);
    if (!status.ok()) {
      const bool is_too_large = status.code() == Code::kOutOfMemory;
      return error(is_too_large ? status.code() : Code::kInvalidArgument,
                   "the model cannot run at %s: %s",
                   describe_sizes(file_, plan_->batch, plan_->sizes).c_str(), status.message());
    }
    plan_->types.assign(whole_.types.begin(), whole_.types.end());
    return {};
  }

  Status choose_micro_batches() {
    // Variables pass from run to run what one image leaves to the next.
    if (may_.micro_batch && plan_->variables.empty() && plan_->batch > 1 &&
        plan_->model->has_batch()) {
      // A model that cannot run at batch 1 is not cut.
      const size_t taken = memory_.taken();
      InferredTypes one;
      if (types_at(1, &one).ok())
        plan_->micro_batches =
            count_micro_batches(file_, one.types, whole_.types, plan_->batch, plan_->threads);
      memory_.give_back(memory_.taken() - taken);
    }
    if (plan_->micro_batches > 1) {
      for (const auto& fields : whole_.fields)
        if (fields != nullptr) memory_.give_back(fields->bytes());
      QRT_TRY(types_at(plan_->batch / plan_->micro_batches, &whole_));
    }
    types_ = std::move(whole_.types);
    plan_->fields = std::move(whole_.fields);
    has_empty_ = whole_.has_empty;
    return {};
  }

  // Finds the types at a batch, and infers them where they are not known.
  Status types_at(size_t batch, InferredTypes* inferred) {
    const VerifiedModel& model = *plan_->model;
    const Sizes sizes = {static_cast<int64_t>(batch), plan_->sizes};
    if (sizes == stored_sizes(file_)) {
      *inferred = {model.types(), {}, false};
      return {};
    }
    return infer_types(file_, model.tensors(), sizes, inferred, &model.types(), &memory_);
  }

  Status prepare_steps(Freedom* may) {
    plan_->steps.resize(file_.operators()->size());
    PrepareContext context;
    context.isas = options_.isas;
    context.threads = plan_->threads;
    context.file_end = plan_->model->file_end();
    context.memory = &memory_;
    context.shared = &shared_;
    context.may_spend = may_.spend;
    for (uint32_t i = 0; i < plan_->steps.size() && may->micro_batch == may_.micro_batch; ++i) {
      Status status = prepare_step(i, &context);
      if (!status.ok()) return std::move(status).at(op_label(file_, i));
      // Finds early, for most models, what keeps_micro_batch_slots() would find after all steps.
      const PlannedStep& step = plan_->steps[i];
      if (plan_->micro_batches > 1 && step.keeps_addresses && reads_input(step))
        may->micro_batch = false;
    }
    return {};
  }

  Status plan_loops() {
    if (!kHasLoops) return {};
    for (const Loop& loop : find_loops(file_)) {
      const PlannedStep &begin = plan_->steps[loop.begin], &end = plan_->steps[loop.end];
      const auto& o = *end.op->options_as_LoopEnd();
      QRT_TRY(memory_.take(sizeof(PlannedLoop) + o.states() * sizeof(FinalCopy)));
      const SizedFields* sized = plan_->fields.empty() ? nullptr : plan_->fields[loop.end].get();
      const int64_t trips =
          sized != nullptr ? sized->number(fb::SizeField::TRIPS, 0, o.trips()) : o.trips();
      PlannedLoop planned = {loop.begin, loop.end, static_cast<uint32_t>(trips), {}};
      for (uint32_t i = 0; i < o.states(); ++i)
        planned.states.push_back(
            {end.outputs[i], begin.outputs[1 + i], micro_batch_bytes(end.outputs[i])});
      for (uint32_t i = loop.begin; i <= loop.end; ++i) {
        uint64_t& macs = plan_->steps[i].macs;
        const auto times = static_cast<uint64_t>(trips);
        macs = macs <= UINT64_MAX / times ? macs * times : UINT64_MAX;
      }
      plan_->loops.push_back(std::move(planned));
    }
    return {};
  }

  bool reads_input(const PlannedStep& step) const {
    const auto& inputs = *file_.inputs();
    return std::any_of(step.inputs.begin(), step.inputs.end(), [&](uint32_t t) {
      return std::find(inputs.begin(), inputs.end(), t) != inputs.end();
    });
  }

  // `context` has what does not change from step to step.
  Status prepare_step(uint32_t index, PrepareContext* context) {
    set_infer_context(file_, plan_->model->tensors(), index, types_, context);
    if (!plan_->fields.empty()) context->sized = plan_->fields[index].get();
    PlannedStep& step = plan_->steps[index];
    step.op = context->op;
    const auto &inputs = *context->op->inputs(), &outputs = *context->op->outputs();
    QRT_TRY(context->take((inputs.size() + outputs.size()) * sizeof(uint32_t)));
    step.inputs.assign(inputs.begin(), inputs.end());
    step.outputs.assign(outputs.begin(), outputs.end());
    context->outputs.clear();
    for (uint32_t t : step.outputs) context->outputs.push_back(types_[t]);
    if (built::kOpenDims && has_empty_) {
      if (std::all_of(context->outputs.begin(), context->outputs.end(), is_empty)) return {};
      drop_empty_inputs(context, &step);
    }
    if (options_.provider != nullptr && options_.provider->prepare(*context, &step)) return {};
    return find_op(context->op->options_type())->prepare(*context, &step);
  }

  static bool is_empty(const TensorType& type) { return type.shape.elements() == 0; }

  // Removes the inputs without elements from the context and the step: infer_types() lets only a Concat have them where its output
  // has elements.
  static void drop_empty_inputs(PrepareContext* context, PlannedStep* step) {
    for (size_t i = step->inputs.size(); i-- > 0;) {
      if (!is_empty(context->inputs[i].type)) continue;
      const auto at = static_cast<ptrdiff_t>(i);
      context->inputs.erase(context->inputs.begin() + at);
      step->inputs.erase(step->inputs.begin() + at);
    }
  }

  // Gives each output its place: memory of its own where it would otherwise share that of an input,
  // a variable or another output.
  void assign_outputs() {
    ScratchVector<bool> is_taken(plan_->types.size());
    for (uint32_t t : *file_.inputs()) is_taken[t] = true;
    for (const fb::Variable* v : plan_->variables) is_taken[v->tensor()] = true;
    for (uint32_t t : *file_.outputs()) {
      uint32_t slot = t;
      const uint32_t root = sharing_->root(t);
      if (is_taken[root] || constant_data(root) != nullptr) {
        slot = static_cast<uint32_t>(plan_->types.size());
        plan_->final_copies.push_back({t, slot, plan_->slot_bytes(t)});
        plan_->types.push_back(TensorType(plan_->types[t]));
        types_.push_back(TensorType(types_[t]));
        sharing_->add_slot();
      }
      is_taken[root] = true;
      plan_->outputs.push_back({slot, {}, {}});
    }
    for (uint32_t t : *file_.inputs()) plan_->inputs.push_back({t, {}, {}});
    pass_variables(&is_taken);
  }

  // Decides how each variable gets its next content. `is_taken`: by slot; the roots of what lasts.
  void pass_variables(ScratchVector<bool>* is_taken) {
    ScratchVector<bool> is_kept(sharing_->slots());  // by slot; of roots
    for (const PlannedStep& step : plan_->steps)
      if (step.keeps_addresses)
        for (const auto* operands : {&step.inputs, &step.outputs})
          for (uint32_t t : *operands) is_kept[sharing_->root(t)] = true;
    for (const fb::Variable* v : plan_->variables) {
      const uint32_t from = v->next(), to = v->tensor(), root = sharing_->root(from);
      if (options_.keep_all || is_kept[root] || is_kept[to] || (*is_taken)[root] ||
          constant_data(root) != nullptr || sharing_->home(from).offset != 0 ||
          micro_batch_bytes(root) != micro_batch_bytes(to)) {
        plan_->final_copies.push_back({from, to, plan_->slot_bytes(to)});
        continue;
      }
      (*is_taken)[root] = true;
      plan_->exchanged.push_back({to, {}, {}});
      plan_->next_contents.push_back({root, {}, {}});
    }
  }

  // Bytes that the steps of one run use of a slot.
  size_t micro_batch_bytes(uint32_t slot) const { return tensor_bytes(types_[slot]); }

  // Model inputs and outputs with what shares their memory.
  void find_micro_batch_slots() {
    is_by_micro_batch_.resize(plan_->types.size());
    for (uint32_t t : *file_.inputs()) is_by_micro_batch_[sharing_->root(t)] = true;
    for (uint32_t t : *file_.outputs()) is_by_micro_batch_[sharing_->root(t)] = true;
    for (uint32_t slot = 0; slot < sharing_->slots(); ++slot) {
      if (!is_by_micro_batch_[sharing_->root(slot)] ||
          constant_data(sharing_->root(slot)) != nullptr)
        continue;
      plan_->micro_batch_slots.push_back({slot, micro_batch_bytes(sharing_->root(slot))});
    }
  }

  // Addresses that bind() keeps must not move.
  bool keeps_micro_batch_slots() {
    const auto is_by_micro_batch = [this](uint32_t slot) {
      return is_by_micro_batch_[sharing_->root(slot)];
    };
    return std::any_of(plan_->steps.begin(), plan_->steps.end(), [&](const PlannedStep& step) {
      return step.keeps_addresses &&
             (std::any_of(step.inputs.begin(), step.inputs.end(), is_by_micro_batch) ||
              std::any_of(step.outputs.begin(), step.outputs.end(), is_by_micro_batch));
    });
  }

  struct Lifetime {
    uint32_t first = kNoStep, last = 0;
  };

  void use(uint32_t slot, uint32_t step) {
    Lifetime& life = lifetimes_[sharing_->root(slot)];
    life.first = std::min(life.first, step);
    life.last = std::max(life.last, step);
  }

  void find_lifetimes() {
    const uint32_t end = static_cast<uint32_t>(plan_->steps.size());
    lifetimes_.resize(plan_->types.size());
    for (uint32_t t : *file_.inputs()) use(t, 0), use(t, end);
    for (const fb::Variable* v : plan_->variables) use(v->tensor(), 0), use(v->tensor(), end);
    for (const FinalCopy& copy : plan_->final_copies) use(copy.from, end);
    for (const ModelTensor& next : plan_->next_contents) use(next.slot, 0), use(next.slot, end);
    for (uint32_t i = 0; i < end; ++i) {
      for (uint32_t t : plan_->steps[i].inputs) use(t, i);
      for (uint32_t t : plan_->steps[i].outputs) {
        use(t, i);
        if (options_.keep_all) use(t, end);
      }
    }
    for (const ModelTensor& output : plan_->outputs) {
      use(output.slot, end);
      if (plan_->micro_batches > 1) use(output.slot, 0);  // the next micro-batch leaves it alone
    }
    if (!kHasLoops) return;
    for (const PlannedLoop& loop : plan_->loops) extend_lifetimes(loop);
  }

  // Lets tensors live through all iterations of a loop that hold something from one to the next: its states, its outputs, and what was
  // there before it and is used in it.
  void extend_lifetimes(const PlannedLoop& loop) {
    for (const FinalCopy& state : loop.states) use(state.to, loop.end);
    for (uint32_t t : plan_->steps[loop.end].outputs) use(t, loop.begin);
    for (Lifetime& life : lifetimes_)
      if (life.first < loop.begin && life.last >= loop.begin)
        life.last = std::max(life.last, loop.end);
  }

  Status place_tensors() {
    find_lifetimes();
    ScratchVector<ArenaBlock> blocks;
    ScratchVector<uint32_t> owners;
    plan_->places.resize(plan_->types.size());
    QRT_TRY(place_outside(plan_->inputs, options_.external_inputs, "input"));
    QRT_TRY(place_outside(plan_->outputs, options_.external_outputs, "output"));
    for (uint32_t slot = 0; slot < plan_->types.size(); ++slot) {
      if (sharing_->root(slot) != slot || lifetimes_[slot].first == kNoStep) continue;
      if (plan_->places[slot].kind == TensorMemory::Kind::kExternal) continue;
      if (const uint8_t* data = constant_data(slot)) {
        plan_->places[slot] = {TensorMemory::Kind::kConstant, 0, data};
        continue;
      }
      // An input's or output's memory that moves from slice to slice, and the copy of an output,
      // hold the whole batch; other tensors hold one slice.
      const bool is_whole =
          plan_->micro_batches > 1 && (is_by_micro_batch_[slot] || slot >= file_.tensors()->size());
      const size_t bytes = is_whole ? plan_->slot_bytes(slot) : micro_batch_bytes(slot);
      blocks.push_back({bytes + kSlack, lifetimes_[slot].first, lifetimes_[slot].last});
      owners.push_back(slot);
    }
    if (!place_blocks(&blocks, kMaxMemory, &plan_->arena_bytes)) return too_large();
    for (size_t i = 0; i < blocks.size(); ++i) {
      plan_->places[owners[i]] = {TensorMemory::Kind::kArena, blocks[i].offset, nullptr};
    }
    for (uint32_t slot = 0; slot < plan_->types.size(); ++slot) {
      if (sharing_->root(slot) == slot) continue;
      const Sharing::Home in = sharing_->home(slot);
      TensorMemory place = plan_->places[in.tensor];
      place.offset += in.offset;
      if (place.kind == TensorMemory::Kind::kConstant) place.data += in.offset;
      plan_->places[slot] = place;
    }
    return {};
  }

  Status place_outside(const PlanVector<ModelTensor>& ends, const std::vector<size_t>& which,
                       const char* role) {
    for (const size_t i : which) {
      if (i >= ends.size())
        return error(Code::kInvalidArgument, "there is no %s %zu to be external: the model has %zu",
                     role, i, ends.size());
      plan_->places[sharing_->root(ends[i].slot)].kind = TensorMemory::Kind::kExternal;
    }
    return {};
  }

  // Finds the tensors that share memory with each input and output, and move with it.
  void find_model_tensors() {
    ScratchVector<ModelTensor*> model_tensor_of(plan_->types.size());  // by slot; of roots
    for (PlanVector<ModelTensor>* ends :
         {&plan_->inputs, &plan_->outputs, &plan_->exchanged, &plan_->next_contents})
      for (ModelTensor& end : *ends) model_tensor_of[sharing_->root(end.slot)] = &end;
    for (uint32_t slot = 0; slot < plan_->types.size(); ++slot) {
      if (ModelTensor* end = model_tensor_of[sharing_->root(slot)])
        end->members.push_back({slot, sharing_->home(slot).offset});
    }
    for (uint32_t i = 0; i < plan_->steps.size(); ++i) {
      const PlannedStep& step = plan_->steps[i];
      if (!step.keeps_addresses) continue;
      for (const auto* operands : {&step.inputs, &step.outputs})
        for (uint32_t t : *operands)
          if (ModelTensor* end = model_tensor_of[sharing_->root(t)]) end->keepers.push_back(i);
    }
    for (const PlannedStep& step : plan_->steps) {
      const bool is_idle = step.run == nullptr && step.leader == nullptr;
      if (!step.reads_slack || is_idle) continue;
      for (uint32_t t : step.inputs)
        if (ModelTensor* end = model_tensor_of[sharing_->root(t)]) end->needs_slack = true;
    }
  }

  const uint8_t* constant_data(uint32_t slot) const {
    if (slot >= file_.tensors()->size()) return nullptr;
    const FileTensor& found = plan_->model->tensors()[slot];
    return found.is_unpacked ? file_.buffers()->Get(found.tensor->buffer())->data()->Data()
                             : found.data;
  }

  Status place_state() {
    for (const PlannedStep& step : plan_->steps) {
      plan_->state_offsets.push_back(plan_->state_bytes);
      if (!grow(step.state_bytes, plan_->state_bytes, &plan_->state_bytes)) return too_large();
      size_t scratch = 0;
      if (!grow(step.scratch_bytes, 0, &scratch)) return too_large();
      plan_->scratch_bytes = std::max(plan_->scratch_bytes, scratch);
    }
    if (plan_->memory_bytes() > kMaxMemory) return too_large();
    return {};
  }

  // Sets *total to the end of an aligned area of `bytes` and slack that begins at or behind `base`;
  // to `base` for 0 bytes. Returns false on overflow.
  static bool grow(size_t bytes, size_t base, size_t* total) {
    if (bytes == 0) {
      *total = base;
      return true;
    }
    return checked_add(bytes, kSlack, &bytes) && checked_align(bytes, kAlignment, &bytes) &&
           bytes <= kMaxMemory && checked_add(base, bytes, total) && *total <= kMaxMemory;
  }

  Status too_large() const {
    return error(Code::kOutOfMemory, "the model needs more than %zu GiB of memory at %s",
                 kMaxMemory >> 30, describe_sizes(file_, plan_->batch, plan_->sizes).c_str());
  }

  const fb::Model& file_;
  const PlanOptions& options_;
  const Freedom may_;
  std::shared_ptr<Plan> plan_;
  const size_t max_memory_;
  MemoryBudget memory_;
  SharedTables& shared_;
  InferredTypes whole_;                    // until micro-batches are chosen
  TensorTypes types_;                      // by slot, of one micro-batch
  bool has_empty_ = false;                 // a tensor has no elements
  ScratchVector<bool> is_by_micro_batch_;  // by slot; of roots
  std::optional<Sharing> sharing_;
  ScratchVector<Lifetime> lifetimes_;  // by slot; of roots
};

}  // namespace

size_t default_max_memory(const VerifiedModel& model, size_t batch) {
  const size_t own = model.default_batch();
  const size_t times = batch > own ? ceil_div(batch, own) : 1;
  size_t base;
  if (!checked_add(kDefaultMemory, product_or_most({kDefaultMemoryPerFileByte, model.file_bytes()}),
                   &base))
    return kMaxMemory;
  return std::min(product_or_most({base, times}), kMaxMemory);
}

StepBytes step_bytes(const Plan& plan, const PlannedStep& step) {
  StepBytes result;
  if (step.run == nullptr && step.leader == nullptr) return result;
  for (const auto* operands : {&step.inputs, &step.outputs}) {
    for (const uint32_t t : *operands) {
      const fb::Tensor& tensor = plan.model->tensor(t);
      const bool constant = is_constant(tensor);
      const uint64_t unpacked = plan.model->unpacked().of(t).bytes;
      const uint64_t bytes =
          unpacked != 0 ? unpacked
          : constant    ? plan.model->file().buffers()->Get(tensor.buffer())->data()->size()
                        : plan.slot_bytes(t);
      result.all += bytes;
      if (constant) result.constants += bytes;
    }
  }
  const auto index = static_cast<size_t>(&step - plan.steps.data());
  for (const PlannedLoop& loop : plan.loops)
    if (index >= loop.begin && index <= loop.end)
      result.all *= loop.trips, result.constants *= loop.trips;
  return result;
}

Result<std::shared_ptr<Plan>> make_plan(const VerifiedModel& model, const PlanOptions& options,
                                        SharedTables* tables) {
  Freedom may = {!options.keep_all && options.provider == nullptr, true};
  Result<std::shared_ptr<Plan>> plan = std::shared_ptr<Plan>();
  while (plan.ok() && *plan == nullptr) plan = Planner(model, options, may, tables).run(&may);
  return plan;
}

Result<std::shared_ptr<const Plan>> make_plan(std::shared_ptr<const VerifiedModel> model,
                                              const PlanOptions& options) {
  SharedTables tables;
  Result<std::shared_ptr<Plan>> plan = make_plan(*model, options, &tables);
  if (!plan.ok()) return std::move(plan.status());
  return keep_model(std::move(model), std::move(*plan));
}

std::shared_ptr<const Plan> keep_model(std::shared_ptr<const VerifiedModel> model,
                                       std::shared_ptr<const Plan> plan) {
  using Both = std::pair<std::shared_ptr<const VerifiedModel>, std::shared_ptr<const Plan>>;
  const Plan* const kept = plan.get();
  return {std::make_shared<Both>(std::move(model), std::move(plan)), kept};
}

}  // namespace qrt
