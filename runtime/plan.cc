#include "runtime/plan.h"

#include <algorithm>
#include <utility>

#include "runtime/arena.h"
#include "runtime/checked.h"
#include "runtime/fuse.h"
#include "runtime/infer.h"
#include "runtime/slices.h"

namespace qrt {
namespace {

constexpr uint32_t kNoStep = UINT32_MAX, kNoTensor = UINT32_MAX;
constexpr size_t kUnread = SIZE_MAX;
// Bytes. Tables on rows of 64 are as fast as on dense ones; adds on rows of 16 take longer than the
// copy they save.
constexpr size_t kMinFollowedRow = 64;

class Planner {
 public:
  Planner(std::shared_ptr<const VerifiedModel> model, const PlanOptions& options,
          bool may_slice = true)
      : file_(model->file()),
        options_(options),
        may_slice_(may_slice && !options.keep_all && options.provider == Provider::kOwn),
        plan_(std::make_shared<Plan>()) {
    plan_->model = std::move(model);
    plan_->threads = std::max<size_t>(options.threads, 1);
    plan_->keep_all = options.keep_all;
    plan_->variables = variables(file_);
  }

  Result<std::shared_ptr<const Plan>> run() {
    QRT_TRY(choose_batch());
    QRT_TRY(choose_slices());
    QRT_TRY(prepare_steps());
    for (uint32_t t = 0; t < plan_->types.size(); ++t) homes_.push_back({t, 0, 0});
    if (!options_.keep_all) fuse();
    share_memory();
    fetch_ahead(&plan_->steps);
    assign_outputs();
    if (plan_->slices > 1) {
      find_sliced_slots();
      if (binds_sliced_slots()) return Planner(plan_->model, options_, false).run();
    }
    QRT_TRY(place_tensors());
    QRT_TRY(place_state());
    return std::shared_ptr<const Plan>(std::move(plan_));
  }

 private:
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
    Status status = infer_types(file_, plan_->model->unpacked(), static_cast<int64_t>(plan_->batch),
                                &plan_->types);
    if (!status.ok() && plan_->batch != own) {
      return error(Code::kInvalidArgument, "the model cannot run at batch %zu: %s", plan_->batch,
                   status.message());
    }
    return status;
  }

  Status choose_slices() {
    // Variables pass from run to run what one image leaves to the next.
    if (may_slice_ && plan_->variables.empty() && plan_->batch > 1 && plan_->model->has_batch()) {
      std::vector<TensorType> one;
      // A model that cannot run at batch 1 is not cut.
      if (infer_types(file_, plan_->model->unpacked(), 1, &one).ok())
        plan_->slices = count_slices(file_, one, plan_->types, plan_->batch, plan_->threads);
    }
    if (plan_->slices == 1) {
      types_ = plan_->types;
      return {};
    }
    return infer_types(file_, plan_->model->unpacked(),
                       static_cast<int64_t>(plan_->batch / plan_->slices), &types_);
  }

  Status prepare_steps() {
    plan_->steps.resize(file_.operators()->size());
    for (uint32_t i = 0; i < plan_->steps.size(); ++i) {
      Status status = prepare_step(i);
      if (!status.ok()) return std::move(status).at(op_label(file_, i));
    }
    return {};
  }

  Status prepare_step(uint32_t index) {
    PrepareContext context;
    static_cast<InferContext&>(context) =
        infer_context(file_, plan_->model->unpacked(), index, types_);
    context.isas = options_.isas;
    context.threads = plan_->threads;
    context.provider = options_.provider;
    PlannedStep& step = plan_->steps[index];
    step.op = context.op;
    step.inputs.assign(context.op->inputs()->begin(), context.op->inputs()->end());
    step.outputs.assign(context.op->outputs()->begin(), context.op->outputs()->end());
    for (uint32_t t : step.outputs) context.outputs.push_back(types_[t]);
    return find_op(context.op->options_type())->prepare(context, &step);
  }

  // In the memory of another tensor, or its own.
  struct Home {
    uint32_t tensor;
    size_t offset;  // bytes
    size_t pitch;   // bytes from row to row; 0: dense
  };

  // The tensor whose memory `t` uses in the end. Shortens the way there. Rows have the pitch of the
  // last memory on the way in which they are apart.
  Home home(uint32_t t) {
    Home root = {t, 0, 0};
    uint32_t last_apart = kNoTensor;
    for (Home next; (next = homes_[root.tensor]).tensor != root.tensor; root.tensor = next.tensor) {
      root.offset += next.offset;
      if (next.pitch != 0) root.pitch = next.pitch, last_apart = root.tensor;
    }
    Home left = root;
    while (t != root.tensor) {
      const Home next = homes_[t];
      homes_[t] = left;
      left.offset -= next.offset;
      if (t == last_apart) left.pitch = 0;
      t = next.tensor;
    }
    return root;
  }

