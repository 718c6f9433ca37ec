// SPDX-License-Identifier: Apache-2.0
// Finds the steps that run inside another; see fuse.h.
#include "runtime/fuse.h"

#include <algorithm>
#include <cstdint>

#include "kernels/built.h"
#include "runtime/checked.h"
#include "runtime/infer.h"
#include "runtime/loops.h"
#include "runtime/ops/batch_mat_mul.h"
#include "runtime/ops/float.h"
#include "runtime/ops/float_attention.h"
#include "runtime/ops/float_step.h"
#include "runtime/ops/transpose.h"

namespace qrt {
namespace {

constexpr uint32_t kNone = UINT32_MAX;

// Fewer bytes are not worth a prefetch; more leave the cache no room for what the step itself uses.
constexpr size_t kMinAhead = 64 << 10, kMaxAhead = 1 << 20;
// Steps between a prefetch and its use that may evict what was prefetched.
constexpr size_t kMaxStepsBetween = 4;

// Returns the step that makes the last of the inputs, or kNone where no step makes any.
uint32_t last_producer(const PlannedStep& step, const ScratchVector<uint32_t>& producer) {
  uint32_t last = kNone;
  for (uint32_t t : step.inputs)
    if (producer[t] != kNone && (last == kNone || producer[t] > last)) last = producer[t];
  return last;
}

// Returns the step that makes what this Transpose's input is another shape of, if nothing else
// reads it; or kNone. All calls together visit each step once.
uint32_t producer_through_shapes(const PlannedStep& step, const PlanVector<PlannedStep>& steps,
                                 const ScratchVector<uint32_t>& producer,
                                 const ScratchVector<uint32_t>& readers) {
  if (step.op->options_type() != fb::OpOptions::Transpose) return kNone;
  uint32_t t = step.inputs[0];
  for (;;) {
    const uint32_t i = producer[t];
    if (i == kNone || readers[t] != 1) return kNone;
    if (steps[i].op->options_type() != fb::OpOptions::Reshape) return i;
    t = steps[i].inputs[0];
  }
}

// Room for the tiles of a leader whose follower is of another type. False: there is none.
bool reserve_tile_scratch(const PlannedStep& follower, PlannedStep* leader) {
  size_t all, at, total;
  if (follower.run_tile == nullptr || leader->tile_tasks == 0 ||
      !checked_mul(leader->tile_tasks, leader->tile_bytes, &all) ||
      !checked_align(leader->scratch_bytes, kAlignment, &at) || !checked_add(at, all, &total))
    return false;
  leader->tile_scratch_at = at;
  leader->scratch_bytes = total;
  return true;
}

// Joins a table, a LayerNormalization from bytes to bytes and a Quantize into one step, without
// tensors between them. Returns whether it did.
bool join_three(PlannedStep* table, PlannedStep* norm, PlannedStep* quantize) {
  if (!join_layer_norm(*table, *quantize, norm)) return false;
  quantize->inputs[0] = table->inputs[0];
  table->outputs = quantize->outputs;
  for (PlannedStep* joined : {table, quantize}) joined->leader = norm, joined->run = nullptr;
  return true;
}

int64_t row_of(const Shape& shape) { return shape.rank() == 0 ? 1 : shape[shape.rank() - 1]; }

// Lets a matrix product whose left side is the Softmax of another product (attention) compute its
// scores itself, with all steps between the two. Returns whether it did.
bool take_scores(const TensorTypes& types, const ScratchVector<uint32_t>& producer,
                 const ScratchVector<uint32_t>& readers, PlanVector<PlannedStep>* steps,
                 PlannedStep* step) {
  if (float_step_kind(*step) != FloatStepKind::kProduct || step->inputs[0] == step->inputs[1])
    return false;
  AttentionScores scores;
  ScratchVector<PlannedStep*> taken;
  bool has_softmax = false;
  const int64_t n = row_of(types[step->inputs[0]].shape);
  for (uint32_t t = step->inputs[0]; scores.product == nullptr;) {
    const uint32_t i = producer[t];
    if (i == kNone || readers[t] != 1) return false;
    PlannedStep& maker = (*steps)[i];
    if (maker.leader != nullptr || maker.follower != nullptr) return false;
    taken.push_back(&maker);
    if (maker.op->options_type() == fb::OpOptions::Reshape) {
      t = maker.inputs[0];
      continue;
    }
    if (row_of(types[t].shape) != n) return false;
    const FloatStepKind kind = float_step_kind(maker);
    if (kind == FloatStepKind::kSoftmax && !has_softmax) {
      has_softmax = true;
      t = maker.inputs[0];
    } else if (kind == FloatStepKind::kBinary && has_softmax &&
               maker.inputs[0] != maker.inputs[1]) {
      // The scores are the side that has the output's shape and that this step alone reads, and a step makes.
      const auto can_be = [&](uint32_t input) {
        return types[input].shape == types[t].shape && producer[input] != kNone &&
               readers[input] == 1;
      };
      const size_t input = can_be(maker.inputs[0]) ? 0 : 1;
      scores.stages.push_back({&maker, &types[maker.inputs[1 - input]].shape,
                               &types[maker.inputs[input]].shape, input});
      t = maker.inputs[input];
    } else if (kind == FloatStepKind::kProduct && has_softmax) {
      scores.product = &maker;
    } else {
      return false;
    }
  }
  std::reverse(scores.stages.begin(), scores.stages.end());
  if (!join_attention(scores, step)) return false;
  for (PlannedStep* joined : taken) {
    joined->inputs = {step->inputs[0]};
    joined->outputs = step->outputs;
    joined->view_begin = PlannedStep::kNoView;
    joined->scratch_bytes = 0;
    joined->macs = 0;
    joined->leader = step;
    joined->run = nullptr;
  }
  return true;
}

// Lets attention read the rows of its queries and values where the Transposes in front of it would
// take them from.
void pull_attention(const ScratchVector<uint32_t>& producer, const ScratchVector<uint32_t>& readers,
                    PlanVector<PlannedStep>* steps, PlannedStep* step) {
  for (const size_t i : {0, 2}) {
    const uint32_t t = step->inputs[i];
    if (producer[t] == kNone || readers[t] != 1 ||
        std::count(step->inputs.begin(), step->inputs.end(), t) != 1)
      continue;
    PlannedStep& transpose = (*steps)[producer[t]];
    if (pull_attention_rows(transpose, i, step)) transpose.leader = step, transpose.run = nullptr;
  }
}

// Lets attention write its result in the order of the Transpose behind it, without a tensor between
// them. Returns whether it did.
bool push_into(PlanVector<PlannedStep>* steps, PlannedStep* attention, PlannedStep* transpose) {
  const uint32_t between = attention->outputs[0];
  if (!push_attention_rows(*transpose, attention)) return false;
  for (PlannedStep& step : *steps)
    if (step.leader == attention && !step.outputs.empty() && step.outputs[0] == between)
      step.outputs = transpose->outputs;
  transpose->inputs = {attention->inputs[0]};
  transpose->leader = attention;
  transpose->run = nullptr;
  return true;
}

// Returns the number, from 1, of the loop that each step stands in, or 0; nothing where the model has no loops.
ScratchVector<uint32_t> find_loops_of_steps(const fb::Model& model) {
  ScratchVector<uint32_t> loop_of;
  if (!kHasLoops) return loop_of;
  uint32_t number = 0;
  for (const Loop& loop : find_loops(model)) {
    loop_of.resize(model.operators()->size());
    std::fill(loop_of.begin() + loop.begin, loop_of.begin() + loop.end + 1, ++number);
  }
  return loop_of;
}

}  // namespace

void fuse_steps(const fb::Model& model, const Guards& guards, const TensorTypes& types,
                PlanVector<PlannedStep>* steps) {
  ScratchVector<uint32_t> producer(types.size(), kNone);
  // Steps, model outputs and variables. A reader that a run may leave out, but not the producer, counts twice, and so does one in a loop
  // that the producer does not stand in.
  ScratchVector<uint32_t> readers(types.size());
  ScratchVector<uint32_t> last_reader(types.size(), kNone);
  const ScratchVector<uint32_t> loop_of = find_loops_of_steps(model);
  const auto run_together = [&](uint32_t a, uint32_t b) {
    return guards.of(a) == guards.of(b) && (loop_of.empty() || loop_of[a] == loop_of[b]);
  };
  for (uint32_t t : *model.outputs()) ++readers[t];
  for (const fb::Variable* v : variables(model)) ++readers[v->next()];
  for (uint32_t i = 0; i < steps->size(); ++i) {
    const PlannedStep& step = (*steps)[i];
    for (uint32_t t : step.outputs) producer[t] = i;
    for (uint32_t t : step.inputs) {
      readers[t] += last_reader[t] != i;  // a step that reads t twice counts once
      readers[t] += producer[t] != kNone && !run_together(producer[t], i);
      last_reader[t] = i;
    }
  }
  for (PlannedStep& step : *steps) {
    if (step.run == nullptr) continue;  // it makes no elements
    const uint32_t last = last_producer(step, producer);
    if (last != kNone && readers[step.inputs[0]] == 1 &&
        pull_from_quantize((*steps)[last], &step)) {
      (*steps)[last].leader = &step;
      (*steps)[last].run = nullptr;
      continue;
    }
    if (const uint32_t whole =
            built::kConcat ? producer_through_shapes(step, *steps, producer, readers) : kNone;
        whole != kNone && pull_from_concat((*steps)[whole], &step)) {
      PlannedStep& concat = (*steps)[whole];
      concat.leader = &step;
      concat.run = nullptr;
      concat.parts.clear();
      continue;
    }
    const bool is_product = step.op->options_type() == fb::OpOptions::BatchMatMul;
    for (size_t i = 0; built::kBatchMatMul && is_product && i < 2; ++i) {
      const uint32_t moved = producer[step.inputs[i]];
      // The two sides may be one tensor.
      if (moved == kNone || readers[step.inputs[i]] != 1 || step.inputs[0] == step.inputs[1])
        continue;
      PlannedStep& transpose = (*steps)[moved];
      if (pull_rows(transpose, i, &step)) transpose.leader = &step, transpose.run = nullptr;
    }
    if (built::kFloat && last != kNone && readers[step.inputs[0]] == 1) {
      PlannedStep& norm = (*steps)[last];
      const uint32_t first = last_producer(norm, producer);
      if (first != kNone && readers[norm.inputs[0]] == 1 &&
          join_three(&(*steps)[first], &norm, &step))
        continue;
    }
    if (built::kFloat && last != kNone && readers[step.inputs[0]] == 1 &&
        push_into(steps, &(*steps)[last], &step))
      continue;
    if (built::kFloat && take_scores(types, producer, readers, steps, &step))
      pull_attention(producer, readers, steps, &step);
    if (step.run_elements == nullptr || last == kNone) continue;
    PlannedStep& leader = (*steps)[last];
    if (!leader.can_lead || leader.follower != nullptr) continue;
    const uint32_t between = leader.outputs[0], output = step.outputs[0];
    if (readers[between] != 1 || types[between].shape.elements() != types[output].shape.elements())
      continue;
    if (types[between].dtype != types[output].dtype && !reserve_tile_scratch(step, &leader))
      continue;
    leader.follower = &step;
    step.leader = &leader;
    step.run = nullptr;
  }
}

void fetch_ahead(PlanVector<PlannedStep>* steps) {
  for (size_t i = 0; i < steps->size(); ++i) {
    const PlannedStep& stream = (*steps)[i];
    for (size_t back = 1; back <= std::min(i, kMaxStepsBetween + 1); ++back) {
      PlannedStep& step = (*steps)[i - back];
      const size_t bytes = std::min({stream.stream_bytes, step.spare_bytes, kMaxAhead});
      if (bytes < kMinAhead) continue;
      step.ahead = stream.stream;
      step.ahead_bytes = bytes;
      break;
    }
  }
}

}  // namespace qrt
