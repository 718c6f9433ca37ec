// SPDX-License-Identifier: Apache-2.0
// Implements the placement of views, of parts, and of outputs that are computed in place
// (sharing.h).
#include "runtime/sharing.h"

#include <algorithm>
#include <utility>

#include "runtime/infer.h"

namespace qrt {
namespace {

constexpr uint32_t kNoTensor = UINT32_MAX;
constexpr size_t kUnread = SIZE_MAX;

// The smallest row, in bytes, that a fused step writes straight into rows of another tensor. With
// rows of 64 bytes, tables are as fast as on dense memory; with rows of 16 bytes, an add takes
// longer than the copy that it saves.
constexpr size_t kMinFollowedRow = 64;

// The most operands that the writers of a memory may have for the memory to be moved, which bounds
// the time for a crafted model.
constexpr size_t kMaxWritersOperands = 1024;

}  // namespace

Sharing::Sharing(const fb::Model& model, const TensorTypes& types) : model_(model), types_(types) {
  homes_.reserve(types.size() + model.outputs()->size());
  homes_.resize(types.size());
  for (size_t t = 0; t < types.size(); ++t) homes_[t].tensor = static_cast<uint32_t>(t);
}

void Sharing::add_slot() { homes_.push_back({static_cast<uint32_t>(homes_.size()), 0, 0}); }

Sharing::Home Sharing::home(uint32_t t) {
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

// Finds the tensors that have a value before a run, or must keep their value after the run.
void Sharing::find_model_tensors() {
  const size_t n = types_.size();
  is_input_.resize(n), is_output_.resize(n), uses_.resize(n), whole_of_.resize(n, kNoTensor);
  for (uint32_t t : *model_.inputs()) is_input_[t] = true;
  for (uint32_t t : *model_.outputs()) is_output_[t] = true;
  for (const fb::Variable* v : variables(model_)) {
    is_input_[v->tensor()] = true;
    is_output_[v->next()] = true;
  }
  for (uint32_t t = 0; t < n; ++t)
    uses_[t].may_move = !is_input_[t] && !is_output_[t] && !is_constant(*model_.tensors()->Get(t));
}

void Sharing::share(bool keep_all, PlanVector<PlannedStep>* steps) {
  steps_ = steps;
  // A leader writes into its follower's output, which the follower then changes in place.
  for (const PlannedStep& step : *steps)
    if (step.follower != nullptr) homes_[step.outputs[0]] = {step.follower->outputs[0], 0, 0};
  find_model_tensors();
  find_rows(keep_all);
  for (uint32_t i = 0; i < steps->size(); ++i) {
    PlannedStep& step = (*steps)[i];
    if (share_view(&step)) continue;
    if (!step.parts.empty()) share_concat_output(&step);
    for (uint32_t t : step.outputs) uses_[root(t)].writers.push_back(i);
  }
  for (PlannedStep& step : *steps) set_pitches(&step);
}

// Returns the number of rows of another tensor that a step's output can be written to. A follower
// takes the number of its leader if it has no other input and each row is long enough for a call.
size_t Sharing::output_rows(const PlannedStep& step) const {
  if (step.follower != nullptr) return 0;
  if (step.leader == nullptr) return step.output_rows;
  if (step.leader->follower != &step || step.leader->has_tile_scratch() || step.inputs.size() != 1)
    return 0;
  const size_t rows = step.leader->output_rows;
  return rows != 0 && bytes(step.outputs[0]) / rows >= kMinFollowedRow ? rows : 0;
}

// Finds the tensors whose rows may be apart.
void Sharing::find_rows(bool keep_all) {
  const size_t n = types_.size();
  read_rows_.resize(n, kUnread), written_rows_.resize(n);
  for (const PlannedStep& step : *steps_) {
    for (size_t i = 0; i < step.inputs.size(); ++i) {
      size_t& rows = read_rows_[step.inputs[i]];
      const size_t own = i == 0 || !step.parts.empty() ? step.input_rows : 0;
      rows = rows == kUnread || rows == own ? own : 0;
    }
    for (uint32_t t : step.outputs) written_rows_[t] = output_rows(step);
  }
  for (uint32_t t = 0; t < n; ++t)
    if (is_output_[t] || keep_all) read_rows_[t] = 0;
}

void Sharing::stand_in(uint32_t root, size_t rows) {
  size_t& all = uses_[root].rows;
  all = all == 0 || all == rows ? rows : 1;
}

void Sharing::set_pitches(PlannedStep* step) {
  const auto pitch_of = [this](uint32_t t) { return homes_[t].tensor == t ? 0 : home(t).pitch; };
  for (size_t i = 0; i < step->inputs.size(); ++i) {
    const size_t pitch = pitch_of(step->inputs[i]);
    if (pitch == 0) continue;
    step->input_pitches.resize(step->inputs.size());
    step->input_pitches[i] = pitch;
  }
  step->output_pitch = pitch_of(step->outputs[0]);
}

// Lets the output of a step that is a view use the memory of its input. Returns whether it does: a
// model output or the next content of a variable never views a model input, a variable, or a part
// of a tensor.
bool Sharing::share_view(PlannedStep* step) {
  if (step->view_begin == PlannedStep::kNoView) return false;
  const uint32_t view = step->outputs[0];
  const Home input = home(step->inputs[0]);
  const size_t begin = input.offset + step->view_begin, rows = step->shared_rows;
  const bool is_part = begin != 0 || bytes(view) != bytes(input.tensor);
  if (is_output_[view] && (is_part || is_input_[input.tensor])) return false;
  if (rows != 1 && read_rows_[view] != rows) return false;
  homes_[view] = {input.tensor, begin, rows == 1 ? 0 : bytes(step->inputs[0]) / rows};
  stand_in(input.tensor, rows);
  if (is_output_[view]) uses_[input.tensor].may_move = false;
  step->run = nullptr;
  step->kernel = "view";
  return true;
}

// Returns whether tensor `t` may be a view of `rows` rows of another tensor.
bool Sharing::fits_rows(uint32_t t, size_t rows) {
  const uint32_t memory = root(t);
  if (rows == 1) return bytes(t) == bytes(memory);
  return memory == t && read_rows_[t] == rows && written_rows_[t] == rows &&
         (uses_[t].rows == 0 || uses_[t].rows == rows);
}

// Places inputs of a concatenation in the memory of its output, unless they have to be elsewhere.
void Sharing::share_concat_output(PlannedStep* step) {
  const uint32_t whole = step->outputs[0];
  const size_t rows = step->shared_rows;
  ScratchVector<uint32_t> parts(step->inputs.size(), kNoTensor);
  for (size_t i = 0; i < parts.size(); ++i) {
    const uint32_t part = root(step->inputs[i]);
    if (!uses_[part].may_move || !fits_rows(step->inputs[i], rows)) continue;
    if (whole_of_[part] == whole) continue;  // is an input twice
    parts[i] = part;
    whole_of_[part] = whole;
  }
  for (uint32_t& part : parts)
    if (part != kNoTensor && !may_be_written_beside(part, whole))
      whole_of_[part] = kNoTensor, part = kNoTensor;
  ScratchVector<uint32_t>& writers = uses_[whole].writers;
  bool is_in_place = true;
  for (size_t i = 0; i < parts.size(); ++i) {
    is_in_place &= parts[i] != kNoTensor;
    if (parts[i] == kNoTensor) continue;
    homes_[parts[i]] = {whole, step->parts[i], rows == 1 ? 0 : bytes(whole) / rows};
    stand_in(whole, rows);
    const ScratchVector<uint32_t> more = std::move(uses_[parts[i]].writers);
    writers.insert(writers.end(), more.begin(), more.end());
  }
  if (!is_in_place) return;
  step->run = nullptr;
  step->kernel = "in place";
}

// Returns whether no step that writes `part` reads another part of `whole`, since such a step could
// over-read into its own output.
bool Sharing::may_be_written_beside(uint32_t part, uint32_t whole) {
  size_t operands = 0;
  for (const uint32_t writer : uses_[part].writers) {
    const PlannedStep& step = (*steps_)[writer];
    operands += step.inputs.size();
    if (operands > kMaxWritersOperands) return false;
    for (const uint32_t t : step.inputs)
      if (root(t) != part && whole_of_[root(t)] == whole) return false;
  }
  return true;
}

}  // namespace qrt