  uint32_t root(uint32_t slot) { return home(slot).tensor; }

  // A leader writes into its follower's output, which the follower then changes in place.
  void fuse() {
    fuse_steps(file_, plan_->types, &plan_->steps);
    for (const PlannedStep& step : plan_->steps) {
      if (step.follower != nullptr) homes_[step.outputs[0]] = {step.follower->outputs[0], 0, 0};
    }
  }

  // Of a root's memory, in the steps so far.
  struct MemoryUse {
    bool may_move = false;  // into another's
    size_t rows = 0;        // into which what stands in it divides it; 0: nothing does
    std::vector<uint32_t> writers;
  };
  // Operands of a memory's writers, beyond which it is not moved: that bounds the time for a
  // crafted model.
  static constexpr size_t kMaxWritersOperands = 1024;

  // Views and parts of concatenations.
  void share_memory() {
    const size_t n = plan_->types.size();
    is_input_.resize(n), is_output_.resize(n), uses_.resize(n), whole_of_.resize(n, kNoTensor);
    for (uint32_t t : *file_.inputs()) is_input_[t] = true;
    for (uint32_t t : *file_.outputs()) is_output_[t] = true;
    for (const fb::Variable* v : plan_->variables) {
      is_input_[v->tensor()] = true;
      is_output_[v->next()] = true;
    }
    for (uint32_t t = 0; t < n; ++t)
      uses_[t].may_move = !is_input_[t] && !is_output_[t] && constant_data(t) == nullptr;
    find_rows();
    for (uint32_t i = 0; i < plan_->steps.size(); ++i) {
      PlannedStep& step = plan_->steps[i];
      if (share_view(&step)) continue;
      if (!step.parts.empty()) share_parts(&step);
      for (uint32_t t : step.outputs) uses_[root(t)].writers.push_back(i);
    }
    for (PlannedStep& step : plan_->steps) set_pitches(&step);
  }

  // Into how many rows a step's output can be written. A follower takes the rows of its leader if
  // it reads nothing else, and if they are long enough for a call each.
  size_t output_rows(const PlannedStep& step) const {
    if (step.follower != nullptr) return 0;
    if (step.leader == nullptr) return step.output_rows;
    if (step.leader->follower != &step || step.inputs.size() != 1) return 0;
    const size_t rows = step.leader->output_rows;
    return rows != 0 && slice_bytes(step.outputs[0]) / rows >= kMinFollowedRow ? rows : 0;
  }

  // Which tensors' rows may be apart.
  void find_rows() {
    const size_t n = plan_->types.size();
    read_rows_.resize(n, kUnread), written_rows_.resize(n);
    for (const PlannedStep& step : plan_->steps) {
      for (size_t i = 0; i < step.inputs.size(); ++i) {
        size_t& rows = read_rows_[step.inputs[i]];
        const size_t own = i == 0 || !step.parts.empty() ? step.input_rows : 0;
        rows = rows == kUnread || rows == own ? own : 0;
      }
      for (uint32_t t : step.outputs) written_rows_[t] = output_rows(step);
    }
    for (uint32_t t = 0; t < n; ++t)
      if (is_output_[t] || options_.keep_all) read_rows_[t] = 0;
  }

  void stand_in(uint32_t root, size_t rows) {
    size_t& all = uses_[root].rows;
    all = all == 0 || all == rows ? rows : 1;
  }

  void set_pitches(PlannedStep* step) {
    for (size_t i = 0; i < step->inputs.size(); ++i) {
      const size_t pitch = home(step->inputs[i]).pitch;
      if (pitch == 0) continue;
      step->input_pitches.resize(step->inputs.size());
      step->input_pitches[i] = pitch;
    }
    step->output_pitch = home(step->outputs[0]).pitch;
  }

  // A model output or the next content of a variable never views a model input, a variable, or a
  // part of a tensor.
  bool share_view(PlannedStep* step) {
    if (step->view_begin == PlannedStep::kNoView) return false;
    const uint32_t view = step->outputs[0];
    const Home input = home(step->inputs[0]);
    const size_t begin = input.offset + step->view_begin, rows = step->shared_rows;
    const bool is_part = begin != 0 || slice_bytes(view) != slice_bytes(input.tensor);
    if (is_output_[view] && (is_part || is_input_[input.tensor])) return false;
    if (rows != 1 && read_rows_[view] != rows) return false;
    homes_[view] = {input.tensor, begin, rows == 1 ? 0 : slice_bytes(step->inputs[0]) / rows};
    stand_in(input.tensor, rows);
    if (is_output_[view]) uses_[input.tensor].may_move = false;
    step->run = nullptr;
    step->kernel = "view";
    return true;
  }

  // May tensor `t` stand in `rows` rows of another?
  bool fits_rows(uint32_t t, size_t rows) {
    const uint32_t memory = root(t);
    if (rows == 1) return slice_bytes(t) == slice_bytes(memory);
    return memory == t && read_rows_[t] == rows && written_rows_[t] == rows &&
           (uses_[t].rows == 0 || uses_[t].rows == rows);
  }

  // Inputs of a concatenation are written where its output has them, if nothing holds them
  // elsewhere.
  void share_parts(PlannedStep* step) {
    const uint32_t whole = step->outputs[0];
    const size_t rows = step->shared_rows;
    std::vector<uint32_t> parts(step->inputs.size(), kNoTensor);
    for (size_t i = 0; i < parts.size(); ++i) {
      const uint32_t part = root(step->inputs[i]);
      if (!uses_[part].may_move || !fits_rows(step->inputs[i], rows)) continue;
      if (whole_of_[part] == whole) continue;  // stands there twice
      parts[i] = part;
      whole_of_[part] = whole;
    }
    for (uint32_t& part : parts)
      if (part != kNoTensor && !may_be_written_beside(part, whole))
        whole_of_[part] = kNoTensor, part = kNoTensor;
    std::vector<uint32_t>& writers = uses_[whole].writers;
    bool is_in_place = true;
    for (size_t i = 0; i < parts.size(); ++i) {
      is_in_place &= parts[i] != kNoTensor;
      if (parts[i] == kNoTensor) continue;
      homes_[parts[i]] = {whole, step->parts[i], rows == 1 ? 0 : slice_bytes(whole) / rows};
      stand_in(whole, rows);
      const std::vector<uint32_t> more = std::move(uses_[parts[i]].writers);
      writers.insert(writers.end(), more.begin(), more.end());
    }
    if (!is_in_place) return;
    step->run = nullptr;
    step->kernel = "in place";
  }

  // No step that writes `part` reads another part of `whole`: it could over-read into its own.
  bool may_be_written_beside(uint32_t part, uint32_t whole) {
    size_t operands = 0;
    for (const uint32_t writer : uses_[part].writers) {
      const PlannedStep& step = plan_->steps[writer];
      operands += step.inputs.size();
      if (operands > kMaxWritersOperands) return false;
      for (const uint32_t t : step.inputs)
        if (root(t) != part && whole_of_[root(t)] == whole) return false;
    }
    return true;
  }

  void assign_outputs() {
    std::vector<bool> is_written_later(plan_->types.size());
    for (uint32_t t : *file_.inputs()) is_written_later[t] = true;
    for (const fb::Variable* v : plan_->variables) is_written_later[v->tensor()] = true;
    for (uint32_t t : *file_.outputs()) {
      uint32_t slot = t;
      if (is_written_later[t]) {
        slot = static_cast<uint32_t>(plan_->types.size());
        plan_->final_copies.push_back({t, slot, plan_->slot_bytes(t)});
        plan_->types.push_back(TensorType(plan_->types[t]));
        types_.push_back(TensorType(types_[t]));
        homes_.push_back({slot, 0, 0});
      }
      plan_->output_slots.push_back(slot);
    }
    for (const fb::Variable* v : plan_->variables)
      plan_->final_copies.push_back({v->next(), v->tensor(), plan_->slot_bytes(v->tensor())});
  }

  // Bytes that the steps of one run use of a slot.
  size_t slice_bytes(uint32_t slot) const { return tensor_bytes(types_[slot]); }

  // Model inputs and outputs with what shares their memory.
  void find_sliced_slots() {
    is_sliced_.resize(plan_->types.size());
    for (uint32_t t : *file_.inputs()) is_sliced_[root(t)] = true;
    for (uint32_t t : *file_.outputs()) is_sliced_[root(t)] = true;
    for (uint32_t slot = 0; slot < homes_.size(); ++slot) {
      if (!is_sliced_[root(slot)] || constant_data(root(slot)) != nullptr) continue;
      plan_->sliced_slots.push_back({slot, slice_bytes(root(slot))});
    }
  }

  // bind() may keep addresses, which must not move then.
  bool binds_sliced_slots() {
    const auto is_sliced = [this](uint32_t slot) { return is_sliced_[root(slot)]; };
    return std::any_of(plan_->steps.begin(), plan_->steps.end(), [&](const PlannedStep& step) {
      return step.bind != nullptr &&
             (std::any_of(step.inputs.begin(), step.inputs.end(), is_sliced) ||
              std::any_of(step.outputs.begin(), step.outputs.end(), is_sliced));
    });
  }

  struct Lifetime {
    uint32_t first = kNoStep, last = 0;
  };

  void use(uint32_t slot, uint32_t step) {
    Lifetime& life = lifetimes_[root(slot)];
    life.first = std::min(life.first, step);
    life.last = std::max(life.last, step);
  }

  void find_lifetimes() {
    const uint32_t end = static_cast<uint32_t>(plan_->steps.size());
    lifetimes_.resize(plan_->types.size());
    for (uint32_t t : *file_.inputs()) use(t, 0), use(t, end);
    for (const fb::Variable* v : plan_->variables) {
      use(v->tensor(), 0), use(v->tensor(), end);
      use(v->next(), end);
    }
    for (uint32_t i = 0; i < end; ++i) {
      for (uint32_t t : plan_->steps[i].inputs) use(t, i);
      for (uint32_t t : plan_->steps[i].outputs) {
        use(t, i);
        if (options_.keep_all) use(t, end);
      }
    }
    for (uint32_t slot : plan_->output_slots) {
      use(slot, end);
      if (plan_->slices > 1) use(slot, 0);  // the next slice leaves it alone
    }
  }

  Status place_tensors() {
    find_lifetimes();
    std::vector<ArenaBlock> blocks;
    std::vector<uint32_t> owners;
    plan_->places.resize(plan_->types.size());
    for (uint32_t slot = 0; slot < plan_->types.size(); ++slot) {
      if (root(slot) != slot || lifetimes_[slot].first == kNoStep) continue;
      if (const uint8_t* data = constant_data(slot)) {
        plan_->places[slot] = {Place::Kind::kConstant, 0, data};
        continue;
      }
      // An output's own copy is not moved but whole.
      const bool is_whole =
          plan_->slices > 1 && (is_sliced_[slot] || slot >= file_.tensors()->size());
      const size_t bytes = is_whole ? plan_->slot_bytes(slot) : slice_bytes(slot);
      blocks.push_back({bytes + kSlack, lifetimes_[slot].first, lifetimes_[slot].last});
      owners.push_back(slot);
    }
    if (!place_blocks(&blocks, kMaxMemory, &plan_->arena_bytes)) return too_large();
    for (size_t i = 0; i < blocks.size(); ++i) {
      plan_->places[owners[i]] = {Place::Kind::kArena, blocks[i].offset, nullptr};
    }
    for (uint32_t slot = 0; slot < plan_->types.size(); ++slot) {
      const Home in = home(slot);
      Place place = plan_->places[in.tensor];
      place.offset += in.offset;
      if (place.kind == Place::Kind::kConstant) place.data += in.offset;
      plan_->places[slot] = place;
    }
    return {};
  }

  const uint8_t* constant_data(uint32_t slot) const {
    if (slot >= file_.tensors()->size()) return nullptr;
    const fb::Tensor& tensor = *file_.tensors()->Get(slot);
    if (!is_constant(tensor)) return nullptr;
    return file_.buffers()->Get(tensor.buffer())->data()->Data();
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

  // *total = base and an aligned area of `bytes` and slack; none for 0 bytes.
  static bool grow(size_t bytes, size_t base, size_t* total) {
    if (bytes == 0) {
      *total = base;
      return true;
    }
    return checked_add(bytes, kSlack, &bytes) && checked_align(bytes, kAlignment, &bytes) &&
           bytes <= kMaxMemory && checked_add(base, bytes, total) && *total <= kMaxMemory;
  }

  Status too_large() const {
    return error(Code::kOutOfMemory, "the model needs more than %zu GiB of memory at batch %zu",
                 kMaxMemory >> 30, plan_->batch);
  }

  const fb::Model& file_;
  const PlanOptions options_;
  const bool may_slice_;
  std::shared_ptr<Plan> plan_;
  std::vector<TensorType> types_;           // by slot, of one slice
  std::vector<bool> is_sliced_;             // by slot; of roots
  std::vector<Home> homes_;                 // by slot
  std::vector<bool> is_input_, is_output_;  // by tensor; with variables and their next content
  std::vector<MemoryUse> uses_;             // by tensor; of roots
  // By tensor: into how many rows all readers and its writer can take it, or 0.
  std::vector<size_t> read_rows_, written_rows_;
  std::vector<uint32_t> whole_of_;   // by tensor: the last Concat's output it is to be part of
  std::vector<Lifetime> lifetimes_;  // by slot; of roots
};

}  // namespace

Result<std::shared_ptr<const Plan>> make_plan(std::shared_ptr<const VerifiedModel> model,
                                              const PlanOptions& options) {
  return Planner(std::move(model), options).run();
}

}  // namespace qrt
